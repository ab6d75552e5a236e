"""docs/where-is-what.md: every algorithm of the five documents has a row, and every file and name in a row exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "where-is-what.md").read_text(encoding="utf-8")
MISSING = "not built yet"
WANTED = {  # what each document defines
    "Likely invariants": ["Figure 1", "Algorithm 1", "Algorithm 2"],
    "Value Replacement, Execution Suppression, BugFix": [
        *(f"Definition {number}" for number in range(1, 16)),
        *(f"Figure {number}" for number in ("2.2", "2.7", "3.2", "3.3", "3.4", "4.2", "4.3", "5.3", "5.5", "5.7")),
        *(f"Figure {number}" for number in ("6.1", "6.2", "7.1", "8.1")),
        "Figures 8.2 to 8.5",
        "Figures 8.6 and 8.7",
    ],
    "Failure inducing chains": [
        *(f"Definition {n}" for n in range(1, 9)),
        *(f"{what} {n}" for what in ("Property", "Theorem", "Algorithm") for n in (1, 2)),
        "Table 1",
    ],
    "Formula-based debugging": ["BugAssist", "Clause weighting", "Algorithm 1", "Algorithm 2", "Algorithm 3"],
    "Cascade fault localization": [
        *(f"Definition 3.{number}" for number in (1, 2, 3)),
        *(f"Algorithm {number}" for number in (1, 2, 3)),
    ],
}


def sections() -> dict[str, list[tuple[str, str]]]:
    """The rows of each section: what stands there, and where it is here."""
    parts = re.split(r"^## (.*)$", PAGE, flags=re.MULTILINE)[1:]
    rows = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
    return {
        title: [row for row in rows.findall(text) if row[0] not in ("there", "---")]
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


ROWS = [(there, here) for rows in sections().values() for there, here in rows]


@cache
def names_in(path: Path) -> frozenset[str]:
    """The classes, functions, methods and parameters that a file defines."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    found = {n.name for n in nodes if isinstance(n, ast.ClassDef | ast.FunctionDef)}
    fields = {n.target.id for n in nodes if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    return frozenset(found | fields | {n.arg for n in nodes if isinstance(n, ast.arg)})


def wrong(here: str) -> list[str]:
    """What a row names that does not exist: files, and names in the file before them."""
    found, path = [], None
    for text in re.findall(r"`([^`]+)`", here):
        if text.endswith(".py"):
            path = ROOT / text if text.startswith("bench/") else ROOT / "src" / "whence" / text
            if not path.is_file():
                found.append(text)
                path = None
        elif path is None or text not in names_in(path):
            found.append(text)
    return found


@pytest.mark.parametrize(("there", "here"), ROWS, ids=[there[:40] for there, _ in ROWS])
def test_what_a_row_names_exists(there: str, here: str) -> None:
    assert MISSING in here or re.search(r"`[^`]+\.py`", here)
    assert not wrong(here)


@pytest.mark.parametrize("title", WANTED)
def test_everything_that_a_document_defines_has_a_row(title: str) -> None:
    named = "\n".join(there for there, _ in sections()[title])
    assert not [label for label in WANTED[title] if not re.search(rf"\b{re.escape(label)}(?![\d.])", named)]


def test_a_name_that_does_not_exist_is_seen() -> None:
    assert wrong("`formula/path.py` `Path`, `Way`; `formula/nothing.py` `Path`") == [
        "Way",
        "formula/nothing.py",
        "Path",
    ]


def test_no_page_holds_what_a_merge_left_behind():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert len(pages) > 20
    assert [page.name for page in pages if re.search(r"^(<{7}|>{7}|={7}$)", page.read_text("utf-8"), re.M)] == []
