"""Compact recordings made whole against full ones: the same events, definitions, addresses and values.

The two variants have different code, so static variables and the heap lie elsewhere by whole pages: addresses are
compared as an object and an offset in it.
"""

from __future__ import annotations

import numpy as np
import pytest
from generated import c_programs
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray
from snippets import Snippet, Trace, Variant, program, snippet

from whence.probe.compact import can_be_compact
from whence.trace.columns import N_EVENT, N_FRAME, N_HEAP, N_OUTER, N_SEGMENT
from whence.trace.compact import DoubtfulTrace
from whence.trace.effect_records import static_addresses
from whence.trace.trace import COMPACT

IMAGE, MAPPED = 0x550000000000, 0x560000000000  # between them lie the executable and the heap


def compact(made: Snippet, *arguments: str, stdin: bytes = b"", limit: int | None = None) -> Trace:
    """A compact recording of a run, made whole."""
    _, path = made.record(*arguments, stdin=stdin, limit=limit, variant=Variant.COMPACT)
    return made.open(path)


STACK, STACK_BYTES = 0x760000000000, 8 << 20  # frames have other sizes, multiples of 16, in the other variant


def placed(trace: Trace, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Addresses of static variables and of the heap as offsets from where those begin."""
    statics = np.sort(static_addresses(trace))
    blocks = trace.columns.heap["address"][: trace.columns.counts[N_HEAP]]
    inside = (values >= IMAGE) & (values < MAPPED)
    heap = int(blocks[(blocks >= IMAGE) & (blocks < MAPPED)].min(initial=MAPPED)) & -4096
    number = np.searchsorted(statics, values, "right")
    static = inside & (number > 0) & (values < heap)
    offsets = values - np.append(0, statics)[number]
    found = np.where(inside & (values >= heap), values - heap, values)
    found = np.where(static, (number << 32) + offsets, found)
    found = np.where((values >= STACK) & (values < STACK + STACK_BYTES), values & 15, found)
    return np.where(inside & ~static & (values < heap), -1, found)  # code


def assert_same(full: Trace, made: Trace) -> None:
    """All that decoding finds, and all addresses and values, are the same."""
    assert made.header.flags & COMPACT and not full.header.flags & COMPACT
    assert made.recorded is not made.units
    assert (made.header.end, made.header.code) == (full.header.end, full.header.code)
    for table, count in (("segments", N_SEGMENT), ("events", N_EVENT), ("frames", N_FRAME)):
        ours, theirs = getattr(made.columns, table), getattr(full.columns, table)
        rows = int(full.columns.counts[count])
        assert int(made.columns.counts[count]) == rows, table
        for name in ours.dtype.names:
            if name != "word":  # how many cells a copy has depends on where the stack's pages end
                assert (np.maximum(ours[name][:rows], -1) == np.maximum(theirs[name][:rows], -1)).all(), (table, name)
    outer = int(full.columns.counts[N_OUTER])
    assert (made.columns.outer[:outer] == full.columns.outer[:outer]).all()
    events = np.arange(full.events)
    assert (placed(full, full.addresses(events)) == placed(made, made.addresses(events))).all()
    (ours, known), (theirs, also) = made.values(events), full.values(events)
    assert (known == also).all()
    assert (placed(made, ours.view(np.int64)) == placed(full, theirs.view(np.int64))).all()


# Each stands for what compact recordings could get wrong.
CHOSEN = (
    *("array_index", "bit_fields", "by_value", "callbacks", "complex_numbers", "computed_goto", "conversions"),
    *(
        "crash_call",
        "crash_division",
        "crash_null",
        "crash_wild",
        "exit_nested",
        "floating",
        "goto_into_loop",
        "int128",
    ),
    *("longjmp_value", "memory_functions", "nested_calls", "pointers", "recursive_main", "setjmp_same_function"),
    *("shifts", "short_circuit", "small_structs", "stack_overflow", "static_initialisers", "switch_cases"),
    *("uninitialised", "unions", "variadic", "vectors", "volatile_bool"),
)


@pytest.mark.parametrize("name", CHOSEN)
def test_programs_with_one_feature_of_c_each(name: str) -> None:
    chosen = program(name)
    assert can_be_compact(chosen.snippet.subject.program)
    assert_same(chosen.trace(), compact(chosen.snippet, *chosen.arguments, stdin=chosen.stdin))


@settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(c_programs())
def test_random_programs(text: str) -> None:
    made = snippet(text, "-w")
    for arguments in ((), ("12", "7"), ("250", "1000000")):
        assert_same(made.trace(*arguments), compact(made, *arguments))


# Divisions, shifts, comparisons and floating point of all widths, on values that the optimiser does not know.
ARITHMETIC = """
#include <stdio.h>
#include <stdlib.h>
static volatile double sink;
static volatile float narrow;
static unsigned long total;
static void whole(long x, long y) {
    signed char c = (signed char)x; short s = (short)y; int i = (int)x; unsigned u = (unsigned)y; unsigned long l = x;
    long div = y ? x / y : 0, rem = y ? x % y : 0; int idiv = y ? i / (int)y : 0;
    unsigned udiv = u ? (unsigned)i / u : 0, urem = u ? (unsigned)i % u : 0;
    int less = c < s, above = (unsigned char)c > (unsigned short)s, both = (i < s) + (u >= 7) * 2 + (l <= 9) * 4;
    long shifted = (x << 3) ^ (x >> 2), by = (int)((unsigned)i >> (y & 31)) + (i << (y & 15)) + (i >> (y & 7));
    c += (signed char)s; s -= c; i = -i; u = ~u;
    total += (unsigned long)(div + rem + idiv + less + above + both + shifted + by + c + s + i) + udiv + urem + u + l;
}
static void floats(double a, double b, long n) {
    double sum = a + b, product = a * b, quotient = b != 0 ? a / b : 1, back = -(double)n;
    float f = (float)a, g = f * 3.5f - (float)n, h = (float)(n & 255);
    int order = (a < b) + (a <= b) * 2 + (a != b) * 4 + (f >= g) * 8, cut = (int)(sum / 1e4);
    long far = (long)(product / 1e6);
    sink = sum + product + quotient + back + order; narrow = f + g * h / 7.0f;
    total += (unsigned long)(cut + far) + (unsigned long)(order + (f > 1.5f));
}
int main(int count, char **arguments) {
    static const long values[] = {0, 1, -1, 2, 7, -7, 100, -128, 255, 65535, -65536, 2147483647,
                                  -2147483648L, 1L << 40};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
        for (unsigned j = 0; j < sizeof values / sizeof *values; j++) {
            whole(values[i], values[j] == -1 ? 3 : values[j]);
            floats((double)values[i] / 3, (double)values[j] * 1.25, values[j] & 0xffff);
        }
    printf("%lu\\n", total);
    return count < 1 || !arguments;
}
"""


def test_arithmetic_of_all_widths() -> None:
    made = snippet(ARITHMETIC, "-w")
    assert_same(made.trace(), compact(made))


NUMBERS = """
#include <stdio.h>
#include <stdlib.h>
static double data[2]; static double result;
int main(int count, char **arguments) {
    data[0] = atof(arguments[1]), data[1] = atof(arguments[2]);
    double both = data[0] * data[1];
    result = both + 1;
    printf("%g\\n", result);
    return count < 0;
}
"""


@pytest.mark.parametrize(("one", "other"), [("1e-200", "1e-115"), ("nan", "1"), ("1e-310", "1")])
def test_numbers_whose_bits_the_processor_decides_are_doubtful(one: str, other: str) -> None:
    made = snippet(NUMBERS)
    assert_same(made.trace("2", "3"), compact(made, "2", "3"))
    with pytest.raises(DoubtfulTrace):
        compact(made, one, other)


STRAY = """
#include <stdlib.h>
static void reach(int *place, int n) { place[n] = 5; }
static int frame(int n) { int one = 1, last = 2; reach(&one, n); return one + last; }
int main(int count, char **arguments) {
    volatile int kept = count;
    int found = frame(atoi(arguments[1]));
    return found + kept < 0;
}
"""


def test_a_write_to_the_stack_beside_all_locals_is_doubtful() -> None:
    made = snippet(STRAY, "-w")
    assert_same(made.trace("0"), compact(made, "0"))
    with pytest.raises(DoubtfulTrace):
        compact(made, "-3")


CRASHES = """
#include <stdlib.h>
static int values[4] = {1, 2, 3, 4};
static int step(int *from, int *to, int n) {
    int sum = from[0];
    sum += values[n & 3];
    to[n] = sum;  // crashes where `to` is null
    values[0] = from[n];
    return sum / (n - 7);  // and here where n is 7
}
int main(int count, char **arguments) {
    int n = atoi(arguments[1]), total = 0, *target = n == 3 ? NULL : calloc(16, 4);
    for (int i = 0; i <= n; i++)
        total += step(values, i == n ? target : values + (i & 1), i == n ? n & 7 : i & 1);
    return total < 0;
}
"""


@pytest.mark.parametrize("number", ["3", "7"])
def test_a_crash_amid_a_segment_is_where_the_full_recording_has_it(number: str) -> None:
    made = snippet(CRASHES, "-w")
    full, found = made.trace(number), compact(made, number)
    assert full.header.end == "signal"
    assert_same(full, found)


LOOP = """
#include <stdlib.h>
static unsigned table[64];
static unsigned step(unsigned n) { return n * 5 + 1; }
int main(int count, char **arguments) {
    unsigned n = 1, rounds = (unsigned)atoi(arguments[1]);
    for (unsigned i = 0; i < rounds; i++) {
        n = step(n);
        table[n & 63] += i;
    }
    return (int)(table[n & 63] & 7);
}
"""


def test_a_trace_of_many_chunks_and_one_that_is_cut() -> None:
    made = snippet(LOOP)
    full = made.trace("60000")
    found = compact(made, "60000")
    assert len(found.chunks) > 4 and found.bytes_used * 2 < full.bytes_used
    assert_same(full, found)
    beginning = compact(made, "60000", limit=1 << 20)
    rows = beginning.segments
    assert 0 < rows < full.segments
    assert (beginning.columns.segments["id"][:rows] == full.columns.segments["id"][:rows]).all()
    assert (
        beginning.columns.events["definition"][: beginning.events]
        == full.columns.events["definition"][: beginning.events]
    ).all()
