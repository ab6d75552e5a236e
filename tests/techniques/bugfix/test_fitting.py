"""How well statements fit at a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.program.c_source import CSource
from whence.techniques.bugfix.fitting import WEIGHTS, Fitting
from whence.techniques.bugfix.likelihood import TIER

LIST = """\
struct list { int length; int *items; };
static void clear(struct list *list)
{
    list->items = 0;
    list->length = 0;
    note("cleared");
}
static void take(struct list *list, struct list *other, int spare)
{
    list->items = other->items;
    list->length = other->length;
    other->items = 0;
    spare = 1;
    note("taken");
    note("more");
}
"""


def ordered(behind_of: str, *texts: str) -> list[str]:
    """The statements, all of one tier, by how well they fit behind the one with a text."""
    source = CSource(LIST.encode())
    node = next(node for node in source.statements if source.name(node) == behind_of)
    tiers = dict(Fitting(source).tiers(node, True, [(text, 1) for text in texts]))
    return sorted(texts, key=tiers.__getitem__)


def test_what_stands_beside_the_like_elsewhere_fits_best() -> None:
    """Lists are cleared by their items and their length: the second one is missing here."""
    others = ["spare++;", "list->length = 0;", "other->length = spare;", "spare = 0;"]
    best = ordered("other->items = 0;", *others, "other->length = 0;")[:2]
    assert best == ["list->length = 0;", "other->length = 0;"]


@pytest.mark.parametrize("text", ["other->items = 1;", "spare = 2;"])
def test_what_would_be_set_twice_in_a_row_fits_worse(text: str) -> None:
    assert ordered("other->items = 0;", text, "list->length = spare;")[-1] == text


def test_what_the_function_does_not_know_fits_worse() -> None:
    assert ordered('note("more");', "unknown(list);", "note(list);")[-1] == "unknown(list);"


def test_every_weight_has_its_feature() -> None:
    source = CSource(LIST.encode())
    assert Fitting(source).features(source.statements[0], False, "list->length++;").keys() == WEIGHTS.keys()


@given(st.lists(st.sampled_from(["spare++;", "spare = 0;", "clear(list);", "take(list, other, 1);"]), unique=True))
def test_the_chances_of_all_together_stay_what_their_tiers_say(texts: list[str]) -> None:
    """So that statements as a whole become neither likelier nor less likely beside other edits."""
    source = CSource(LIST.encode())
    given_ = [(text, number % 3) for number, text in enumerate(texts)]
    found = [TIER**tier for _, tier in Fitting(source).tiers(source.statements[1], False, given_)]
    assert sum(found) == pytest.approx(sum(TIER**tier for _, tier in given_))
