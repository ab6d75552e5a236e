"""Missing conditions: each condition of a program is taken away, and looked for among those that are tried there.

    python -m bench.conditions [--every N] [--offset N] [FILE.c ...]

By default the corpus' programs. Taken away are operands of `&&` and `||`, conditions under which one statement is
done, and checks that leave early (`if (...) return;`). Nothing runs: it is the order in which `whence fix` and
`whence locate` try conditions. Two that say the same of the same terms (`a < b`, `b > a`; `p`, `p != NULL`) are one.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.faults import positive  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.program.c_source import CSource, is_leaf, is_statement, own_headers, walk  # noqa: E402
from whence.techniques.bugfix.conditions import Conditions, statement_of  # noqa: E402
from whence.techniques.bugfix.scope import Scope  # noqa: E402
from whence.techniques.bugfix.terms import Terms  # noqa: E402

if TYPE_CHECKING:
    from tree_sitter import Node

AMONG = (3, 10, 30, 100)
OPERAND, GUARD, CHECK = "operand of && and ||", "condition of a statement", "check that leaves"
_LEAVING = ("return_statement", "break_statement", "continue_statement", "goto_statement")
_COMPARED = re.compile(r"(.+?) (<=?|>=?|==|!=) (.+)")
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_ZERO = {"NULL": "0", "'\\0'": "0", "false": "0"}


@dataclass(frozen=True, slots=True)
class Removed:
    """A program without one condition: its text, where the statement that had it begins, and the condition."""

    kind: str
    text: bytes
    start: int
    condition: str


def removals(source: CSource) -> Iterator[Removed]:
    """The program without each of its conditions, in order of the text."""
    for function in source.functions:
        for node in walk(function):
            if not node.has_error and b"\n" not in source.of(node.child_by_field_name("condition") or node)[:-1]:
                yield from _of_operands(source, node) if node.type == "binary_expression" else _of_if(source, node)


def _of_operands(source: CSource, node: Node) -> Iterator[Removed]:
    left, right, operator = (node.child_by_field_name(name) for name in ("left", "right", "operator"))
    if left is None or right is None or operator is None or operator.type not in ("&&", "||"):
        return
    for gone, kept in ((left, right), (right, left)):
        if _is_simple(gone):
            yield Removed(OPERAND, _replaced(source, node, source.of(kept)), node.start_byte, source.name(gone))


def _of_if(source: CSource, node: Node) -> Iterator[Removed]:
    condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    if node.type != "if_statement" or node.child_by_field_name("alternative") is not None:
        return
    inner = [n for n in (body.named_children if body is not None else ()) if n.type != "comment"]
    only = inner[0] if body is not None and body.type == "compound_statement" and len(inner) == 1 else body
    tested = condition.named_children[0] if condition is not None and condition.named_children else None
    if only is None or tested is None or not is_leaf(only) or not _is_simple(tested):
        return
    if only.type not in _LEAVING:
        yield Removed(GUARD, _replaced(source, node, source.of(only)), node.start_byte, source.name(tested))
    elif (behind := node.next_named_sibling) is not None and is_statement(behind):
        length = node.end_byte - node.start_byte
        text = _replaced(source, node, b" " * length)
        yield Removed(CHECK, text, behind.start_byte, source.name(tested))


def _is_simple(node: Node) -> bool:
    """Whether a condition has no parts that are conditions."""
    return not any(n.type in ("&&", "||", "?", "assignment_expression") for n in walk(node))


def _replaced(source: CSource, node: Node, new: bytes) -> bytes:
    return source.text[: node.start_byte] + new + source.text[node.end_byte :]


def place(removed: Removed, path: Path) -> int:
    """The place of the condition among those that are tried where it was, from 1; 0: it is none of them."""
    source = CSource(removed.text)
    scope = Scope(source, own_headers(source, path))
    node = source.root.descendant_for_byte_range(removed.start, removed.start)
    assert node is not None
    tried = Conditions(scope, Terms(scope)).near(statement_of(node))
    wanted = said(removed.condition)
    return next((number for number, (text, _) in enumerate(tried, 1) if said(text) == wanted), 0)


def said(condition: str) -> tuple[str, str, str]:
    """What a condition says: its left side, the operator and its right side, in one of the ways to say it."""
    text = " ".join(condition.split())
    text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    found = _COMPARED.fullmatch(text)
    if found is None:
        return (text[1:], "==", "0") if text.startswith("!") else (text, "!=", "0")
    left, operator, right = (_ZERO.get(part, part) for part in found.groups())
    return (left, operator, right) if right == "0" or left < right else (right, _TURNED[operator], left)


def table(found: Sequence[tuple[str, int]]) -> str:
    """For each kind of condition how many are tried at all, and how many are among the first."""
    rows = []
    for kind in (OPERAND, GUARD, CHECK, "all"):
        places = [place for other, place in found if kind in (other, "all")]
        there = [place for place in places if place]
        within = [sum(place <= most for place in there) for most in AMONG]
        counts = map(str, (len(places), len(there), *within))
        rows.append([kind, *counts, f"{median(there):.0f}" if there else "-"])
    head = ["taken away", "conditions", "tried there", *(f"first {most}" for most in AMONG), "median place"]
    return markdown(head, rows)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=positive, default=1, metavar="N", help="every Nth condition of a file")
    parser.add_argument("--offset", type=int, default=0, metavar="N", help="of these, from this one on")
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE.c")
    options = parser.parse_args()
    files = options.files or [corpus.source_path(program) for program in corpus.programs()]
    found = []
    for path in files:
        removed = removals(CSource(path.read_bytes()))
        found += [(one.kind, place(one, path)) for one in islice(removed, options.offset, None, options.every)]
    print(table(found))


if __name__ == "__main__":
    main()
