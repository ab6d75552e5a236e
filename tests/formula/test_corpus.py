"""Runs of every corpus program: each recorded value is that of its term, and little is taken as recorded."""

from __future__ import annotations

import pytest
from encoded_runs import wrong_instances
from snippets import backward, snippet

from corpus import corpus
from whence.formula.encoder import Inputs, encode
from whence.formula.encoding import SymbolKind

CASES = 3
MOST_TAKEN = 0.03  # symbols that stand for recorded results and memory, as a share of the instances


def short_runs(name: str) -> list[corpus.Case]:
    """The cases with the shortest input that differ in their length."""
    cases = sorted(corpus.cases(name), key=lambda c: (c.stdin.stat().st_size if c.stdin else 0, len(c.text), c.number))
    return cases[:: max(1, len(cases) // (4 * CASES))][:CASES]


@pytest.mark.parametrize("name", corpus.programs())
def test_every_recorded_value_is_that_of_its_term(name: str) -> None:
    made = snippet(corpus.source_path(name).read_text())
    for case in short_runs(name):
        stdin = case.stdin.read_bytes() if case.stdin else b""
        trace = made.trace(*case.arguments, stdin=stdin)
        encoding = encode(trace, Inputs(case.arguments, stdin))
        assert len(encoding.instances) > 0.9 * trace.events
        assert encoding.unexplained == []
        assert [e for e in wrong_instances(encoding) if not _compares_functions(str(trace.instruction(e).text))] == []
        symbols = (*encoding.of_kind(SymbolKind.INITIAL), *encoding.of_kind(SymbolKind.OPAQUE))
        taken = sum(encoding.evaluation.value(symbol) is not None for symbol in symbols)
        assert taken <= 3 + MOST_TAKEN * len(encoding.instances)


def _compares_functions(text: str) -> bool:
    """A branch on the address of a function, which no event records."""
    return text.startswith("br ")


@pytest.mark.parametrize("name", corpus.programs())
def test_slices_agree_too(name: str) -> None:
    made = snippet(corpus.source_path(name).read_text())
    case = short_runs(name)[-1]
    stdin = case.stdin.read_bytes() if case.stdin else b""
    trace = made.trace(*case.arguments, stdin=stdin)
    outputs = [int(row["event"]) for row in trace.columns.outs[:1]]
    events = backward(trace, outputs).events
    encoding = encode(trace, Inputs(case.arguments, stdin), events)
    assert encoding.unexplained == []
    assert 0 < len(encoding.instances) <= len(events)
