"""``whence memory`` as a user sees it."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder, whence, write

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
    (run,) = silent("--passes", "1", "--leaks", "--json").json["memory"]
    (leak,) = run["errors"]
    assert (leak["kind"], leak["line"], leak["reachable"]) == ("leak", 4, False)
    assert "was lost: nothing pointed to it when the run ended" in leak["text"][0]


def test_a_case_that_is_not_there_is_named():
    done = silent("--passes", "1", "--case", "other")
    assert done.status == 2
    assert "no case is named 'other'" in done.err


COUNTED = """\
#include <stdio.h>
#include <stdlib.h>
static int row[4];
static int total;
int main(int argc, char **argv)
{
    int at = atoi(argv[1]);
    row[at] = 1;                                /* 8 */
    for (int i = 0; i < 4; i++)
        total += row[i];
    printf("%d\\n", at);
    return 0;
}
"""


def counted(name: str, compare: str):
    folder = subject_folder(name, p_c=COUNTED)
    for case, at in (("a", 1), ("b", 3), ("c", 5)):
        write(folder / "cases" / f"{case}.args", str(at))
        write(folder / "cases" / f"{case}.out", f"{at}\n")
    text = f'[program]\nsources = ["p.c"]\n[cases]\nfolder = "cases"\n[compare]\n{compare}\n'
    write(folder / "whence.toml", text)
    return folder


def test_a_silent_error_fails_its_case_where_the_configuration_asks_for_it():
    folder = counted("counted", "memory = true")
    found = whence(folder, "locate", "--json").json
    assert found["cases"]["names_failed"] == ["c"]
    assert (found["symptom"]["kind"], found["symptom"]["line"]) == ("memory-error", 8)
    assert found["symptom"]["text"] == "a write beyond `row` at p.c:8"
    assert found["ranking"][0]["line"] == 8
    assert any(line.startswith("not altered: c: memory error in the program, but pass") for line in found["summary"])
    spectrum = whence(folder, "spectrum", "--json").json
    assert spectrum["cases"]["names_failed"] == ["c"]
    sliced = whence(folder, "slice", "--json").json
    assert {7, 8} <= {at["line"] for at in sliced["slice"]}


def test_a_silent_error_passes_elsewhere():
    done = whence(counted("not-counted", "memory = false"), "locate")
    assert done.status == 2 and "no case fails" in done.err


def test_what_is_known_of_a_run_is_kept(monkeypatch):
    folder = counted("kept", "memory = true")
    first = whence(folder, "spectrum", "--json").json
    monkeypatch.setattr("whence.subject.recorder.memory_outcome", None)  # would be called
    assert whence(folder, "spectrum", "--json").json["cases"] == first["cases"]
