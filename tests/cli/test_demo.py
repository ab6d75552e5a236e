"""The demo that ``make demo`` shows: its fault is first, and the page holds what it takes to see why."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_tool import Done, whence

DEMO = Path(__file__).resolve().parents[2] / "demo"
FAULT = "(invoice->articles + delivery) * invoice->percent"  # the coupon is for the articles alone


@pytest.fixture(scope="module")
def line() -> int:
    return next(n for n, text in enumerate((DEMO / "invoice.c").read_text().splitlines(), 1) if FAULT in text)


@pytest.fixture(scope="module")
def found() -> Done:
    return whence(DEMO.parent, "locate", "-C", "demo", "--json")


def test_fault_is_among_the_first(found, line):
    rank = next(e["rank_worst"] for e in found.json["ranking"] if e["line"] == line)
    assert rank == 1
    assert line in [at["line"] for at in found.json["slice"]]


def test_every_case_counts(found):
    cases = found.json["cases"]
    assert cases["failed"] >= 1 and cases["passed"] >= 10
    assert not [text for text in found.json["summary"] if "left out" in text]


def test_fault_is_explained_with_its_value(found, line):
    entry = next(e for e in found.json["ranking"] if e["line"] == line)
    assert re.search(rf"line {line} gave `reduction` the value \d+, used by ", entry["evidence"]["text"])


def test_the_first_suggestion_is_the_repair(found, line):
    best = found.json["rules"][0]
    assert (best["line"], best["score"]) == (line, 1.0) and "delivery" in best["rule"]


def test_values_of_failing_and_passing_runs_differ(found, line):
    values = found.json["values"][f"invoice.c:{line}"]
    failing = {(v["name"], v["value"]) for v in values["failing"]}
    passing = {(row["name"], value) for row in values["passing"] for value in row["values"]}
    assert ("delivery", "0") in passing - failing  # with free delivery the fault does no harm


def test_page(tmp_path, line):
    done = whence(DEMO.parent, "locate", "-C", "demo", "--html", str(tmp_path / "demo.html"))
    page = (tmp_path / "demo.html").read_text()
    assert (done.status == 0 and FAULT.replace(">", "&gt;") in page) or FAULT in re.sub(r"<[^>]*>", "", page)
    assert json.dumps(f"invoice.c:{line}") in page
    assert 'id="timeline"' in page and '"timeline":"' in page


def test_demo_folder_stays_as_it_is(found):
    assert sorted(path.name for path in DEMO.iterdir()) == ["cases", "invoice.c", "whence.toml"]
