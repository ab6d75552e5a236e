"""``whence values`` as a user sees it."""

from __future__ import annotations

import pytest
from cli_programs import PRICES, line_of
from cli_tool import subject_folder, time_up_after_the_runs, whence

# The tenth ticket is to be cheap as well.
TICKETS = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int tickets = atoi(argv[1]);
    int price = 3;
    if (tickets < 10)
        price = 5;
    printf("%d a piece\\n", price);
    printf("%d\\n", price * tickets);
    return 0;
}
"""
FAILS = ("--fails", "10", "--expect", "5 a piece\n50\n")
CASES = (*FAILS, "--fails", "10 x", "--expect", "5 a piece\n50\n", "--passes", "4", "--passes", "30")


def tickets(*words: str):
    return whence(subject_folder("tickets", tickets_c=TICKETS), "values", "tickets.c", *CASES, *words)


@pytest.fixture(scope="module")
def result():
    return tickets("--json", "--fresh").json


def test_the_faulty_line_comes_first_with_its_pair(result):
    first = [entry for entry in result["ranking"] if entry["rank"] == 1]
    assert line_of(TICKETS, "tickets < 10") in [entry["line"] for entry in first]
    (entry,) = [e for e in first if e["line"] == line_of(TICKETS, "tickets < 10")]
    assert "with the condition `tickets < 10` true instead of false the output is right" in entry["evidence"]["text"]
    assert "2 of 2 failing runs have such a pair" in entry["evidence"]["text"]
    assert entry["evidence"]["consistent"] is True
    assert result["technique"] == "values"


def test_pairs_are_listed(result):
    pairs = [p for p in result["pairs"] if p["line"] == line_of(TICKETS, "tickets < 10")]
    assert {p["case"] for p in pairs} == {"fails 1", "fails 2"}
    wanted = {"name": "the condition tickets < 10", "original": "false", "alternate": "true", "relaxed": False}
    assert any(wanted.items() <= pair.items() for pair in pairs)


def test_the_summary_says_what_was_done(result):
    assert any("altered runs, where the full search would make" in line for line in result["summary"])
    assert any(line.startswith("found pairs at ") for line in result["summary"])


def test_what_is_known_is_not_run_again(result):
    again = tickets("--json").json
    assert again["ranking"] == result["ranking"]
    assert any(line.startswith("ran 0 altered runs") for line in again["summary"])


@pytest.mark.parametrize(
    "words", [("--full",), ("--sets",), ("--no-neighbours",), ("--no-prune",), ("--ties", "op2"), ("--workers", "1")]
)
def test_options_of_the_search(words):
    found = tickets("--json", *words).json
    lines = {entry["line"] for entry in found["ranking"] if entry["evidence"]["pairs"] or entry["evidence"]["relaxed"]}
    assert line_of(TICKETS, "tickets < 10") in lines


def test_the_number_of_failing_runs(result):
    assert {e["evidence"]["searched"] for e in result["ranking"]} == {2}
    one = tickets("--failing", "1", "--json").json
    assert {e["evidence"]["searched"] for e in one["ranking"]} == {1}
    named = tickets("--case", "fails 2", "--json").json
    assert {p["case"] for p in named["pairs"]} == {"fails 2"}


def test_the_terminal_shows_the_sentence():
    done = tickets("-n", "3")
    assert done.status == 0
    assert "instead of" in done.out and "most suspicious statements by values" in done.out


def test_no_time_at_all_still_gives_a_ranking():
    with time_up_after_the_runs():
        done = tickets("--fresh", "--json")
    assert done.status == 0
    assert any(line.startswith("stopped early") for line in done.json["summary"])
    assert all(entry["evidence"]["pairs"] == 0 for entry in done.json["ranking"])


def test_no_failing_case_is_an_error():
    done = whence(subject_folder("tickets", tickets_c=TICKETS), "values", "tickets.c", "--passes", "4")
    assert done.status == 2 and "no case fails" in done.err


def test_a_case_of_a_suite_cannot_be_altered():
    folder = subject_folder("values-suite", prog_c=PRICES)
    cases = 'command = "./prog {name} | grep -q 180"\nnames = ["200"]\n'
    (folder / "whence.toml").write_text(f'[program]\nsources = ["prog.c"]\n[cases]\n{cases}')
    done = whence(folder, "values")
    assert done.status == 2 and len(done.err.splitlines()) <= 2
    assert "200: it runs a command" in done.err or "200 runs a command" in done.err
