"""Edits that pass: what misuses memory comes behind what is clean, and what was not checked says so."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from cli_tool import subject_folder

from whence.diagnosis import edit_trials
from whence.diagnosis.edit_search import NOT_RECORDED, EditSearch, Mending
from whence.findings import Entry, Statement
from whence.program.c_source import CSource
from whence.program.source_edits import Kind, Part, SourceEdit, edited
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject import candidate_edits
from whence.subject.edited import Check, Editing, Tried
from whence.subject.edited_memory import NO_TIME, EditedMemory
from whence.subject.memory_check import Checker
from whence.subject.runs import Runs, run_all
from whence.subject.subject import Subject, subject_from_sources

# The last value is left out; where nothing was written behind them, one more adds nothing. Where the last one is 0 it
# writes behind them itself, and passes.
TOTAL = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int count = argc - 1, sum = 0;
    int *values = malloc(count * sizeof *values);
    for (int i = 0; i < count; i++)
        values[i] = atoi(argv[i + 1]);
    if (atoi(argv[count]) == 0)
        values[count] = 0;
    for (int i = 0; i < count - 1; i++)
        sum += values[i];
    printf("%d\\n", sum);
    free(values);
    return 0;
}
"""
OLD = b"i < count - 1"


@pytest.fixture(scope="module")
def summed() -> tuple[Subject, Runs]:
    """The program with two failing cases and a passing one."""
    folder = subject_folder("edit-search", total_c=TOTAL)
    words = (("1", "2", "3"), ("4", "5", "6"), ("7", "8", "0"))
    cases = [Case(" ".join(w), w, expected=Expected(f"{sum(map(int, w))}\n".encode())) for w in words]
    subject = subject_from_sources([folder / "total.c"], [], cases, replace(Subject.limits, time=10.0))
    Checker(subject).compile()
    return subject, run_all(subject)


def test_a_search_that_ends_early_does_not_say_that_all_edits_were_made(
    summed: tuple[Subject, Runs], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit_trials, "ENOUGH", 1)
    for name in ("BATCH", "WINDOW"):
        monkeypatch.setattr(candidate_edits, name, 40)
    search = EditSearch(*summed, time.monotonic() + 60, {})
    found = search.run([Entry(Statement("total.c", 11), 1.0, 1, 1)])
    assert not found.all_made and found.count.tried <= found.made and found.passing >= 1


def search_of(summed: tuple[Subject, Runs], *news: bytes) -> EditSearch:
    """A search that has found these conditions in the loop's place, all cases passing with each."""
    subject, runs = summed
    search = EditSearch(subject, runs, time.monotonic() + 60, {})
    source = search.found.files["total.c"] = CSource(TOTAL.encode())
    start = TOTAL.encode().index(OLD)
    parts = [(Part(Kind.TEXT, start, start + len(OLD), new),) for new in news]
    edits = [SourceEdit("total.c", 11, part, ((OLD, part[0].text),)) for part in parts]
    with Editing(subject, runs, time.monotonic() + 60) as editing:
        tried = editing.texts([("total.c", edited(source, edit)) for edit in edits])
    found = zip(edits, tried, strict=True)
    search.found.mendings = [Mending(edit, did, "", [], place) for place, (edit, did) in enumerate(found)]
    assert all(mending.passes(2) for mending in search.found.mendings)
    return search


def test_an_edit_that_reads_beyond_a_block_comes_behind_a_clean_one(summed: tuple[Subject, Runs]) -> None:
    search = search_of(summed, b"i < count + 1", b"i < count")
    search.check(time.monotonic() + 60)
    clean, wrong = search.found.mendings
    assert wrong.checks.traps == clean.checks.traps == Check(3, 3)  # they see nothing of blocks
    assert clean.checks.is_clean and clean.checks.memory == Check(3, 3, before=clean.checks.memory.before)
    assert clean.checks.memory.before.startswith("`7 8 0` has a write at total.c:10 beyond the block of 12 bytes")
    assert wrong.checks.is_clean is False and wrong.edit.changes[0][1] == b"i < count + 1"
    assert "a read at total.c:12 beyond" in wrong.checks.memory.found


