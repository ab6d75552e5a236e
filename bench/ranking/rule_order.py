"""How many rules are tried before those of the faulty statement, by the order in which statements are taken.

    python -m bench.ranking.rule_order FILE ...

The files are those of ``bench.ranking.record``. Orders are by Op2, by spectrum and slice, and by all that ``whence
locate`` knows before it alters runs. Statements that are equal there are taken to come one half before the other.
Faults at whose lines no rule was tried, or there is none, are left out and counted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.ranking.evidence import Recorded, read  # noqa: E402
from bench.ranking.examples import QUICK, op2  # noqa: E402
from whence.diagnosis.combined_ranking import fuse  # noqa: E402
from whence.findings import Statement  # noqa: E402

ORDERS = ("Op2", "spectrum and slice", "all that alters no run")


def before(recorded: Recorded) -> list[float] | None:
    """By each of ORDERS the share of the rules that come before those of a faulty line; None: it has none."""
    found = {one.technique: one for one in recorded.found}
    rules = found["rules"].ranking if "rules" in found else []
    tried = {entry.statement: int(entry.evidence.get("tried", 0)) for entry in rules}
    faulty = {statement for statement, count in tried.items() if count and statement.line in recorded.lines}
    if not faulty:
        return None
    combined = fuse(recorded.base, [found[name] for name in QUICK if name in found]).ranking
    orders: list[Mapping[Statement, float]] = [
        {entry.statement: op2(entry) for entry in recorded.base.ranking},
        {entry.statement: entry.score for entry in recorded.base.ranking},
        {entry.statement: entry.score for entry in combined},
    ]
    return [_before(order, tried, faulty) / sum(tried.values()) for order in orders]


def _before(order: Mapping[Statement, float], tried: Mapping[Statement, int], faulty: set[Statement]) -> float:
    lowest = min(order.values(), default=0.0) - 1
    score = {statement: order.get(statement, lowest) for statement in tried}
    best = max(score[statement] for statement in faulty)
    higher = sum(count for statement, count in tried.items() if score[statement] > best)
    equal = sum(count for statement, count in tried.items() if score[statement] == best and statement not in faulty)
    return higher + equal / 2


def main() -> None:
    """Read, and print a line an order."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="recorded faults")
    options = parser.parse_args()
    found = [(one.origin, before(one)) for path in options.files for one in read(path)]
    lines = []
    for origin in sorted({origin for origin, _ in found}):
        known = [shares for name, shares in found if name == origin and shares is not None]
        print(f"{origin}: {sum(name == origin for name, _ in found) - len(known)} faults without rules left out")
        for number, order in enumerate(ORDERS):
            mine = [shares[number] for shares in known]
            row = [origin, str(len(mine)), order, f"{100 * mean(mine):.0f} %", f"{100 * median(mine):.0f} %"]
            lines.append([*row, str(sum(share < 0.1 for share in mine))])
    print(markdown(["faults", "number", "order", "mean", "median", "within the first tenth"], lines))


if __name__ == "__main__":
    main()
