"""A tree of causes on the terminal, and in the page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.report.test_html import EVIL
from whence.findings import Findings, Statement, rank
from whence.report.html import render_html
from whence.report.page import Page, Sources, build_page
from whence.report.sections import CAUSES, tree
from whence.report.tree import print_tree

SOURCE = "int a = 1;\nif (a)\n  b = 2;\nprint(b);\n"


def node(number: int, parent: int | None, level: int, line: int, **others: Any) -> dict[str, Any]:
    kind = "symptom" if parent is None else "direct"
    made = {"number": number, "parent": parent, "level": level, "file": "p.c", "line": line, "kind": kind}
    empty = {"goal": "", "values": [], "core": [], "cause": [], "instances": 1, "children": [], "unopened": 0}
    return {**made, **empty, "contradiction": f"node {number}", "notes": [], **others}


def findings(nodes: list[dict[str, Any]]) -> Findings:
    for child in nodes:
        if child["parent"] is not None:
            nodes[child["parent"]]["children"].append(child["number"])
    ranking = rank({Statement("p.c", line): 1 / line for line in (1, 2, 3, 4)})
    tree = {"case": "c", "depth": 3, "encoded": 9, "queries": 1, "stopped": False, "nodes": nodes}
    return Findings("causes", "p", ranking, parts={"tree": tree})


def small() -> Findings:
    line = {"file": "p.c", "line": 1, "deed": "gave `a` the value 1", "to_read": 2}
    return findings(
        [
            node(0, None, 0, 4),
            node(1, 0, 1, 2, cause=[line], notes=["stands for 3 instances"], instances=3),
            node(2, 0, 1, 3, kind="indirect"),
            node(3, 1, 2, 1),
        ]
    )


def told(made: Findings, source: str = SOURCE) -> tuple[Page, list[dict[str, Any]]]:
    """The page, and the roots of the tree that it tells."""
    sources = Sources({"p.c": source})
    page = build_page(made, sources)
    return page, tree(page, made, sources)


def printed(capsys: pytest.CaptureFixture[str], made: Findings, depth: int = 3, limit: int = 30) -> list[str]:
    lines = SOURCE.split("\n")
    print_tree(made.parts["tree"], lambda file, line: lines[line - 1], depth, limit, width=100)
    return capsys.readouterr().out.splitlines()


def test_children_stand_below_their_parents(capsys):
    lines = printed(capsys, small())
    places = [line.split()[:2] for line in lines if line.strip() and line.split()[0].isdigit()]
    assert places == [["0", "p.c:4"], ["1", "p.c:2"], ["2", "p.c:1"], ["1", "p.c:3"]]
    assert "  1  p.c:2  3 times" in lines and "  1  p.c:3  may have skipped what mattered" in lines
    assert "     <- p.c:1  gave `a` the value 1" in lines and "     ! stands for 3 instances" in lines
    assert "tree of causes, all 4:" in lines


def test_deeper_levels_and_further_causes_are_counted(capsys):
    assert "tree of causes, 3 of 4 (1 on deeper levels: --depth 2):" in printed(capsys, small(), depth=1)
    assert "tree of causes, 2 of 4:" in printed(capsys, small(), limit=2)


def test_the_page_holds_the_tree():
    root = told(small())[1][0]
    assert (root["place"], [child["place"] for child in root["children"]]) == ("p.c:4", ["p.c:2", "p.c:3"])
    first = root["children"][0]
    assert first["lines"] == [{"place": "p.c:1", "source": "int a = 1;", "deed": "gave `a` the value 1"}]
    text = render_html(small(), {"p.c": SOURCE})
    assert text.startswith("<!doctype html>") and text.count('<li class="cause"') == 4


def test_the_page_shows_the_text_of_causes_and_lines():
    root = told(small())[1][0]
    first = root["children"][0]
    assert (root["source"], first["source"], first["lines"][0]["source"]) == ("print(b);", "if (a)", "int a = 1;")
    assert told(small(), "")[1][0]["source"] == ""
    assert "gave <code>a</code> the value 1" in render_html(small(), {"p.c": SOURCE})


def test_the_page_without_a_tree_has_no_panel():
    assert 'class="tree"' not in render_html(Findings("slice", "p"), {})


def test_text_of_the_subject_is_escaped():
    made = findings([node(0, None, 0, 4, contradiction=EVIL, notes=[EVIL])])
    assert EVIL not in render_html(made, {"p.c": SOURCE})


def test_large_trees_are_cut():
    made = findings([node(0, None, 0, 1), *(node(n, 0, 1, 2) for n in range(1, CAUSES + 50))])
    page, roots = told(made)
    assert len(roots[0]["children"]) == CAUSES - 1 and any("cause" in note for note in page.left_out)
