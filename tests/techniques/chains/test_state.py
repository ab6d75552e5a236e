"""Faulty variables at points of two runs (definitions 2 and 4): values, definitions, pointers, registers, branches."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from altering import case_of
from compared import Change, Compared, compared, line_with
from hypothesis import given
from hypothesis import strategies as st
from snippets import snippet

from whence.alter.changes import Op
from whence.alter.session import Session
from whence.probe.instrument import Variant
from whence.probe.layout import Kind
from whence.probe.sites import Role
from whence.techniques.chains.reference import Kind as Source
from whence.techniques.chains.reference import Reference
from whence.techniques.chains.state import Elsewhere, Faulty, Ranges, Reading, States, Written, _words, written_parts
from whence.techniques.chains.technique import compare
from whence.trace.writers import NOTHING

# Fails with 5, since `n > 4` should be `n > 5`.
PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static int limit = 3, spare, same, table[4];
static int *chosen, *inside;
static int g(void)
{
    return limit; /* RETURNED */
}
static int f(int n)
{
    int before = limit; /* OUTER */
    if (n > 0)
        before += f(n - 1); /* INNER */
    return before;
}
static int nine(void)
{
    int found = 9; /* DEEP */
    return found;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i = 0;
    int *extra = NULL, *block;
    if (n > 4) { /* SWITCH */
        limit = 5; /* LIMIT */
        same = 7; /* SAME */
        extra = malloc(64); /* EXTRA */
    } else
        same = 7;
    block = malloc(16); /* BLOCK */
    block[0] = block[1] = 4;
    chosen = block + 1; /* CHOSEN */
    inside = limit > 4 ? block : block + 1; /* INSIDE */
    block[1] = limit; /* HEAP */
    spare = limit + 1; /* SPARE */
    spare = 9; /* SPARED */
    table[i++] = g(); /* TABLE */
    f(1);
    spare = limit * nine(); /* WAITS */
    if (limit > 4) /* BRANCH */
        spare++;
    printf("%d\\n", table[0] + *chosen + *inside + same); /* END */
    return extra != NULL;
}
"""


@cache
def runs() -> Compared:
    return compared(PROGRAM, "5", "17\n", Change("SWITCH"))


@cache
def after(event: int) -> dict[str, Faulty]:
    """The faulty variables after an event, by the marks of the lines that gave them their values."""
    both, found = runs(), {}
    text = both.made.files[both.made.main].splitlines()
    for variable, faulty in both.walk().causality.states.difference(event).items():
        line = text[both.lines([variable.event])[0] - 1] if variable.event != NOTHING else "/* NOTHING */"
        mark = line.partition("/* ")[2].partition(" */")[0]
        found[mark + (" register" if not variable.length else "")] = faulty
    return found


def stored(mark: str, nth: int = 0) -> int:
    return runs().events(mark, Kind.STORE)[nth]


def values(faulty: Faulty) -> tuple[int, int]:
    return int.from_bytes(faulty.value, "little"), int.from_bytes(faulty.reference, "little")


def test_before_the_runs_part_nothing_is_faulty():
    both = runs()
    points = [p for p in both.pairing.points.tolist() if p < both.events("SWITCH", Kind.BRANCH)[0]]
    assert points and not any(after(p) for p in points)


def test_the_outcome_of_the_branch_at_hand():
    (faulty,) = after(runs().events("SWITCH", Kind.BRANCH)[0]).values()
    assert values(faulty) == (1, 0) and faulty.variable.length == 0


def test_a_value_has_the_event_that_defined_it():
    faulty = after(stored("HEAP"))["LIMIT"]
    assert values(faulty) == (5, 3)
    assert faulty.variable.event == stored("LIMIT")
    assert faulty.variable.address == runs().failing.trace.address(stored("LIMIT"))
    assert faulty.definition == NOTHING  # the reference run has the value that it began with


def test_equal_values_of_other_definitions_differ_too_but_are_stale():
    faulty = after(stored("HEAP"))["SAME"]
    assert faulty.is_stale and values(faulty) == (7, 7)
    assert faulty.definition >= 0 and runs().pairing.events[faulty.variable.event] != faulty.definition


def test_what_both_define_alike_is_faulty_no_more():
    assert values(after(stored("SPARE"))["SPARE"]) == (6, 4)
    found = after(stored("SPARED"))
    assert "SPARE" not in found and "SPARED" not in found and "LIMIT" in found


def test_blocks_that_lie_elsewhere_are_the_same_and_so_are_pointers_to_them():
    both, heap = runs(), stored("HEAP")
    rows, base = both.failing.objects, both.failing.trace.value(stored("BLOCK"))
    (mine,) = [n for n in both.failing.living(heap).tolist() if rows["base"][n] == base]
    theirs = int(both.pairing.objects[mine])
    assert rows["base"][mine] != both.pairing.reference.objects["base"][theirs]
    found = after(heap)
    assert values(found["HEAP"]) == (5, 3)  # found within it
    assert "BLOCK" not in found and "CHOSEN" not in found  # the same place of the same block


