"""Cause trees of the planted faults: is the root cause in them, its level, the lines to read, and what it takes.

    python -m bench.real.causes --work FOLDER [--depth N] [--budget S] [--optimisations] [FAULT ...]

Each fault is planted in the program built with ``whence-cc``; its failing case is recorded, and the tree opened to the
depth. A line for each, then the tables of ``bench.causes``. Building the program and its variants is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.causes import Figures, figures_of, figures_told, print_tables, tree_options, variants_of
from bench.common import ended, markdown, options, work_folder
from bench.real.faults import Fault, chosen_faults, planted
from bench.real.locate import write_subject
from bench.real.programs import ensure_built
from whence.errors import WhenceError
from whence.run.config import read_config
from whence.subject.subject import subject_from_config

HEAD = [
    "fault",
    "kind",
    "symptom",
    "level",
    "lines to read",
    "rank, of",
    "dynamic / relevant slice",
    "share: tree / dynamic / relevant, %",
    "nodes",
    "events",
    "seconds",
    "encoding, walks, solver, s",
]


def measure(fault: Fault, work: Path, depth: int, budget: float, variants: dict[str, Sequence[str]]) -> Figures:
    """Plant the fault, and make its trees; raises what that raises."""
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc")
    plain = ensure_built(fault.recipe, work, "gcc", "gcc") / fault.executable
    with planted(fault, tree):
        write_subject(replace(fault, passing=()), tree, plain)
        subject = subject_from_config(read_config(tree))
        return figures_of(subject, lambda at: f"{at.file}:{at.line}" in fault.lines, depth, budget, variants)


def shown(fault: Fault, found: Figures) -> list[str]:
    """A fault's line of the table."""
    tree, slices = found.tree, (found.dynamic, found.relevant)
    return [
        fault.name,
        fault.kind,
        found.symptom,
        str(tree.level) if tree.level >= 0 else "not in the tree",
        str(tree.to_read) if tree.level >= 0 else "",
        f"{tree.rank} of {tree.lines}" if tree.level >= 0 else f"of {tree.lines}",
        " / ".join("yes" if part.holds else "no" for part in slices),
        " / ".join(f"{part.share:.1f}" for part in (tree.part, *slices)),
        f"{tree.nodes}{', stopped' if tree.stopped else ''}",
        f"{found.events:,}",
        f"{tree.part.seconds:.1f}",
        f"{tree.encoding:.1f}, {tree.walking:.1f}, {tree.solving:.1f}",
    ]


def main() -> int:
    """Measure the faults named, and print the tables and what could not be measured."""
    parser = tree_options(options("cause trees of the planted faults"))
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    found: list[tuple[Fault, Figures]] = []
    faults = chosen_faults(arguments.faults)
    for fault in faults:
        try:
            figures = measure(fault, work, arguments.depth, arguments.budget, variants_of(arguments))
        except WhenceError as error:  # the table goes on: the other faults are independent
            print(f"{fault.name} failed: {error}", flush=True)
        else:
            found.append((fault, figures))
            print(f"{fault.name} ({fault.kind}, {figures.symptom}): {figures_told(figures)}", flush=True)
    print(markdown(HEAD, [shown(fault, figures) for fault, figures in found]))
    print()
    print_tables([(fault.program, figures) for fault, figures in found])
    return 0 if len(found) == len(faults) else 1


if __name__ == "__main__":
    ended(main)
