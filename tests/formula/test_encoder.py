"""Encodings against reality: the terms of a run have the recorded values, and those of another run on the same path."""

from __future__ import annotations

import random

import numpy as np
import pytest
from arithmetic_programs import BYTES, arithmetic_program
from encoded_runs import encoding_of, results, terms_at, wrong_instances
from generated import c_program
from snippets import Snippet, backward, program, programs, snippet

from whence.formula.arrays import evaluate
from whence.formula.encoder import Encoder, Inputs, encode
from whence.formula.encoding import Encoding, SymbolKind
from whence.formula.evaluation import Evaluation
from whence.probe.layout import Kind
from whence.trace.trace import Trace

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
    draw = random.Random(seed)
    inputs = [bytes(BYTES), *(draw.randbytes(BYTES) for _ in range(4))]
    assert_holds(arithmetic_program(seed), inputs)


BUILTINS = """#include <math.h>
#include <stdio.h>
struct pair { long a; int b; };
static struct pair swap(struct pair p) { struct pair q = {p.b, (int)p.a}; return q; }
static float _Complex turn(float _Complex z) { return z; }
int main(void) {
    unsigned char in[8];
    for (int k = 0; k < 8; k++)
        in[k] = (unsigned char)getchar();
    int a = in[0] << 24 | in[1] << 12 | in[2], b = in[3] << 23 | in[4], sum, product;
    unsigned difference;
    int over = __builtin_add_overflow(a, b, &sum), much = __builtin_mul_overflow(a, b, &product);
    int under = __builtin_sub_overflow((unsigned)a, (unsigned)b, &difference);
    unsigned swapped = __builtin_bswap32((unsigned)a);
    int ones = __builtin_popcount((unsigned)b), positive = __builtin_abs(a - b);
    double x = (in[5] - 128) / 8.0, y = x / in[6];
    double whole = __builtin_floor(x), up = __builtin_ceil(x), cut = __builtin_trunc(x), near = __builtin_rint(x);
    double away = __builtin_round(x), size = __builtin_fabs(x), root = sqrt(size);
    int odd = __builtin_isnan(y) + 2 * __builtin_isinf(y) + 4 * __builtin_isfinite(y) + 8 * __builtin_signbit(y);
    float narrow = (float)y, third = narrow / 3;
    __int128 wide = (__int128)a * b << 40 ^ a;
    long high = (long)(wide >> 64);
    struct pair p = {high, ones}, q = swap(p);
    float _Complex z = turn(in[7] + 1.0f * third);
    long parts = q.b + (long)__real__ z;
    return (over + much + under + odd + (int)parts) & 1;
}
"""


def test_builtins_hold_for_other_inputs() -> None:
    draw = random.Random(0)
    inputs = [bytes(8), b"\x7f\xff\xff\x80\0\x80\0\x10", *(draw.randbytes(8) for _ in range(6))]
    assert_holds(BUILTINS, inputs)


LIBRARY = """#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    char line[16], *end;
    int c = getchar(), classes = 0;
    classes = !!isdigit(c) | !!isalpha(c) << 1 | !!isspace(c) << 2 | !!ispunct(c) << 3 | !!isupper(c) << 4;
    classes |= !!isxdigit(c) << 5 | !!isalnum(c) << 6 | !!iscntrl(c) << 7 | !!isprint(c) << 8;
    int lower = tolower(c), upper = toupper(c);
    fgets(line, 8, stdin);
    long number = strtol(line, &end, 10), same = atoi(line);
    int order = strncmp(line, "-123", 2), small = abs(atoi(line + 3));
    return (int)(classes + lower + upper + number + same + order + small + (long)strlen(line)) & 63;
}
"""


def test_summaries_hold_for_other_inputs() -> None:
    """Texts of one shape, for which the library looks at the same bytes; the tables of ctype.h are its own memory."""
    inputs = [b"x-123456", b"7-987654", b" -100001", b"_-555555", b"Z-120000"]
    assert_holds(LIBRARY, inputs, SymbolKind.INITIAL)


def assert_holds(code: str, inputs: list[bytes], *others: SymbolKind) -> None:
    """Terms of one run, evaluated on the inputs of others on its path, give what those recorded."""
    made = snippet(code, "-w")
    traces, runs = zip(*(encoding_of(made, stdin=data) for data in inputs), strict=True)
    assert [run.unexplained for run in runs] == [[]] * len(runs)
    expected = [[i.value for i in run.instances] for run in runs]
    for run in runs[:2]:
        kinds = {run.symbols[s].kind for s in run.symbols}
        assert kinds <= {SymbolKind.INPUT, SymbolKind.ADDRESS, SymbolKind.LIBRARY, *others}
        predicted = _on_inputs(run, inputs)
        known = [k for k, i in enumerate(run.instances) if i.value is not None and predicted[k] is not None]
        assert len(known) > len(run.instances) / 3
        for row, values in enumerate(expected):
            wrong = [run.instances[k].event for k in known if _number(predicted[k], row) != values[k]]
            assert [(e, made_text(made, traces[0], e)) for e in wrong] == []


def made_text(made: Snippet, trace: Trace, event: int) -> str:
    """The source line of an event, for the message."""
    place = trace.location(event)
    return made.files[made.main].splitlines()[place.line - 1] if place else ""


def _number(values: list[int] | None, row: int) -> int:
    assert values is not None
    return values[row]


