"""How well the learned ranking does on programs that it was not learned from, beside the fixed order and each voice.

    python -m bench.ranking.measure FILE ... [--ablation] [--model FILE]

The files are those of ``bench.ranking.record``. Each program's faults are ranked by weights learned from the others. A
rank is the worst of its tie; a fault that is not ranked comes after all statements. Beside them stand the weights of a
``--model`` (those that come with Whence), which may have been learned from other faults of these programs.
``--ablation``: also what is lost without each voice, in the fixed order and with weights learned without it. Chances
are told by tenths: what was said of faults of a program whose faults neither weights nor chances were made from, and
how often it came true.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.ranking.calibrate import corrected, fitted, said_of  # noqa: E402
from bench.ranking.examples import EDITS, VOICES, Known, held_out, load  # noqa: E402
from bench.ranking.learn import Floats  # noqa: E402
from whence.diagnosis.learned_ranking import FIRST, MODEL, Model, stored  # noqa: E402

HEAD = ("method", "faults", "first alone", "top 3", "top 5", "top 10", "mean wasted effort")
MOST = (1, 3, 5, 10)
TENTHS = 5  # rows of the table of chances


def line(name: str, ranks: Sequence[int]) -> list[str]:
    """How many faults are within the first ones, and the statements read in vain."""
    within = [sum(rank <= most for rank in ranks) for most in MOST]
    counts = [f"{count} ({100 * count / len(ranks):.0f} %)" for count in within]
    return [name, str(len(ranks)), *counts, f"{sum(r - 1 for r in ranks) / len(ranks):.1f}"]


@dataclass(frozen=True, slots=True)
class Ways:
    """The faults' ranks in the fixed order, by the model's weights, and by weights learned from other programs."""

    fixed: list[int]
    model: list[int]
    learned: list[int]

    @classmethod
    def of(cls, faults: Sequence[Known], scores: Sequence[Floats], model: Model) -> Ways:
        """The ranks; ``scores`` are those of the learned weights."""
        known = [model.rounded(fault.example.matrix, fault.names) for fault in faults]
        ranks = ([f.rank(one) for f, one in zip(faults, all_, strict=True)] for all_ in (known, scores))
        return cls([fault.ranks["fixed"] for fault in faults], *ranks)


def by_method(faults: Sequence[Known], scores: Sequence[Floats], model: Model) -> str:
    """A line a method."""
    ways = Ways.of(faults, scores, model)
    methods = {"op2": "op2", "first": "spectrum and slice", **{voice: voice for voice in VOICES}}
    methods |= {"quick": "the fixed order, nothing altered"}
    lines = [line(name, [fault.ranks[method] for fault in faults]) for method, name in methods.items()]
    lines += [line("the fixed order", ways.fixed), line("the model", ways.model), line("learned", ways.learned)]
    return markdown(HEAD, lines)


def by_program(faults: Sequence[Known], scores: Sequence[Floats], model: Model) -> str:
    """The fixed order, the model and the learned weights by program: first alone, and within five."""
    lines = []
    for program in sorted({fault.program for fault in faults}):
        mine = [(fault, one) for fault, one in zip(faults, scores, strict=True) if fault.program == program]
        ways = Ways.of([fault for fault, _ in mine], [one for _, one in mine], model)
        ranks = ways.fixed, ways.model, ways.learned
        counts = [sum(r <= most for r in of_way) for most in (1, 5) for of_way in ranks]
        lines.append([program, str(len(mine)), *map(str, counts)])
    ways_told = ("fixed", "model", "learned")
    head = [f"{most}: {way}" for most in ("first", "top 5") for way in ways_told]
    return markdown(["program", "faults", *head], lines)


def chances(faults: Sequence[Known], scores: Sequence[Floats]) -> str:
    """What was said and what came true, of all FIRST together, in parts of equal size."""
    ranks = [fault.rank(one) for fault, one in zip(faults, scores, strict=True)]
    lines = []
    for name, most in FIRST.items():
        said, came = said_of(scores, most), [rank <= most for rank in ranks]
        told = np.zeros(len(faults))
        for program in {fault.program for fault in faults}:
            others = [n for n, fault in enumerate(faults) if fault.program != program]
            fit = fitted([said[n] for n in others], [came[n] for n in others])
            for n in set(range(len(faults))) - set(others):
                told[n] = corrected(said[n], fit)
        for part in np.array_split(np.argsort(told, kind="stable"), TENTHS):
            true = sum(came[n] for n in part) / len(part)
            low, high = told[part].min(), told[part].max()
            lines.append([name, str(len(part)), f"{low:.2f} to {high:.2f}", f"{told[part].mean():.2f}", f"{true:.2f}"])
    return markdown(["among the first", "faults", "said", "mean", "came true"], lines)


def ablation(files: Sequence[Path]) -> str:
    """The fixed order, and weights, without each voice."""
    lines = []
    for voice in (None, *VOICES, EDITS):
        faults = load(files, () if voice is None else (voice,))
        learned = [fault.rank(one) for fault, one in zip(faults, held_out(faults), strict=True)]
        name = "all voices" if voice is None else f"without {voice}"
        lines.append(line(f"{name}, fixed", [fault.ranks["fixed"] for fault in faults]))
        lines.append(line(f"{name}, learned", learned))
    return markdown(HEAD, lines)


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="recorded faults")
    parser.add_argument("--ablation", action="store_true", help="also without each voice")
    parser.add_argument("--model", type=Path, default=MODEL, help="file of weights (the one of Whence)")
    options = parser.parse_args()
    faults, model = load(options.files), stored(options.model)
    scores = held_out(faults)
    for origin in sorted({fault.recorded.origin for fault in faults}):
        chosen = [n for n, fault in enumerate(faults) if fault.recorded.origin == origin]
        print(f"{origin}\n\n{by_method([faults[n] for n in chosen], [scores[n] for n in chosen], model)}\n")
    print(f"{by_program(faults, scores, model)}\n\n{chances(faults, scores)}")
    if options.ablation:
        print(f"\n{ablation(options.files)}")


if __name__ == "__main__":
    main()
