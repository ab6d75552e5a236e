"""Encodings against reality: the terms of a run have the recorded values, and those of another run on the same path."""

from __future__ import annotations

import random

import numpy as np
import pytest
from arithmetic_programs import BYTES, arithmetic_program
from encoded_runs import encoding_of, results, terms_at, wrong_instances
from generated import c_program
from snippets import backward, program, programs, snippet

from whence.formula.arrays import evaluate
from whence.formula.encoder import Encoder, Inputs, encode
from whence.formula.encoding import Encoding, SymbolKind
from whence.probe.layout import Kind

LONG = {"endless", "stack_overflow"}
VALUELESS = {"complex_numbers", "uninitialised", "vectors"}  # values that no event records


@pytest.mark.parametrize("name", sorted(set(programs()) - LONG))
def test_every_kind_of_program_agrees_with_its_run(name: str) -> None:
    made = program(name)
    encoding = encode(made.trace(), Inputs(tuple(made.arguments), made.stdin))
    assert encoding.instances
    assert encoding.unexplained == []
    if name not in VALUELESS:
        assert wrong_instances(encoding) == []


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_agree_with_their_runs(seed: int) -> None:
    _, encoding = encoding_of(snippet(c_program(seed)), "5", "7")
    assert encoding.unexplained == []
    assert wrong_instances(encoding) == []


@pytest.mark.parametrize("seed", range(10))
def test_arithmetic_holds_for_other_inputs(seed: int) -> None:
    """Terms of one run, evaluated on other inputs, give what the runs on those inputs recorded."""
    made, draw = snippet(arithmetic_program(seed), "-w"), random.Random(seed)
    inputs = [bytes(BYTES), *(draw.randbytes(BYTES) for _ in range(4))]
    runs = [encoding_of(made, stdin=data)[1] for data in inputs]
    assert [run.unexplained for run in runs] == [[]] * len(runs)
    expected = [[i.value for i in run.instances] for run in runs]
    for run in runs[:2]:
        assert {run.symbols[s].kind for s in run.symbols} <= {SymbolKind.INPUT, SymbolKind.ADDRESS, SymbolKind.LIBRARY}
        predicted = _on_inputs(run, inputs)
        for row, values in enumerate(expected):
            known = [k for k, value in enumerate(values) if value is not None and run.instances[k].term >= 0]
            assert [predicted[k][row] for k in known if predicted[k] is not None] == [
                values[k] for k in known if predicted[k] is not None
            ]


def _on_inputs(run: Encoding, inputs: list[bytes]) -> list[list[int] | None]:
    """For each instance its values on several inputs; None for what the library printed."""
    names = {run.symbols[s].name: s for s in run.symbols}
    values = {s: np.array([run.evaluation.value(s) or 0] * len(inputs), object) for s in run.symbols}
    for place in range(BYTES):
        values[names[f"stdin[{place}]"]] = np.array([data[place] for data in inputs], object)
    library = {s for s in run.symbols if run.symbols[s].kind is SymbolKind.LIBRARY}
    found = evaluate(run.terms, [i.term for i in run.instances if i.term >= 0], values)
    return [
        None
        if i.term < 0 or library & set(run.terms.symbols([i.term]))
        else np.broadcast_to(found[i.term], len(inputs)).tolist()
        for i in run.instances
    ]


# ---- What is where in an encoding ------------------------------------------------------------------------------------

SUM = """#include <stdlib.h>
static int a[4] = {5, 6, 7, 8};
static int sum(int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i];
    return s;
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    a[1] = n;
    return sum(a, 3);
}
"""


def test_a_result_is_a_term_of_the_inputs() -> None:
    trace, encoding = encoding_of(snippet(SUM), "20")
    (returned,) = terms_at(trace, encoding, 7, Kind.LOAD)
    assert encoding.evaluation.value(returned) == 5 + 20 + 7
    names = {encoding.symbols[s].name for s in encoding.terms.symbols([returned])}
    assert names == {"argv[1][0]", "argv[1][1]"}
    assert not encoding.notes


def test_pointers_keep_their_terms_beside_the_recorded_address() -> None:
    trace, encoding = encoding_of(snippet(SUM), "20")
    accesses = [i for i in encoding.instances if trace.kind(i.event) is Kind.LOAD and i.pointers]
    element = [i for i in accesses if trace.location(i.event).line == 6]
    addresses = [address for i in element for _, address in i.pointers]
    assert np.diff(addresses).tolist() == [4, 4]
    base = {s for i in element for t, _ in i.pointers for s in encoding.terms.symbols([t])}
    assert {encoding.symbols[s].name for s in base} == {"a"}
    assert all(encoding.evaluation.value(c) == 1 for _, c in encoding.assumptions())


def test_branches_know_the_way_they_went() -> None:
    trace, encoding = encoding_of(snippet(SUM), "20")
    ways = [i.value for i in encoding.instances if trace.kind(i.event) is Kind.BRANCH]
    assert ways == [1, 1, 1, 0]


def test_cut_results_are_symbols_with_definitions() -> None:
    trace, encoding = encoding_of(snippet(SUM), "20", cut=(Kind.STORE, Kind.BRANCH, Kind.RET))
    definitions = dict(encoding.definitions())
    stores = [i for i in encoding.instances if trace.kind(i.event) is Kind.STORE]
    assert {i.event for i in stores} <= set(definitions)
    assert all(encoding.evaluation.value(equation) == 1 for equation in definitions.values())
    (returned,) = terms_at(trace, encoding, 7, Kind.LOAD)
    assert encoding.symbols[returned].kind is SymbolKind.CUT
    assert wrong_instances(encoding) == []


