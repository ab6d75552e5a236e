"""What an edit costs: numbers and names that the program does not have count for more than their tokens."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.program.source_edits import Kind, Part, SourceEdit
from whence.techniques.bugfix.novelty import COPIED, NAME, NUMBER, cost, new_literals

PRICE = b"""\
static int base(int zone) { return zone == 7 ? 200 : 350; }
static int price(int weight, int rate)
{
    int cents = weight * 3 + 100;
    if (weight > 20)
        cents += rate;
    return cents;
}
"""


def edit(old: bytes, new: bytes) -> SourceEdit:
    """The edit of `price` that makes one text of another; of nothing: something put in before its return."""
    start = PRICE.index(old or b"return cents")
    kind, end = (Kind.REPLACE, start + len(old)) if old else (Kind.BEFORE, start)
    return SourceEdit("price.c", 4, (Part(kind, start, end, new),), ((old, new),))


@pytest.mark.parametrize(
    ("old", "new", "literals", "expected"),
    [
        (b"weight > 20", b"weight >= 20", set(), 1),
        (b"100", b"433", {"433"}, 1 + NUMBER),
        (b"100", b"101", set(), 1),  # one more is no number made up
        (b"100", b"350", set(), 1),  # the file has it
        (b"100", b"0", set(), 1),
        (b"weight * 3", b"weight * 3 + 4.5", {"4.5"}, 2 + NUMBER),
        (b"weight > 20", b"weight > 'k'", {"'k'"}, 1 + NUMBER),
        (b"", b"cents = 0;", set(), 4),
        (b"", b"cents+=rate;", set(), COPIED),  # the function does that elsewhere
        (b"", b"cents += weight;", set(), 4),
        (b"", b"cents--;", set(), 3),
        (b"", b"cents -= base(weight);", set(), 7 + NAME),  # a function that is not called elsewhere in this one
    ],
)
def test_what_an_edit_costs(old: bytes, new: bytes, literals: set[str], expected: int) -> None:
    source, made = CSource(PRICE), edit(old, new)
    assert new_literals(source, made) == literals
    assert cost(source, made) == expected


def test_a_name_with_digits_is_no_number() -> None:
    assert new_literals(CSource(PRICE), edit(b"rate;", b"rate2 + x1e5;")) == set()
