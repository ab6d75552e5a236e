"""Cases beside a ``whence.toml``: those of the command line, and those ``whence cases`` makes of a suite."""

from __future__ import annotations

import shutil

import pytest

from tests.support.cli_tool import subject_folder, whence, write

PROGRAM = r"""
#include <stdio.h>
int main(void)
{
    int sum = 0, value;
    while (scanf("%d", &value) == 1)
        sum += value > 0 ? value : 0;
    printf("%d\n", sum);
    return 0;
}
"""


def test_cases_of_a_suite_become_a_folder_of_cases() -> None:
    folder = subject_folder("cases-of-a-suite", tool_c=PROGRAM)
    shutil.rmtree(folder / "cases", ignore_errors=True)
    write(folder / "tests/sum.sh", "echo 1 2 | ./tool >out; echo 3 | cmp - out")
    write(folder / "tests/negative.sh", "echo 3 -2 | ./tool >out; echo 1 | cmp - out")
    settings = '[program]\nsources = ["tool.c"]\n[cases]\n'
    write(folder / "whence.toml", settings + 'command = "sh {name}"\nscripts = "tests/*.sh"\ncapture = true\n')
    done = whence(folder.parent, "cases", "-C", folder.name, "--into", f"{folder.name}/cases")
    assert done.status == 0, done.err
    assert "wrote 2 of 2 cases" in done.out and 'folder = "cases"' in done.out
    again = whence(folder.parent, "cases", "-C", folder.name, "--into", f"{folder.name}/cases")
    assert (again.status, "exists already" in again.err) == (2, True)
    write(folder / "whence.toml", settings + 'folder = "cases"\n')
    found = whence(folder, "spectrum", "--json").json["cases"]
    assert (found["passed"], found["failed"]) == (1, 1)


READER = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    FILE *file = fopen("limit", "r");
    int limit = 0;
    if (!file || fscanf(file, "%d", &limit) != 1 || !getenv("SIGN"))
        return 2;
    fclose(file);
    printf("%s   %d\n", getenv("SIGN"), count > 1 && atoi(words[1]) > limit ? 0 : 1);
    return 0;
}
"""
EVERY_CASE = """[program]
sources = ["reader.c"]
[cases]
files = ["limit"]
environment = {SIGN = "-"}
[compare]
white_space = false
"""


@pytest.mark.parametrize("source", ["", 'folder = "nowhere"\n'], ids=["no cases", "no folder"])
def test_settings_of_every_case_hold_for_those_of_the_command_line_and_there_need_be_no_others(source) -> None:
    folder = subject_folder("cases-of-a-line", reader_c=READER)
    write(folder / "limit", "3\n")
    write(folder / "whence.toml", EVERY_CASE.replace("[cases]\n", "[cases]\n" + source))
    done = whence(folder, "spectrum", "--fails", "7", "--expect", "- 1", "--fails", "1", "--expect", "- 1", "--json")
    assert done.status == 0, done.err
    assert done.json["cases"]["names_failed"] == ["fails 1"]
    assert done.json["cases"]["passed"] == 1
