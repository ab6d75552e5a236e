"""The record variant: nothing of the program is lost, values come back as they were, and runs repeat to the bit."""

from __future__ import annotations

import re
import struct

import numpy as np
import pytest
from snippets import C, Trace, Variant, program, programs, snippet

from whence.probe.instrument import cover_texts, probes_version, record_texts
from whence.probe.layout import Kind
from whence.probe.library import wrapped
from whence.program.model import Function
from whence.trace.columns import N_CELL

REPEATED = ["callbacks", "setjmp_nested", "variadic", "structures", "library_fgets", "crash_null", "constructors"]


def columns_of(trace: Trace) -> list[np.ndarray]:
    """All that decoding made of a run."""
    columns = trace.columns
    return [
        columns.segments[: trace.segments],
        columns.events[: trace.events],
        columns.cells[: int(columns.counts[N_CELL])],
        trace.segment_clock,
    ]


@pytest.mark.parametrize("name", REPEATED)
def test_ten_recordings_are_equal_to_the_bit(name: str):
    case = program(name)
    first: list[np.ndarray] | None = None
    for _ in range(10):
        _, path = case.snippet.record(*case.arguments, stdin=case.stdin)
        trace = case.snippet.open(path)
        found = [np.array(trace.units[: trace.bytes_used // 4]), *columns_of(trace)]
        path.unlink()
        if first is None:
            first = found
        assert all(a.tobytes() == b.tobytes() for a, b in zip(first, found, strict=True))


@pytest.mark.parametrize("name", ["structures", "inline_assembly", "computed_goto", "equal_statics", "switch_cases"])
def test_no_instruction_of_the_program_is_lost(name: str):
    """Without the lines that a probe added, and what makes behaviour defined, the instructions are the program's."""
    subject = program(name).snippet.subject
    texts = [*record_texts(subject.program, subject.numbering, wrapped()), *cover_texts(subject.program)]
    for text, module in zip(texts, 2 * subject.program.modules, strict=True):
        bodies = re.findall(r"^define [^\n]*\n(.*?)^}", text, re.M | re.S)
        ours = [c for c in module.chunks if isinstance(c, Function)]
        for body, function in zip(bodies, ours, strict=False):
            lines = [line for line in body.splitlines() if line.startswith("  ") and not line.startswith("   ")]
            kept = [line.strip() for line in lines if not re.match(r"  %whence", line)]
            opcodes = [i.opcode for i in function.instructions()]
            assert len([line for line in kept if line.split()[0] != "]"]) == len(opcodes)


VALUES = r"""
#include <stdio.h>
typedef unsigned __int128 wide;
static void take(_Bool b, signed char c, short s, long l, float f, double d, long double x, void *p) {
    volatile _Bool vb = b;
    volatile signed char vc = c;
    volatile short vs = s;
    volatile long vl = l;
    volatile float vf = f;
    volatile double vd = d;
    volatile long double vx = x;
    void *volatile vp = p;
    volatile wide vw = ((wide)7 << 64) | 9;
    (void)vb, (void)vc, (void)vs, (void)vl, (void)vf, (void)vd, (void)vx, (void)vp, (void)vw;
}
int main(void) {
    take(1, -3, -30000, -5000000000, 1.5f, -2.25, 3.75L, (void *)0x1234);
    return 0;
}
"""


def test_values_of_every_width_come_back():
    made = snippet(VALUES)
    trace = made.trace()
    stored = {line: trace.value(made.events_at(trace, line, Kind.STORE)[-1]) for line in range(5, 14)}
    assert stored[5] == 1
    assert stored[6] == 256 - 3
    assert stored[7] == 65536 - 30000
    assert stored[8] == (1 << 64) - 5000000000
    assert stored[9] == struct.unpack("<I", struct.pack("<f", 1.5))[0]
    assert stored[10] == struct.unpack("<Q", struct.pack("<d", -2.25))[0]
    assert stored[11] == 0x4000F000000000000000
    assert stored[12] == 0x1234
    assert stored[13] == 7 << 64 | 9
    loaded = made.events_at(trace, 14, Kind.LOAD)
    assert [trace.value(e) for e in loaded] == list(stored.values())


def test_arguments_and_results_have_values():
    code = """
    #include <stdlib.h>
    static int twice(int n) { return 2 * n; }
    int main(int count, char **arguments) {
        int a = twice(count + 20);
        int b = abs(a - 100);
        return b - 58;
    }
    """
    made = snippet(code, "-fno-builtin", "-w")
    trace = made.trace()
    assert trace.header.code == 0
    assert trace.value(made.events_at(trace, 5, Kind.RESULT)[0]) == 42
    assert trace.value(made.events_at(trace, 6, Kind.ARG)[0]) == (1 << 32) - 58
    assert trace.value(made.events_at(trace, 6, Kind.RESULT)[0]) == 58


def test_an_indirect_call_records_where_it_goes():
    case = program("function_pointers")
    trace = case.trace()
    calls = [e for e in range(trace.events) if trace.kind(e) is Kind.CALL and trace.target(e) is not None]
    assert len(calls) == 4
    assert len({trace.target(e) for e in calls}) == 2


def test_a_run_without_a_trace_records_nothing_and_stops_nowhere():
    made = program("switch_large").snippet
    assert made.run(variant=Variant.RECORD).stdout == made.run().stdout


def test_the_version_of_the_probes_depends_on_their_text():
    assert re.fullmatch("[0-9a-f]{64}", probes_version())


def test_every_program_says_what_it_shows():
    for name in programs():
        path = C / f"{name}.c"
        first = (path if path.exists() else C / name / "main.c").read_text().splitlines()[0]
        assert first.startswith("// "), name
