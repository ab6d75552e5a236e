"""Correction sets, with what altered runs show of the same failure: rules, and values that are forced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whence.alter.work import Work
from whence.diagnosis.searches import rules_and_values
from whence.errors import SubjectError
from whence.findings import Findings
from whence.investigation.account import search_summary, summary
from whence.investigation.investigation import Investigation
from whence.techniques.formula_based.ranking import findings
from whence.techniques.formula_based.technique import Prepared, prepare, solve, solve_paths

METHODS = ("path", "ofc", "bugassist")  # one path; several, on demand; all of them
SOLVING = 0.35  # of the time that is left; the rest is for altered runs where they are needed


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionSets:
    """Finds the statements whose change can make failing runs right, and the values that they had to have.

    ``failing``: failing runs, the shortest. ``size``: statements in a set at most. ``method``: which paths a formula
    has, one of METHODS. ``weights``: the formula that orders equals. ``alter``: failing runs are altered as well.
    """

    failing: int = 5
    size: int = 2
    method: str = METHODS[0]
    weights: str = "op2"
    alter: bool = True

    def run(self, investigation: Investigation) -> Findings:
        """The ranking by correction sets. Raises SubjectError where no formula can be made and no run be altered."""
        rows = investigation.rows_alike(self.failing)
        investigation.record_failing(rows)  # at the first use what that compiles is not part of the search
        with investigation.work() as work:
            prepared = prepare(investigation, rows, work, self.weights)
            found = self._localised(investigation, rows, prepared, work)
        found.summary[:0] = summary(investigation.subject, investigation.runs)
        found.summary += search_summary(work)
        return found

    def _localised(self, investigation: Investigation, rows: Sequence[int], prepared: Prepared, work: Work) -> Findings:
        """What prepared formulas name, and what altered runs show."""
        runs = investigation.runs
        with work.share(SOLVING):
            found, paths = solve(prepared, investigation, work, self.size), list[str]()
        if self.method != METHODS[0]:
            with work.share(SOLVING):
                paths = solve_paths(found, prepared, work, self.size, self.method)
        altered: list[Findings] = []
        if self.alter and all(runs.tested[row].case.command is None for row in rows):
            try:
                altered = rules_and_values(investigation, rows, work)
            except SubjectError as error:  # what formulas say stands without
                if not found.diagnoses:
                    raise
                runs.left_out.append(f"no altered runs: {error}")
        elif not prepared.failing:
            raise prepared.refused[0]
        result = findings(investigation.subject.name, found, prepared.suspects, altered, prepared.symptom)
        result.summary += paths
        return result
