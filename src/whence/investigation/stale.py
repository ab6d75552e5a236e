"""Results of a program whose sources were changed after it was built: the statements there are not told.

Which lines have moved is not known, since only checksums of the compiled sources are. So nothing is ranked in a changed
file, and the result says so first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whence.findings import Findings, rank

NAMED = 3  # files that are named


def without_changed(findings: Findings, changed: Sequence[str]) -> Findings:
    """The findings without ranked statements and suggested changes in the files ``changed``, and with a warning."""
    if not changed:
        return findings
    kept = [entry for entry in findings.ranking if entry.statement.file not in changed]
    ranking = rank({e.statement: e.score for e in kept}, {e.statement: e.evidence for e in kept})
    parts = dict(findings.parts)
    for name in {"rules", "refuted"} & parts.keys():
        parts[name] = [rule for rule in parts[name] if rule["file"] not in changed]
    left = len(findings.ranking) - len(kept)
    what = "1 statement there is" if left == 1 else f"{left:,} statements there are"
    warning = f"{changed_files(changed)} since the program was built; {what} left out: build again, then ask again"
    return replace(findings, ranking=ranking, parts=parts, warnings=[warning, *findings.warnings])


def changed_files(changed: Sequence[str]) -> str:
    """``a.c and 2 more were changed``, to stand before "since"."""
    files = ", ".join(changed[:NAMED]) + (f" and {len(changed) - NAMED} more" if len(changed) > NAMED else "")
    return f"{files} {'was' if len(changed) == 1 else 'were'} changed"
