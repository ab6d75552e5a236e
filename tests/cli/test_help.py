from __future__ import annotations

import resource
import subprocess
import sys
import time

import pytest
from cli_tool import whence

from whence.cli import COMMANDS

START = [sys.executable, "-c", "import sys; from whence.cli import main; sys.argv[0] = 'whence'; main()"]


def test_help_is_quick():
    """Within 150 ms of the processor's time, which other work on the machine does not count for."""
    times = []
    for _ in range(5):
        before = _children()
        subprocess.run([*START, "--help"], check=True, stdout=subprocess.DEVNULL)
        times.append(_children() - before)
    assert min(times) <= 0.15


def _children() -> float:
    """The processor's seconds of all children until now; in microseconds, where ``os.times`` counts in ticks of ten."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_loads_nothing_heavy():
    heavy = ("numpy", "numba", "llvmlite", "rich", "ctypes", "shutil", "tempfile", "pathlib")
    check = f"import sys; import whence.cli; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_commands_are_listed(tmp_path):
    done = whence(tmp_path, "--help")
    assert done.status == 0
    assert all(f"\n  {name} " in done.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(tmp_path, name):
    done = whence(tmp_path, name, "--help")
    assert done.status == 0 and done.out.startswith(f"Usage: whence {name}")
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_no_command_shows_help(tmp_path):
    done = whence(tmp_path)
    assert "Commands:" in done.out + done.err


def test_near_miss(tmp_path):
    done = whence(tmp_path, "lokate")
    assert done.status == 2 and "did you mean 'locate'?" in done.err


def test_closed_pipe_is_no_traceback(tmp_path):
    process = subprocess.Popen([*START, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    time.sleep(0.01)
    assert b"Traceback" not in process.stderr.read()
    process.wait()


def test_versions_of_all_that_a_result_may_depend_on_are_shown(tmp_path):
    shown = whence(tmp_path, "--version").out.splitlines()
    names = [line.split()[0] for line in shown]
    assert names == ["whence", "clang", "llvmlite", "numba", "z3-solver", "bitwuzla", "Python"]
    assert all(line.split()[1][0].isdigit() for line in shown)
