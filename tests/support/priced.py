"""A program that adds prices up, large ones wrongly, with its cases: what is served to agents and editors."""

from __future__ import annotations

from pathlib import Path

from cli_tool import subject_folder, write

PROGRAM = r"""
#include <stdio.h>
int main(void)
{
    int price, sum = 0; /* a total: € */
    while (scanf("%d", &price) == 1)
        if (price >= 100)
            sum += price - price / 5; /* FAULT */
        else
            sum += price;
    printf("PRINTED", sum);
    return 0;
}
"""
FAULT = 8
CONFIG = '[program]\nsources = ["sum.c"]\n[cases]\nfolder = "cases"\n'
CASES = {"large": ("100", 90), "both": ("10 200", 190), "small": ("10 20", 30), "none": ("", 0), "one": ("99", 99)}


def program(printed: str) -> str:
    """The source of a program that prints its sum by this format of C."""
    return PROGRAM.replace("PRINTED", printed)


def priced_folder(name: str, printed: str) -> Path:
    """The folder of such a program, the same one in every session; the format's escapes are ``\\033`` and ``\\n``."""
    found = subject_folder(name, sum_c=program(printed))
    write(found / "whence.toml", CONFIG)
    shown = printed.replace(r"\033", "\x1b").replace(r"\n", "\n")
    for case, (text, total) in CASES.items():
        write(found / "cases" / f"{case}.in", text)
        write(found / "cases" / f"{case}.out", shown % total)
    return found
