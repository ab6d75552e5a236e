"""Memory errors planted in real programs: what the check of the failing run tells, and what it does to the ranking.

    python -m bench.real.memory --work FOLDER [--budget 60s] [FAULT ...]

Without names the faults of kind "memory" in gzip, grep, sed, bc and diffutils. Each is planted as ``bench.real.locate``
does it, then ``whence locate`` runs without the memory check and with it. Prints Markdown: the first error that is
told, whether it stands in a line of the fault, whether the symptom says that the failure came of a memory error, and
the rank of the fault both ways.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bench.common import markdown, options, work_folder
from bench.real.faults import Fault, chosen_faults, end_cleanly, planted
from bench.real.locate import Report, Row, build_variants, rank_of, state, whence_json, write_subject
from bench.real.programs import ensure_built

FIVE = ("gzip", "grep", "sed", "bc", "diffutils")
KIND = "memory"
TOLD = 120  # characters of an error
HEAD = ("fault", "first error that is told", "in its line", "said to be the cause", "rank without it", "with it")


def measure(fault: Fault, work: Path, budget: float) -> list[str]:
    """The table's line for one fault."""
    row = Row(fault.name, fault.kind, state())
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc")
    plain = ensure_built(fault.recipe, work, "gcc", "gcc") / fault.executable
    with planted(fault, tree):
        write_subject(fault, tree, plain)
        build_variants(row, tree)
        limit = ("--budget", f"{budget:g}s")
        without = whence_json(row, "locate", tree, budget, *limit, "--without", "memory")
        located = whence_json(row, "locate", tree, budget, *limit)
    if located is None or without is None:
        return [fault.name, "; ".join(row.lost) or "no result", "-", "-", "-", "-"]
    return [fault.name, *_errors(fault, located), _rank(fault, without), _rank(fault, located)]


def _errors(fault: Fault, located: Report) -> list[str]:
    """The first error, whether it is the fault's, and whether it is called the cause."""
    errors = [error for run in located.get("memory", []) for error in run["errors"]]
    if not errors:
        checked = "none" if "memory" in located else "not checked"
        return [checked, "-", "-"]
    first = errors[0]
    place = f"{first['file']}:{first['line']}"
    text = f"{place}: {first['text'][0]}"
    text = text if len(text) <= TOLD else text[: TOLD - 1] + "…"
    is_cause = " came of " in (located["symptom"] or {}).get("text", "")
    return [text.replace("|", r"\|"), "yes" if place in fault.lines else "no", "yes" if is_cause else "no"]


def _rank(fault: Fault, report: Report) -> str:
    rank = rank_of(fault, report)
    return "-" if rank is None else f"{rank.shown()} of {rank.ranked:,}"


def _chosen(names: Sequence[str]) -> list[Fault]:
    faults = chosen_faults(list(names) or list(FIVE))
    return [fault for fault in faults if names or fault.kind == KIND]


def main() -> int:
    """Measure the faults named and print the table."""
    end_cleanly()
    parser = options("memory errors planted in real programs")
    parser.add_argument("--budget", type=lambda text: float(text.removesuffix("s")), default=60.0, help="seconds")
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    rows = []
    for fault in _chosen(arguments.faults):
        rows.append(measure(fault, work, arguments.budget))
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(markdown(HEAD, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
