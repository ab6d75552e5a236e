"""The process that watches a command: time is kept and the best result shown, whatever the child does."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from whence.cli.supervisor import Line, _Watch

PRELUDE = """
import ctypes, os, signal, sys, time
from dataclasses import fields
from functools import partial
from pathlib import Path
from whence.cli.options import Options
from whence.cli.present import present
from whence.cli.supervisor import clock
from whence.cli.supervisor import line, start_clock, supervise
from whence.findings import Findings, Statement, Symptom, rank

names = dict.fromkeys(field.name for field in fields(Options))
options = Options(**(names | {"sources": (), "folder": Path(), "json": False, "limit": 10}))
findings = Findings("locate", "p", rank({Statement("p.c", 1): 1.0}), Symptom("crash", "it crashed"), ["ran 2 cases"])
stubborn = ctypes.PyDLL(None).sleep  # holds the interpreter: no signal handler and no other thread runs meanwhile

def found(budget):
    clock.start(budget)
    line.busy("solving")
    line.best(findings, partial(present, options, Path(), False))

def say(text):
    print(text, flush=True)
"""
PATIENCE = 30.0


@contextmanager
def started(tmp_path: Path, body: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A process that supervises the function ``command`` of a script."""
    script = tmp_path / "script.py"
    script.write_text(f"{PRELUDE}\ndef command():\n{body}\nsys.exit(supervise(command))\n")
    process = subprocess.Popen(
        [sys.executable, script],
        cwd=tmp_path,
        env={**{k: v for k, v in os.environ.items() if k != "WHENCE_DEBUG"}, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGHUP, signal.SIGINT)],
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def flat(output: str) -> str:
    """A report without the breaks of its lines."""
    return " ".join(output.split())


def test_the_status_and_the_output_of_a_command_are_its_own(tmp_path):
    with started(tmp_path, "    say('done')\n    return 7") as process:
        assert process.communicate(timeout=PATIENCE) == ("done\n", "")
        assert process.returncode == 7


def test_what_nothing_interrupts_is_ended_when_the_time_is_up(tmp_path):
    with started(tmp_path, "    found(2.0)\n    say('begun')\n    stubborn(60)\n    return 0") as process:
        assert process.stdout.readline() == "begun\n"
        began = time.monotonic()
        output, errors = process.communicate(timeout=PATIENCE)
        assert time.monotonic() - began < 10  # 2.2 s on a quiet machine
    assert (process.returncode, errors) == (0, "")
    assert "crash: it crashed" in output and "p.c:1" in output
    assert "stopped early: its time was up while it was solving" in flat(output)


def test_without_a_result_the_time_is_told(tmp_path):
    with started(tmp_path, "    clock.start(0.5)\n    line.busy('running')\n    stubborn(60)") as process:
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (1, "")
    assert errors == "whence: nothing was found: its time was up while it was running\n  help: more time: --budget 5m\n"


def test_what_the_child_told_before_its_time_was_up_is_heard():
    """It may tell that it shows its result after the parent's last look, and before it is ended."""
    low, writable = os.pipe()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    high = 1100 if most == resource.RLIM_INFINITY else min(1100, most - 1)  # what opens many files has such descriptors
    readable = fcntl.fcntl(low, fcntl.F_DUPFD, high)
    os.close(low)
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            watch = _Watch(child.pid, readable)
            watch._end = time.monotonic()
            assert not watch._is_heard()
            told = Line()
            told.open(writable)
            told.busy("showing it")
            told.showing()
            child.send_signal(signal.SIGCONT)
            assert watch._is_heard()
        finally:
            child.kill()  # it stands still, and would be waited for
    os.close(readable)
    os.close(writable)


def test_while_something_is_built_the_clock_stands_still(tmp_path):
    body = "    clock.start(0.5)\n    with clock.standing():\n        time.sleep(2)\n    say('built')\n    return 0"
    with started(tmp_path, body) as process:
        assert process.communicate(timeout=PATIENCE) == ("built\n", "")


def test_the_time_begins_with_the_process(tmp_path):
    body = "    time.sleep(0.8)\n    start_clock(4.0)\n    say(clock.left)\n    return 0"
    with started(tmp_path, body) as process:
        left = float(process.communicate(timeout=PATIENCE)[0])
    assert 2.0 - 0.8 <= left < 4.0 - 0.8  # at most half of it is gone by then, and 0.8 s are kept for showing at most


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_child_that_is_killed_has_told_its_best(tmp_path, number):
    with started(tmp_path, f"    found(60)\n    os.kill(os.getpid(), {int(number)})\n    time.sleep(60)") as process:
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    why = "killed, as the system does where memory is used up" if number is signal.SIGKILL else "ended by SIGSEGV"
    assert "crash: it crashed" in output and f"stopped early: whence was {why} while it was solving" in flat(output)