def _on_inputs(run: Encoding, inputs: list[bytes]) -> list[list[int] | None]:
    """For each instance its values on several inputs; None for what the library printed."""
    names = {run.symbols[s].name: s for s in run.symbols}
    values = {s: np.array([run.evaluation.value(s) or 0] * len(inputs), object) for s in run.symbols}
    for place in range(len(inputs[0])):
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
    ways = [i for i in encoding.instances if i.kind is Kind.BRANCH]
    assert [i.value for i in ways] == [1, 1, 1, 0]
    assumed = dict(encoding.assumptions())
    assert all(trace.kind(i.event) is Kind.BRANCH and encoding.evaluation.value(assumed[i.event]) == 1 for i in ways)


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


def test_globals_begin_with_their_initialisers() -> None:
    code = r"""struct s { char c; short h[3]; const char *text; float f; struct { int a : 3, b : 9; } bits; double d; };
static struct s all[2] = {{1, {2, -3}, "a\\b\"\x80\n", 1.1f, {-2, 99}, 0.1}, {.text = "\\5C" + 1, .d = -1e300}};
static void *pointers[] = {&all[1].h[2], (char *)&pointers[1] + 3, 0};
static unsigned char zero[100000], tail[8] = "xyz";
int main(void) {
    int sum = zero[99999] + tail[2] + tail[7] + (pointers[0] == &all[1].h[2]) + (pointers[2] == 0);
    for (int k = 0; k < 2; k++) {
        struct s *p = &all[k];
        sum += p->c + p->h[0] + p->h[1] + p->bits.a + p->bits.b + (int)(p->f * 8) + (p->d < 0);
        for (const char *q = p->text; *q; q++)
            sum = sum * 3 + *q;
    }
    return sum & 63;
}
"""
    assert notes_of(code) == {}


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


def test_memory_that_an_unknown_function_wrote_has_its_recorded_value() -> None:
    made = snippet(
        """#include <stdlib.h>
extern char *hidden(char *text, int n);
int main(void) {
    char text[4] = "abc";
    char *same = hidden(text, 1);
    return same[1] + text[2];
}
""",
        "-w",
        hidden=r"""__asm__(".globl hidden\nhidden: movb $'x', 1(%rdi)\nmov %rdi, %rax\nret");""",
    )
    trace, encoding = encoding_of(made)
    assert [v for v in results(trace, encoding, 6, Kind.LOAD) if v and v < 256] == [ord("x"), ord("c")]
    assert encoding.unexplained == []
    assert encoding.notes["memory written by something unrecorded"] == 1
    assert encoding.notes["result taken as recorded: hidden"] == 1
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


PICK = """#include <stdio.h>
#include <stdlib.h>
struct entry { char name[4]; int price; };
static struct entry list[3] = {{"a", 10}, {"b", 20}, {"c", 30}};
int main(void) {
    int counts[4] = {7, 7, 7, 7}, fresh[3];
    short *heap = calloc(4, sizeof *heap);
    int i = getchar() - '0', j = getchar() - '0';
    counts[i] = 5;
    heap[j] = 40;
    counts[j] += list[i].price;
    fresh[i] = 1;
    fresh[j] = 2;
    counts[3] = fresh[j];
    return counts[2] + heap[1] + list[2].price;
}
"""


def test_with_cells_an_index_may_have_been_another_one() -> None:
    """The terms of one run, on inputs that lead to other cells, give what the runs on those inputs recorded."""
    made, inputs = snippet(PICK), [b"00", b"12", b"21", b"11", b"22"]
    traces = [made.trace(stdin=data) for data in inputs]
    runs = [encode(t, Inputs((), data), cells=16) for t, data in zip(traces, inputs, strict=True)]
    for run in runs:
        assert run.unexplained == []
        assert wrong_instances(run) == []
        predicted = _on_inputs(run, inputs)
        known = [k for k, i in enumerate(run.instances) if i.value is not None and i.kind in (Kind.LOAD, Kind.STORE)]
        assert len(known) > 10
        for row, other in enumerate(runs):
            assert [_number(predicted[k], row) for k in known] == [other.instances[k].value for k in known]


def test_a_pointer_that_was_cut_may_point_to_another_cell() -> None:
    code = """int main(int argc, char **argv) {
    int a[3] = {5, 6, 7}, *p = &a[argc], sum = 0;
    p++;
    sum = *p;
    return sum;
}
"""
    made = snippet(code)
    trace = made.trace()
    encoding = encode(trace, cut=(Kind.STORE,), cells=16)
    assert wrong_instances(encoding) == []
    (moved,) = terms_at(trace, encoding, 3, Kind.STORE)
    loaded = [t for t in terms_at(trace, encoding, 4, Kind.LOAD) if encoding.terms.widths[t] == 32]
    base = encoding.evaluation.value(moved)
    assert base is not None
    evaluation = Evaluation(encoding.terms)
    for symbol in encoding.symbols:
        value = encoding.evaluation.value(symbol)
        if value is not None:
            evaluation.set(symbol, value - 4 if symbol == moved else value)
    assert [encoding.evaluation.value(t) for t in loaded] == [7]
    assert [evaluation.value(t) for t in loaded] == [6]


def test_cells_are_for_whole_runs() -> None:
    with pytest.raises(ValueError, match="whole runs"):
        encode(snippet(PICK).trace(stdin=b"00"), events=[1], cells=4)
