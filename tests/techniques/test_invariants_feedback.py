"""What candidates are told as: sentences for each kind, values as C prints them, the expression behind a value."""

from __future__ import annotations

import pytest
from invariant_runs import Runs, line_of

from tests.techniques.test_invariants_kinds import EXECUTED, RANGES, SIMPLE
from whence.techniques.likely_invariants.candidates import Step, candidates
from whence.techniques.likely_invariants.feedback import Candidate, Feedback, changed
from whence.techniques.likely_invariants.kinds import Kind, Settings


def told(runs: Runs, settings: Settings) -> list[Candidate]:
    invariants = runs.learned()
    found = candidates(runs.observer, runs.bad, invariants, settings)
    return Feedback(runs.observer, invariants, found).candidates()


SAYS_RANGE = "`total` on line 13 was 18 here; in 2 good runs it was 2 or 10"
SAYS_VALUES = "`first` on line 9 was 2 here; in 2 good runs it was 1 or 3"
SAYS_NONZERO = "`number` on line 15 was 0.0 here; in 2 good runs it was never 0 (-1.0 to 1.0)"
SAYS_STEP = "`i` on line 11 changed by 2, from 0 to 2; in 1 good run by 1"
SAYS_ORDER = "`limit` on line 13 was 4; `first` was greater (5); in 1 good run that never was so"
SAYS_BRANCH = "the condition `n > 10` on line 8 was true; in 1 good run it was always false"
SAYS_SWITCH = "the switch on `n` on line 10 went a way that it did not go in 1 good run"


@pytest.mark.parametrize(
    ("text", "kind", "good", "bad", "mark", "sentence"),
    [
        (RANGES, Kind.RANGE, ["1", "5"], "9", "STORE", SAYS_RANGE),
        (SIMPLE, Kind.RANGE, ["1 9 1 x"], "1 9 nan x", "FLOAT", "was nan here; in 1 good run it was always 1.0"),
        (SIMPLE, Kind.RANGE, ["1 9 1 x"], "1 9 1 a", "POINTER", "was null here; in 1 good run it was always not null"),
        (SIMPLE, Kind.NONZERO, ["1 9 -1 x", "1 9 1 x"], "1 9 0 x", "FLOAT", SAYS_NONZERO),
        (SIMPLE, Kind.VALUES, ["1 9 1 x", "3 9 1 x"], "2 9 1 x", "int first", SAYS_VALUES),
        (SIMPLE, Kind.STEP, ["1 9 1 x"], "2 9 1 x", "STEP", SAYS_STEP),
        (SIMPLE, Kind.ORDER, ["1 9 1 x"], "5 4 1 x", "ORDER", SAYS_ORDER),
        (
            EXECUTED,
            Kind.EXECUTED,
            ["5"],
            "12",
            "NEW",
            "line 9 was executed, but not in the good run that it was compared with",
        ),
        (EXECUTED, Kind.BRANCH, ["5"], "12", "TEST", SAYS_BRANCH),
        (EXECUTED, Kind.BRANCH, ["5"], "1", "SWITCH", SAYS_SWITCH),
    ],
)
def test_sentences(text, kind, good, bad, mark, sentence):
    found = told(Runs(text, good, [bad]), Settings(kind))
    line = line_of(text, mark)
    assert any(candidate.statement.line == line and sentence in candidate.text for candidate in found)
    assert all(candidate.kinds == [kind.name.lower()] for candidate in found)


@pytest.mark.parametrize(
    ("change", "at_most", "is_condition", "words"),
    [
        (-2, True, False, "fell by 2 or more"),
        (-2, False, False, "fell by 2 or less"),
        (1_000, True, False, "rose by 1,000 or less"),
        (1, False, False, "rose by 1 or more"),
        (0, True, False, "did not rise"),
        (0, False, False, "did not fall"),
        (1, False, True, "went from false to true"),
        (-1, True, True, "went from true to false"),
        (0, True, True, "did not go from false to true"),
    ],
)
def test_changes_in_words(change, at_most, is_condition, words):
    assert changed(change, at_most, is_condition) == words


def test_values_and_distance():
    found = told(Runs(RANGES, ["1", "5"], ["9"]), Settings(Kind.RANGE))
    total = next(candidate for candidate in found if candidate.statement.line == line_of(RANGES, "STORE"))
    assert (total.value, total.low, total.high) == ("18", "2", "10")
    assert total.distance == pytest.approx((18 - 10) / (10 - 2 + 1))


EXPRESSION = """\
#include <stdio.h>
#include <stdlib.h>
static int table[8];
static int chosen(int n, int m)
{
    int low = n * 3;
    int high = m + table[1]; /* LOAD */
    int other = n - 1;
    if (low > 12) /* TEST */
        low = low - m; /* CHANGE */
    return low + high; /* RETURN */
}
int main(int argc, char **argv)
{
    table[1] = atoi(argv[2]);
    printf("%d\\n", chosen(atoi(argv[1]), argc));
    return 0;
}
"""


def test_expressions():
    """The lines that the value was computed from within its function, and the branch that led there."""
    runs = Runs(EXPRESSION, ["5 1", "6 1"], ["9 1"])
    settings = Settings(Kind.RANGE, promote=True, plain=True)
    found = told(runs, settings)
    returned = next(c for c in found if c.statement.line == line_of(EXPRESSION, "RETURN"))
    lines = [line.line for line in returned.lines]
    expected = [line_of(EXPRESSION, mark) for mark in ("low = n", "LOAD", "TEST", "CHANGE")]
    assert lines == [line_of(EXPRESSION, "RETURN"), *expected]
    assert returned.step is Step.FAILED
