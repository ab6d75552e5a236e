"""``whence switch``, and ``whence slice --implicit``, as a user sees them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cli_programs import CALC_C, MAKEFILE, OPS_C, STACK_C, STACK_H, line_of
from cli_tool import Done, subject_folder, time_up_after_the_runs, whence
from page_parts import details_of

# From 20 on a parcel is heavy.
PARCEL = """\
#include <stdio.h>
#include <stdlib.h>
enum zone { HOME, NEAR, FAR };
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]), fee = 4;
    enum zone zone = argc - 2;
    if (weight > 20) /* FAULT */
        fee = 9;
    switch (zone) {
    case NEAR: fee += 1; break;
    case FAR: fee += 3; break;
    default: break;
    }
    printf("weight %d\\n", weight);
    printf("fee %d\\n", fee);
    return 0;
}
"""
FAILS = ("--fails", "20", "--expect", "weight 20\nfee 9\n")
CASES = (*FAILS, "--fails", "20 x", "--expect", "weight 20\nfee 10\n", "--passes", "4", "--passes", "30 x x")
FAULT = line_of(PARCEL, "FAULT")


def parcel(command: str, *words: str) -> Done:
    return whence(subject_folder("parcel", parcel_c=PARCEL), command, "parcel.c", *CASES, *words)


@pytest.fixture(scope="module")
def switched() -> Done:
    return parcel("switch", "--json", "--fresh")


# ---- whence switch ---------------------------------------------------------------------------------------------------


def test_the_faulty_condition_comes_first(switched):
    assert switched.status == 0 and switched.json["technique"] == "switch"
    first = switched.json["ranking"][0]
    assert (first["line"], first["rank"], first["rank_worst"], int(first["score"])) == (FAULT, 1, 1, 2)
    text = first["evidence"]["text"]
    assert "with `weight > 20` `true` instead of `false` the run passes (`weight` was 20)" in text
    assert "likewise in 2 of 2 failing cases" in text and "executed by 2 of 2 failing" in text
    assert (first["evidence"]["critical"], first["evidence"]["instances"]) == (2, 2)


def test_predicates_are_listed(switched):
    passes = [p for p in switched.json["predicates"] if p["effect"] == "passes"]
    assert {p["case"] for p in passes} == {"fails 1", "fails 2"} and {p["line"] for p in passes} == {FAULT}
    assert passes[0]["values"] == [{"name": "weight", "value": "20"}]
    assert (passes[0]["taken"], passes[0]["switched"], passes[0]["occurrence"]) == ("false", "true", 1)


def test_the_summary_counts(switched):
    totals = switched.json["switching"]
    assert sum(t["tried"] for t in totals) == sum(t["alternatives"] for t in totals) > 4
    assert any("of 2 failing runs: 2 of the switches make a run pass" in line for line in switched.json["summary"])


def test_ways_of_a_switch_are_told_as_enumerators(switched):
    by_case = {t["case"]: t["alternatives"] for t in switched.json["switching"]}
    assert by_case["fails 1"] == by_case["fails 2"] == 3  # one of the test, two of the switch
    text = """\
