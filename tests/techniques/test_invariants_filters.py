"""Dependence filtering against a twin that walks paths, on the graphs of small programs with states drawn at random."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariant_runs import Runs, case_of, line_of

from whence.findings import Symptom
from whence.run.outcome import Expected
from whence.subject.recorder import Recorder
from whence.techniques.likely_invariants.candidates import Step, candidates
from whence.techniques.likely_invariants.filters import BROKEN, HOLDS, NOTHING, explained
from whence.techniques.likely_invariants.kinds import PAPER_SETTINGS, Kind, Settings
from whence.techniques.likely_invariants.runs import Failing
from whence.trace.slicing import dependences

HEADER = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
CHAIN = (
    HEADER
    + """\
static int data[4], copy[4];
static int less(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
int main(int argc, char **argv)
{
    int i, sum = 0;
    for (i = 0; i < argc; i++)
        data[i & 3] = (int)strlen(argv[i]);
    memcpy(copy, data, sizeof copy);
    qsort(copy, 4, sizeof *copy, less);
    for (i = 0; i < 4; i++)
        if (copy[i] > 1)
            sum += copy[i];
    printf("%d\\n", sum);
    return sum > 9;
}
"""
)
LOOP = (
    HEADER
    + """\
static int total;
int main(int argc, char **argv)
{
    int i, n = atoi(argv[1]);
    for (i = 0; i < n; i++)
        total += i;
    printf("%d\\n", total);
    return 0;
}
"""
)


@cache
def run_of(text: str, line: str) -> Failing:
    return Runs(text, [], [line]).bad[0]


def twin(run: Failing, states: list[int], control: bool) -> set[int]:
    """The events of the slice that a broken one explains: found by walking all paths backward from each."""
    trace = run.reader.trace

    @cache
    def uses(reference: int) -> list[int]:
        return [target for target, _ in dependences(trace.plan, trace.columns, reference, control)]

    found = set()
    for event in np.flatnonzero(run.slice.event_depth).tolist():
        waiting, known = list(uses(event + 1)), set()
        while waiting:
            reference = waiting.pop()
            if reference in known:
                continue
            known.add(reference)
            state = states[reference - 1] if reference > 0 else NOTHING
            if state == BROKEN:
                found.add(event)
                break
            if state == NOTHING:
                waiting += uses(reference)
    return found


@pytest.mark.parametrize(("text", "line"), [(CHAIN, "ab c dddd"), (LOOP, "4")])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_explained_against_twin(text, line, data):
    run = run_of(text, line)
    seed = data.draw(st.integers(0, 2**32 - 1))
    share = data.draw(st.sampled_from([0.02, 0.1, 0.3]))
    control = data.draw(st.booleans())
    drawn = np.random.default_rng(seed).random((2, run.reader.trace.events))
    states = np.where(drawn[0] < share, BROKEN, np.where(drawn[1] < 0.4, HOLDS, NOTHING)).astype(np.uint8)
    found = explained(run.reader.trace, run.slice, states, control)
    assert set(np.flatnonzero(found).tolist()) == twin(run, states.tolist(), control)


def test_states_may_be_too_short():
    run = run_of(LOOP, "4")
    assert not explained(run.reader.trace, run.slice, np.zeros(3, np.uint8)).any()


# ---- Steps -----------------------------------------------------------------------------------------------------------


STEPS = (
    HEADER
    + """\
static int size, room, idle, bytes, width;
int main(int argc, char **argv)
{
    size = atoi(argv[1]); /* FIRST */
    idle = atoi(argv[1]); /* UNUSED */
    width = atoi(argv[2]); /* OTHER */
    room = size + 1; /* BEHIND */
    bytes = room * width; /* LAST */
    printf("%d\\n", bytes);
    return 0;
}
"""
)


def lines_of(runs: Runs, sites) -> set[int]:
    numbers = runs.subject.places.numbers[runs.subject.plan.sites["instruction"][sites]]
    return {runs.subject.places.statements[number].line for number in numbers.tolist() if number >= 0}


def wrong(runs: Runs, line: str) -> Failing:
    """The run as a failing one: its output should have been another."""
    with Recorder(runs.subject) as recorder:
        runs.observer._recorder = recorder
        return runs.observer.failing(case_of(line, Expected(b"777\n")))


def test_steps():
    runs = Runs(STEPS, ["1 2", "3 2", "2 5"], [])
    first, second = wrong(runs, "9 2"), wrong(runs, "9 8")
    found = candidates(runs.observer, [first, second], runs.learned(), PAPER_SETTINGS)
    failed, sliced, left, several = (lines_of(runs, sites) for sites in found.sets)
    mark = {name: line_of(STEPS, name) for name in ("FIRST", "UNUSED", "OTHER", "BEHIND", "LAST")}
    assert {mark["FIRST"], mark["UNUSED"], mark["BEHIND"], mark["LAST"]} <= failed and mark["OTHER"] not in failed
    assert mark["UNUSED"] not in sliced and {mark["FIRST"], mark["BEHIND"], mark["LAST"]} <= sliced
    assert left == {mark["FIRST"]}
    assert several == {mark["FIRST"]}
    (site,) = found.sets[Step.SEVERAL].tolist()
    assert found.step_of(site) is Step.SEVERAL and found.held_for[site] == 2 and found.several == 2


def test_the_last_step_intersects():
    runs = Runs(STEPS, ["1 2", "3 2", "2 5"], [])
    found = candidates(runs.observer, [wrong(runs, "9 2"), wrong(runs, "2 8")], runs.learned(), PAPER_SETTINGS)
    assert lines_of(runs, found.sets[Step.DEPENDENCE]) == {line_of(STEPS, "FIRST")}
    assert len(found.sets[Step.SEVERAL]) == 0
    assert set(found.held_for.values()) == {1}


def test_other_symptoms_are_not_intersected():
    runs = Runs(STEPS, ["1 2", "3 2", "2 5"], [])
    first, other = wrong(runs, "9 2"), wrong(runs, "2 8")
    other.symptom = Symptom("crash", "elsewhere")
    found = candidates(runs.observer, [first, other], runs.learned(), PAPER_SETTINGS)
    assert found.several == 1 and found.sets[Step.SEVERAL].tolist() == found.sets[Step.DEPENDENCE].tolist()


def test_a_loop_does_not_explain_itself():
    """The first broken addition stays, though each of them is the next one's operand."""
    runs = Runs(LOOP, ["3"], [])
    found = candidates(runs.observer, [wrong(runs, "6")], runs.learned(), Settings(Kind.RANGE))
    first = lines_of(runs, found.sets[Step.DEPENDENCE])
    assert line_of(LOOP, "n = atoi") in first
    broken = found.broken[0]
    total = [s for s in found.sets[Step.SLICE].tolist() if lines_of(runs, [s]) == {line_of(LOOP, "total += i")}]
    assert total and all(len(broken.events(site)) >= 1 for site in total)


CRASH = (
    HEADER
    + """\
int main(int argc, char **argv)
{
    int *places[2] = {&argc, 0};
    int n = atoi(argv[1]);
    printf("%d\\n", *places[n]); /* CRASH */
    return 0;
}
"""
)


def test_the_place_of_a_crash_is_a_candidate():
    runs = Runs(CRASH, ["0"], ["1"])
    found = candidates(runs.observer, runs.bad, runs.learned(), Settings(Kind.RANGE, promote=True, plain=True))
    crash = int(runs.bad[0].readings.sites[runs.bad[0].symptom.event])
    assert crash in found.sets[Step.FAILED] and crash in found.sets[Step.SLICE]
    assert lines_of(runs, [crash]) == {line_of(CRASH, "CRASH")}
