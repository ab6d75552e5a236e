"""Which passing invocations are kept."""

from __future__ import annotations

from whence.run.invocations import Invocation
from whence.run.outcome import Expected
from whence.run.taken_apart import Judged
from whence.subject.invocation_choice import some_of_each


def judged(test: str, number: int, failed: bool = False) -> Judged:
    order = f"{number:05}"
    invocation = Invocation(order, ("tool",), {}, "/w", b"", "", 0, b"", b"", 0, 0)
    return Judged(f"{test}:{number}", test, invocation, Expected(), failed)


def chosen(passing: list[Judged], failing: list[Judged], most: int) -> list[str]:
    return [one.name for one in some_of_each(passing, failing, most)]


def test_all_tests_have_their_turn() -> None:
    passing = [judged(test, number) for test in "ab" for number in range(4)] + [judged("c", 0)]
    assert chosen(passing, [], 5) == ["a:0", "b:0", "c:0", "a:2", "b:2"]
    assert sorted(chosen(passing, [], 20)) == sorted(one.name for one in passing)


def test_of_a_long_test_those_beside_what_fails_and_some_from_all_over_are_kept() -> None:
    passing = [judged("a", number) for number in range(1000) if number != 500]
    found = chosen(passing, [judged("a", 500, failed=True)], 20)
    numbers = sorted(int(name[2:]) for name in found)
    assert set(range(496, 505)) - {500} < set(numbers)
    assert all(any(start <= number < start + 250 for number in numbers) for start in (0, 250, 500, 750))
    assert len(set(found)) == 20
