"""Edits are run where the plain program does as always in confinement, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import time

import pytest
from cli_tool import subject_folder

from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.confined import NEEDS, Ground
from whence.subject.edited import Edit, Editing
from whence.subject.runs import Runs, run_all
from whence.subject.subject import Subject, subject_from_sources

PING = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int to = atoi(argv[1]);
    printf("%d\\n", kill(to, 0));
    return 0;
}
"""
PRINT = 'printf("%d\\n", kill(to, 0));'


def pinged(*cases: Case) -> tuple[Subject, Runs]:
    folder = subject_folder("confined", ping_c=PING)
    subject = subject_from_sources([folder / "ping.c"], [], list(cases), DEFAULT_LIMITS)
    return subject, run_all(subject)


FAILING = Case("failing", ("0",), expected=Expected(b"-1\n"))


@pytest.mark.parametrize(("process", "trouble"), [(0, ""), (os.getpid(), f"`passing` {NEEDS}")], ids=["own", "older"])
def test_a_program_that_needs_more_is_told(process, trouble):
    with subprocess.Popen(["true"]) as new:
        if process > new.pid:
            pytest.skip("the numbers of processes have begun anew")
    subject, runs = pinged(FAILING, Case("passing", (str(process),), expected=Expected(b"0\n")))
    assert Ground(subject, runs).trouble == trouble
    with Editing(subject, runs, time.monotonic() + 60) as editing:
        (tried,) = editing.all([Edit("ping.c", 7, PRINT, PRINT.replace("to,", "to - 1,"))])
    if trouble:
        assert tried.trouble == f"not run: {trouble}" and tried.ran == 0
    else:
        assert not tried.repaired and tried.broken  # an edited program that signals all is ended
