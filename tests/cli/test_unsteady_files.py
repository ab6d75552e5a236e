"""Outputs that a right program leaves otherwise each time: that they are not compared is said, with a mask for why."""

from __future__ import annotations

import re
from pathlib import Path

from cli_tool import whence, write

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    FILE *out = fopen("report", "w");
    fprintf(out, "Made-by: %d\\n", (int)getpid());
    for (int at = 1; at < argc; at++) {
        int n = atoi(argv[at]);
        fprintf(out, "%s\\n", n < LIMIT ? "small" : "large");
    }
    return fclose(out);
}
"""
TOML = """\
[program]
sources = ["p.c"]
[cases]
file = "cases.txt"
reference = "good"
"""


def subject(folder: Path, program: str = PROGRAM) -> Path:
    """A program with a wrong limit that writes a file with the number of its process, and a right one."""
    write(folder / "good.c", program.replace("LIMIT", "100"))
    assert whence(folder, "build", "--", "sh", "-c", "$CC -o good good.c").status == 0
    write(folder / "p.c", program.replace("LIMIT", "300"))
    write(folder / "cases.txt", "5\n7 250\n99 301\n4\n100 3\n")
    write(folder / "whence.toml", TOML)
    return folder


def told(text: str) -> str:
    """The mask that a message tells, as it can be copied into the configuration."""
    return re.findall(r"`(mask = \['[^']+'\])`", text)[0]


def test_that_a_file_is_not_compared_is_said_and_a_mask_lets_it_be(tmp_path: Path) -> None:
    folder = subject(tmp_path)
    done = whence(folder, "locate")
    assert done.status == 2 and "no case fails: ran 5 cases, and all of them passed" in done.err
    assert "help: file report of 5 cases is not compared: what is right leaves it otherwise the next time" in done.err
    doctor = whence(folder, "doctor").out
    assert "weak cases: 5 count, but not all of what they leave" in doctor
    assert "help: file report of 5 cases is not compared" in doctor and told(done.err) in doctor
    write(folder / "whence.toml", f"{TOML}[compare]\n{told(done.err)}\n")
    done = whence(folder, "locate")
    assert done.status == 0 and "line 3 of file report is" in done.out and "not compared" not in done.out
    first = next(line for line in done.out.splitlines() if line.strip().startswith("1 "))
    assert first.split()[1] == "p.c:10"
    assert "`100` instead of `300` in `n < 300`: compiled and run on all 5 cases: all pass" in done.out


def test_of_an_unsteady_standard_output_a_mask_is_told_with_which_the_rest_counts(tmp_path: Path) -> None:
    folder = subject(tmp_path, PROGRAM.replace('fopen("report", "w")', "stdout"))
    done = whence(folder, "locate")
    assert done.status == 2
    assert "flaky: two runs print different wrong outputs, in standard output from line 1 on; `mask" in done.err
    write(folder / "whence.toml", f"{TOML}[compare]\n{told(done.err)}\n")
    done = whence(folder, "spectrum")
    assert done.status == 0 and "(3 passed, 2 failed)" in done.out
