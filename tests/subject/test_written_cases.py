"""Cases written as a folder, and read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.cli_tool import subject_folder, write
from whence.errors import SubjectError
from whence.run.cases import Case, Place, Suite, load_cases
from whence.run.config import CasesConfig, ProgramConfig, SubjectConfig
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.subject import Subject, subject_from_sources, with_cases
from whence.subject.written_cases import write_cases

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    char line[100] = "";
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!in || !fgets(line, sizeof line, in))
        return 3;
    printf("%s%s%s", argc > 2 ? argv[2] : "", getenv("MODE") ? getenv("MODE") : "", line);
    return 0;
}
"""
WORK = "/somewhere/work"


@pytest.fixture(scope="module")
def subject() -> Subject:
    folder = subject_folder("written-cases", p_c=PROGRAM)
    write(folder / "kept/one", "text\n")
    return subject_from_sources([folder / "p.c"], ["-w"], [], DEFAULT_LIMITS)


def captured(subject: Subject, name: str, *words: str, folder: str = "sub", right: bytes = b"text\n") -> Case:
    files = [("sub", subject.folder / "kept"), ("sub/in", subject.folder / "kept/one")]
    files += [("top", subject.folder / "kept/one")] if "../top" in words else []
    return Case(name, words, None, tuple(files), {}, Expected(right), place=Place("../p", folder, WORK))


def written(subject: Subject, tmp_path: Path, *cases: Case) -> tuple[list[Case], list[str]]:
    """The cases read back, and what was left out."""
    found = write_cases(with_cases(subject, cases), tmp_path / "cases")
    assert {path.name for path in (tmp_path / "cases").iterdir()} == {path.name for path in found.folders}
    config = SubjectConfig(subject.folder, ProgramConfig(), CasesConfig(folder=tmp_path / "cases"))
    return load_cases(config) if found.folders else [], found.left_out


def test_arguments_input_files_variables_and_what_is_right_come_back(subject: Subject, tmp_path: Path) -> None:
    one = captured(subject, "tests/a.sh:1", "in", 'it\'s < "two"', right=b'it\'s < "two"text\n')
    two = replace(captured(subject, "b", right=b"xin\n"), stdin=b"in\n", environment={"MODE": "x", "PWD": WORK})
    three = replace(captured(subject, "c", "none"), expected=Expected(None, None, 3))
    cases, left_out = written(subject, tmp_path, one, two, three)
    assert left_out == []
    assert [case.name for case in cases] == ["001-tests-a-sh-1", "002-b", "003-c"]
    assert cases[0].arguments == one.arguments and dict(cases[0].files)["in"].read_text() == "text\n"
    assert isinstance(cases[1].stdin, Path) and cases[1].stdin.read_bytes() == b"in\n"
    assert cases[1].environment == {"MODE": "x"}
    assert [case.expected for case in cases] == [one.expected, two.expected, three.expected]


def test_files_that_a_case_leaves_come_back(subject: Subject, tmp_path: Path) -> None:
    files = (("sub/in", b"text\n"), ("sub/gone", None))
    case = replace(captured(subject, "a", "in"), expected=Expected(b"text\n", files=files))
    found, left_out = written(subject, tmp_path, case)
    assert left_out == []
    assert found[0].expected == Expected(b"text\n", None, 0, (("in", b"text\n"),))


def test_what_a_folder_cannot_say_is_left_out(subject: Subject, tmp_path: Path) -> None:
    cases = [
        captured(subject, "lines", "in", "a\nb"),
        captured(subject, "path", f"{WORK}/sub/in"),
        captured(subject, "beside", "../top"),
        replace(captured(subject, "status", "in"), expected=Expected(b"", None, None)),
    ]
    found, left_out = written(subject, tmp_path, *cases)
    assert found == []
    reasons = ("several lines", "names the folder", "beside the folder", "is not known")
    assert all(reason in text for reason, text in zip(reasons, left_out, strict=True))


def test_a_case_that_does_something_else_as_it_is_written_is_left_out(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.subject.written_cases._copy", lambda source, place: None)
    case = replace(captured(subject, "a", "in", folder="."), files=(("in", subject.folder / "kept/one"),))
    assert written(subject, tmp_path, case)[1] == ["a: it does something else in a folder of its own"]


def test_commands_are_no_cases_of_a_folder(subject: Subject, tmp_path: Path) -> None:
    case = Case("a", expected=Expected(), command="./p", suite=Suite(subject.folder, "p"))
    with pytest.raises(SubjectError, match="the cases are commands"):
        written(subject, tmp_path, case)
    assert not (tmp_path / "cases").exists()
