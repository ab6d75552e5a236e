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
    ranked = {e["line"]: e["evidence"] for e in found.json["ranking"]}
    assert lines <= ranked.keys()
    assert all(ranked[line]["rule_score"] or ranked[line]["forced"] for line in ranked.keys() - lines)


def test_altered_runs_are_asked_even_where_formulas_say_it_all(found):
    assert "altered runs were asked as well" in found.json["summary"]
    first = found.json["ranking"][0]
    assert first["line"] == line_of("LONG") and first["evidence"]["rule_score"] == 1
    assert found.json["rules"][0]["line"] == line_of("LONG")


def test_the_values_are_printed():
    done = ferry(*CASES)
    assert done.status == 0
    assert "    = `axles > 3` had to be true here\n" in done.out
    assert "    = would make 1 of 1 failing run right: another comparison" in done.out
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


# A free ride from sixty on is for members only, which the test forgets.
RIDE = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int age = atoi(argv[1]);
    int member = atoi(argv[2]);
    int fare = 5;
    if (age >= 60) /* FREE */
        fare = 0;
    printf("%d\\n", fare);
    return member > 1;
}
"""

# What is counted in pairs from the fifth on should be counted one by one.
PAIRS = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int number = atoi(argv[1]), sum = 0;
    for (int i = 1; i <= number; i++)
        sum += i > 4 ? 2 : 1; /* ADD */
    printf("%d\\n", sum);
    return 0;
}
"""


PASSING_PAIRS = ("--passes", "3", "--passes", "4")


def test_a_missing_conjunct_is_a_test_of_one_more_variable():
    cases = ("--fails", "70 0", "--expect", "5\n", "--passes", "70 1", "--passes", "50 0", "--passes", "50 1")
    done = whence(subject_folder("ride-formula", ride_c=RIDE), "formula", "ride.c", *cases, "--json")
    line = next(n for n, text in enumerate(RIDE.split("\n"), 1) if "FREE" in text)
    evidence = next(e["evidence"] for e in done.json["ranking"] if e["line"] == line)
    assert (evidence["consistent"], evidence["also"]) == (True, "member == 0")
    assert "could make 1 of 1 failing run right if it depended on `member == 0` as well" in evidence["text"]


def test_a_test_that_picks_out_the_one_failing_run_is_no_explanation():
    cases = ("--fails", "70 3", "--expect", "5\n", "--passes", "70 1", "--passes", "50 0", "--passes", "50 1")
    done = whence(subject_folder("ride-formula", ride_c=RIDE), "formula", "ride.c", *cases, "--json")
    assert done.json["ranking"] and not any(entry["evidence"]["also"] for entry in done.json["ranking"])


def test_loops_are_left_to_altered_runs_and_the_summary_says_so():
    cases = ("--fails", "6", "--expect", "6\n", "--fails", "5", "--expect", "5\n", "--passes", "3", "--passes", "4")
    done = whence(subject_folder("pairs-formula", pairs_c=PAIRS), "formula", "pairs.c", *cases, "--json")
    line = next(n for n, text in enumerate(PAIRS.split("\n"), 1) if "ADD" in text)
    first = done.json["ranking"][0]
    assert first["line"] == line and first["evidence"]["rule_score"] == 1
    assert any("the formulas know the recorded turns of loops only" in text for text in done.json["summary"])
    assert done.json["rules"][0]["line"] == line and done.json["diagnoses"]


def test_where_no_formula_can_be_made_altered_runs_alone_rank():
    text = PAIRS.replace("i > 4", "i > 60004")
    cases = ("--fails", "60006", "--expect", "60006\n", "--fails", "60005", "--expect", "60005\n")
    done = whence(subject_folder("many-formula", many_c=text), "formula", "many.c", *cases, *PASSING_PAIRS, "--json")
    assert done.status == 0 and done.json["diagnoses"] == []
    assert any("more than the 200,000 of a formula" in text for text in done.json["summary"])
    line = next(n for n, text in enumerate(PAIRS.split("\n"), 1) if "ADD" in text)
    assert done.json["ranking"][0]["line"] == line
    assert done.json["symptom"]["kind"] == "wrong-output"


def test_of_a_long_run_the_formula_begins_where_it_departs_from_a_passing_one():
    text = PAIRS.replace("number = atoi(argv[1])", "number = 60000 + atoi(argv[1])").replace("i > 4", "i > 60004")
    cases = ("--fails", "6", "--expect", "60006\n", "--fails", "5", "--expect", "60005\n")
    done = whence(subject_folder("late-formula", late_c=text), "formula", "late.c", *cases, *PASSING_PAIRS, "--json")
    line = next(n for n, text in enumerate(PAIRS.split("\n"), 1) if "ADD" in text)
    paths = [one for one in done.json["diagnoses"] if one["way"] == "path"]
    assert len(paths) == 2 and all(one["statements"] == [{"file": "late.c", "line": line}] for one in paths)
    told = "not in the formulas: what came before it departs from the passing case `passes 2` (2 times)"
    assert told in done.json["summary"] + done.json["warnings"]
    assert done.json["ranking"][0]["line"] == line
