"""Races at one access of a recorded run (figure 6.2): with what others did last before it, and first behind it."""

from __future__ import annotations

import pytest
from trace_readers import record, subject_of

from bench.threads.programs import PROGRAMS, Program
from whence.probe.layout import Kind
from whence.techniques.races.at_definition import RacesAt
from whence.techniques.races.check import Checker, Race
from whence.trace.trace import Trace

CHOSEN = ("counter", "read_unlocked", "structure_copy", "heap_free", "library_copy", "atomic_mixed", "bit_field")
RACING = [program for program in PROGRAMS if program.name in CHOSEN]


def races_at(text: str) -> tuple[RacesAt, Trace]:
    subject = subject_of(text)
    trace = record(subject).trace
    return RacesAt(Checker(subject), trace), trace


def two_threads(one: str, other: str, before: str = "", between: str = "") -> str:
    return f"""\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared, result;
static char text[16];
{before}
static void *first(void *unused)
{{
{one}
    return unused;
}}
static void *second(void *unused)
{{
{other}
    return unused;
}}
int main(void)
{{
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
{between}
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}}
"""


def event_at(trace: Trace, text: str, part: str, *kinds: Kind) -> int:
    """The last event of these kinds in the line with a text that is no comment's only."""
    line = next(n for n, one in enumerate(text.splitlines(), 1) if part in one)
    places = ((event, trace.location(event)) for event in range(trace.events))
    return max(e for e, at in places if at is not None and at.line == line and trace.kind(e) in kinds)


def lines(trace: Trace, races: list[Race]) -> list[tuple[int, int]]:
    places = [[trace.location(a.event) for a in (race.first, race.second)] for race in races]
    return [(one.line, other.line) for one, other in places if one is not None and other is not None]


def of_store(text: str, part: str, kind: Kind = Kind.STORE) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The lines of the races of a store, before it and behind it, counted from the line with the store."""
    races, trace = races_at(text)
    event = event_at(trace, text, part, kind)
    location = trace.location(event)
    assert location is not None
    found = (races.before(event, trace.ranges(event)[:1]), races.behind(event, trace.ranges(event)[:1]))
    before, behind = ([(a - location.line, b - location.line) for a, b in lines(trace, list(own))] for own in found)
    return before, behind


@pytest.mark.parametrize("program", RACING, ids=lambda program: program.name)
def test_races_that_the_pass_finds_are_found_at_their_accesses(program: Program) -> None:
    races, _ = races_at(program.text)
    assert races.checked.races
    for race in races.checked.races:
        ranges = [(race.address, race.length)]
        own = (race.first.event, race.second.event)
        if race.second.writes:
            found = list(races.before(race.second.event, ranges))
            assert race.first.thread in {r.first.thread for r in found}, own
        else:
            found = list(races.behind(race.first.event, ranges))
            assert race.second.thread in {r.second.thread for r in found}, own


@pytest.mark.parametrize("program", RACING, ids=lambda program: program.name)
def test_the_correct_twin_has_none_at_any_store(program: Program) -> None:
    races, trace = races_at(program.right)
    stores = [e for e in range(trace.events) if trace.kind(e) is Kind.STORE and not trace.is_private(e)]
    for event in stores[-40:]:
        ranges = trace.ranges(event)
        assert not [*races.before(event, ranges), *races.behind(event, ranges)]


def test_a_write_of_its_own_in_between_hides_nothing() -> None:
    text = two_threads("    shared = 1;", "    shared = 2;\n    shared = 3; // again")
    before, behind = of_store(text, "// again")
    assert len(before) == 1 and before[0][1] == 0 and before[0][0] < -3  # the first thread's, not its own
    assert behind == []


def test_of_each_thread_the_last_access_counts() -> None:
    locked = "    pthread_mutex_lock(&lock);\n    {}\n    pthread_mutex_unlock(&lock);"
    text = two_threads(
        "    result = shared;\n" + locked.format("result = shared;"), locked.format("shared = 3; // under the lock")
    )
    assert of_store(text, "// under the lock") == ([], [])


def test_another_thread_that_is_not_the_last_counts_too() -> None:
    third = """\
static void *third(void *unused) { shared = 9; return unused; }"""
    start = """\
    pthread_t more;
    pthread_create(&more, NULL, third, NULL);
    pthread_join(one, NULL);
    pthread_create(&one, NULL, first, NULL);"""
    text = two_threads("    result += 1;", "    shared = 3; // last", third, start)
    before, _ = of_store(text, "// last")
    assert len(before) == 1  # the third thread is joined by nobody


def test_a_read_behind_the_write() -> None:
    text = two_threads("    shared = 3; // given", "    result = shared;")
    before, behind = of_store(text, "// given")
    assert before == []
    assert [first for first, _ in behind] == [0]


def test_two_atomic_accesses_do_not_race() -> None:
    text = two_threads(
        "    atomic_store(&number, 3); // set", "    result = atomic_load(&number);", "static atomic_int number;"
    )
    assert of_store(text, "// set") == ([], [])


def test_what_had_the_place_before_the_block_was_taken_does_not_count() -> None:
    block = "    int *own = malloc(400);\n    own[2] = {}; // {}\n    free(own);"
    text = two_threads(block.format(1, "one"), block.format(2, "other"))
    assert of_store(text, "// other")[0] == []


def test_a_block_that_is_given_back_is_written_to() -> None:
    text = two_threads("    free(block);", "    block[1] = 5; // stale", "static int *block;", "")
    text = text.replace("    pthread_t one, other;\n", "    pthread_t one, other;\n    block = malloc(16);\n")
    before, _ = of_store(text, "// stale")
    assert len(before) == 1


def test_what_the_library_writes_and_reads_counts() -> None:
    text = two_threads('    strcpy(text, "some text"); // copied', "    result = (int)strlen(text);")
    races, trace = races_at(text)
    call = event_at(trace, text, "// copied", Kind.CALL)
    (address,) = {
        int(row["address"]) for row in trace.columns.cells[: trace.cells] if row["parent"] == call and row["kind"] == 1
    }
    assert list(races.before(call, [(address, 10)])) == []
    (race,) = races.behind(call, [(address, 10)])
    assert (race.first.event, race.second.writes) == (call, False)


def test_a_read_of_what_nothing_had_written_races_with_a_write_behind_it() -> None:
    text = two_threads("    result = shared; // read", "    shared = 3;")
    assert of_store(text, "// read", Kind.LOAD)[0] == []
    _, behind = of_store(text, "// read", Kind.LOAD)
    assert [first for first, _ in behind] == [0]
