"""``whence cases``: a test suite's invocations as a folder of cases, which is a subject's cases then."""

from __future__ import annotations

import shutil

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
