"""Suppression with threads (figure 6.1): the race that a crash came of, else what suppression finds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from trace_readers import subject_of

from bench.suppression.threads import PROGRAMS
from bench.threads.programs import Program
from whence.alter.suppression import SuppressedRuns
from whence.diagnosis.racing_definitions import RacesAtDefinitions
from whence.run.cases import Case
from whence.run.outcome import Expected, Kind
from whence.run.schedule import DEFAULT, Point, Schedule
from whence.techniques.execution_suppression.algorithm import RACES, Suppressed, Suppression
from whence.techniques.execution_suppression.explanation import Explanation

CASE = Case("case", (), expected=Expected(), schedule=DEFAULT)
SECONDS = 60.0
NAMED = {program.name: program for program in PROGRAMS}


def followed(text: str, schedule: Schedule = DEFAULT, looks: bool = True) -> tuple[Suppressed, list[list[int]]]:
    """The executions, and the lines that each one's failure came of; without looking for races it is figure 5.3."""
    subject = subject_of(text)
    with SuppressedRuns(subject, replace(CASE, schedule=schedule)) as runs:
        races = RacesAtDefinitions(runs, lambda: SECONDS) if looks else None
        suppression = Suppression(runs, subject.folder, lambda: SECONDS, lambda _: None, lambda _: None, races)
        found = suppression.suppress()
    told = [Explanation(subject, step).json() for step in found.steps]
    return found, [[d["line"] for d in execution["suppressed"]] for execution in told]


def of_kind(kind: str) -> list[Program]:
    return [program for program in PROGRAMS if program.kind == kind]


def lines_of(found: Suppressed) -> set[int]:
    assert found.race is not None
    return {statement.line for statement in found.race.statements}


def verdicts(found: Suppressed) -> list[tuple[str, str]]:
    return [(race.shown["kind"], race.shown["harm"]["verdict"]) for step in found.steps for race in step.races]


@pytest.mark.parametrize("program", of_kind("race"), ids=lambda program: program.name)
def test_a_harmful_race_is_what_the_crash_came_of(program: Program) -> None:
    found, _ = followed(program.text)
    assert found.why == RACES
    assert lines_of(found) <= program.lines
    assert verdicts(found)[-1][1] == "harmful"


@pytest.mark.parametrize("program", [*of_kind("memory"), *of_kind("harmless")], ids=lambda program: program.name)
def test_without_a_harmful_race_it_is_what_was_suppressed_last(program: Program) -> None:
    found, lines = followed(program.text)
    last = next(found for found in reversed(lines) if found)
    assert (found.race, found.why) == (None, "")
    assert last[0] in program.lines
    assert not any(verdict == "harmful" for _, verdict in verdicts(found))


def test_before_a_race_is_reached_what_is_ordered_is_suppressed() -> None:
    found, lines = followed(NAMED["lost_step"].text)  # as in figure 6.4: under the lock first, then without it
    assert [step.recording.outcome.kind for step in found.steps] == [Kind.CRASH, Kind.CRASH]
    assert lines[0] == [26]
    assert not found.steps[0].races and found.steps[1].races


def test_a_race_with_what_comes_only_behind_the_crash() -> None:
    found, lines = followed(NAMED["started_early"].text)
    assert lines == [[16], []]  # nothing had written what was read; the other thread does so in the next execution
    assert not found.steps[0].races
    assert verdicts(found) == [("read-write", "harmful")]


def test_harmless_races_are_told_and_suppression_goes_on() -> None:
    found, _ = followed(NAMED["same_limit"].text)
    assert set(verdicts(found)) == {("write-write", "harmless"), ("write-read", "harmless")}
    assert [step.crashed for step in found.steps] == [True, False]


def test_without_a_search_for_races_it_is_suppression_alone() -> None:
    program = NAMED["checked_pointer"]
    found, lines = followed(program.text, looks=False)
    assert (found.race, found.why) == (None, "")
    assert lines[0] == [next(n for n, line in enumerate(program.text.splitlines(), 1) if "current = NULL" in line)]


def test_every_execution_has_the_schedule_of_the_case() -> None:
    text = NAMED["checked_pointer"].text.replace("        sched_yield();\n", "")
    found, _ = followed(text)
    assert [step.recording.outcome.kind for step in found.steps] == [Kind.PASS]
    taken_away = Schedule((Point(1, 2, 2),))  # between the look and the use
    found, _ = followed(text, taken_away)
    assert found.steps[0].crashed
    assert lines_of(found) <= {line - (line > 15) for line in NAMED["checked_pointer"].lines}


LEFT_OUT = """\
#include <pthread.h>
#include <stddef.h>
static int table[4], steps, number, *shared = &number;
static int place_of(int name) { return name * 100000000; }
static void *work(void *unused)
{
    int at = place_of(3); // wrong
    if (at > 3) {
        steps++;
        steps++;
    }
    if (shared != NULL) { // looked at
        table[at] = 1;
        *shared = 2;
    }
    return unused;
}
static void *leave(void *unused)
{
    shared = NULL; // taken away
    return unused;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, leave, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
"""


def test_turns_are_taken_at_the_same_places_where_steps_are_left_out() -> None:
    found, lines = followed(LEFT_OUT, Schedule((Point(1, 6, 2),)))  # before the table is written to
    assert lines[0] == [4]
    assert [step.crashed for step in found.steps] == [True, True]  # the second leaves the branch out: four steps
    assert found.steps[1].recording.case.schedule == Schedule((Point(1, 2, 2),))
    assert lines_of(found) <= {12, 14, 20}
    assert all(step.execution.in_turns for step in found.steps)


def test_a_race_says_what_may_order_its_threads_unseen() -> None:
    fence = '    __asm__ volatile("mfence");\n'
    text = NAMED["checked_pointer"].text.replace("    current = NULL;", f"{fence}    current = NULL;")
    found, _ = followed(text)
    assert found.race is not None
    assert found.race.shown["text"][-1] == "inline assembly in `hang_up`: what it orders is not seen"


def test_of_bytes_that_are_written_one_by_one_a_race_is_told_once() -> None:
    text = NAMED["same_limit"].text.replace(
        "    limit = 12; //!", "    for (int i = 0; i < 4; i++)\n        ((char *)&limit)[i] = i ? 0 : 12;"
    )
    found, _ = followed(text)
    assert len(found.steps[0].definitions) == 4
    assert sorted(verdicts(found)) == [("write-read", "harmless"), ("write-write", "harmless")]
