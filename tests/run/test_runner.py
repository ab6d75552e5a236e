from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from processes import as_from_a_shell
from run_programs import LIMITS, PATIENCE, PLAIN, SERVED, STARTED, subject, suite_case

from whence.errors import SubjectError, TraceError
from whence.run import sandbox
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.outcome import Kind
from whence.run.result import RunResult
from whence.run.runner import (
    Cancelled,
    Interrupted,
    RunLost,
    Runner,
    ServerLost,
    TraceRequest,
)
from whence.run.sandbox import Limits


def run(runner: Runner, *arguments: str, **more: object) -> RunResult:
    return runner.run_case(Case("case", arguments, **more))  # type: ignore[arg-type]


# ---- What a run gives, alike for the fork server and the launcher ----------------------------------------------------


def test_arguments_output_and_status(runner):
    result = run(runner, "echo", "a b", "", "ü")
    assert result.stdout == "./subject\necho\na b\n\nü\n".encode()
    assert result.stderr == b"5 arguments\n"
    assert (result.status, result.signal, result.timed_out) == (0, 0, False)
    assert run(runner, "exit", "7").status == 7


def test_standard_input_from_bytes_and_file(runner, tmp_path):
    (tmp_path / "input").write_bytes(b"from a file\n")
    assert run(runner, "copy", stdin=b"one\ntwo\n").stdout == b"one\ntwo\n"
    assert run(runner, "copy", stdin=tmp_path / "input").stdout == b"from a file\n"
    assert run(runner, "copy").stdout == b""


