"""Whence started under nohup, or in the background of a script: both leave signals ignored, which programs inherit."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from snippets import Snippet

from whence.probe.instrument import Variant

TEXT = """
#include <signal.h>
#include <stdio.h>
__attribute__((constructor)) static void early(void) { signal(SIGUSR1, SIG_IGN); }
int main(void)
{
    for (int i = 1; i < 32; i++) {
        struct sigaction now;
        if (!sigaction(i, NULL, &now) && now.sa_handler == SIG_IGN)
            printf("%d is ignored\\n", i);
    }
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int i = 1; i < 32; i++)
        if (sigismember(&blocked, i))
            printf("%d is blocked\\n", i);
    return 0;
}
"""

RUNNING = """
import signal, sys
from pathlib import Path
from whence.run.cases import Case
from whence.run.runner import Runner
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR2):
    signal.signal(number, signal.SIG_IGN)
with Runner(Path(sys.argv[1])) as runner:
    print(runner.run_case(Case("c")).stdout.decode(), end="")
"""


@pytest.fixture(scope="module")
def dispositions() -> Snippet:
    return Snippet({"dispositions.c": TEXT})


@pytest.mark.parametrize("variant", [None, Variant.COVER, Variant.RECORD, Variant.ALTER])
def test_programs_start_as_from_a_shell(dispositions: Snippet, variant: Variant | None) -> None:
    subject = dispositions.subject
    executable = subject.executable if variant is None else subject.variant(variant)
    done = subprocess.run([sys.executable, "-c", RUNNING, str(executable)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{int(signal.SIGUSR1)} is ignored\n"  # by the program itself, before its main
