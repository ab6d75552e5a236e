"""What a ranking says of rules, for the run that its first entry's chain is told against.

The story of an entry has to be that of its change: not that of another one, nor of one that was compiled and did not
hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whence.diagnosis.tried_edits import FAMILY
from whence.findings import Entry, Findings, Statement


@dataclass(frozen=True, slots=True)
class Suggested:
    """A ``ranking``, of the failing cases ``rows`` (by default of all), and what was compiled of its changes.

    ``rule``: the change of its first statement (an entry of the part ``rules``). ``refuted``: changes that did not hold
    when they were compiled, each with its statement.
    """

    ranking: Sequence[Entry] = ()
    rows: Sequence[int] | None = None
    rule: Mapping[str, Any] | None = None
    refuted: frozenset[tuple[Statement, str]] = frozenset()

    @classmethod
    def of(cls, findings: Findings, rows: Sequence[int]) -> Suggested:
        """What findings say, whose changes may have been compiled."""
        ranking = findings.ranking
        rules = findings.parts.get("rules", [])
        mine = next((rule for rule in rules if ranking and _statement(rule) == ranking[0].statement), None)
        refuted = frozenset((_statement(rule), str(rule["rule"])) for rule in findings.parts.get("refuted", []))
        return cls(ranking, rows, mine, refuted)

    @property
    def statement(self) -> Statement | None:
        """The first one."""
        return self.ranking[0].statement if self.ranking else None

    @property
    def edit(self) -> Mapping[str, Any] | None:
        """Its change, where that is an edit of the source with which all cases pass, as it was compiled."""
        return self.rule if self.rule and _is_edit_that_mends(self.rule) else None

    @property
    def told(self) -> tuple[Statement, str] | None:
        """Its change, by statement and words."""
        return (_statement(self.rule), str(self.rule["rule"])) if self.rule else None


NOTHING = Suggested()


def _is_edit_that_mends(rule: Mapping[str, Any]) -> bool:
    """Whether a rule is an edit of the source that was compiled, with which all cases pass, with nothing against it."""
    is_whole = rule["f2p"] == rule["failing"] and not rule["p2f"] and not rule["doubt"]
    return bool(rule["family"] == FAMILY and rule.get("confirmed") and is_whole and rule["after"] is not None)


def _statement(rule: Mapping[str, Any]) -> Statement:
    return Statement(rule["file"], rule["line"])
