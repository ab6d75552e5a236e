"""Conditions that a place can have: what they compare, and which of them come first."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.techniques.bugfix.conditions import TIERS, Conditions
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.terms import Terms

STORE = """\
#include <stdbool.h>
#define ROOM 8
enum mode { OPEN, SHUT };
struct store { int items[ROOM]; int count, first; bool closed; };
static bool strict;
static enum mode mode;
static int low, high;
static int limit(int n)
{
    return n > 40 ? 40 : n;
}
static void put(struct store *store, int item, int other)
{
    store->items[store->count] = item;
    store->count++;
}
static int fits(int width, int depth)
{
    return width >= 3 && low >= 0;
}
"""


def conditions_at(text: str, place: str) -> list[str]:
    """The conditions of the statement that begins with a text, in their order."""
    source = CSource(text.encode())
    (node,) = [node for node in source.statements if source.name(node).startswith(place)]
    scope = Scope(source)
    return [condition for condition, _ in Conditions(scope, Terms(scope)).near(node)]


@pytest.mark.parametrize(
    ("place", "condition"),
    [
        ("store->items", "store->count >= ROOM"),  # the size of the array that is written to
        ("store->items", "store->count == ROOM"),
        ("store->items", "item < 40"),  # what bounds another number
        ("store->items", "strict"),
        ("return width", "depth >= 3"),  # what is asked of another variable
        ("return width", "high >= 0"),
        ("return width", "mode != SHUT"),
    ],
)
def test_a_condition_is_there(place: str, condition: str) -> None:
    assert condition in conditions_at(STORE, place)


def test_flags_come_before_comparisons_of_numbers_and_the_statement_s_before_the_file_s() -> None:
    found = conditions_at(STORE, "store->items")
    flags, numbers = found.index("store->closed"), found.index("store->count == item")
    assert flags < found.index("strict") < found.index("high > 0") and flags < numbers
    assert found.index("store->count >= ROOM") < numbers < found.index("low < 0")


def test_no_more_than_so_many_are_tried_and_none_twice() -> None:
    found = conditions_at(STORE, "store->items")
    assert len(found) == len(set(found)) <= TIERS[-1]


def test_no_condition_compares_a_variable_with_itself() -> None:
    found = conditions_at("int f(int a, int b)\n{\n    return a < b;\n}\n", "return")
    assert "a == b" in found and not {"a < a", "b < b"} & set(found)


FLAGS = """\
struct order { int paid, gift, count; };
static void read_order(struct order *order, int word)
{
    if (word == 1)
        order->paid = 1;
    else
        order->gift = word > 2;
    order->count = 0;
}
static int price(struct order *order)
{
    int cents = 100;
    cents += order->count;
    return cents;
}
"""


def test_a_number_that_is_only_whether_something_holds_is_a_flag() -> None:
    found = conditions_at(FLAGS, "cents += ")
    for name in ("paid", "gift"):
        assert {f"order->{name}", f"!order->{name}"} <= set(found[:10]) and f"order->{name} > 0" not in found
    assert "order->count > 0" in found and "order->count" not in found  # what is set to 0 alone is counted elsewhere