#include <stdio.h>
enum zone { HOME, NEAR, FAR };
int main(int argc, char **argv)
{
    enum zone zone = argc - 1;
    switch (zone) {
    case HOME: puts("home"); break;
    case NEAR: puts("near"); break;
    default: puts("far"); break;
    }
    return 0;
}
"""
    folder = subject_folder("zones", zones_c=text)
    found = whence(folder, "switch", "zones.c", "--fails", "1", "--expect", "home\n", "--json").json["predicates"]
    assert [(p["taken"], p["switched"]) for p in found] == [("case NEAR", "case HOME")]


def test_the_first_one_is_enough():
    found = parcel("switch", "--first", "--json", "--fresh").json
    assert [t["critical"] for t in found["switching"]] == [1, 1]


def test_the_order_can_be_chosen():
    found = parcel("switch", "--order", "last", "--first", "--json").json
    assert {p["line"] for p in found["predicates"] if p["effect"] == "passes"} == {FAULT}


def test_the_number_of_failing_runs():
    assert len(parcel("switch", "--failing", "1", "--json").json["switching"]) == 1
    named = parcel("switch", "--case", "fails 2", "--json").json
    assert [t["case"] for t in named["switching"]] == ["fails 2"]


def test_nothing_found_has_a_status_of_its_own():
    folder = subject_folder("parcel", parcel_c=PARCEL)
    done = whence(folder, "switch", "parcel.c", "--fails", "7", "--expect", "weight 8\nfee 4\n", "--json")
    assert done.status == 1 and done.json["predicates"] == []
    assert any("ranks as op2 does" in line for line in done.json["summary"]) and done.json["ranking"]


def test_no_time_at_all():
    with time_up_after_the_runs():
        done = parcel("switch", "--fresh", "--json")
    assert done.status == 1 and sum(t["tried"] for t in done.json["switching"]) == 0
    assert any(line.startswith("stopped early") for line in done.json["summary"])


def test_text():
    done = parcel("switch", "-n", "2")
    assert f" 1  parcel.c:{FAULT}  score 2." in done.out and "most suspicious statements by switch" in done.out


def suite(name: str) -> Done:
    """Cases that are commands: nothing of theirs can be altered."""
    files = {"lib/stack.h": STACK_H, "lib/stack.c": STACK_C, "src/ops.c": OPS_C, "src/calc.c": CALC_C}
    folder = subject_folder(name)
    for file, text in {**files, "Makefile": MAKEFILE}.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests/sub.sh").write_text('test "$(../calc 5 3 -)" = 2\n')
    (folder / "whence.toml").write_text(
        f'[program]\npath = "calc"\nbuild = "make -s CC={Path(sys.executable).parent}/whence-cc"\n'
        '[cases]\ncommand = "make -s check TESTS={name}.sh"\nnames = ["sub"]\n'
    )
    return whence(folder, "switch")


def test_a_case_of_a_suite_cannot_be_altered():
    done = suite("switch-suite")
    assert done.status == 2
    assert "case sub: it runs a command: only a case that runs the program itself can be altered" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--window", "1M"), "--window: branches are counted from the start of the run"),
        (("--case", "nobody"), "no failing case is named 'nobody'"),
        (("--order", "best"), "'best' is not one of"),
    ],
)
def test_wrong_use(words, message):
    done = parcel("switch", *words)
    assert done.status == 2 and message in done.err


def test_no_failing_case():
    done = whence(subject_folder("parcel", parcel_c=PARCEL), "switch", "parcel.c", "--passes", "4")
    assert done.status == 2 and "no case fails" in done.err


# ---- whence slice --implicit -----------------------------------------------------------------------------------------


def lines(done: Done) -> set[int]:
    return {at["line"] for at in done.json["slice"]}


def test_the_skipped_assignment_leads_to_its_test():
    plain, grown = parcel("slice", "--json"), parcel("slice", "--implicit", "--json")
    assert FAULT not in lines(plain) and lines(plain) < lines(grown)
    (edge,) = [e for at in grown.json["slice"] for e in at["edges"] if e["to_line"] == FAULT]
    assert (edge["kind"], edge["name"], edge["value"]) == ("implicit", "weight > 20", "false")
    assert edge["skipped"] == f"`fee` = 9 on line {line_of(PARCEL, 'fee = 9')}"
    part = grown.json["implicit"]
    assert part["verified"] >= 1 and part["lines"] == len(lines(grown) - lines(plain)) and not part["stopped"]


def test_the_report_says_what_was_skipped():
    done = parcel("slice", "--implicit")
    assert f"<- implicit parcel.c:{FAULT}  weight > 20 = false (skipped: `fee` = 9 on line {FAULT + 1})" in done.out
    assert "that may have skipped something: " in done.out


def test_the_page_says_it_too(tmp_path):
    done = parcel("slice", "--implicit", "--html", str(tmp_path / "page.html"))
    assert done.status == 0
    lines = details_of((tmp_path / "page.html").read_text())["slice"].values()
    assert any(f"(skipped: `fee` = 9 on line {FAULT + 1})" in edge["text"] for at in lines for edge in at["edges"])


def test_a_passing_run_can_be_asked():
    """With a weight of 4 the fee would have been another one, had the test come out the other way."""
    line = line_of(PARCEL, "fee %d")
    done = parcel("slice", "--implicit", "--passing", "passes 1", "--at", f"parcel.c:{line}", "--json")
    assert FAULT in lines(done) and done.json["symptom"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--implicit", "--data-only"), "--implicit follows all dependences backward from the start of the run"),
        (("--implicit", "--forward", "--at", f"parcel.c:{FAULT}"), "--implicit follows all dependences backward"),
        (("--implicit", "--window", "1M"), "--implicit follows all dependences backward from the start of the run"),
        (("--implicit", "--budget", "x"), "--budget"),
    ],
)
def test_wrong_use_of_implicit(words, message):
    done = parcel("slice", *words)
    assert done.status == 2 and message in done.err
