"""``whence rules``: suggested changes on the terminal, as JSON and in the HTML page; wrong use."""

from __future__ import annotations

import re

from cli_programs import PRICES, fault_line, prices
from cli_tool import subject_folder, whence
from page_parts import details_of

from whence.cli.rules import FAMILIES
from whence.techniques.rules.candidates import Family

FAILS = (
    "--fails",
    "200 5",
    "--expect",
    "2 prices, 1 large\nsum 185\n",
    "--fails",
    "300",
    "--expect",
    "1 prices, 1 large\nsum 270\n",
)
CASES = (*FAILS, "--passes", "5 7", "--passes", "1")
FIXED = "price -= price / 10; /* FAULT */"


def test_families_are_those_of_the_technique():
    assert sorted(FAMILIES) == sorted(family.name.lower() for family in Family)


def test_json():
    done = whence(prices(), "rules", "prices.c", *CASES, "--json")
    assert (done.status, done.json["technique"]) == (0, "rules")
    best = done.json["rules"][0]
    line = fault_line(PRICES)
    assert (best["line"], best["after"], best["score"], best["family"]) == (line, FIXED, 1.0, "value")
    assert best["before"] == PRICES.splitlines()[line - 1].strip()
    first = done.json["ranking"][0]
    assert (first["line"], first["rank"], first["rank_worst"]) == (line, 1, 1)
    assert any(text.startswith("tried ") for text in done.json["summary"])
    assert any(text.startswith("ran ") and "altered run" in text for text in done.json["summary"])


def test_terminal():
    done = whence(prices(), "rules", "prices.c", *CASES, "-n", "1")
    assert done.status == 0
    shown = done.out[done.out.index("suggested changes, the best one of a statement, all 1:") :]
    assert f"  prices.c:{fault_line(PRICES)}\n" in shown
    assert "= repairs 2 of 2 failing cases, breaks none of 2 passing\n" in shown
    assert "= compiled and run on all 4 cases: all pass" in shown
    assert f"    + {FIXED}" in shown


def test_html(tmp_path):
    page = tmp_path / "page.html"
    whence(prices(), "rules", "prices.c", *CASES, "--html", str(page))
    changes = details_of(page.read_text())["changes"][f"prices.c:{fault_line(PRICES)}"]
    assert changes[0]["after"] == "price -= price / 10; /* FAULT */"


def test_families_can_be_chosen():
    done = whence(prices(), "rules", "prices.c", *CASES, "--families", "branch,operator", "--json")
    assert {rule["family"] for rule in done.json["rules"]} <= {"branch", "operator"}
    done = whence(prices(), "rules", "prices.c", *CASES, "--families", "-value", "--json")
    assert all(rule["after"] != FIXED for rule in done.json["rules"])


def test_one_failing_case():
    done = whence(prices(), "rules", "prices.c", *CASES, "--case", "fails 2", "--json")
    rules = done.json["rules"]
    assert {name for rule in rules if "confirmed" not in rule for name in rule["cases"]} <= {"fails 2"}
    confirmed = next(rule for rule in rules if rule.get("confirmed"))
    assert (set(confirmed["cases"]), confirmed["failing"]) == ({"fails 1", "fails 2"}, 2)  # compiled, it runs on all


def test_pairs_become_guarded_rules():
    text = """\
#include <stdio.h>
#include <stdlib.h>
static const int days[] = {31, 28, 31, 29, 25};
int main(int argc, char **argv)
{
    int month = atoi(argv[1]), sum = 0;
    sum += days[month] * 24;
    printf("%d\\n", sum + month);
    return 0;
}
"""
    folder = subject_folder("guarded", p_c=text)
    cases = ("--fails", "4", "--expect", "748\n", "--passes", "0", "--passes", "1", "--passes", "3")
    done = whence(folder, "rules", "p.c", *cases, "--families", "guarded", "--json")
    assert done.json["rules"] == []
    done = whence(folder, "rules", "p.c", *cases, "--families", "guarded", "--pairs", "--json")
    best = done.json["rules"][0]
    assert (best["family"], best["score"], best["line"]) == ("guarded", 1.0, 7)
    assert re.fullmatch(r"where `.+` is \d+, use \d+", best["rule"])


def test_unknown_family():
    done = whence(prices(), "rules", "prices.c", *CASES, "--families", "branch,magic")
    assert done.status == 2 and "'magic' is no kind of rule; there are branch, value" in done.err


def test_no_failing_case():
    done = whence(prices(), "rules", "prices.c", "--passes", "5 7")
    assert done.status == 2 and "no case fails" in done.err


def test_a_program_that_cannot_be_repaired_by_one_change():
    text = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    printf("%d\\n", atoi(argv[1]));
    return 0;
}
"""
    folder = subject_folder("unrepairable", p_c=text)
    expected = ("--fails", "3", "--expect", "something else\n", "--passes", "4")
    done = whence(folder, "rules", "p.c", *expected, "--json")
    assert done.json["rules"] == []
    assert len(done.json["ranking"]) == 2 and all(entry["score"] < 0.01 for entry in done.json["ranking"])
    assert "on 1 failing case: none repairs it" in "\n".join(done.json["summary"])
