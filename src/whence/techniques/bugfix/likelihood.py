"""How likely each of a statement's candidate edits is to be its fix.

Key idea: fixes of a kind are made so often, and that is shared by all candidates of the kind that a statement has,
those of each tier half as much as those of the one before. One of three comparison operators is a likelier fix than one
of three hundred sums, also where sums are mended as often, and a copy of the statement above than a sum made up.
An edit is of two kinds, by its most general description ("change an operator") and by its most special one ("change <
into <="), of which there are few fixes to know; the chances by both are multiplied.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from whence.program.source_edits import SourceEdit
from whence.techniques.bugfix.descriptions import describe
from whence.techniques.bugfix.knowledge import Scenario

TIER = 0.5  # how likely an edit is, to one of the tier before
UNSEEN = 1.0  # times that a fix counts as made beside those that are known: there are kinds that nobody has told of


def fixes_made(scenarios: Iterable[Scenario]) -> Counter[str]:
    """How often fixes of each kind were made."""
    return Counter(kind for scenario in scenarios for kind in dict.fromkeys((scenario.fixes[0], scenario.fixes[-1])))


def likeliest_first(edits: Iterable[tuple[float, SourceEdit]], made: Mapping[str, int]) -> list[SourceEdit]:
    """The edits of a statement, given with their tiers; equally likely ones by tier, then by size.

    Of the corpus' 212 fixes 43 are among the first three of their statement and 76 among the first ten (``bench.fixes
    --held``). Before statements had tiers by how well they fit there were 46, where a tier counted for less 43 or 39.
    """
    known = [(kinds_of(edit), tier, edit) for tier, edit in edits]
    shares = defaultdict[str, float](float)
    for kinds, tier, _ in known:
        for kind in set(kinds):
            shares[kind] += TIER**tier
    chance = {kind: (made.get(kind, 0) + UNSEEN) / share for kind, share in shares.items()}
    known.sort(key=lambda one: (-chance[one[0][0]] * chance[one[0][1]] * TIER ** (2 * one[1]), one[1], one[2].size))
    return [edit for _, _, edit in known]


def kinds_of(edit: SourceEdit) -> tuple[str, str]:
    """The most general and the most special description of an edit; empty where it changes nothing."""
    kinds = [both for both in (_kinds(old, new) for old, new in edit.changes) if both]
    return (kinds[0][0], kinds[-1][1]) if kinds else ("", "")


@lru_cache(maxsize=1 << 15)  # the same statement is put in at many places
def _kinds(old: bytes, new: bytes) -> tuple[str, str] | None:
    descriptions = describe(old, new)
    return (descriptions[0], descriptions[-1]) if descriptions else None
