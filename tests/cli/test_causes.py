"""``whence causes``, as a user sees it."""

from __future__ import annotations

import pytest
from cli_tool import Done, subject_folder, whence

from tests.techniques.test_cause_tree import AUCTION, TOLL

CASES = ("--fails", "3 0", "--expect", "fee 17\n", "--passes", "5 0")


def line_of(text: str, mark: str) -> int:
    return next(n for n, line in enumerate(text.split("\n"), 1) if mark in line)


def toll(*words: str) -> Done:
    return whence(subject_folder("toll", toll_c=TOLL), "causes", "toll.c", *CASES, *words)


def auction(*words: str) -> Done:
    folder = subject_folder("auction", auction_c=AUCTION)
    return whence(folder, "causes", "auction.c", "--fails", "3 5 9", "--expect", "9\n", *words)


@pytest.fixture(scope="module")
def found() -> Done:
    return toll("--json")


def test_the_result_holds_the_tree(found):
    assert found.status == 0
    tree = found.json["tree"]
    assert (tree["case"], tree["depth"], tree["stopped"]) == ("fails 1", 8, False)
    root, *others = tree["nodes"]
    assert (root["kind"], root["level"], root["parent"], root["line"]) == ("symptom", 0, None, line_of(TOLL, "PRINT"))
    assert root["children"] == [node["number"] for node in others]
    assert {(n["line"], n["kind"]) for n in others} == {
        (line_of(TOLL, "DAY"), "direct"),
        (line_of(TOLL, "LONG"), "indirect"),
    }
    long = next(node for node in others if node["kind"] == "indirect")
    assert long["values"] == [{"name": "axles", "value": "3"}]
    assert long["contradiction"] == "`axles > 3` had to be true, but `axles` was 3"
    assert {"file": "toll.c", "line": line_of(TOLL, "AXLES"), "deed": "gave `axles` the value 3", "to_read": 3} in long[
        "cause"
    ]


def test_the_ranking_is_by_level(found):
    levels = [entry["evidence"]["level"] for entry in found.json["ranking"]]
    assert levels == sorted(levels) and set(levels) == {0, 1}


def test_the_tree_is_printed_below_the_ranking():
    done = toll()
    assert done.status == 0
    below = done.out.partition("tree of causes, all 3:")[2]
    place = f"  1  toll.c:{line_of(TOLL, 'LONG')}  may have skipped what mattered\n"
    assert place in below and "     | if (axles > 3) /* LONG */\n" in below
    assert "     = `axles > 3` had to be true, but `axles` was 3\n" in below
    assert f"     <- toll.c:{line_of(TOLL, 'AXLES')}  gave `axles` the value 3\n" in below


def test_depth_is_the_number_of_levels_that_are_printed():
    done = toll("--depth", "0")
    assert "tree of causes, 1 of 3 (2 on deeper levels: --depth 1):" in done.out
    assert f"1  toll.c:{line_of(TOLL, 'LONG')}" not in done.out.partition("tree of causes")[2]


def test_fine_lines_are_left_out():
    line = line_of(TOLL, "LONG")
    tree = toll("--json", "--fine", f"toll.c:{line}").json["tree"]
    assert line not in {node["line"] for node in tree["nodes"]} and len(tree["nodes"]) == 2


def test_correct_functions_are_passed_over():
    line = line_of(AUCTION, "COMPARE")
    assert line in {node["line"] for node in auction("--json").json["tree"]["nodes"]}
    assert line not in {node["line"] for node in auction("--json", "--correct", "better").json["tree"]["nodes"]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--fine", "toll.c:900"), "there is no statement on toll.c:900"),
        (("--fine", "toll.c"), "'toll.c' is no criterion"),
        (("--fine", "toll.c:5:axles"), "--fine takes a line"),
        (("--correct", "mian"), "the program has no function 'mian'"),
        (("--depth", "-1"), "-1 is not in the range"),
        (("--budget", "soon"), "'soon' is no time"),
    ],
)
def test_wrong_use_is_refused(words, message):
    done = toll(*words)
    assert done.status == 2 and message in done.err


def test_a_passing_case_has_no_causes():
    folder = subject_folder("toll", toll_c=TOLL)
    done = whence(folder, "causes", "toll.c", "--fails", "5 0", "--expect", "fee 27\n")
    assert done.status == 2 and "no case fails" in done.err


def test_the_page_is_written(tmp_path):
    page = tmp_path / "causes.html"
    assert toll("--html", str(page)).status == 0
    assert "toll.c" in page.read_text()
