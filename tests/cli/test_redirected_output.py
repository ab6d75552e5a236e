"""Standard output that the program sends to a file, and back: what is wrong in either has the place that wrote it."""

from __future__ import annotations

import pytest

from tests.support.cli_programs import line_of
from tests.support.cli_tool import subject_folder, whence, write

PROGRAM = """\
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int count = atoi(argv[1]);
    int saved = dup(1);
    puts("top");
    REDIRECT
    printf("kept %d\\n", count * WRONG_KEPT); /* KEPT */
    RESTORE
    printf("shown %d\\n", count * WRONG_SHOWN); /* SHOWN */
    return saved < 0 || argc > 2;
}
"""
WAYS = {
    "freopen": (
        'if (!freopen("out.txt", "w", stdout)) return 3;',
        "fflush(stdout); dup2(saved, 1); clearerr(stdout);",
    ),
    "dup2": (
        'fflush(stdout); int file = open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644); dup2(file, 1); close(file);',
        "fflush(stdout); dup2(saved, 1);",
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrong", ["KEPT", "SHOWN"])
def test_the_symptom_is_where_it_was_written(way: str, wrong: str) -> None:
    redirect, restore = WAYS[way]
    text = PROGRAM.replace("REDIRECT", redirect).replace("RESTORE", restore)
    text = text.replace(f"WRONG_{wrong}", "3").replace("WRONG_KEPT", "2").replace("WRONG_SHOWN", "2")
    folder = subject_folder(f"redirected-{way}-{wrong.lower()}", p_c=text)
    for name, count in (("zero", 0), ("four", 4)):
        write(folder / "cases" / name / "args", str(count))
        write(folder / "cases" / name / "expected", f"top\nshown {2 * count}\n")
        write(folder / "cases" / name / "expected-files" / "out.txt", f"kept {2 * count}\n")
    write(folder / "whence.toml", '[program]\nsources = ["p.c"]\n[cases]\nfolder = "cases"\n')
    found = whence(folder, "slice", "--json")
    assert found.status == 0, found.err
    assert found.json["symptom"]["line"] == line_of(text, wrong)
    assert ("of file out.txt is" in found.json["symptom"]["text"]) is (wrong == "KEPT")
    assert line_of(text, "int count") in {entry["line"] for entry in found.json["ranking"]}
