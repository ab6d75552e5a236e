"""``whence gdb``: real GDB, run by the script, stops the plain program at the instance that was meant."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_programs import line_of
from cli_tool import subject_folder, whence, write

from whence.debug.gdb_script import SCRIPT

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
static int rest;
static int deep(int n)
{
    if (n == 0)
        return 0;
    return n + deep(n - 1);
}
static int add(int sum, const char *word)
{
    for (int i = 0; word[i]; i++)
        sum += word[i] == ' ';
    return sum + 1;
}
int main(int argc, char **argv)
{
    char line[20];
    int sum = 0, read = 0;
    for (int i = 1; i < argc; i++)
        sum = add(sum, argv[i]);
    while (fgets(line, sizeof line, stdin))
        read += (int)strlen(line);
    rest = deep(3) + sum;
    printf("%d %d\n", rest, read);
    return 0;
}
"""
NAME = 'odd "name\\.c'
CASE = ("--fails", "'a b' \"it's $HOME\" < input.txt", "--expect", "0 0")
needs_gdb = pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")


@pytest.fixture(scope="module")
def folder() -> Path:
    folder = subject_folder("gdb")
    write(folder / NAME, PROGRAM)
    write(folder / "input.txt", "one\ntwo\nthree\n")
    shutil.rmtree(folder / "whence-gdb", ignore_errors=True)
    return folder


def stopped(folder: Path, *expressions: str) -> list[str]:
    """What GDB prints of expressions at each of the script's stops, one after the other."""
    prints = [word for text in expressions for word in ("-ex", f"print {text}")]
    command = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-x", folder / "whence-gdb" / SCRIPT]
    done = subprocess.run([*command, *prints], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    if "ptrace" in done.stderr:
        pytest.skip("no process can be traced here")
    return re.findall(r"^\$\d+ = (.*)$", done.stdout, re.M)


# The program of a stop: the text of its line, the time that is meant, and what has to be seen there.
STOPS = [
    ("sum += word[i]", 5, {"i": "1", "sum": "2"}),  # the second letter of the second word
    ("return n + deep", 2, {"n": "2"}),
    ("while (fgets", 3, {"read": "0"}),  # GDB stops at the head of a loop once, when it begins
    ("for (int i = 0", 6, {"sum": "2"}),  # the loop that the sixth time is in
    ("read += (int)", 3, {"read": "8"}),
    ("return sum + 1", 2, {"sum": "3"}),
]


@needs_gdb
@pytest.mark.parametrize(("text", "time", "seen"), STOPS)
def test_gdb_stops_at_the_instance(folder: Path, text: str, time: int, seen: dict[str, str]) -> None:
    done = whence(folder, "gdb", NAME, *CASE, "--at", f"{NAME}:{line_of(PROGRAM, text)}@{time}")
    assert done.status == 0, done.err
    assert stopped(folder, *seen) == list(seen.values())


@needs_gdb
def test_without_a_place_it_stops_at_suspects_and_where_the_failure_shows(folder: Path) -> None:
    done = whence(folder, "gdb", NAME, *CASE)
    assert done.status == 0 and "suspect 1: " in done.out and f"next: gdb -x {folder}" in done.out
    assert "where the failure shows: " in done.out or f"{NAME}:{line_of(PROGRAM, 'printf')}" in done.out
    assert len(stopped(folder, "rest")) == 1


def test_the_stops_are_there_for_other_programs(folder: Path) -> None:
    line = line_of(PROGRAM, "sum += word[i]")
    done = whence(folder, "gdb", NAME, *CASE, "--at", f"{NAME}:{line}@5", "--json")
    told = json.loads(done.out)
    asked, failure = told["stops"]
    assert (asked["file"], asked["line"], asked["time"]) == (NAME, line, 5) and "what was asked for" in asked["text"]
    assert failure["line"] == line_of(PROGRAM, "printf") and "where the failure shows" in failure["text"]
    assert told["script"] == str(folder / "whence-gdb" / SCRIPT)


def test_what_gdb_could_not_do_is_said(folder: Path) -> None:
    without = whence(folder, "gdb", NAME, "--cflags=-g0", *CASE, "--at", f"{NAME}:25")
    assert (without.status, "built without -g" in without.err) == (2, True)
    ended = whence(folder, "gdb", NAME, *CASE[:1], "'a\nshell touch pwned'", *CASE[2:], "--at", f"{NAME}:25")
    assert (ended.status, "no GDB script can hold" in ended.err, "  help: " in ended.err) == (2, True, True)
    assert whence(folder, "gdb", NAME, *CASE, "--window", "1M").status == 2
    taken = whence(folder, "gdb", NAME, *CASE, "--into", ".")
    assert (taken.status, "exists already" in taken.err) == (2, True)
    write(folder / "mine" / "script.gdb", "break main\n")
    mine = whence(folder, "gdb", NAME, *CASE, "--into", "mine")
    assert (mine.status, "exists already" in mine.err) == (2, True)
    assert (folder / "mine" / "script.gdb").read_text() == "break main\n"


@needs_gdb
def test_the_program_stays_when_it_is_built_otherwise(folder: Path) -> None:
    words = ("gdb", NAME, *CASE, "--at", f"{NAME}:25", "--into", "kept")
    assert whence(folder, *words).status == 0
    whence(folder, "locate", NAME, "--cflags=-g0", *CASE, "--budget", "1s")
    command = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-x", folder / "kept" / SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Breakpoint 1, " in done.stdout
    assert whence(folder, *words).status == 0  # what it has written it writes again
