"""``whence memory`` as a user sees it."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder, whence

SILENT = """\
#include <stdlib.h>
int main(int argc, char **argv)
{
    char *row = malloc(5);
    if (!row)
        return 1;
    row[atoi(argv[1])] = 1;
    return argc > 9;
}
"""


def silent(*words: str):
    return whence(subject_folder("silent", silent_c=SILENT), "memory", "silent.c", *words)


@pytest.fixture(scope="module")
def result():
    return silent("--passes", "6", "--json").json


def test_a_passing_run_is_checked(result):
    (run,) = result["memory"]
    assert run["verdict"] == "pass"
    (error,) = run["errors"]
    assert (error["kind"], error["line"]) == ("out-of-bounds", 7)
    assert error["beyond"] == {"side": "behind", "distance": 1, "bytes": 1}
    assert error["object"]["size"] == 5


def test_the_line_is_ranked_with_its_sentences(result):
    (entry,) = result["ranking"]
    assert entry["line"] == 7
    assert "of the block of 5 bytes that `malloc` made on silent.c:4" in entry["evidence"]["text"]


def test_all_cases_are_checked_and_their_verdict_is_the_status():
    assert silent("--passes", "1", "--passes", "4", "--all").status == 0
    done = silent("--passes", "1", "--passes", "6", "--all")
    assert done.status == 1
    assert "checked 2 runs (1 with memory errors)" in done.out


def test_leaks_are_told_when_asked_for():
    assert silent("--passes", "1").status == 1
    assert "was not given back when the run ended" in silent("--passes", "1", "--leaks").out


def test_a_case_that_is_not_there_is_named():
    done = silent("--passes", "1", "--case", "other")
    assert done.status == 2
    assert "no case is named 'other'" in done.err
