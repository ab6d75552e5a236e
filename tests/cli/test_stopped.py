"""Ctrl-C in a search: what was found until then is reported, and the same command goes on from there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import as_from_a_shell

from whence.build.toolchain import whence_home

# Each run counts between its tests, so there are more branches than can be switched in a minute; one test is the wrong
# way round.
SLOW = r"""
#include <stdio.h>
#include <stdlib.h>
static volatile long work;
static int odd(int n)
{
    for (long i = 0; i < 5000; i++)
        work += i;
    return n % 2;
}
int main(int argc, char **argv)
{
    int found = 0;
    for (int i = 0; i < atoi(argv[1]); i++)
        if (odd(i))
            found++;
    if (found < 1000) /* the other way round */
        found = -found;
    printf("%d\n", found);
    return 0;
}
"""
PATIENCE = 180  # seconds for one moment to come, on a machine that does something else


@contextmanager
def started(folder: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    words = ["switch", "slow.c", "--fails", "60", "--expect", "30\n", "--workers", "1", "--order", "last", *more]
    command = [sys.executable, "-c", "import sys; from whence.cli import main; sys.exit(main())", *words]
    environment = {**os.environ, "WHENCE_HOME": str(folder / "home")}
    search = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=as_from_a_shell,
    )
    try:
        yield search
    finally:
        if search.poll() is None:
            search.kill()
        search.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "home/found").mkdir(parents=True)  # what is found goes here; all else is compiled already
    for name in ("kernels", "objects", "zig"):
        shared = Path(whence_home(), name)
        shared.mkdir(parents=True, exist_ok=True)
        (tmp_path / "home" / name).symlink_to(shared)
    return tmp_path


def test_an_interrupted_search_reports_and_goes_on(folder: Path) -> None:
    with started(folder) as search:
        deadline = time.monotonic() + PATIENCE
        while not list(folder.glob("home/found/*")):  # the first results are kept: the search is at work
            assert search.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        search.send_signal(signal.SIGINT)
        output, errors = search.communicate(timeout=PATIENCE)
        assert search.returncode in (0, 1) and "Traceback" not in errors
    assert "stopped early (interrupted)" in output and "run the same command again to go on" in output
    assert "most suspicious statements by switch" in output
    assert "found < 1000" in output
    with started(folder, "--budget", "15s") as search:
        output, _ = search.communicate(timeout=PATIENCE)
    assert "more were known already" in output and "stopped early (its time is used up)" in output
