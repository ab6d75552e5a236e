"""Slices of small programs hold exactly the lines that their texts say; edges and slices of both directions agree."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snippets import Trace, backward, forward, program, programs, snippet

from whence.probe.layout import Kind
from whence.trace.columns import N_FRAME, CellKind, FrameKind
from whence.trace.dependence import Edge
from whence.trace.slicing import backward_slice, dependences

SLICED = [name for name in programs() if program(name).snippet.marked("?")]
SMALL = ["callbacks", "longjmp_value", "members", "structures", "variadic", "library_strtok", "signals", "overlap"]


@pytest.mark.parametrize("name", SLICED)
def test_a_slice_holds_exactly_the_lines_that_the_program_marks(name: str):
    case = program(name)
    assert case.snippet.sliced(case.trace()) == case.snippet.expected


def edges(trace: Trace, control: bool = True) -> dict[int, list[int]]:
    """Every node of the dependence graph, as a reference, with what it depends on."""
    nodes = [*range(1, trace.events + 1), *(-n for n in range(1, trace.cells + 1))]
    return {n: [target for target, _ in dependences(trace.plan, trace.columns, n, control)] for n in nodes}


def distances(graph: dict[int, list[int]], start: int) -> dict[int, int]:
    """Breadth-first search: the definition of a slice and of depth in it."""
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for target in graph[node]:
            if target not in found:
                found[target] = found[node] + 1
                queue.append(target)
    return found


@pytest.mark.parametrize("control", [True, False])
@pytest.mark.parametrize("name", SMALL)
def test_slices_are_closures_of_the_edges_both_ways(name: str, control: bool):
    trace = program(name).trace()
    graph = edges(trace, control)
    reverse: dict[int, list[int]] = {node: [] for node in graph}
    for node, targets in graph.items():
        for target in targets:
            reverse[target].append(node)
    for event in range(0, trace.events, max(1, trace.events // 25)):
        expected = {n: d for n, d in distances(graph, event + 1).items() if n > 0}
        found = backward(trace, [event], control)
        assert dict(zip((found.events + 1).tolist(), found.depth_of(found.events).tolist(), strict=True)) == expected
        expected = {n: d for n, d in distances(reverse, event + 1).items() if n > 0}
        found = forward(trace, [event], control)
        assert dict(zip((found.events + 1).tolist(), found.depth_of(found.events).tolist(), strict=True)) == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_forward_slices_are_backward_slices_transposed(data: st.DataObject):
    trace = traced(data.draw(st.sampled_from(SMALL)))
    one = data.draw(st.integers(0, trace.events - 1))
    other = data.draw(st.integers(0, trace.events - 1))
    assert bool(backward(trace, [one]).event_depth[other]) == bool(forward(trace, [other]).event_depth[one])


TRACES: dict[str, Trace] = {}


def traced(name: str) -> Trace:
    if name not in TRACES:
        TRACES[name] = program(name).trace()
    return TRACES[name]


@pytest.mark.parametrize("name", SMALL)
def test_a_slice_may_end_early(name: str):
    """Behind the place where it ends it is the whole one, and before that what is reached from there at once."""
    trace = program(name).trace()
    graph, starts = edges(trace), [*trace.columns.segments["event"][: trace.segments].tolist(), trace.events]
    whole, criterion = set(backward(trace, [trace.events - 1]).events.tolist()), np.array([trace.events])
    for earliest in range(0, trace.events, max(1, trace.events // 7)):
        first = next(start for start in starts if start >= earliest)
        found = set(backward_slice(trace.plan, trace.columns, criterion, True, earliest).events.tolist())
        assert {event for event in found if event >= first} == {event for event in whole if event >= first}
        assert found <= whole
        at_once = {t - 1 for event in found if event >= first for t in graph[event + 1] if t > 0}
        assert at_once <= found


@pytest.mark.parametrize("name", SMALL)
def test_a_way_leads_from_an_event_to_the_criterion_along_edges(name: str):
    trace = traced(name)
    criterion = trace.events - 1
    found = backward(trace, [criterion])
    for event in found.events.tolist():
        way = list(found.way(event))
        assert (way[0], way[-1]) == (event, criterion)
        assert len(way) <= found.event_depth[event]  # cells on the way count as steps, but are not shown


@pytest.mark.parametrize("name", programs())
def test_what_is_depended_on_came_before(name: str):
    if name == "endless":
        return
    trace = traced(name)
    step = max(1, trace.events // 2000)
    for event in range(0, trace.events, step):
        for target, _ in dependences(trace.plan, trace.columns, event + 1):
            assert target <= event
            assert target != 0
    for cell in range(0, trace.cells, max(1, trace.cells // 500)):
        for target, _ in dependences(trace.plan, trace.columns, -cell - 1):
            assert target > -cell - 1


def lines_to(code: str, mark: str, *flags: str) -> dict[str, list[int]]:
    """Kinds of edges from the events of a marked line, with the lines they lead to."""
    made = snippet(code, *flags)
    trace = made.trace()
    (line,) = made.marked(mark)
    found: dict[str, set[int]] = {}
    for event in made.events_at(trace, line):
        for target, kind in dependences(trace.plan, trace.columns, event + 1):
            if target > 0:
                found.setdefault(kind.name, set()).update(made.lines(trace, np.array([target - 1])))
    return {kind: sorted(lines - {line}) for kind, lines in found.items() if lines - {line}}


def test_edges_say_what_kind_they_are():
    code = """int g; static int id(int n) {
    return n; }
