"""Where a statement that was taken out of a program stands among the edits that are tried beside the gap.

    python -m bench.insertions [--number 12] [--seed 1] [--learn] [FILE ...]

Of each C file (those of the corpus' programs) so many statements are left out, one at a time: simple ones, alone on
their line. Counted is at which place the edits of the lines around the gap put it in again, and how many the text of
the file asks for (``contradictions.py``). ``--learn`` prints the most likely ``WEIGHTS`` of
``techniques/bugfix/fitting.py``: give it other files than those it is measured on. Nothing is run.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.ranking.learn import Example, learned  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.program.c_source import CSource, is_listed, own_headers  # noqa: E402
from whence.program.source_edits import Kind, SourceEdit, edited  # noqa: E402
from whence.program.token_changes import c_tokens  # noqa: E402
from whence.techniques.bugfix.candidates import FileCandidates  # noqa: E402
from whence.techniques.bugfix.fitting import WEIGHTS, Fitting  # noqa: E402
from whence.techniques.bugfix.knowledge import SHIPPED, load  # noqa: E402
from whence.techniques.bugfix.likelihood import fixes_made, likeliest_first  # noqa: E402

AMONG = (3, 10, 30, 100, 300)
PENALTY = 1.0  # of the squared weights
PUT_IN = (Kind.BEFORE, Kind.BEHIND)


@dataclass(slots=True)
class Gap:
    """A statement that was left out: its place among the edits of a line beside it (0: none of them puts it in).

    ``is_asked_for``: an edit that the text asks for puts it in, or what comes to the same tokens.
    ``examples``: of each such line what speaks for the statements that could be put in, and which of them was there.
    """

    place: int = 0
    is_asked_for: bool = False
    examples: list[Example] = field(default_factory=list)


def left_out(path: Path, number: int, seed: int) -> Iterator[tuple[CSource, int, bytes]]:
    """The file without one of its statements, the line in front of the gap, and the text of the whole file."""
    source = CSource(path.read_bytes())
    lines = source.text.split(b"\n")
    nodes = [
        node
        for node in source.statements
        if node.type == "expression_statement"
        and is_listed(node)
        and source.of(node) == lines[node.start_point[0]].strip()
    ]
    random.Random(seed).shuffle(nodes)
    for line in (node.start_point[0] for node in nodes[:number]):
        yield CSource(b"\n".join([*lines[:line], *lines[line + 1 :]])), line, source.text


def gap(source: CSource, line: int, whole: bytes, path: Path, teach: bool) -> Gap:
    """What comes of a statement that was left out behind a line."""
    candidates, found = FileCandidates(source, path.name, own_headers(source, path, [path.parent])), Gap()
    made, goal = fixes_made(one for one in load(SHIPPED) if one.origin.split()[0] != path.stem), c_tokens(whole)
    found.is_asked_for = any(c_tokens(edited(source, edit)) == goal for edit in candidates.asked_for)
    for beside in (line, line + 1):
        tiered = list(chain(candidates.on(beside), candidates.alone(beside)))
        ordered = likeliest_first(tiered, made)
        right = [is_put_in(edit) and c_tokens(edited(source, edit)) == goal for edit in ordered]
        if any(right):
            place = right.index(True) + 1
            found.place = min(found.place or place, place)
            if teach:
                found.examples.append(example(source, ordered, right))
    return found


def is_put_in(edit: SourceEdit) -> bool:
    """Whether an edit does nothing but put in one statement."""
    return len(edit.parts) == 1 and edit.parts[0].kind in PUT_IN


def example(source: CSource, edits: list[SourceEdit], right: list[bool]) -> Example:
    """What speaks for the statements that edits put in, a row each."""
    fitting, nodes = Fitting(source), {(node.start_byte, node.end_byte): node for node in source.statements}
    rows, was_there = list[list[float]](), list[bool]()
    for edit, is_right in zip(edits, right, strict=True):
        if is_put_in(edit):
            (part,) = edit.parts
            node, text = nodes[part.start, part.end], part.text.decode("latin-1")
            features = fitting.features(node, part.kind is Kind.BEHIND, text)
            rows.append([float(features[name]) for name in WEIGHTS])
            was_there.append(is_right)
    return Example(np.array(rows), np.array(was_there))


def row(name: str, gaps: list[Gap]) -> list[str]:
    """A line of the table."""
    held = [gap.place for gap in gaps if gap.place]
    within = [str(sum(place <= most for place in held)) for most in AMONG]
    middle, asked_for = f"{median(held):.0f}" if held else "-", str(sum(gap.is_asked_for for gap in gaps))
    return [name, str(len(gaps)), str(len(held)), *within, middle, asked_for]


def main() -> None:
    """Leave statements out, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="C files (those of the corpus' programs)")
    parser.add_argument("--number", type=int, default=12, help="statements of each file")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--learn", action="store_true", help="print the most likely weights")
    options = parser.parse_args()
    found: dict[str, list[Gap]] = {}
    for path in options.files or [corpus.source_path(program) for program in corpus.programs()]:
        gaps = left_out(path, options.number, options.seed)
        found[path.name] = [gap(*one, path, options.learn) for one in gaps]
    rows = [row(name, gaps) for name, gaps in found.items()]
    head = ["file", "left out", "put in by an edit", *(f"first {most}" for most in AMONG), "median place", "asked for"]
    print(markdown(head, [*rows, row("all", list(chain(*found.values())))]))
    if options.learn:
        examples = [example for gaps in found.values() for one in gaps for example in one.examples]
        weights = learned(examples, PENALTY)
        print(*(f"{name}: {weight:.2f}" for name, weight in zip(WEIGHTS, weights, strict=True)), sep="\n")


if __name__ == "__main__":
    main()
