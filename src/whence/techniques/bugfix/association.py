"""The knowledge base of rules: association rules from situation descriptors to bug-fix descriptions.

Source: Jeffrey's dissertation (2009), section 8.1, definition 15 and section 8.2.2 (figure 8.7). Apriori finds the sets
of items that scenarios have in common; a rule's antecedent holds descriptors alone, its consequent one description. Of
a database only the descriptors of the situation at hand are looked at, since rules with any other one are not
considered for it: that gives the same rules as looking at all, in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from whence.techniques.bugfix.knowledge import Scenario

LONGEST = 3  # descriptors of a rule, at most
MOST_LEAST, SHARE = 8, 25  # scenarios that have all of a rule, at least: one in so many of all, at most so many
CONFIDENCE = 0.0  # of a rule that is considered, at least

Item = tuple[bool, str]  # whether it is a description of a fix, and its text


@dataclass(frozen=True, slots=True)
class Rule:
    """Where a situation has all of ``situation``, ``fix`` mended the statement in a share ``confidence`` of cases."""

    situation: frozenset[str]
    fix: str
    confidence: float
    support: int = 0  # scenarios with all of it


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A description of a fix with the rule that it comes from; ``rank`` counts from 1, ties share one."""

    fix: str
    rule: Rule
    rank: int


def learn(
    scenarios: Sequence[Scenario],
    situation: Collection[str] | None = None,
    *,
    longest: int = LONGEST,
    least: int | None = None,
    confidence: float = CONFIDENCE,
) -> list[Rule]:
    """The rules that scenarios support; with ``situation`` only those that a situation with these descriptors can use.

    A rule without a descriptor says how often a fix is made at all. Rules have at most ``longest`` descriptors, the
    support of ``least`` scenarios (None: more the more there are), and this confidence at least.
    """
    from efficient_apriori import itemsets_from_transactions

    least = least or max(1, min(MOST_LEAST, len(scenarios) // SHARE))
    transactions = [tuple(_items(scenario, situation)) for scenario in scenarios]
    if not transactions:
        return []
    support = min(1.0, least / len(transactions))
    found, _ = itemsets_from_transactions(transactions, min_support=support, max_length=longest + 1)
    counts = {frozenset(items): count for sets in found.values() for items, count in sets.items()}
    rules = []
    for items, count in counts.items():
        fixes = [text for is_fix, text in items if is_fix]
        if len(fixes) != 1 or count < least:
            continue
        descriptors = frozenset(item for item in items if not item[0])
        base = counts[descriptors] if descriptors else len(transactions)
        rules.append(Rule(frozenset(text for _, text in descriptors), fixes[0], count / base, count))
    return [rule for rule in rules if rule.confidence >= confidence]


def _items(scenario: Scenario, situation: Collection[str] | None) -> Iterable[Item]:
    yield from ((True, fix) for fix in dict.fromkeys(scenario.fixes))
    yield from ((False, text) for text in scenario.situation if situation is None or text in situation)


def prioritise(rules: Iterable[Rule], situation: Collection[str]) -> list[Suggestion]:
    """The suggestions for a situation in order (section 8.2.2, figure 8.7).

    Considered are rules whose descriptors the situation has; by confidence, then by their number of descriptors; of
    each description only the first occurrence. Rules that are equal in both share a rank; more support, then the text
    orders them.
    """
    known = frozenset(situation)
    considered = [rule for rule in rules if rule.situation <= known]
    considered.sort(key=lambda r: (-r.confidence, -len(r.situation), -r.support, r.fix, sorted(r.situation)))
    found: dict[str, Suggestion] = {}
    ranks: dict[tuple[float, int], int] = {}
    for rule in considered:
        if rule.fix not in found:
            rank = ranks.setdefault((rule.confidence, len(rule.situation)), len(ranks) + 1)
            found[rule.fix] = Suggestion(rule.fix, rule, rank)
    return list(found.values())
