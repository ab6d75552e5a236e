"""Value Replacement on an investigation: another value at each point of its failing runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from whence.alter.work import Work
from whence.errors import SubjectError
from whence.findings import Findings
from whence.investigation.account import search_summary, summary
from whence.investigation.investigation import Investigation
from whence.techniques.value_replacement.mapping_pairs import Searched, Settings
from whence.techniques.value_replacement.ranking import search, values


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueReplacement:
    """Ranks statements by whether another value there makes failing runs pass.

    ``full``: every value that any case has had, at every instance, in every run. ``neighbours``: also the value + 1,
    - 1 and 0. ``sets``: all values of a statement's instance at once. ``prune``: once a run is mended, only what mended
    it is searched. ``failing``: failing runs, the shortest. ``plain``: as the dissertation has it. ``ties``: the
    formula that orders equals, by default Op2, or with ``plain`` the dissertation's, Tarantula.
    """

    full: bool = False
    neighbours: bool = True
    sets: bool = False
    prune: bool = True
    failing: int = 5
    plain: bool = False
    ties: str | None = None

    def run(self, investigation: Investigation) -> Findings:
        """The ranking by value mapping pairs. Raises SubjectError where no case fails, or none can be altered."""
        rows = investigation.rows_alike(self.failing)
        neighbours = self.neighbours and not self.full and not self.plain
        settings = Settings(full=self.full, neighbours=neighbours, prunes=self.prune, sets=self.sets)
        subject = investigation.subject
        with suppress(SubjectError):  # what is known of the shortest run says what is searched first
            investigation.record_departing(rows[0])
        with investigation.work() as work:
            searched = searched_pairs(investigation, rows, work, settings)
            findings = values(subject, searched, investigation.coverage, self.ties, self.plain)
        findings.parts["search"] = {
            "altered": searched.altered,
            "possible": searched.possible,
            "stopped": bool(work.stopped),
        }
        findings.summary = [*summary(subject, investigation.runs), *findings.summary, *search_summary(work)]
        return findings


def searched_pairs(
    investigation: Investigation, rows: Sequence[int], work: Work, settings: Settings | None = None
) -> Searched:
    """The pairs of the failing cases of these rows; all other cases lend their values."""
    tested = investigation.runs.tested
    failing = [tested[row].case for row in rows]
    others = [other.case for row, other in enumerate(tested) if row not in rows]
    return search(investigation.subject, failing, others, work, settings, investigation.departures)


def replaced(investigation: Investigation, rows: Sequence[int], work: Work) -> Findings:
    """What Value Replacement finds in the failing cases of these rows."""
    searched = searched_pairs(investigation, rows, work)
    return values(investigation.subject, searched, investigation.coverage)