def test_an_edit_with_which_a_block_is_lost_is_not_clean_where_none_was(summed: tuple[Subject, Runs]) -> None:
    subject, runs = summed
    text = TOTAL.replace("count - 1; i++", "count; i++").replace("    free(values);\n", "").encode()
    with EditedMemory(subject, runs, time.monotonic() + 60) as memory:
        check = memory.check(Statement("total.c", 14), text, Tried((0, 1), (), 3))
    assert check.found.startswith("`1 2 3` has the loss at total.c:6 of the block of 12 bytes")


def test_what_there_is_no_time_for_is_not_called_clean(summed: tuple[Subject, Runs]) -> None:
    search = search_of(summed, b"i < count")
    (mending,) = search.found.mendings
    assert mending.checks.traps is mending.checks.memory is NOT_RECORDED
    search.check(time.monotonic() - 1)
    assert mending.checks.is_clean is None and mending.checks.memory.trouble == NO_TIME
    assert mending.checks.traps.trouble == "no time was left to compile"


def test_a_number_that_the_file_does_not_have_comes_behind_a_somewhat_larger_edit(summed: tuple[Subject, Runs]) -> None:
    search = search_of(summed, b"i < 3", b"i + 1 <= count")
    search.check(time.monotonic() - 1)
    larger, fitted = search.found.mendings
    assert fitted.edit.size == 3 < larger.edit.size == 5
    assert search.fitted(fitted.edit) == ["3"] and search.fitted(larger.edit) == []


COUNTED = """\
#include <stdio.h>
int main(void)
{
    unsigned sum = 0;
    char c;
    while ((c = getchar()) != EOF)
        sum = sum * 31 + c;
    printf("%u\\n", sum % 10007);
    return 0;
}
"""


def test_the_type_of_what_a_statement_names_is_mended_where_no_choice_mends_it() -> None:
    folder = subject_folder("edit-type", count_c=COUNTED)
    inputs = ((b"ab", "3105"), (b"a", "97"), (b"\xc3\xa4", "6209"), (b"a\xff", "3262"))
    cases = [Case(output, (), stdin, expected=Expected(f"{output}\n".encode())) for stdin, output in inputs]
    subject = subject_from_sources([folder / "count.c"], [], cases, replace(Subject.limits, time=10.0))
    runs = run_all(subject)
    assert len(runs.failing) == 2
    search = EditSearch(subject, runs, time.monotonic() + 15, {})
    search.run([Entry(Statement("count.c", 7), 1.0, 1, 1)])
    texts = [edited(search.found.files["count.c"], mending.edit) for mending in search.passing]
    assert COUNTED.replace("char c;", "int c;").encode() in texts
    assert {mending.edit.line for mending in search.passing} == {5}


MEAN = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++)
        total += atoi(argv[i]);
    printf("%ld\\n", (long)total / (argc - 1));
    return 0;
}
"""


def test_where_a_cast_mends_the_type_of_the_declaration_is_tried_and_comes_first() -> None:
    folder = subject_folder("edit-cast", mean_c=MEAN)
    words = (("5", "9"), ("3",), ("2000000000", "2000000000"))
    cases = [Case(" ".join(w), w, expected=Expected(f"{sum(map(int, w)) // len(w)}\n".encode())) for w in words]
    subject = subject_from_sources([folder / "mean.c"], [], cases, replace(Subject.limits, time=10.0))
    runs = run_all(subject)
    assert len(runs.failing) == 1
    search = EditSearch(subject, runs, time.monotonic() + 60, {})
    search.run([Entry(Statement("mean.c", 8), 1.0, 1, 1)])
    first, *others = search.passing
    assert first.edit.changes == ((b"int", b"long"),) and first.edit.line == 5
    assert any("(unsigned)" in other.diff for other in others)
