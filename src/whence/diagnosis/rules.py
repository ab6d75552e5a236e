"""Rules, with guarded ones made of value pairs where that is asked for, and confirmed in the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whence.alter.work import Work
from whence.diagnosis.confirmation import confirm
from whence.findings import Findings
from whence.investigation.account import search_summary, summary
from whence.investigation.investigation import Investigation
from whence.techniques.rules.candidates import Family, Pair
from whence.techniques.rules.rules import rules
from whence.techniques.rules.trials import FURTHER, Settings
from whence.techniques.value_replacement.technique import searched_pairs

FAMILIES = tuple(family.name.lower() for family in Family)
SEARCHING = 0.8  # of the time, for altered runs; the rest is for compiling changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Finds changes of the source that repair failing cases, and ranks statements by them.

    ``families``: names of kinds of rules. ``failing``: failing cases, the shortest; ``passing``: passing cases to check
    a rule on, ``further``: other failing ones for what repairs most of the first. ``pairs``: values that mend failing
    runs are searched first, and guarded rules made of them. ``everywhere``: also where only some of the failing cases
    come. ``confirm``: the first are compiled in the source, and what does not hold there is dropped.
    """

    families: tuple[str, ...] = FAMILIES
    failing: int = 5
    passing: int = 25
    further: int = FURTHER
    pairs: bool = False
    everywhere: bool = False
    confirm: bool = True

    def run(self, investigation: Investigation) -> Findings:
        """The ranking by rules. Raises SubjectError where no case can be altered."""
        subject, runs = investigation.subject, investigation.runs
        rows = investigation.rows_alike(self.failing)
        families = frozenset(Family[name.upper()] for name in self.families)
        settings = Settings(families, self.failing, self.passing, self.everywhere, self.further)
        with investigation.work("trying rules", SEARCHING) as work:
            found = _pairs(investigation, rows, work) if self.pairs else ()
            findings = rules(subject, runs, work, settings, among=rows, pairs=found)
        if self.confirm:
            investigation.watcher.busy("compiling changes")
            findings = confirm(subject, runs, findings, investigation.clock.deadline)
        findings.summary = [*summary(subject, runs), *findings.summary, *search_summary(work)]
        return findings


def _pairs(investigation: Investigation, rows: Sequence[int], work: Work) -> Iterator[Pair]:
    """The pairs that Value Replacement finds in these failing runs: site, original and alternate bits."""
    searched = searched_pairs(investigation, rows, work)
    for run, target in enumerate(searched.targets):
        mine = searched.pairs[(searched.pairs["run"] == run) & ~searched.pairs["relaxed"]]
        sites, values = target.sites[mine["event"]].tolist(), target.values[mine["event"]].tolist()
        yield from zip(sites, values, mine["alternate"].tolist(), strict=True)
