"""Where an investigation begins: a folder's cases together with those of the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.cli_tool import subject_folder, whence, write
from whence.investigation.begin import Beginning, Changes
from whence.investigation.clock import Clock
from whence.investigation.investigation import Setup
from whence.investigation.watcher import Watcher
from whence.run.cases import Case, cases_from_options
from whence.subject.subject import Subject

TWICE = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int value = argc > 1 ? atoi(argv[1]) : 0;
    printf("%d\\n", value > 9 ? value : value + value);
    return 0;
}
"""


def begun(name: str, script: str, cases: list[Case], capture: bool = True, changes: Changes | None = None) -> Subject:
    folder = subject_folder(f"begin-{name}", twice_c=TWICE)
    write(folder / "suite.sh", script)
    lines = ['[program]\nsources = ["twice.c"]', '[cases]\ncommand = "sh suite.sh"']
    write(folder / "whence.toml", "\n".join([*lines, f"capture = {str(capture).lower()}"]) + "\n")
    investigation = Beginning(Setup(), Clock(), Watcher(), changes).with_folder(Path(folder), cases)
    return investigation.subject


GIVEN = cases_from_options(["12"], ["24"], ["4"])


def test_a_failing_case_that_is_given_is_not_mixed_with_commands() -> None:
    subject = begun("apart", "false", GIVEN)
    assert [case.name for case in subject.cases] == ["fails 1", "passes 1"]
    assert subject.remarks[0].startswith("1 test ran the program 0 times")


def test_nor_with_those_of_a_suite_that_is_not_captured() -> None:
    subject = begun("whole", "true", GIVEN, capture=False)
    assert [case.name for case in subject.cases] == ["fails 1", "passes 1"]
    assert any("left out: a failing case is given" in remark for remark in subject.remarks)


def test_invocations_of_the_suite_are_cases_beside_the_one_that_is_given() -> None:
    subject = begun("beside", 'set -e; test "$(./twice 3)" = 6; test "$(./twice 5)" = 10', GIVEN)
    assert [case.arguments for case in subject.cases] == [("3",), ("5",), ("12",), ("4",)]
    assert not any(case.command for case in subject.cases)


def test_a_captured_case_that_passed_may_fail_where_runs_are_other_ones_than_then() -> None:
    script = 'test "$(./twice 3)" = 6'
    as_then, patterned = (begun("other-runs", script, GIVEN, changes=Changes(pattern=p)) for p in (None, 170))
    assert [case.passed for case in as_then.cases] == [True, False, False]
    assert not any(case.passed for case in patterned.cases)


def test_passing_cases_alone_leave_the_suite_as_it_is() -> None:
    subject = begun("passing", "false", cases_from_options([], [], ["4"]))
    assert [case.command is not None for case in subject.cases] == [True, False]


def test_nor_does_a_case_that_does_not_fail_take_their_place() -> None:
    subject = begun("fine", "false", cases_from_options(["3"], ["6"], []), capture=False)
    assert [case.command is not None for case in subject.cases] == [True, False]


def test_the_program_is_built_once() -> None:
    folder = subject_folder("begin-once", twice_c=TWICE)
    write(folder / "builds", "")
    write(folder / "cases.txt", "3\n")
    build = f"echo >> builds; {Path(sys.executable).with_name('whence-cc')} -g twice.c -o twice"
    program = f'[program]\npath = "twice"\nbuild = "{build}"\n'
    write(folder / "whence.toml", f'{program}[cases]\nfile = "cases.txt"\nreference = "./twice"\n')
    begun = Beginning(Setup(), Clock(), Watcher()).with_folder(Path(folder), GIVEN)
    assert len(begun.subject.cases) == 3 and (folder / "builds").read_text() == "\n"


def test_a_case_that_is_given_as_a_failing_one_and_passes_is_told_first() -> None:
    folder = subject_folder("begin-word", twice_c=TWICE)
    found = whence(folder, "spectrum", "twice.c", "--fails", "12", "--expect", "24", "--fails", "3", "--json").json
    assert found["warnings"] == [
        "`fails 2` passes, and counts as a passing case: say with --expect what is right, or use --passes"
    ]
