"""Steps over recorded runs, forwards and backwards: against plain walks over all events, and by hand."""

from __future__ import annotations

import pytest
from cli_programs import line_of
from debugged import line, run_of, shown, steps, value
from snippets import C

from whence.debug.run import Run

PROGRAMS = ("recursion", "library_qsort", "setjmp_nested", "signals", "loop_control", "goto_into_loop", "exit_nested")


def plain_steps(run: Run) -> list[tuple[int, int, int]]:
    """All steps by a walk over all events: event, call, statement."""
    trace, reader = run.reader.trace, run.reader
    found, last = [], dict[int, int]()
    for event in range(run.timeline.end + 1):
        frame = int(trace.columns.segments[trace.columns.events[event]["segment"]]["frame"])
        number = int(reader.statement_numbers[trace.site(event)])
        if number >= 0:
            if last.get(frame) != number:
                found.append((event, frame, number))
            last[frame] = number
    return found


def plain_calls(run: Run, frame: int) -> list[int]:
    """A call and those that it was called from."""
    columns, found = run.reader.trace.columns, [frame]
    while (call := int(columns.frames[found[-1]]["call"])) >= 0:
        found.append(int(columns.segments[call]["frame"]))
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_ways_are_those_of_a_plain_walk(name: str) -> None:
    run = run_of((C / f"{name}.c").read_text())
    timeline, plain = run.timeline, plain_steps(run)
    rows = zip(timeline.events.tolist(), timeline.frames.tolist(), timeline.statements.tolist(), strict=True)
    assert list(rows) == plain and len(plain) > 10
    for place, (event, frame, _) in enumerate(plain):
        calls = plain_calls(run, frame)
        assert [number for number, _ in timeline.calls(event)] == calls
        assert timeline.depth(event) == len(calls) - 1
        assert timeline.step_in(event, 0) == (plain[place + 1][0] if place + 1 < len(plain) else timeline.end)
        following = [e for e, f, _ in plain[place + 1 :] if f in calls]
        assert timeline.step_over(event, 0) == (following or [timeline.end])[0]
        before = [e for e, f, _ in plain[:place] if f in calls]
        assert timeline.step_back(event, 0) == (before or [timeline.start])[-1]
        outside = timeline.step_out(event)
        assert outside == timeline.end or timeline.frame(outside) in calls[1:]


DEEP = """\
#include <stdio.h>
static int deep(int n)
{
    int own = n * 2;
    if (n == 0)
        return 0;
    return deep(n - 1) + own; /* CALL */
}
int main(void)
{
    return deep(5000) == 0; /* MAIN */
}
"""


def test_deep_recursion_costs_no_more_than_what_is_looked_at() -> None:
    run = run_of(DEEP)
    timeline = run.timeline
    innermost = steps(run, line_of(DEEP, "return 0"))[0]
    assert timeline.depth(innermost) == 5001
    outermost = [line(run, at) for _, at in timeline.calls(innermost, 5000, 10)]
    assert outermost == [line_of(DEEP, "CALL"), line_of(DEEP, "MAIN")]
    assert value(run, steps(run, line_of(DEEP, "if (n"))[1], "own") == 9998
    assert line(run, timeline.step_out(innermost)) == line_of(DEEP, "CALL")


THREADS = """\
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *work(void *given)
{
    int own = *(int *)given;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        total += own; /* ADD */
        pthread_mutex_unlock(&lock);
    }
    return NULL; /* LAST */
}
int main(void)
{
    pthread_t threads[2];
    int numbers[2] = {1, 10};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\\n", total); /* END */
    return 0;
}
"""


def test_threads_have_stacks_of_their_own_and_are_stepped_alone() -> None:
    run = run_of(THREADS)
    timeline, adds = run.timeline, steps(run, line_of(THREADS, "ADD"))
    assert len(adds) == 6
    for event in adds:
        thread = timeline.thread(event)
        assert thread > 0 and timeline.thread(timeline.step_over(event, thread)) == thread
        threads = timeline.thread_events(event)
        assert threads[thread] == event and 0 in threads
        assert {run.thread_name(n, at) for n, at in threads.items()} <= {"1 main", "2 work", "3 work"}
        for number, at in threads.items():
            assert [run.function(frame) for frame, _ in timeline.calls(at)] == ["work" if number else "main"]
            assert timeline.depth(at) == 0
        out = timeline.step_out(event)
        assert out == timeline.end
        assert shown(run, event, "own") == ("1" if thread == 1 else "10")
    assert value(run, steps(run, line_of(THREADS, "END"))[0], "total") == 33
    assert timeline.thread_events(steps(run, line_of(THREADS, "END"))[0]).keys() == {0}


def test_a_handler_of_a_signal_is_a_call_that_is_stepped_into() -> None:
    text = (C / "signals.c").read_text()
    run = run_of(text)
    (raised,) = steps(run, line_of(text, "int before") + 1)
    inside = run.timeline.step_in(raised, 0)
    assert run.function(run.timeline.frame(inside)) == "count"
    assert run.function(run.timeline.frame(run.timeline.step_over(raised, 0))) == "main"
    assert value(run, inside, "depth") == 0