def test_a_pointer_in_a_register_is_compared_by_what_it_points_to():
    """``malloc`` gives another address in the reference run: a block was made before."""
    (given,) = runs().events("BLOCK", Kind.RESULT)
    assert runs().failing.trace.value(given) != runs().pairing.reference.trace.value(runs().pairing.events[given])
    assert not [v for v in runs().walk().causality.states.difference(given) if v.event == given]


def test_pointers_to_other_places_of_a_block_differ_by_their_offset():
    faulty = after(stored("HEAP"))["INSIDE"]
    block = int(runs().failing.trace.value(stored("BLOCK")) or 0)
    assert values(faulty) == (block, block + 4)  # the reference's, told as the failing run's


def test_locals_of_all_open_frames():
    inner = stored("OUTER", 1)
    found = [v.event for v in runs().walk().causality.states.difference(inner)]
    assert {stored("OUTER", 0), inner} <= set(found)
    assert values(after(inner)["OUTER"]) == (5, 3)


def test_locals_of_frames_that_are_left_are_no_variables():
    assert "OUTER" not in after(runs().events("BRANCH", Kind.BRANCH)[0])


def test_the_result_of_a_call_before_it_is_stored():
    result = runs().events("TABLE", Kind.RESULT)[0]
    assert values(after(result)["TABLE register"]) == (5, 3)
    stored_at = after(stored("TABLE", -1))
    assert "TABLE register" not in stored_at and values(stored_at["TABLE"]) == (5, 3)


def test_registers_that_expressions_of_open_frames_still_need():
    """In ``n * power(n - 1)`` the first ``n`` waits in a register for the call's result."""
    both = runs()
    inner = both.events("DEEP", Kind.STORE)[0]
    found = both.walk().causality.states.difference(inner)
    waiting = [faulty for variable, faulty in found.items() if not variable.length]
    assert [values(faulty) for faulty in waiting] == [(5, 3)]
    assert both.lines([waiting[0].variable.event]) == [both.line("WAITS")]
    behind = after(stored("WAITS", -1))
    assert "WAITS register" not in behind and values(behind["WAITS"]) == (45, 27)


EXTENTS = st.lists(st.tuples(st.integers(0, 24), st.integers(0, 40)), max_size=5)


@given(EXTENTS)
def test_the_words_of_ranges_lie_at_whole_addresses(gaps: list[tuple[int, int]]):
    """The twin looks at each byte."""
    starts, lengths = _extents(gaps)
    addresses = np.concatenate(
        [np.arange(0), *(start + np.arange(n) for start, n in zip(starts, lengths, strict=True))]
    )
    ends = np.repeat(starts + lengths, lengths)
    wanted = [
        at for at, (byte, end) in enumerate(zip(addresses, ends, strict=True)) if byte % 8 == 0 and byte + 8 <= end
    ]
    assert _words(Ranges(starts, lengths, starts)).tolist() == wanted


@given(EXTENTS, EXTENTS, EXTENTS, st.sampled_from([0, 1000, 7]))
def test_the_parts_of_objects_that_either_run_wrote_to(objects, mine, theirs, shift):
    """The twin marks each byte."""
    bases, sizes = _extents([(gap + 1, size) for gap, size in objects])
    wrote = [Written(starts, starts + lengths, starts) for starts, lengths in map(_extents, (mine, theirs))]
    marked = [{at for s, e in zip(w.starts, w.ends, strict=True) for at in range(s, e)} for w in wrote]
    rows = np.stack([bases, sizes, bases + shift], axis=1)
    found = written_parts((wrote[0], wrote[1]), rows)
    assert (found.others - found.starts == shift).all()
    bytes_ = [at for start, n in zip(found.starts, found.lengths, strict=True) for at in range(start, start + n)]
    inside = {at for base, size in zip(bases, sizes, strict=True) for at in range(base, base + size)}
    assert bytes_ == sorted(at for at in inside if at in marked[0] or at + shift in marked[1])
    assert (found.lengths > 0).all() and (found.starts[1:] > found.starts[:-1]).all()


