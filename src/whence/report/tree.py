"""Cause trees on the terminal: each cause below the one that led to it, with its condition, values and lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whence.findings import Statement, plural
from whence.report.screen import SourceLookup
from whence.report.terminal import DIM, PLACE, STRONG, _Page, make_console

LINES_SHOWN = 5  # of one cause
STEP = "  "  # of indentation a level
KINDS = {"direct": "", "indirect": "  may have skipped what mattered", "symptom": "  the symptom"}


def print_tree(
    tree: dict[str, Any], source_lookup: SourceLookup, depth: int, limit: int, width: int | None = None
) -> None:
    """Print the causes of a result's part ``tree`` to a level, ``limit`` at most, each below its parent."""
    page = _Page(make_console(width), source_lookup)
    nodes = {node["number"]: node for node in tree["nodes"]}
    shown = _chosen([node for node in tree["nodes"] if node["level"] <= depth], limit)
    page.line()
    count = f"{len(shown)} of {len(nodes)}" if len(shown) < len(nodes) else f"all {len(nodes)}"
    deeper = sum(node["level"] > depth for node in tree["nodes"])
    more = f" ({deeper} on deeper levels: --depth {depth + 1})" if deeper else ""
    page.line((f"tree of causes, {count}{more}:", STRONG))
    for node in _in_order(nodes, shown):
        _print_node(page, node)


def _chosen(nodes: list[dict[str, Any]], limit: int) -> set[int]:
    """The numbers of the first nodes by level: parents come before their children."""
    return {node["number"] for node in sorted(nodes, key=lambda n: (n["level"], n["number"]))[:limit]}


def _in_order(nodes: dict[int, dict[str, Any]], shown: set[int]) -> Iterator[dict[str, Any]]:
    """Parents before children, depth first."""
    pending = [number for number, node in nodes.items() if node["parent"] is None]
    while pending:
        number = pending.pop(0)
        if number in shown:
            yield nodes[number]
            pending = nodes[number]["children"] + pending


def _print_node(page: _Page, node: dict[str, Any]) -> None:
    lead = STEP * node["level"]
    page.line()
    if node["file"] is None:
        page.line((f"{lead}{node['level']}  ", STRONG), ("(a place without source)", DIM), (KINDS[node["kind"]], DIM))
    else:
        at = Statement(node["file"], node["line"])
        times = f"  {node['instances']:,} times" if node["instances"] > 1 else ""
        place = f"{at.file}:{at.line}"
        page.line((f"{lead}{node['level']}  ", STRONG), (place, PLACE), (KINDS[node["kind"]] + times, DIM))
        page.source(at, f"{lead}   | ")
    if node["contradiction"]:
        page.wrapped(f"{lead}   = ", node["contradiction"])
    others = [line for line in node["cause"] if (line["file"], line["line"]) != (node["file"], node["line"])]
    for line in others[:LINES_SHOWN]:
        step = f"  {line['deed']}" if line["deed"] else ""
        page.line((f"{lead}   <- ", DIM), (f"{line['file']}:{line['line']}", PLACE), (step, ""))
    if len(others) > LINES_SHOWN:
        page.line((f"{lead}   <- {plural(len(others) - LINES_SHOWN, 'more line')}", DIM))
    for note in node["notes"]:
        page.wrapped(f"{lead}   ! ", note, DIM)