int main(int count, char **arguments) {
    int values[3];
    int at = count;
    values[at] = 7;
    if (count)
        g = values[at]; //?
    (void)arguments;
    return id(g);
}
"""
    assert lines_to(code, "?") == {"MEMORY": [5, 6], "CONTROL": [7]}
    assert Edge.VALUE == 0


def test_a_callee_runs_because_of_its_call():
    code = """int g;
static void set(void) {
    g = 1; //?
}
int main(void) {
    set();
    return 0;
}
"""
    assert lines_to(code, "?") == {"CALL": [6]}


def test_a_copy_leaves_a_cell_for_each_run_of_bytes_with_one_writer():
    code = """
    #include <string.h>
    int main(void) {
        char from[64], to[64];
        memset(from, 1, sizeof from);
        from[10] = 2;
        memcpy(to, from, sizeof to);
        return to[10] - 2;
    }
    """
    made = snippet(code)
    trace = made.trace()
    cells = trace.columns.cells[: trace.cells]
    copies = cells[cells["kind"] == CellKind.COPY]
    assert copies["length"].tolist() == [10, 1, 53]
    assert (copies["definition"][[0, 2]] == copies["definition"][0]).all()
    assert copies["definition"][1] > 0


@pytest.mark.parametrize(("call", "failed"), [("4, 9", True), ("3, 9", False)])
def test_a_compare_and_exchange_that_fails_stores_nothing(call: str, failed: bool):
    code = f"""
    #include <stdatomic.h>
    atomic_long cell = 0;
    static int exchange(long old, long fresh) {{
        return atomic_compare_exchange_strong(&cell, &old, fresh);
    }}
    int main(void) {{
        cell = 3;
        int done = exchange({call});
        long seen = cell;
        return done && seen;
    }}
    """
    made = snippet(code)
    trace = made.trace()
    (store,) = made.events_at(trace, 8, Kind.STORE)
    (load,) = (e for e in made.events_at(trace, 10, Kind.LOAD))
    (exchange,) = (e for e in range(trace.events) if trace.kind(e) is Kind.RMW)
    assert trace.value(exchange) == 3
    assert (dependences(trace.plan, trace.columns, load + 1)[0][0] == store + 1) == failed
    assert trace.value(load) == (3 if failed else 9)


def test_each_variadic_argument_is_kept_apart_in_registers_and_on_the_stack():
    code = """
    #include <stdarg.h>
    struct big { long a, b, c; };
    struct pair { double x; long n; };
    int sink;
    static long pick(int which, ...) {
        va_list list;
        long found = 0;
        va_start(list, which);
        for (int i = 0; i <= which; i++) {
            switch (i % 5) {
            case 0: found = va_arg(list, int); break;
            case 1: found = (long)va_arg(list, double); break;
            case 2: found = va_arg(list, struct big).b; break;
            case 3: found = (long)va_arg(list, long double); break;
            default: found = va_arg(list, struct pair).n; break;
            }
        }
        va_end(list);
        return found;
    }
    int main(void) {
        struct big big; struct pair pair; long total = 0;
        for (int k = 0; k < 20; k++) {
            int i = k;
            double d = k;
            big.b = k;
            long double l = k;
            pair.n = k;
            pair.x = k;
            total += pick(k, i, d, big, l, pair, i, d, big, l, pair, i, d, big, l, pair, i, d, big, l, pair);
        }
        return (int)total - 190;
    }
    """
    made = snippet(code)
    trace = made.trace()
    assert trace.header.code == 0
    results = made.events_at(trace, 20, Kind.RET)
    assert len(results) == 20
    sources = {25: 0, 26: 1, 27: 2, 28: 3, 29: 4}
    for k, result in enumerate(results):
        found = set(made.sliced(trace, [result], control=False)) & set(sources)
        wanted = {line for line, kind in sources.items() if kind == k % 5}
        assert found == wanted | ({29, 30} & found if k % 5 == 4 else set()), k


def test_a_longjmp_returns_to_the_block_of_its_setjmp():
    case = program("setjmp_same_function")
    trace = case.trace()
    line = 7  # if (setjmp(places[n]))
    results = case.snippet.events_at(trace, line, Kind.RESULT)
    assert [trace.value(e) for e in results] == [0] * 6 + [1]
    frames = [int(trace.columns.segments[trace.columns.events[e]["segment"]]["frame"]) for e in results]
    assert frames[-1] == frames[2]
    assert len(set(frames)) == 6


def test_a_handler_is_a_frame_of_its_own():
    trace = program("signals").trace()
    frames = trace.columns.frames[: int(trace.columns.counts[N_FRAME])]
    names = [trace.program.functions[f].name for f in frames["function"].tolist()]
    assert list(zip(names, frames["kind"].tolist(), strict=True)) == [
        ("main", FrameKind.ROOT),
        ("count", FrameKind.CALLBACK),  # of raise
        ("count", FrameKind.CALLBACK),
        ("count", FrameKind.CALLBACK),
        ("escape", FrameKind.SIGNAL),  # amid a block
    ]
