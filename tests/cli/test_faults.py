"""``whence faults`` on a program with two faults, from the first list until no case fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_programs import line_of
from cli_tool import Done, subject_folder, time_up_after_the_runs, whence, write

from whence.cli.faults import SIMILAR, TECHNIQUES
from whence.diagnosis.multiple_faults import clusters, minimal_full_partial

KIT = """\
#include <stdio.h>
#include <stdlib.h>

/* The area of a rectangle. */
static int area(int width, int height)
{
    int found = width + height; /* FAULT: times */
    return found;
}

static int largest(int count, char **words)
{
    int best = atoi(words[0]);
    for (int i = 1; i < count; i++) {
        int value = atoi(words[i]);
        if (value < best) /* FAULT: greater */
            best = value;
    }
    return best;
}

int main(int argc, char **argv)
{
    if (atoi(argv[1]) == 1)
        printf("area %d\\n", area(atoi(argv[2]), atoi(argv[3])));
    else
        printf("largest %d\\n", largest(argc - 2, argv + 2));
    return 0;
}
"""
AREA = [("1 2 3", "area 6"), ("1 3 3", "area 9"), ("1 1 5", "area 5")]
LARGEST = [("2 4 7", "largest 7"), ("2 3 9", "largest 9"), ("2 9 3", "largest 9")]
AREA_NAMES, LARGEST_NAMES = ["fails 1", "fails 2", "fails 3"], ["fails 4", "fails 5", "fails 6"]
FIRST_FIXED = KIT.replace("value < best", "value > best")
BOTH_FIXED = FIRST_FIXED.replace("width + height", "width * height")


class Session:
    """Calls of the command on ``kit.c``, with a state file of the test's own."""

    def __init__(self, state: Path) -> None:
        self.folder, self.state = subject_folder("faults"), state
        self.cases = [*AREA, *LARGEST]
        self.edit(KIT)

    def edit(self, text: str) -> None:
        write(self.folder / "kit.c", text)

    def __call__(self, *words: str) -> Done:
        given = [word for args, expect in self.cases for word in ("--fails", args, "--expect", expect)]
        passing = ["--passes", "1 2 2", "--passes", "2 5", "--passes", "2 1 1"]
        shared = ["--workers", "1", "--state", str(self.state)]
        return whence(self.folder, "faults", "kit.c", *given, *passing, *shared, *words)

    def json(self, *words: str) -> dict:
        done = self(*words, "--json")
        assert done.status == 0, done.err
        return done.json


@pytest.fixture
def session(tmp_path):
    return Session(tmp_path / "state.json")


def lines_ranked(found: dict, rank: int = 1) -> list[int]:
    return [entry["line"] for entry in found["ranking"] if entry["rank"] == rank]


def test_choices_are_those_of_the_techniques():
    assert set(TECHNIQUES) == set(minimal_full_partial.TECHNIQUES) and clusters.THRESHOLD == SIMILAR


def test_fault_by_fault_until_no_case_fails(session):
    one = session.json()
    assert (one["technique"], one["iteration"]["number"], one["iteration"]["fixed"]) == ("faults/partial", 1, [])
    assert one["iteration"]["searched"] == [*AREA_NAMES, *LARGEST_NAMES]
    assert one["iteration"]["cases"] == [*AREA_NAMES, *LARGEST_NAMES]
    assert lines_ranked(one) == [line_of(KIT, "value < best")]
    assert one["ranking"][0]["evidence"]["pairs_in"] == 3

    session.edit(FIRST_FIXED)
    two = session.json()
    fixed = {"file": "kit.c", "line": line_of(KIT, "value < best")}
    assert (two["iteration"]["number"], two["iteration"]["fixed"]) == (2, [fixed])
    assert (two["iteration"]["searched"], two["iteration"]["cases"]) == ([], AREA_NAMES)
    assert line_of(KIT, "width + height") in lines_ranked(two)
    text = two["ranking"][0]["evidence"]["text"]
    assert text.startswith("with ") and text.endswith(" the output is right; 2 of 3 failing runs have a pair here")

    session.edit(BOTH_FIXED)
    done = session()
    assert done.status == 1
    assert "no case fails any more: this search is at its end after 2 lists" in done.out
    assert not session.state.exists()
    assert "no case fails: there is nothing to locate" in session().out


def test_asked_again_it_says_the_same(session):
    one = session.json()
    assert session.json()["ranking"] == one["ranking"]
    session.edit(KIT.replace("/* The area of a rectangle. */", "/* The area\n   of a rectangle. */"))
    again = session.json()
    assert again["iteration"] == one["iteration"]
    assert lines_ranked(again) == [line + 1 for line in lines_ranked(one)]


def test_text_says_what_was_done_and_what_to_do_next(session):
    session()
    session.edit(FIRST_FIXED)
    out = session("-n", "1").out
    assert f"list 2, after the fix at kit.c:{line_of(KIT, 'value < best')}: searched nothing; 3 failing cases" in out
    assert "the list is made from the failing cases `fails 1`, `fails 2`, `fails 3`" in out
    assert f"--state {session.state}" in out and "the next list" in out


