"""Which passing invocations of a test suite become cases, where there are more than are kept.

Of each test some, in turns. Of one test with hundreds of them (a script that goes through a specification) those say
most that come close to what fails: tests are written in the order of their subjects, so these stand beside it. Every
second one is taken from all over the test, since coverage needs what is unlike, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from whence.run.taken_apart import Judged


def some_of_each(passing: Sequence[Judged], failing: Sequence[Judged], most: int) -> list[Judged]:
    """At most ``most`` passing invocations; both are in the order in which they began."""
    by_test: dict[str, list[Judged]] = {}
    for one in passing:
        by_test.setdefault(one.test, []).append(one)
    turns = [
        list(_turns(ones, [other.invocation.order for other in failing if other.test == test]))
        for test, ones in by_test.items()
    ]
    return [one for turn in zip_longest(*turns) for one in turn if one is not None][:most]


def _turns(ones: Sequence[Judged], failing: Sequence[str]) -> Iterator[Judged]:
    """The invocations of a test: in turns the nearest to those that fail, and from all over."""
    spread = [ones[place] for place in _all_over(len(ones))]
    if not failing:
        yield from spread
        return
    orders = sorted([*(one.invocation.order for one in ones), *failing])
    place = {order: number for number, order in enumerate(orders)}
    marks = [place[order] for order in failing]
    near = sorted(ones, key=lambda one: min(abs(place[one.invocation.order] - mark) for mark in marks))
    yield from {one.name: one for pair in zip(near, spread, strict=True) for one in pair}.values()


def _all_over(number: int) -> list[int]:
    """The first numbers in an order whose every beginning is spread over all of them: by their bits read backwards."""
    bits = max(number - 1, 1).bit_length()
    return sorted(range(number), key=lambda place: f"{place:0{bits}b}"[::-1])
