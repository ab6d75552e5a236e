"""Conditions that runs have shown to tell failing cases from passing ones: the missing one is among the first few."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from cli_tool import subject_folder

from whence.program.source_edits import Kind, SourceEdit, edited
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.runs import Runs, run_all
from whence.subject.subject import Subject, subject_from_sources
from whence.techniques.bugfix import observed_conditions as observed_conditions_module
from whence.techniques.bugfix.candidates import FileCandidates, file_candidates
from whence.techniques.bugfix.observed_conditions import Observed, observed_conditions
from whence.techniques.bugfix.suspects import Suspects

# Parcels are taken until one is too heavy for what is left; one without weight is not counted, nor what is left out.
PARCELS = """\
#include <stdio.h>
#include <stdlib.h>
struct parcel { int weight, price; struct parcel *next; };
static int paid(struct parcel *first, int left, int least, int most)
{
    int sum = 0;
    for (struct parcel *p = first; p != NULL && p->weight <= left; p = p->next) {
        if (p->weight == 0 || p->price < least)
            continue;
        left -= p->weight;
        sum += p->price;
        if (sum > most)
            sum = most;
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct parcel all[10] = { { 0 } };
    int most = argc < 10 ? argc - 1 : 9;
    for (int n = 0; n < most; n++) {
        int told = atoi(argv[n + 1]);
        all[n] = (struct parcel){ told / 10, told % 10, n + 1 < most ? &all[n + 1] : NULL };
    }
    printf("%d\\n", paid(all, 12, 3, 20));
    return 0;
}
"""
# The digits of each word are summed up; a word's sum does not begin with the one of the word before.
SUMS = """\
#include <stdio.h>
int main(int argc, char **argv)
{
    int sum = 0;
    for (int n = 1; n < argc; n++) {
        sum = 0;
        for (const char *at = argv[n]; *at != '\\0'; at++)
            sum += *at - '0';
        printf("%d\\n", sum);
    }
    return 0;
}
"""
FAULTS = {  # what stands there, what is left of it, a failing case with what it should print, and passing ones
    "and": (
        " && p->weight <= left",
        "",
        "55 55 55",
        "10",
        ("15 25", "33", "14 14 14", "4 5", "124", "13 13 13 13 13", "93 35", "35 93", "24 0 1"),
    ),
    "or": (
        " || p->price < least",
        "",
        "15 12 24",
        "9",
        ("15 25", "33", "14 14 14", "4 5 3", "9", "13 13 19 15 15", "124", "93 35", "55 88 13"),
    ),
    "guard": (
        "        if (p->weight == 0 || p->price < least)\n            continue;\n",
        "",
        "15 11",
        "5",
        ("15 25", "33", "14 14 14", "13 13 19 15 15", "124", "93 35", "55 88 13"),
    ),
    "limit": (
        "        if (sum > most)\n            sum = most;\n",
        "",
        "19 19 19",
        "20",
        ("15 25", "33", "14 14 14", "19", "18 15", "15 15 15 15", "15 15 15 12 15"),
    ),
    "ends": (
        "p != NULL && p->weight",
        "p->weight",
        "15 25",
        "10",
        ("55 88 99 99", "92 94 94", "15 15 15 98 99", "33 98 99"),
    ),
}


def subject(name: str) -> tuple[Subject, Runs]:
    whole, left, fails, right, passes = FAULTS[name]
    assert PARCELS.count(whole) == 1
    folder = subject_folder(f"observed-{name}", parcels_c=PARCELS.replace(whole, left))
    cases = [Case("fails", tuple(fails.split()), expected=Expected(f"{right}\n".encode()))]
    cases += [Case(f"passes {n}", tuple(words.split())) for n, words in enumerate(passes)]
    found = subject_from_sources([folder / "parcels.c"], [], cases, replace(Subject.limits, time=5.0))
    return found, run_all(found)


def observed(name: str, seconds: float = 60.0) -> tuple[Observed, dict[str, FileCandidates]]:
    found, runs = subject(name)
    assert len(runs.failing) == 1
    files = file_candidates(found, ["parcels.c"])
    statements = [(one.file, one.line) for one in found.places.statements]
    deadline = time.monotonic() + seconds
    return observed_conditions(found, runs, Suspects(files, statements, {}), runs.failing, deadline), files


def place_of(name: str, real: str) -> int:
    """The place of the edit that gives the real program, from 1, among those of its line; 0: it is none of them."""
    found, files = observed(name)
    wanted, texts = b"".join(real.encode().split()), dict[SourceEdit, bytes]()
    for edit in found.edits:
        texts[edit] = b"".join(edited(files["parcels.c"].source, edit).split())
    fix = next((edit for edit, text in texts.items() if text == wanted), None)
    return [edit for edit in texts if fix and edit.line == fix.line].index(fix) + 1 if fix else 0


@pytest.mark.parametrize("name", ["and", "or", "ends"])
def test_what_is_missing_in_a_condition_is_told(name: str) -> None:
    assert 0 < place_of(name, PARCELS) <= 60


def test_a_check_that_is_missing_is_told() -> None:
    whole = FAULTS["guard"][0]
    check = whole.replace("p->weight == 0 || ", "").replace("\n            continue", " continue")
    assert 0 < place_of("guard", PARCELS.replace(whole, check)) <= 60


def test_a_limit_that_is_missing_is_told() -> None:
    found, _ = observed("limit")
    texts = [edit.parts[0].text for edit in found.edits if edit.parts[0].kind is Kind.BEHIND]
    assert b"if (sum > most) sum = most;" in texts  # behind the last statement of the loop


def test_what_is_not_set_anew_is_told() -> None:
    whole = "        sum = 0;\n"
    folder = subject_folder("observed-sums", sums_c=SUMS.replace(whole, ""))
    words = ("0", "12", "34", "0 7", "00 0 21")
    cases = [Case("fails", ("12", "3"), expected=Expected(b"3\n3\n"))]
    cases += [Case(f"passes {n}", tuple(one.split())) for n, one in enumerate(words)]
    found = subject_from_sources([folder / "sums.c"], [], cases, replace(Subject.limits, time=5.0))
    files, statements = file_candidates(found, ["sums.c"]), [(one.file, one.line) for one in found.places.statements]
    suspects, runs = Suspects(files, statements, {}), run_all(found)
    edits = observed_conditions(found, runs, suspects, runs.failing, time.monotonic() + 60).edits
    texts = ["".join(edited(files["sums.c"].source, edit).decode().split()) for edit in edits]
    assert "".join(SUMS.split()) in texts


def test_where_there_is_no_time_nothing_is_told() -> None:
    assert observed("or", 0.0)[0] == Observed()


def test_without_a_passing_case_nothing_is_observed(monkeypatch: pytest.MonkeyPatch) -> None:
    found, runs = subject("or")
    files = file_candidates(found, ["parcels.c"])
    statements = [(one.file, one.line) for one in found.places.statements]
    monkeypatch.delattr(observed_conditions_module, "Observations")
    failing = replace(runs, tested=[runs.tested[row] for row in runs.failing])
    for rows, some in (([], runs), ([0], failing)):
        assert (
            observed_conditions(found, some, Suspects(files, statements, {}), rows, time.monotonic() + 60) == Observed()
        )


def test_a_file_that_is_long_in_building_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert observed("or")[0].edits
    monkeypatch.setattr(observed_conditions_module, "LARGEST", 100)
    assert observed("or")[0] == Observed()