def test_a_slice_encodes_its_events_alone() -> None:
    made = snippet(SUM)
    whole = made.trace("20")
    (last,) = made.events_at(whole, 7, Kind.LOAD)
    events = backward(whole, [last]).events
    trace, encoding = encoding_of(made, "20", events=events.tolist())
    assert {i.event for i in encoding.instances} == set(events.tolist())
    assert len(encoding.instances) < whole.events
    assert results(trace, encoding, 7, Kind.LOAD) == [32]
    assert encoding.unexplained == []
    assert wrong_instances(encoding) == []


def test_what_lies_outside_of_the_events_is_a_symbol() -> None:
    made = snippet(SUM)
    whole = made.trace("20")
    (last,) = made.events_at(whole, 7, Kind.LOAD)
    _, encoding = encoding_of(made, "20", events=[last])
    (term,) = [i.term for i in encoding.instances]
    assert encoding.terms.operations[term] == "symbol"
    assert encoding.unexplained == []


# ---- Memory and the library ------------------------------------------------------------------------------------------


def notes_of(code: str, *arguments: str, stdin: bytes = b"") -> dict[str, int]:
    """What was taken as recorded in a run that agrees with its encoding; printing left out."""
    _, encoding = encoding_of(snippet(code, "-w"), *arguments, stdin=stdin)
    assert encoding.unexplained == []
    assert wrong_instances(encoding) == []
    return {note: count for note, count in encoding.notes.items() if "printf" not in note}


def test_bytes_of_an_int_and_an_int_of_bytes() -> None:
    code = """#include <stdlib.h>
int main(int argc, char **argv) {
    int n = atoi(argv[1]), back;
    unsigned char *p = (unsigned char *)&n, copy[4];
    for (int i = 0; i < 4; i++)
        copy[3 - i] = p[i];
    back = *(int *)copy;
    return back >> 24;
}
"""
    trace, encoding = encoding_of(snippet(code), "77")
    assert results(trace, encoding, 8, Kind.LOAD) == [77 << 24]
    (term,) = terms_at(trace, encoding, 8, Kind.LOAD)
    assert {encoding.symbols[s].name for s in encoding.terms.symbols([term])} == {"argv[1][0]", "argv[1][1]"}


def test_exact_functions_leave_no_notes() -> None:
    code = """#include <ctype.h>
#include <stdlib.h>
#include <string.h>
struct pair { int a; char name[12]; };
static struct pair twice(struct pair p) { p.a *= 2; strcat(p.name, "!"); return p; }
int main(int argc, char **argv) {
    struct pair p = {atoi(argv[1]), "x"}, q;
    char line[32], *end;
    for (int c; (c = getchar()) != '\\n';)
        p.a += isdigit(c) ? c - '0' : toupper(c);
    fgets(line, sizeof line, stdin);
    line[strcspn(line, "\\n")] = 0;
    strcpy(p.name, line);
    q = twice(p);
    memset(&p, abs(-3), sizeof p);
    char *found = strchr(q.name, 'b');
    long n = strtol(found + 1, &end, 10);
    if (strcmp(q.name, "ab") < 0 || memcmp(&p, &q, 4) == 0)
        return 1;
    return (int)(n + (end - found) + strlen(q.name) + q.a) & 63;
}
#include <stdio.h>
""".replace("#include <ctype.h>", "#include <ctype.h>\n#include <stdio.h>")
    assert notes_of(code, "12", stdin=b"a1\nab45\n") == {}


def test_what_has_no_summary_is_named() -> None:
    code = """#include <stdlib.h>
#include <math.h>
int main(int argc, char **argv) {
    double x = atof(argv[1]);
    return (int)pow(x, 2.0) & 63;
}
"""
    assert notes_of(code, "3", stdin=b"") == {"result taken as recorded: atof": 1, "result taken as recorded: pow": 1}


def test_a_sorted_element_is_the_term_that_it_was_before() -> None:
    code = """#include <stdlib.h>
struct item { int key, weight; };
static int compare(const void *a, const void *b) {
    return ((const struct item *)a)->key - ((const struct item *)b)->key;
}
int main(int argc, char **argv) {
    struct item items[3] = {{9, 1}, {7, 2}, {8, 3}};
    items[1].weight = atoi(argv[1]);
    qsort(items, 3, sizeof *items, compare);
    return items[0].weight;
}
"""
    trace, encoding = encoding_of(snippet(code), "40")
    (first,) = terms_at(trace, encoding, 10, Kind.LOAD)
    assert encoding.evaluation.value(first) == 40
    assert {encoding.symbols[s].name for s in encoding.terms.symbols([first])} == {"argv[1][0]", "argv[1][1]"}
    assert dict(encoding.notes) == {"order taken as recorded: qsort": 1}
    assert wrong_instances(encoding) == []


def test_runs_encoded_together_share_what_is_the_programs() -> None:
    made = snippet(SUM)
    traces = [made.trace("20"), made.trace("3")]
    together = Encoder(made.subject.program, made.subject.plan)
    both = [together.encode(t, Inputs((text,))) for t, text in zip(traces, ("20", "3"), strict=True)]
    assert both[0].terms is both[1].terms
    addresses = [set(e.of_kind(SymbolKind.ADDRESS)) for e in both]
    inputs = [set(e.of_kind(SymbolKind.INPUT)) for e in both]
    shared = {e.symbols[s].name for e, found in zip(both, addresses, strict=True) for s in found & addresses[0]}
    assert "a" in shared
    assert not inputs[0] & inputs[1]
    for trace, encoding, expected in zip(traces, both, (32, 15), strict=True):
        assert results(trace, encoding, 7, Kind.LOAD) == [expected]
        assert wrong_instances(encoding) == []
