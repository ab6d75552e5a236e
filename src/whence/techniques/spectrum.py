"""Spectrum-based ranking: what failing cases execute and passing ones do not is suspicious.

The formulas are in ``subject/suspiciousness.py``; here their rankings become findings, of statements or of the sides of
branches, compared with one another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from whence.errors import UsageError
from whence.findings import Findings, Statement, plural, rank
from whence.investigation.account import summary
from whence.subject.coverage import Coverage
from whence.subject.suspiciousness import (
    DEFAULT_FORMULA,
    FORMULAS,
    Counts,
    Floats,
    branch_spectrum,
    check_failing,
    counts_note,
    formula_of,
    ranked,
    reached,
    statement_spectrum,
    tie_ranks,
)

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation

Level = Literal["statement", "branch"]

#: Statements whose score under every formula is listed in ``parts["formulas"]``.
COMPARED = 200


def spectrum(
    coverage: Coverage,
    *,
    formula: str = DEFAULT_FORMULA,
    level: Level = "statement",
    exponent: float = 2.0,
    subject: str = "",
) -> Findings:
    """Rank the statements that a failing case executed by how suspicious their spectrum is.

    ``formula`` is a key of ``FORMULAS``; ``exponent`` is DStar's. At level ``branch`` a statement's score is
    that of its most suspicious side, and ``parts["branches"]`` ranks the sides themselves. Statements that no
    failing case executed would come last under each formula, and are left out.

    Raises ``UsageError`` for an unknown formula or level, ``SubjectError`` when no case failed.
    """
    score = formula_of(formula, exponent)
    if level not in ("statement", "branch"):
        raise UsageError(f"unknown level {level!r}: use statement or branch")
    check_failing(coverage)
    findings = Findings(f"spectrum/{formula}", subject, parts={"cases": coverage.case_totals()})
    if level == "statement":
        _rank_statements(findings, coverage, score, exponent)
    else:
        _rank_branches(findings, coverage, score)
    findings.summary.append(_summary(findings, level))
    return findings


def _rank_statements(
    findings: Findings, coverage: Coverage, score: Callable[[Counts], Floats], exponent: float
) -> None:
    statements, counts = reached(*statement_spectrum(coverage))
    findings.ranking = ranked(statements, counts, score)
    first = [entry.statement for entry in findings.ranking[:COMPARED]]
    findings.parts["formulas"] = _compare(first, statements, counts, exponent)


def _rank_branches(findings: Findings, coverage: Coverage, score: Callable[[Counts], Floats]) -> None:
    sides, counts = reached(*branch_spectrum(coverage))
    scores = score(counts)
    best, worst = tie_ranks(scores)
    listed: list[dict[str, Any]] = []
    highest: dict[Statement, float] = {}
    notes: dict[Statement, dict[str, Any]] = {}
    for i in np.argsort(-scores, kind="stable").tolist():
        side, statement = sides[i], sides[i].statements[0]
        note = counts_note(counts, i, f"branch went {side.side!r} in") | {"side": side.side}
        if statement not in highest:
            highest[statement], notes[statement] = float(scores[i]), note
        place = {"file": statement.file, "line": statement.line, "column": side.column}
        ranks = {"score": float(scores[i]), "rank": int(best[i]), "rank_worst": int(worst[i])}
        listed.append(place | ranks | note)
    findings.ranking = rank(highest, notes)
    findings.parts["branches"] = listed


def _compare(
    wanted: list[Statement], statements: list[Statement], counts: Counts, exponent: float
) -> list[dict[str, Any]]:
    """The part ``formulas``: score and ranks (best, average, worst) of wanted statements by each formula."""
    position = {statement: i for i, statement in enumerate(statements)}
    rows: list[dict[str, Any]] = [{"file": s.file, "line": s.line, "formulas": {}} for s in wanted]
    for name in FORMULAS:
        scores = formula_of(name, exponent)(counts)
        best, worst = tie_ranks(scores)
        for row, statement in zip(rows, wanted, strict=True):
            i = position[statement]
            ranks = {"best": int(best[i]), "average": (best[i] + worst[i]) / 2, "worst": int(worst[i])}
            row["formulas"][name] = {"score": float(scores[i]), **ranks}
    return rows


def _summary(findings: Findings, level: Level) -> str:
    cases = findings.parts["cases"]
    ran = f"{plural(cases['passed'] + cases['failed'], 'case')} ({cases['passed']} passed, {cases['failed']} failed)"
    what = "statements" if level == "statement" else "lines with a branch"
    return f"compared {ran}: a failing case executed {len(findings.ranking)} {what}"


# ---- The technique ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectrum:
    """Ranks statements, or sides of branches, by which cases executed them; the fields are those of ``spectrum``."""

    formula: str = DEFAULT_FORMULA
    level: Level = "statement"
    exponent: float = 2.0

    def run(self, investigation: Investigation) -> Findings:
        """The ranking by suspiciousness. Raises SubjectError where no case fails."""
        investigation.failing_rows()
        name = investigation.subject.name
        findings = spectrum(
            investigation.coverage, formula=self.formula, level=self.level, exponent=self.exponent, subject=name
        )
        findings.summary[:0] = summary(investigation.subject, investigation.runs)
        return findings
