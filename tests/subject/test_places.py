from __future__ import annotations

import pytest
from cli_tool import write
from trace_readers import source_of, subject_of

from whence.findings import Statement
from whence.subject.places import Places

PROGRAM = """\
#include <stdlib.h>
static void leave(int n)
{
    if (n == 0) {
        return;
    }
    while (1) {
        if (n-- == 1)
            break;
        continue;
    }
}
int main(int argc, char **argv)
{
    if (argc > 5) {
        goto out;
    }
    for (;;) {
        leave(argc);
        break;
    }
out:
    return 0;
}
"""


@pytest.fixture
def subject():
    subject = subject_of(PROGRAM)
    yield subject
    write(source_of(subject), PROGRAM)


def test_statements_are_lines_that_somebody_wrote(subject):
    lines = {s.line for s in subject.places.statements}
    source = PROGRAM.splitlines()
    assert not [n for n in lines if source[n - 1].strip() == "}"]
    jumps = [n for n, text in enumerate(source, 1) if text.strip() in ("return;", "break;", "continue;", "goto out;")]
    assert set(jumps) <= lines


def test_numbers_belong_to_instructions(subject):
    places, program = subject.places, subject.program
    assert len(places.numbers) == program.instruction_count
    for number, statement in enumerate(places.numbers.tolist()):
        location = program.location(number)
        if statement >= 0:
            assert places.statements[statement] == Statement("p.c", location.line)
    assert places.statements == sorted(places.statements)


def test_files_elsewhere_keep_their_whole_name(subject, tmp_path):
    places = Places(subject.program, tmp_path)
    assert {s.file for s in places.statements} == {str(source_of(subject))}


def test_without_the_source_braces_cannot_be_told(subject):
    source_of(subject).unlink()
    unread = Places(subject.program, subject.folder)
    assert {s.line for s in unread.statements} > {s.line for s in subject.places.statements}
    assert unread.changed_files() == ["p.c"]


def test_changed_files(subject):
    assert Places(subject.program, subject.folder).changed_files() == []
    write(source_of(subject), PROGRAM + "\n")
    assert Places(subject.program, subject.folder).changed_files() == ["p.c"]


DO_LOOP = """\
#include <stdio.h>
int main(int argc, char **argv)
{
    int left = argc, turns = 0;
    do {
        left--;
    } while (left > 0 &&
             ++turns < 8);
    do
        turns--;
    while (turns > 3 || (left < 0 && turns > 9));
    return left;
}
"""


def test_the_test_of_a_do_loop_is_where_its_condition_stands() -> None:
    subject = subject_of(DO_LOOP)
    lines = {s.line for s in subject.places.statements}
    assert min(lines) > 0 and {6, 8, 10, 11} <= lines