def test_environment_is_pinned(runner, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("LANG", "de_DE")
    lines = run(runner, "environment", environment={"OWN": "x=y"}).stdout.decode().splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert {"LC_ALL=C", "TZ=UTC", "OWN=x=y"} <= set(lines)
    assert names == {"LC_ALL", "TZ", "PATH", "HOME", "PWD", "TMPDIR", "OWN"}


@pytest.mark.parametrize("how, number", [("crash", 11), ("abort", 6), ("assert", 6), ("kill-group", 9)])
def test_death_by_signal(runner, how, number):
    result = run(runner, how, "0")
    assert (result.status, result.signal, result.code) == (None, number, 128 + number)
    assert run(runner, "echo").status == 0


def test_assertion_names_the_program(runner):
    outcome = judge(Case("c"), run(runner, "assert", "0"))
    assert outcome.kind is Kind.ASSERTION
    assert outcome.assertion is not None
    assert (outcome.assertion.file, outcome.assertion.text) == ("subject.c", "atoi(text) > 0")


def test_nothing_stays_in_the_working_folder(runner):
    assert run(runner, "write", "left-behind").stdout == b"ok\n"
    assert run(runner, "list").stdout == b""


def test_files_are_private_copies(runner, tmp_path):
    source = tmp_path / "data"
    source.write_text("mine")
    files = (("sub/data", source),)
    assert run(runner, "read", "sub/data", files=files).stdout == b"mine\n"
    assert run(runner, "write", "sub/data", files=files).stdout == b"ok\n"
    assert source.read_text() == "mine"
    assert run(runner, "list", files=files).stdout == b"sub\n"


def test_what_is_tidied_up_after_the_end_leaves_no_folder():
    """A search that was interrupted drops its iterators late."""
    with Runner(subject(PLAIN)) as runner:
        runs = runner.iterate([Case("case", ("echo",))] * 3)
        next(runs)
    assert not runner.sandbox.root.exists()
    runs.close()
    assert not runner.sandbox.root.exists()


def test_what_a_run_writes_over_shared_memory_is_not_taken_for_a_failed_start(served):
    """Altered runs write anywhere."""
    assert run(served, "scribble").status == 0
    assert run(served, "echo").status == 0


def test_a_folder_replaced_by_a_link_leaves_the_next_run_and_what_it_leads_to_alone(runner, tmp_path):
    tmp_path.chmod(0o755)
    for target in (tmp_path, tmp_path / "nowhere"):
        assert run(runner, "replace-folder", str(target)).status == 0
        assert run(runner, "list").stdout == b""
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_run_that_removes_the_whole_sandbox_is_lost_alone(runner):
    with pytest.raises(RunLost, match="case case: cannot enter the working folder"):
        run(runner, "lose-folder")
    assert run(runner, "list").stdout == b""


def test_every_run_has_the_same_folder_and_addresses(runner, tmp_path):
    (tmp_path / "f").write_text("")
    cases = [Case(str(i), ("folder",), files=(("f", tmp_path / "f"),) * (i % 2)) for i in range(40)]
    assert len({result.stdout for result in runner.run_cases(cases)}) == 1
    for length in range(16):  # at one of them a byte more in the environment would move the stack, which is aligned
        cases = [Case(str(i), ("addresses", length * "x")) for i in range(24)]
        assert len({result.stdout for result in runner.run_cases(cases)}) == 1


def test_program_gets_no_descriptor_of_ours(runner):
    assert run(runner, "descriptor").stdout == b"3\n"


def test_results_come_in_order_with_progress(runner):
    calls = []
    cases = [Case(str(i), ("exit", str(i))) for i in range(50)]
    results = runner.run_cases(cases, progress=lambda done, total: calls.append((done, total)))
    assert [result.status for result in results] == list(range(50))
    assert [result.case.name for result in results] == [str(i) for i in range(50)]
    assert calls == [(i + 1, 50) for i in range(50)]


# ---- Limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SERVED, PLAIN])
@pytest.mark.parametrize("how", ["sleep", "spin"])
def test_time_limit(kind, how):
    with Runner(subject(kind), Limits(time=0.3)) as runner:
        result = run(runner, how)
        assert result.timed_out
        assert result.signal == signal.SIGKILL
        assert 0.25 < result.wall < 3
        assert judge(result.case, result).kind is Kind.TIMEOUT


@pytest.mark.parametrize("kind", [SERVED, PLAIN])
def test_a_run_that_has_to_wait_for_a_processor_gets_its_time(kind):
    """Many others want the processors; what takes 0.4 s of one does not end within 1.2 s, and has a limit of that.

    It has to be well below three quarters of that, with all that a slow machine takes for its start.
    """
    spinning = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        with Runner(subject(kind), Limits(time=1.2)) as runner:
            results = [run(runner, "compute") for _ in range(3)]
    finally:
        for process in spinning:
            process.kill()
            process.wait()
    assert [(result.timed_out, result.status) for result in results] == [(False, 0)] * 3


def test_memory_limit(runner):
    assert run(runner, "eat").stdout == b"1\n"


def test_output_limit(runner):
    result = run(runner, "print-for-ever")
    assert result.signal == signal.SIGXFSZ
    assert len(result.stdout) == LIMITS.output
    assert judge(result.case, result).text == "wrote more than the limit allows"


def test_process_limit_ends_a_fork_bomb(runner):
    result = run(runner, "bomb")
    assert result.too_many_processes
    assert judge(result.case, result).failed
    assert run(runner, "echo").status == 0


def test_children_that_outlive_the_program_are_ended(runner):
    assert run(runner, "orphan").status == 0
    assert not in_folder(runner.sandbox.root)


# ---- Coverage and traces ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SERVED, STARTED])
def test_coverage_of_each_run(kind):
    with Runner(subject(kind), LIMITS, coverage=True) as runner:
        results = runner.run_cases([Case(str(n), ("echo", *"x" * n)) for n in range(5)])
        for n, result in enumerate(results):
            assert list(result.coverage[:4]) == [1, n + 2, 0, 0]
        assert run(runner, "child").coverage[2] == 2  # processes add up
        assert run(runner, "crash").coverage[0] == 1


def test_coverage_of_a_killed_run():
    with Runner(subject(SERVED), Limits(time=2.0), coverage=True) as runner:
        killed, after = runner.run_cases([Case("spin", ("spin",)), Case("echo", ("echo",))])
        assert killed.coverage[3] > 0
        assert list(after.coverage[:4]) == [1, 2, 0, 0]


def test_no_coverage_of_a_plain_program():
    with Runner(subject(PLAIN), LIMITS, coverage=True) as runner:
        assert run(runner, "echo").coverage is None


@pytest.mark.parametrize("kind", [SERVED, STARTED])
def test_trace_is_requested(kind, tmp_path):
    path = tmp_path / "trace"
    with Runner(subject(kind), LIMITS) as runner:
        result = runner.run_case(Case("c", ("environment",)), TraceRequest(path, 4096, ring=True))
        assert result.trace == path
        assert path.read_text() == "limit 4096 ring 1"
        assert b"WHENCE" not in result.stdout
        with pytest.raises(TraceError, match=r"case c: cannot record .*No such file"):
            runner.run_case(Case("c", ("echo",)), TraceRequest(tmp_path / "none" / "t", 1))


# ---- Test suites -----------------------------------------------------------------------------------------------------


def test_suite_accumulates_coverage_and_traces(suite_folder, tmp_path):
    with Runner(subject(SERVED), LIMITS, coverage=True) as runner:
        case = suite_case(suite_folder, "bin/prog echo; bin/prog crash; bin/prog exit 3")
        result = runner.run_case(case, TraceRequest(tmp_path / "traces", 4096))
        assert result.status == 3
        assert list(result.coverage[:4]) == [3, 2, 0, 0]
        assert len(list((tmp_path / "traces").iterdir())) == 3
        assert judge(case, result).kind is Kind.WRONG_STATUS
        assert runner.run_case(suite_case(suite_folder, "true")).coverage is None


def test_skipped_test_is_no_failure(served, suite_folder):
    case = suite_case(suite_folder, "exit 77", skip_statuses=(77,))
    outcome = judge(case, served.run_case(case))
    assert outcome.kind is Kind.SKIPPED
    assert not outcome.failed
    assert not outcome.passed


# ---- What goes wrong -------------------------------------------------------------------------------------------------


def test_missing_input_is_named(runner):
    with pytest.raises(SubjectError, match="case case: cannot open standard input: No such file"):
        run(runner, "copy", stdin=Path("/nowhere/in"))
    assert run(runner, "echo").status == 0


def test_missing_file_is_named(served):
    with pytest.raises(SubjectError, match=r"cannot copy the files of a case: .*nowhere"):
        run(served, "echo", files=(("a", Path("/nowhere/a")),))


def test_arguments_beyond_the_limit(served):
    with pytest.raises(SubjectError, match="case case: arguments and environment take"):
        run(served, "echo", "x" * (5 << 20))
    assert run(served, "echo").status == 0


def test_an_argument_that_cannot_be_passed_on(runner):
    for argument, told in (("a\0b", "cannot hold a NUL byte"), ("\ud800", "cannot be passed on")):
        with pytest.raises(SubjectError, match=f"case case: .*{told}"):
            run(runner, "echo", argument)
    assert run(runner, "echo").status == 0


def test_a_run_that_kills_its_server_leaves_nothing_to_the_next(runner):
    with pytest.raises(ServerLost, match="case case: the fork server was ended by the program it ran"):
        run(runner, "kill-parent")
    assert list(runner.sandbox.work.iterdir()) == []
    assert run(runner, "echo").status == 0
    assert not list(runner.sandbox.root.glob("*.spare"))


def test_a_run_that_removes_the_files_around_it_is_read_all_the_same(tmp_path):
    """The file that is read is the one that was written, though its name may have gone, and another one have come."""
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\necho "$1"\n[ "$1" = stay ] || rm -rf ../*.out ../*.err ./* .\n')
    script.chmod(0o755)
    with Runner(script) as runner:
        cases = [Case("case", (text,)) for text in ("one", "stay", "two", "stay", "stay")]
        for _ in range(2):
            found = [runner.run_case(case).stdout.decode() for case in cases]
            assert found == [f"{case.arguments[0]}\n" for case in cases]


def test_cancelling_from_another_thread_ends_the_call_and_all_later_ones():
    with Runner(subject(SERVED), Limits(time=PATIENCE)) as runner:
        begun = time.monotonic()
        timer = threading.Timer(0.5, runner.cancel)
        timer.start()
        with pytest.raises(Cancelled):
            run(runner, "sleep")
        timer.join()
        assert time.monotonic() - begun < PATIENCE / 2
        with pytest.raises(Cancelled):
            run(runner, "echo")


def test_a_runner_that_was_cancelled_before_starts_nothing():
    with Runner(subject(PLAIN)) as runner:
        runner.cancel()
        with pytest.raises(Cancelled):
            run(runner, "sleep")


def test_missing_program():
    with pytest.raises(SubjectError, match="cannot read the program /nowhere/program"):
        Runner(Path("/nowhere/program"))


def test_program_that_cannot_be_executed(tmp_path):
    path = tmp_path / "text"
    path.write_text("no program")
    path.chmod(0o755)
    with (
        Runner(path) as runner,
        pytest.raises(SubjectError, match="cannot start the program: Exec format error"),
    ):
        run(runner)


def test_interrupt_ends_children_and_keeps_results():
    with Runner(subject(SERVED), Limits(time=60)) as runner:
        cases = [Case("one", ("echo",)), Case("hangs", ("sleep",)), Case("three", ("echo",))]

        def interrupt(done: int, total: int) -> None:
            raise KeyboardInterrupt

        start = time.monotonic()
        with pytest.raises(Interrupted) as caught:
            runner.run_cases(cases, progress=interrupt)
        assert [result.case.name for result in caught.value.results] == ["one"]
        assert time.monotonic() - start < 5
        assert run(runner, "echo").status == 0  # a new server is started


CTRL_C = """
import sys
from pathlib import Path
from whence.run.cases import Case
from whence.run.runner import Runner
from whence.run import sandbox
from whence.run.sandbox import Limits
sandbox.MEMORY_FOLDER = Path(sys.argv[2])
runner = Runner(Path(sys.argv[1]), Limits(time=60))
print(runner.sandbox.root, flush=True)
runner.run_cases([Case("hangs", ("sleep",))])
"""


@pytest.mark.parametrize("kind", [SERVED, PLAIN])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_session(kind, number, tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "MEMORY_FOLDER", tmp_path)  # other sessions number their folders elsewhere
    words = [sys.executable, "-c", CTRL_C, str(subject(kind)), str(tmp_path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=as_from_a_shell)
    assert process.stdout is not None
    root = Path(process.stdout.readline().decode().strip())
    deadline = time.monotonic() + PATIENCE
    while not in_folder(root) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert in_folder(root)
    process.send_signal(number)
    process.wait(PATIENCE)
    while in_folder(root) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not in_folder(root)
    assert not root.exists() or number == signal.SIGKILL
    with Runner(subject(kind)) as runner:  # clears what a killed session has left
        assert runner.sandbox.root == root


def in_folder(root: Path) -> list[str]:
    """Processes that work in the sandbox; where something else is mounted, the same name is another folder."""
    own, found = Path("/proc/self/ns/mnt").readlink(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            works_there = str((process / "cwd").readlink()).startswith(str(root / "work"))
            if works_there and (process / "ns/mnt").readlink() == own:
                found.append(process.name)
        except OSError:
            continue
    return found
