"""``whence formula``, as a user sees it."""

from __future__ import annotations

import pytest
from cli_tool import Done, subject_folder, whence

# A toll by axles, dearer from three axles on, which the test gets wrong.
FERRY = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int axles = atoi(argv[1]);
    int rate = 2;
    if (axles > 3) /* LONG */
        rate = 4; /* RATE */
    int fee = 5 + axles * rate; /* FEE */
    printf("fee %d\\n", fee); /* PRINT */
    return 0;
}
"""
CASES = ("--fails", "3", "--expect", "fee 17\n", "--passes", "5", "--passes", "2")


def line_of(mark: str) -> int:
    return next(n for n, line in enumerate(FERRY.split("\n"), 1) if mark in line)


def ferry(*words: str) -> Done:
    return whence(subject_folder("ferry-formula", ferry_c=FERRY), "formula", "ferry.c", *words)


@pytest.fixture(scope="module")
def found() -> Done:
    return ferry(*CASES, "--json")


def test_the_result_holds_the_sets(found):
    assert found.status == 0
    by_line = {d["statements"][0]["line"]: d for d in found.json["diagnoses"] if len(d["statements"]) == 1}
    fee, test = by_line[line_of("FEE")], by_line[line_of("LONG")]
    assert (fee["way"], fee["switched"], fee["confirmed"]) == ("path", None, True)
    assert fee["values"] == [{"name": "fee", "was": "11", "right": "17", "only": True, "clock": 1}]
    assert fee["text"] == "`fee` had to be 17 here, `5 + axles * rate` gave 11"
    assert (test["way"], test["switched"]) == ("branch", {"file": "ferry.c", "line": line_of("LONG")})
    assert (test["text"], test["consistent"], test["confirmed"]) == ("`axles > 3` had to be true here", True, True)


def test_what_has_no_part_in_it_is_in_no_set(found):
    lines = {s["line"] for d in found.json["diagnoses"] for s in d["statements"]}
    assert line_of("PRINT") not in lines and line_of("atoi") not in lines
    assert lines == {e["line"] for e in found.json["ranking"]}


def test_the_values_are_printed():
    done = ferry(*CASES)
    assert done.status == 0
    assert "    = `axles > 3` had to be true here; would repair all: another comparison of the same values" in done.out
    assert "compared with 2 passing runs" in done.out


def test_sets_have_the_size_that_is_asked_for():
    done = ferry(*CASES, "--size", "1", "--json")
    assert {len(d["statements"]) for d in done.json["diagnoses"]} == {1}


def test_a_case_that_does_not_fail_is_refused():
    done = ferry("--passes", "5")
    assert done.status == 2 and "no case fails" in done.err


@pytest.mark.parametrize("method", ["ofc", "bugassist"])
def test_over_several_paths_what_another_way_computes_is_part_of_a_set(method):
    done = ferry("--fails", "3", "--expect", "fee 29\n", "--passes", "2", "--method", method, "--json")
    sets = {tuple(s["line"] for s in d["statements"]): d for d in done.json["diagnoses"]}
    both = sets[line_of("LONG"), line_of("RATE")]
    assert both["way"] == "paths" and {value["right"] for value in both["values"]} == {"true", "8"}
    assert any("1 run with switched branches in one formula" in line for line in done.json["summary"])
    path = ferry("--fails", "3", "--expect", "fee 29\n", "--passes", "2", "--json")
    assert (line_of("LONG"), line_of("RATE")) not in {
        tuple(s["line"] for s in d["statements"]) for d in path.json["diagnoses"]
    }
