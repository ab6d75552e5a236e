"""Rules by apriori against all subsets counted one by one, and the order in which they suggest fixes."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from whence.techniques.bugfix.association import Rule, learn, prioritise
from whence.techniques.bugfix.knowledge import Scenario

SCENARIOS = st.lists(
    st.tuples(st.sets(st.sampled_from("pqr"), min_size=1), st.sets(st.sampled_from("ABCDE"))), min_size=1, max_size=8
)


def database(read: list[tuple[set[str], set[str]]]) -> list[Scenario]:
    return [Scenario(tuple(sorted(fixes)), frozenset(seen), str(n)) for n, (fixes, seen) in enumerate(read)]


def counted(scenarios: list[Scenario], longest: int, least: int) -> dict[tuple[frozenset[str], str], tuple[float, int]]:
    """All rules, by counting the scenarios of every set."""
    texts = sorted(set().union(*(s.situation for s in scenarios)))
    found = {}
    for size in range(longest + 1):
        for chosen in map(frozenset, combinations(texts, size)):
            having = [s for s in scenarios if chosen <= s.situation]
            for fix in {fix for s in having for fix in s.fixes}:
                support = sum(fix in s.fixes for s in having)
                if support >= least:
                    found[chosen, fix] = support / len(having), support
    return found


@settings(deadline=None)
@given(SCENARIOS, st.integers(0, 3), st.integers(1, 3))
def test_rules_are_those_that_counting_finds(read: list[tuple[set[str], set[str]]], longest: int, least: int) -> None:
    scenarios = database(read)
    rules = learn(scenarios, longest=longest, least=least)
    assert {(r.situation, r.fix): (r.confidence, r.support) for r in rules} == counted(scenarios, longest, least)


@settings(deadline=None)
@given(SCENARIOS, st.sets(st.sampled_from("ABCDE")))
def test_a_situation_has_the_same_suggestions_by_its_own_rules(
    read: list[tuple[set[str], set[str]]], situation: set[str]
) -> None:
    scenarios = database(read)
    of_all, of_its_own = learn(scenarios, least=1), learn(scenarios, situation, least=1)
    assert prioritise(of_all, situation) == prioritise(of_its_own, situation)


def test_confidence_has_a_least() -> None:
    scenarios = database([({"p"}, {"A"}), ({"p"}, {"A"}), ({"q"}, {"A"})])
    assert {rule.fix for rule in learn(scenarios, least=1, confidence=0.5)} == {"p"}


def rule(situation: str, fix: str, confidence: float) -> Rule:
    return Rule(frozenset(situation), fix, confidence)


def test_suggestions_are_by_confidence_then_by_descriptors_and_each_fix_stands_once() -> None:
    rules = [
        rule("K", "swap", 0.2),
        rule("L", "drop", 0.9),
        rule("KL", "swap", 0.9),
        rule("KLM", "add", 0.9),
        rule("M", "drop", 1.0),
        rule("KX", "never", 1.0),  # the situation has no X
        rule("", "often", 0.3),
    ]
    found = prioritise(rules, "KLM")
    assert [(one.fix, one.rank) for one in found] == [("drop", 1), ("add", 2), ("swap", 3), ("often", 4)]
    assert found[2].rule == rules[2]


def test_rules_that_are_equal_share_a_rank() -> None:
    found = prioritise([rule("K", "a", 0.5), rule("L", "b", 0.5), rule("KL", "c", 0.4)], "KL")
    assert [(one.fix, one.rank) for one in found] == [("a", 1), ("b", 1), ("c", 2)]


def test_an_empty_database_suggests_nothing() -> None:
    assert learn([], "AB") == [] and prioritise([], "AB") == []