@pytest.mark.parametrize(("technique", "searched"), [("full", AREA_NAMES), ("minimal", [])])
def test_other_techniques(session, technique, searched):
    one = session.json("--technique", technique)
    assert one["iteration"]["cases"] == [*AREA_NAMES, *LARGEST_NAMES]
    session.edit(FIRST_FIXED)
    two = session.json()
    assert (two["technique"], two["iteration"]["searched"]) == (f"faults/{technique}", searched)
    same = [(e["line"], e["score"]) for e in one["ranking"]] == [(e["line"], e["score"]) for e in two["ranking"]]
    assert same == (technique == "minimal")


def test_a_fix_of_a_statement_that_failing_cases_execute_searches_them_again(session):
    session()
    session.edit(FIRST_FIXED.replace("atoi(argv[1]) == 1", "1 == atoi(argv[1])"))
    assert session.json()["iteration"]["searched"] == AREA_NAMES


def test_fixed_says_what_the_edit_does_not(session):
    session()
    session.edit(FIRST_FIXED)
    found = session.json("--fixed", f"kit.c:{line_of(KIT, 'width + height')}")
    assert found["iteration"]["searched"] == AREA_NAMES


def test_start_begins_afresh(session):
    session()
    session.edit(FIRST_FIXED)
    found = session.json("--start", "--technique", "full")
    assert (found["iteration"]["number"], found["iteration"]["searched"]) == (1, AREA_NAMES)


def test_a_case_that_became_another_one_is_searched_again(session):
    session()
    session.cases[1] = ("1 4 4", "area 16")
    session.edit(FIRST_FIXED)
    assert session.json()["iteration"]["searched"] == ["fails 2"]


def test_a_new_failing_case_joins(session):
    session()
    session.cases.append(("2 3 5", "largest 5"))
    assert "fails 7" in session.json()["iteration"]["searched"]


def test_a_search_that_was_stopped_goes_on(session, tmp_path):
    whole = Session(tmp_path / "whole.json").json("--fresh")
    with time_up_after_the_runs():
        stopped = session.json("--fresh")
    assert stopped["iteration"]["stopped"] == "budget"
    assert json.loads(session.state.read_text())["known"]["runs"] == {}
    again = session.json()
    assert (again["iteration"], again["ranking"]) == (whole["iteration"], whole["ranking"])


def test_groups(session):
    groups = session.json("--clusters")["clusters"]
    assert [group["cases"] for group in groups] == [AREA_NAMES, ["fails 4", "fails 5"], ["fails 6"]]
    assert all(group["ranking"][0]["rank"] == 1 for group in groups)
    out = session("--clusters", "0.2").out
    assert "group 1 of 2, which seems to have one cause: the failing cases `fails 1`, `fails 2`, `fails 3`" in out
    assert out.count("most suspicious statements") == 3 and out.count("next:") == 1
    assert f"1  kit.c:{line_of(KIT, 'value < best')}" in out.split("group 2 of 2, ")[1]
    assert len(session.json("--clusters", "0")["clusters"]) == 1
    page = session.state.with_suffix(".html")
    session("--clusters", "--html", str(page))
    assert "width + height" in page.read_text()


# ---- Wrong use -------------------------------------------------------------------------------------------------------


def refused(done: Done, *texts: str) -> None:
    assert done.status == 2 and all(text in done.err for text in texts), done.err
    assert len(done.err.splitlines()) <= 2


def test_state_of_another_program_is_refused(session):
    session()
    before = session.state.read_text()
    write(session.folder / "other.c", "int main(void) { return 1; }\n")
    state = ["--state", str(session.state)]
    refused(whence(session.folder, "faults", "other.c", "--fails", "1", *state), "another program", "--start")
    assert session.state.read_text() == before
    session.edit("int main(int argc, char **argv)\n{\n    return argc + !argv;\n}\n")
    refused(session(), "another program", "--start")


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": {"name": "whence-faults", "version": 9}}'])
def test_a_file_that_is_no_state_is_refused(session, text):
    session.state.write_text(text)
    refused(session(), str(session.state), "--start")
    assert session("--start").status == 0


def test_wrong_options_are_refused(session):
    refused(session("--fixed", "kit.c:7"), "--fixed", "no earlier list")
    refused(session("--case", "fails 1"), "--case")
    session()
    refused(session("--fixed", "kit.c:7"), "still the one of the last list")
    refused(session("--technique", "full"), "--technique partial", "--start")
    session.edit(FIRST_FIXED)
    refused(session("--fixed", "kit.c:1"), "no statement on kit.c:1", "nearest")
    refused(session("--fixed", "7"), "'7'")
    assert session("--clusters", "1.5").status == 2


def test_a_source_that_changed_after_the_build_is_refused(tmp_path):
    folder = subject_folder("faults-built")
    write(folder / "kit.c", KIT)
    write(folder / "cases.txt", "1 2 3\n1 2 2\n")
    for name, text in (("1", "area 6\n"), ("2", "area 4\n")):
        write(folder / "right" / name, text)
    build = "test -e kit || whence-cc -g -o kit kit.c"
    config = f'[program]\npath = "kit"\nbuild = "{build}"\n[cases]\nfile = "cases.txt"\noutputs = "right"\n'
    write(folder / "whence.toml", config)
    (folder / "kit").unlink(missing_ok=True)
    words = ("faults", "--workers", "1", "--state", str(tmp_path / "state.json"))
    assert whence(folder, *words).status == 0
    write(folder / "kit.c", BOTH_FIXED)
    refused(whence(folder, *words), "changed since the program was built: kit.c", "build it again")
    (folder / "kit").unlink()
    assert "no case fails any more" in whence(folder, *words).out