def test_a_child_that_is_killed_without_a_result_is_an_internal_error(tmp_path):
    with started(tmp_path, "    os.kill(os.getpid(), 11)") as process:
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3 and "please report it" in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_best_so_far(tmp_path, number):
    body = "    found(600)\n    try:\n        say('begun')\n        time.sleep(600)\n"
    body += "    except KeyboardInterrupt:\n        stubborn(60)\n"
    with started(tmp_path, body) as process:
        process.stdout.readline()
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert "crash: it crashed" in output and f"interrupted ({number.name}) while it was solving" in flat(output)


def test_a_signal_that_comes_before_there_are_handlers_waits_for_them(tmp_path):
    body = "    found(600)\n    try:\n        say('begun')\n        time.sleep(600)\n"
    body += "    except KeyboardInterrupt:\n        stubborn(60)\n"
    body += "from whence.cli import supervisor\nhandlers = supervisor._Watch._signals\n"
    body += "supervisor._Watch._signals = lambda self: (time.sleep(1), handlers(self))[1]\n"
    with started(tmp_path, body) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert "interrupted (SIGINT) while it was solving" in flat(output)


@pytest.mark.parametrize("moment", ["_tell_when_compiling", "command", "_leave"])
def test_a_signal_before_in_and_behind_a_command_is_told_without_a_traceback(tmp_path, moment):
    body = "    return 0\nfrom whence.cli import supervisor\n"
    body += "def wait(*_):\n    say('begun')\n    time.sleep(600)\n"
    body += f"{moment} = supervisor.{moment} = wait\n"
    with started(tmp_path, body) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (130, "")
    assert errors == "whence: nothing was found: interrupted (SIGINT)\n"


def test_the_second_signal_ends_it_at_once(tmp_path):
    body = "    found(600)\n    try:\n        say('begun')\n        stubborn(600)\n"
    with started(tmp_path, body + "    except KeyboardInterrupt:\n        stubborn(600)") as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        output, _ = process.communicate(timeout=PATIENCE)
        assert time.monotonic() - began < 4  # the first one alone has it wait for five seconds
    assert "crash: it crashed" in output


def test_a_background_job_can_be_interrupted(tmp_path):
    """A shell without job control starts it with SIGINT ignored."""
    body = "    found(600)\n    try:\n        say('begun')\n        time.sleep(600)\n"
    body += "    except KeyboardInterrupt:\n        say('interrupted')\n        return 1"
    (tmp_path / "script.py").write_text(f"{PRELUDE}\ndef command():\n{body}\nsys.exit(supervise(command))\n")
    script = f"{sys.executable} script.py > out & job=$!; until grep -q begun out; do sleep 0.1; done; kill -INT $job"
    done = subprocess.run(["sh", "-c", f"{script}; wait $job"], cwd=tmp_path, timeout=PATIENCE)
    assert done.returncode == 1
    assert (tmp_path / "out").read_text() == "begun\ninterrupted\n"


def test_the_child_dies_with_its_parent(tmp_path):
    with started(tmp_path, "    say(os.getpid())\n    time.sleep(600)") as process:
        child = int(process.stdout.readline())
        process.kill()
        process.wait()
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{child}").exists() and " Z " not in Path(f"/proc/{child}/stat").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_a_killed_child_had_in_memory_is_removed(tmp_path):
    body = "    from whence.run.sandbox import Sandbox\n    say(Sandbox().root)\n    os.kill(os.getpid(), 9)"
    with started(tmp_path, body) as process:
        output, _ = process.communicate(timeout=PATIENCE)
    root = Path(output.strip())
    assert not root.exists() or (root / "work").stat().st_ctime > time.time() - 1  # another one's by now
    assert root.name.startswith("whence-")


def test_what_a_killed_child_was_building_is_removed(tmp_path):
    body = "    from whence.build.scratch import scratch\n    with scratch('link') as folder:\n        say(folder)\n"
    with started(tmp_path, body + "        os.kill(os.getpid(), 9)") as process:
        output, _ = process.communicate(timeout=PATIENCE)
    folder = Path(output.strip())
    assert "whence-" in folder.name and not folder.exists()


def test_of_a_command_that_has_shown_all_nothing_more_is_said(tmp_path):
    """Removing what it made may take it longer than it has."""
    body = "    clock.start(0.5)\n    line.showing()\n    print('a complaint', file=sys.stderr)\n    line.shown(2)\n"
    with started(tmp_path, body + "    os.kill(os.getpid(), 9)") as process:
        assert process.communicate(timeout=PATIENCE) == ("", "a complaint\n")
        assert process.returncode == 2
