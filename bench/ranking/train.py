"""Learn the weights of ``whence locate`` from recorded faults, and write the file that comes with Whence.

    python -m bench.ranking.train FILE ... [--to FILE]

The files are those of ``bench.ranking.record``. Chances are calibrated on each program's faults with the weights that
were learned from the other programs. The same files give the same weights, to the last byte.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from bench.ranking.calibrate import fitted, said_of  # noqa: E402
from bench.ranking.examples import Known, held_out, load  # noqa: E402
from bench.ranking.learn import PENALTY, learned  # noqa: E402
from whence.diagnosis.learned_ranking import FIRST, MODEL  # noqa: E402

DIGITS = 4  # behind the point of a weight


def trained(faults: Sequence[Known]) -> dict[str, Any]:
    """The file's contents."""
    weights = learned([fault.example for fault in faults])
    scores = held_out(faults)
    ranks = [fault.rank(one) for fault, one in zip(faults, scores, strict=True)]
    chances = {
        name: [round(value, DIGITS) for value in fitted(said_of(scores, most), [rank <= most for rank in ranks])]
        for name, most in FIRST.items()
    }
    origins = Counter(fault.recorded.origin for fault in faults)
    return {
        "about": "weights of the learned ranking; made by `python -m bench.ranking.train`, see docs/ranking.md",
        "learned from": {**dict(sorted(origins.items())), "penalty": PENALTY},
        "chances": chances,
        "weights": {name: round(w, DIGITS) for name, w in zip(faults[0].names, weights.tolist(), strict=True)},
    }


def main() -> None:
    """Learn, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="recorded faults")
    parser.add_argument("--to", type=Path, default=MODEL, help="file that is written (the one of Whence)")
    options = parser.parse_args()
    options.to.write_text(json.dumps(trained(load(options.files)), indent=1) + "\n")


if __name__ == "__main__":
    main()
