"""Subjects that misbehave, run with the real probes: all variants end like the plain program, and nothing is harmed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from snippets import Snippet

from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.oracle import Expected, Kind, judge
from whence.run.runner import RunResult
from whence.run.sandbox import Limits
from whence.subject.runs import run_all
from whence.trace.trace import CHILD, FULL, HEADER_UNITS, LIMIT_REACHED, Header, open_units, read_header

SOURCE = Path(__file__).parent / "runtime/limits.c"
OUTPUT = 1 << 16
LIMITS = Limits(time=60, memory=1 << 28, output=OUTPUT, processes=20, trace=64 << 20)


@pytest.fixture(scope="module")
def bad() -> Snippet:
    return Snippet({"limits.c": SOURCE.read_text()}, (), LIMITS)


@pytest.fixture(scope="module")
def endless() -> Snippet:
    return Snippet({"limits.c": SOURCE.read_text()}, (), replace(LIMITS, time=0.6))


def run_all_ways(bad: Snippet, mode: str) -> tuple[RunResult, Header]:
    """The result of a mode, which must be the same for the plain program and both variants, and its trace's header."""
    plain, covered = bad.run(mode), bad.run(mode, variant=Variant.COVER)
    result, path = bad.record(mode)
    header = read_header(open_units(path))
    trace = bad.open(path)
    assert trace.events > 100
    assert plain.observed == covered.observed == result.observed
    assert plain.too_many_processes == covered.too_many_processes == result.too_many_processes
    return result, header


# ---- Every run is the same -------------------------------------------------------------------------------------------


def test_ten_recordings_are_identical(bad: Snippet) -> None:
    outputs, traces = set(), set()
    for _ in range(10):
        result, path = bad.record("addresses")
        units = np.array(open_units(path))
        chunks = int(units[4])
        outputs.add(result.stdout)
        traces.add(units[: HEADER_UNITS + chunks * (units[3])].tobytes())
    assert len(outputs) == len(traces) == 1


@pytest.mark.parametrize("variant", [None, Variant.COVER])
def test_addresses_are_the_same_in_every_run(bad: Snippet, variant: Variant | None) -> None:
    assert len({bad.run("addresses", variant=variant).stdout for _ in range(10)}) == 1


def test_case_that_depends_on_the_time_is_named_as_flaky() -> None:
    text = """
        #include <stdio.h>
        #include <time.h>
        int main(int argc, char **argv)
        {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            printf("%ld %d\\n", argc > 1 ? now.tv_nsec : 0, argv[0] != NULL);
            return 0;
        }"""
    snippet = Snippet({"flaky.c": text})
    expected = Expected(stdout=b"0 1\n")
    cases = [Case("steady", expected=expected), Case("clock", ("x",), expected=expected)]
    runs = run_all(replace(snippet.subject, cases=cases))
    assert [tested.case.name for tested in runs.tested] == ["steady"]
    assert len(runs.left_out) == 1 and "clock" in runs.left_out[0] and "flaky" in runs.left_out[0]


# ---- Limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["loop", "stubborn"])
def test_endless_loop(endless: Snippet, mode: str) -> None:
    result, header = run_all_ways(endless, mode)
    assert result.timed_out and result.wall < 5
    assert header.end == "killed" and header.flags & LIMIT_REACHED
    assert judge(Case("c"), result).kind is Kind.TIMEOUT


def test_memory_is_refused_but_recording_goes_on(bad: Snippet) -> None:
    result, header = run_all_ways(bad, "eat")
    assert (result.status, result.stderr) == (4, b"refused\n")
    assert (header.end, header.flags) == ("exit", 0)
    assert header.chunks > 10


def test_endless_output(bad: Snippet) -> None:
    result, header = run_all_ways(bad, "print")
    assert len(result.stdout) == OUTPUT
    assert (header.end, header.code) == ("signal", 25)


def test_trace_may_be_larger_than_the_subjects_files(bad: Snippet) -> None:
    result, header = run_all_ways(bad, "long")
    assert result.status == 0
    assert (header.end, header.flags) == ("exit", 0)
    assert header.chunks * 4 * 1024 > OUTPUT


def test_trace_of_a_command_may_be_larger_too(bad: Snippet) -> None:
    from whence.run.cases import Suite
    from whence.run.runner import TraceRequest

    folder = bad.folder / "suite"
    folder.mkdir(exist_ok=True)
    (folder / "prog").touch()
    runner = bad.runner(Variant.RECORD)
    case = Case("c", command="./prog long", suite=Suite(folder, "prog"))
    path = runner.sandbox.root / "traces"
    result = runner.run_case(case, TraceRequest(path, LIMITS.trace))
    assert result.status == 0 and result.stdout == bad.run("long").stdout
    (file,) = path.iterdir()
    assert read_header(open_units(file)).end == "exit"
    assert bad.open(file).events > 1_000_000


def test_stack_overflow_in_a_deep_recursion(bad: Snippet) -> None:
    result, header = run_all_ways(bad, "overflow")
    assert result.signal == 11
    assert (header.end, header.code) == ("signal", 11)


def test_too_many_processes(bad: Snippet) -> None:
    result, header = run_all_ways(bad, "forks")
    assert result.too_many_processes
    assert header.flags & CHILD


# ---- Folders and descriptors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", [None, Variant.COVER, Variant.RECORD])
def test_next_case_does_not_see_what_one_left(bad: Snippet, variant: Variant | None) -> None:
    for _ in range(2):
        result = bad.record("leave")[0] if variant is Variant.RECORD else bad.run("leave", variant=variant)
        assert (result.status, result.stdout) == (0, b"-1\n")
    assert not list(bad.runner(variant).sandbox.work.iterdir())


@pytest.mark.parametrize("mode", ["close", "own_descriptor", "chdir"])
def test_recording_survives(bad: Snippet, mode: str) -> None:
    result, header = run_all_ways(bad, mode)
    assert result.status == 0
    assert header.end == "exit" and not header.flags & FULL
    assert header.chunks > 10


# ---- Processes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode, output, flags",
    [
        ("fork", b"child 7\nparent 1 3\n", CHILD),
        ("popen", b"one\ntwo\n0\n", 0),
        ("system", b"before\nwithin\n3\n", 0),
        ("vfork", b"run\n6\n", 0),
        ("daemon", b"daemon\n", CHILD),
        ("again", None, 0),
    ],
)
def test_processes(bad: Snippet, mode: str, output: bytes | None, flags: int) -> None:
    result, header = run_all_ways(bad, mode)
    assert result.stdout == (bad.run("long").stdout if output is None else output)
    assert header.flags == flags
    assert not in_folder(bad.runner(Variant.RECORD).sandbox.root)


def in_folder(root: Path) -> list[str]:
    """Processes that work in the sandbox."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str((process / "cwd").readlink()).startswith(str(root / "work")):
                found.append(process.name)
        except OSError:
            continue
    return found
