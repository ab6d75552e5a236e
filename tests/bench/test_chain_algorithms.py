"""What is told of algorithms that end, and of those that are out of time."""

from __future__ import annotations

from bench.chain_algorithms import ALGORITHMS, MEASURED, Row, bounded, share, table, taken
from bench.chains import Chain


def chain(seconds: float, incomplete: bool = False, steps: str = "ab") -> Chain:
    return Chain(list(steps), tests=4, seconds=seconds, points=3000, incomplete=incomplete)


def row(measured: float, others: Chain) -> Row:
    return Row("cache", "01", {name: others if name != MEASURED else chain(measured) for name in ALGORITHMS})


def test_what_is_out_of_time_takes_at_least_what_it_had():
    """A fifth of the time goes to the beginning of a chain that is not complete."""
    assert taken(chain(10.0)) == 10.0 and taken(chain(10.0, incomplete=True)) == 8.0
    assert share(row(0.4, chain(10.0, incomplete=True)), ALGORITHMS[1]) == 0.05


def test_a_median_of_bounds_is_a_bound():
    assert bounded([(0.2, False), (0.1, False), (0.04, True)]) == "10.0%"
    assert bounded([(0.2, True), (0.1, False), (0.04, False)]) == "at most 10.0%"
    assert bounded([(0.05, True)]) == "at most 5.0%"


def test_each_algorithm_has_a_row_of_all_cases_and_one_of_long_ones():
    rows = list(table([row(0.5, chain(5.0)), row(0.4, chain(10.0, incomplete=True, steps="a"))]))
    assert [(one[0], one[1]) for one in rows] == [(name, w) for name in ALGORITHMS for w in ("all", "> 2,000")]
    others = [one[2:5] + one[-1:] for one in rows if one[0] != MEASURED]
    assert others == [["2", "1", "1 of 1", "7.5%"]] * 6