def _extents(gaps: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Ranges that ascend without touching, from the gaps before them (one more) and their lengths, which are not 0."""
    starts, lengths, at = [], [], 0
    for gap, length in gaps:
        starts.append(at + gap + 1)
        lengths.append(length + 1)
        at = starts[-1] + lengths[-1]
    return np.array(starts, np.int64), np.array(lengths, np.int64)


ONLY_THERE = """\
#include <stdio.h>
#include <stdlib.h>
static char *text, *other;
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    other = malloc(8);
    if (n < 4) /* SWITCH */
        text = malloc(8);
    n = 1; /* BEHIND */
    printf("%d\\n", text != NULL);
    return 0;
}
"""


def test_pointers_to_what_only_the_reference_run_has_are_known_as_such():
    both = compared(ONLY_THERE, "5", "1\n", Change("SWITCH"))
    found = both.walk().causality.states.difference(both.events("BEHIND", Kind.STORE)[0])
    pointers = [faulty for faulty in found.values() if faulty.variable.length == 8]
    assert [faulty.is_foreign for faulty in pointers] == [True] and not any(pointers[0].value)


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_block_that_lies_elsewhere_in_altered_runs_is_not_taken_for_the_recorded_one(monkeypatch, is_moved):
    """Other bytes than were stored are no error by themselves (somebody else wrote them), unless the block moved."""
    event, seen = stored("HEAP"), Reading.seen

    def misread(reading):
        memory, own = (bytes(byte ^ 64 for byte in part) for part in seen(reading))
        return memory, own if is_moved else seen(reading)[1]

    monkeypatch.setattr(Reading, "seen", misread)
    states = States(runs().pairing)
    if not is_moved:
        assert states.difference(event)
        return
    with pytest.raises(Elsewhere):
        states.difference(event)


KEPT = """\
#include <stdio.h>
#include <stdlib.h>
static int kept = 1, other, shown;
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    other = n; /* OTHER */
    if (n > 4) /* SWITCH */
        other = 2;
    kept = 7; /* KEPT */
    shown = 1; /* BETWEEN */
    shown = 2; /* LATER */
    if (other == 5)
        kept = 8;
    shown = 3; /* BEHIND */
    printf("%d %d\\n", kept, shown);
    return 0;
}
"""


def test_what_is_not_faulty_is_so_until_one_of_the_runs_writes_to_it_again():
    """The reference run replaces ``kept``, which both have given the same value before."""
    both = compared(KEPT, "5", "8 3\n", Change("SWITCH"))
    states = both.walk().causality.states
    kept, between, later, behind = (both.events(m, Kind.STORE)[0] for m in ("KEPT", "BETWEEN", "LATER", "BEHIND"))
    (variable,) = (v for v in states.difference(behind) if v.event == kept)
    assert not any(states.is_known_equal(point, variable) for point in (between, later, behind))
    assert variable not in states.difference(between)
    states.note_equal(between, variable)
    assert states.is_known_equal(later, variable) and not states.is_known_equal(behind, variable)
    assert not states.is_known_equal(both.events("OTHER", Kind.STORE)[0], variable)


SORTED = """\
#include <stdio.h>
#include <stdlib.h>
static int values[2] = {2, 1}, shown;
static int order(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right; /* ORDER */
}
int main(int argc, char **argv)
{
    shown = atoi(argv[1]); /* BEFORE */
    qsort(values, 2, sizeof *values, order); /* SORT */
    shown = 1; /* BEHIND */
    shown = values[0];
    printf("%d\\n", shown);
    return 0;
}
"""


def test_what_a_change_leads_to_without_being_recorded_differs_from_the_change_on():
    """No recorded value differs until one of ``values`` is loaded."""
    both = compared(SORTED, "5", "2\n", Change("ORDER", Role.BINARY, Op.NEGATE))
    states = both.walk().causality.states
    assert not states.difference(both.events("BEFORE", Kind.STORE)[0])
    (found,) = states.difference(both.events("BEHIND", Kind.STORE)[0]).values()
    assert both.lines([found.variable.event]) == [both.line("SORT")]
    assert values(found) == (1 | 2 << 32, 2 | 1 << 32)


FED = """\
#include <stdio.h>
#include <stdlib.h>
static int turns, behind;
static char line[8];
int main(void)
{
    turns = 3; /* BEFORE */
    fgets(line, sizeof line, stdin); /* INPUT */
    if (turns > 2)
        behind = 1; /* BEHIND */
    turns = line[1];
    printf("%d\\n", turns);
    return 0;
}
"""


def test_of_two_cases_what_the_library_read_differs_as_soon_as_it_was_read():
    made = snippet(FED)
    failing, passing = (case_of(text, expected=b"98\n") for text in (b"xyz\n", b"xbz\n"))
    other = Reference(Source.CASE, "another", case=passing)
    with Session(made.subject, failing, variant=Variant.REPLAY) as session, compare(session, other) as comparison:
        states, trace = States(comparison.pairing), comparison.pairing.failing.trace
        before, behind = (made.events_at(trace, line_with(made, m), Kind.STORE)[0] for m in ("BEFORE", "BEHIND"))
        assert not states.difference(before)
        (found,) = states.difference(behind).values()
        assert (found.value, found.reference) == (b"xyz\n\0", b"xbz\n\0")
