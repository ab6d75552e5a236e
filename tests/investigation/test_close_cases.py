"""``whence locate`` with failing cases alone: passing ones are made."""

from __future__ import annotations

from cli_tool import subject_folder, whence

SHARES = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int people = 0, coins = 120;
    for (int i = 1; i < argc; i++)
        people += atoi(argv[i]);
    if (people > 5)
        people -= 6;
    printf("%d\n", coins / people); /* six people: nobody */
    return 0;
}
"""


def test_a_single_failing_input_is_enough_for_a_crash() -> None:
    folder = subject_folder("made", shares_c=SHARES)
    found = whence(folder, "locate", "shares.c", "--fails", "3 2 1", "--json").json
    assert found["cases"]["passed"] >= 4 and found["cases"]["failed"] >= 2
    assert "good and" in found["summary"][0] and "no case passes" in found["summary"][0]
    assert "recorded the failing case `fails 1`" in found["summary"]
    assert {entry["line"] for entry in found["ranking"][:3]} & {9, 10}


def test_a_wrong_output_alone_is_located_without_other_cases() -> None:
    folder = subject_folder("made", shares_c=SHARES)
    words = ("--fails", "3", "--expect", "41\n")
    found = whence(folder, "locate", "shares.c", *words, "--json").json
    assert found["cases"]["passed"] == 0
    assert "none can be made" in found["summary"][0]
    assert found["ranking"]


def test_made_cases_are_not_wanted() -> None:
    folder = subject_folder("made", shares_c=SHARES)
    found = whence(folder, "locate", "shares.c", "--fails", "3 2 1", "--no-generate", "--no-alter", "--json").json
    assert found["cases"] == {**found["cases"], "failed": 1, "passed": 0}
