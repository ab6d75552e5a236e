"""Why a fault is not the first statement: the faults that are not, in groups by what was found at the faulty lines.

    python -m bench.ranking.why FILE ... [--most 1] [--model FILE]

The files are those of ``bench.ranking.record``. Faults are ranked by the weights of a ``--model`` (those that come with
Whence); each is counted in the first group that holds of it. ``--most 5``: those that are not within five.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.ranking.examples import Known, load  # noqa: E402
from bench.ranking.learn import Floats  # noqa: E402
from whence.diagnosis.learned_ranking import MODEL, stored  # noqa: E402
from whence.diagnosis.ranking_features import CLEAN  # noqa: E402
from whence.findings import Entry  # noqa: E402

GROUPS = (
    "no faulty line is ranked",
    "no rule was tried there for lack of time",
    "no site of it takes a rule",
    "no rule there mends a run, missing code",
    "no rule there mends a run, other faults",
    "rules there mend some runs, or break passing ones",
    "a clean rule there, and another statement before it has one, too",
    "a clean rule there, and a statement before it has none",
)


def group(fault: Known, scores: Floats) -> str:
    """The first of GROUPS that holds of a fault which is not first."""
    faulty = fault.example.faulty
    if not faulty.any():
        return GROUPS[0]
    found = next((one for one in fault.recorded.found if one.technique == "rules"), None)
    entries = {entry.statement.line: entry for entry in found.ranking} if found else {}
    mine = [entries[line] for line in fault.recorded.lines if line in entries]
    if not any(entry.evidence.get("tried") for entry in mine):
        lines = {statement.line for statement in fault.recorded.kinds}
        return GROUPS[1] if lines.intersection(fault.recorded.lines) else GROUPS[2]
    if any(map(_is_clean, mine)):
        before = scores > scores[faulty].max()
        clean = fault.example.matrix[:, fault.names.index("clean")] > 0
        return GROUPS[6] if (clean & before).any() or not before.any() else GROUPS[7]
    if any(entry.evidence.get("rules") for entry in mine):
        return GROUPS[5]
    return GROUPS[3] if fault.recorded.kind.startswith("missing") else GROUPS[4]


def _is_clean(entry: Entry) -> bool:
    return float(entry.evidence.get("rule_score", 0.0)) >= CLEAN


def table(faults: Sequence[Known], scores: Sequence[Floats], most: int) -> str:
    """A line a group: how many faults of each origin."""
    origins = sorted({fault.recorded.origin for fault in faults})
    counts: Counter[tuple[str, str]] = Counter()
    for fault, mine in zip(faults, scores, strict=True):
        name = f"within {most}" if fault.rank(mine) <= most else group(fault, mine)
        counts[name, fault.recorded.origin] += 1
    lines = [[name, *(str(counts[name, origin]) for origin in origins)] for name in (f"within {most}", *GROUPS)]
    return markdown(["what was found at the faulty lines", *origins], lines)


def main() -> None:
    """Rank, group and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="recorded faults")
    parser.add_argument("--most", type=int, default=1, help="faults within so many statements are not asked")
    parser.add_argument("--model", type=Path, default=MODEL, help="file of weights (the one of Whence)")
    options = parser.parse_args()
    faults = load(options.files)
    model = stored(options.model)
    scores = [model.rounded(fault.example.matrix, fault.names) for fault in faults]
    print(table(faults, scores, options.most))


if __name__ == "__main__":
    main()
