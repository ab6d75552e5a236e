"""Which process of a command is recorded: the one that crashed, whatever the command's status says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tool import subject_folder

from whence.errors import SubjectError, TraceError
from whence.findings import Symptom
from whence.run.cases import Case, Suite
from whence.run.outcome import Expected, Rule
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.processes import Process, candidates, open_best, processes_in
from whence.subject.recorder import Recorder, Recording
from whence.subject.runs import run_all
from whence.subject.subject import Subject, subject_from_sources, with_cases
from whence.subject.symptoms import symptom_of

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int get(int *where) { return *where; } /* crash */
int main(int argc, char **argv)
{
    int n = 0, status = 0;
    printf("%s\n", argv[1]); /* printed */
    fflush(stdout);
    if (!strcmp(argv[1], "serve"))
        for (;;)
            pause();
    if (!strcmp(argv[1], "crash"))
        n = get(NULL);
    if (!strcmp(argv[1], "forks")) {
        for (int i = 0; i < 2000; i++)
            n += i;
        if (fork() == 0)
            _exit(get(argc > 2 ? &n : NULL)); /* child */
        wait(&status);
    }
    return n < 0;
}
"""
SCRIPTS = {
    "crash": "./p crash & wait $!; ./p fine; exit 1",
    "forks": "./p forks; ./p fine; exit 1",
    "stopped": "./p serve > log & pid=$!; until test -s log; do :; done; kill $pid; wait $pid; exit 1",
    "both": "ln -s p other; ./p crash; ./other crash; ./p crash; exit 1",
    "child": "./p forks well; exit 1",
    "nothing": "exit 1",
}


@pytest.fixture(scope="module")
def subject() -> Subject:
    folder = subject_folder("processes", p_c=PROGRAM)
    return subject_from_sources([folder / "p.c"], ["-w"], [], DEFAULT_LIMITS)


def suite_case(subject: Subject, name: str, process: str | None = None) -> Case:
    suite = Suite(subject.folder, "p", process=process)
    return Case(name, expected=Expected(), rule=Rule.STATUS, command=SCRIPTS[name], suite=suite)


def recorded(subject: Subject, name: str, process: str | None = None) -> tuple[Recording, Symptom]:
    with Recorder(subject) as recorder:
        recording = recorder.record(suite_case(subject, name, process))
    return recording, symptom_of(recording, subject.folder)


def line_of(mark: str) -> int:
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if f"/* {mark} */" in line)


def test_process_that_crashed_is_the_symptom(subject: Subject) -> None:
    recording, symptom = recorded(subject, "crash")
    assert recording.process == symptom.details["process"] == "./p crash (one of 2 that ran)"
    assert symptom.kind == "crash" and symptom.statement is not None and symptom.statement.line == line_of("crash")


def test_forked_process_that_crashed(subject: Subject) -> None:
    """Its trace holds what its parent had done before, and its stack the parent's calls."""
    recording, symptom = recorded(subject, "forks")
    assert symptom.kind == "crash" and symptom.statement is not None and symptom.statement.line == line_of("crash")
    assert [call["line"] for call in symptom.details["stack"]["first"]] == [line_of("crash"), line_of("child")]
    assert recording.trace.events > 2000 and recording.process == "./p forks (one of 3 that ran)"


def test_parent_of_a_fork_is_recorded_to_its_end(subject: Subject) -> None:
    recording, _ = recorded(subject, "child")
    assert recording.trace.header.end == "exit" and recording.process == "./p forks well (one of 2 that ran)"


def test_process_that_is_stopped_in_the_end_has_not_crashed(subject: Subject) -> None:
    recording, symptom = recorded(subject, "stopped")
    assert recording.trace.header.end == "signal"
    assert symptom.kind == "wrong-output" and symptom.statement is not None
    assert symptom.statement.line == line_of("printed")


def test_process_can_be_chosen_by_its_name(subject: Subject) -> None:
    assert recorded(subject, "both", "other")[0].process == "./other crash (one of 3 that ran)"
    with pytest.raises(SubjectError, match="the command ran no process named none") as error:
        recorded(subject, "both", "none")
    assert error.value.hint == "those that ran: other, p"


def test_command_that_does_not_run_the_program(subject: Subject) -> None:
    with pytest.raises(SubjectError, match="the command did not run the program"):
        recorded(subject, "nothing")


def test_tests_that_do_not_run_the_program_count_nothing(subject: Subject) -> None:
    names = ("nothing", "crash", "forks")
    runs = run_all(with_cases(subject, [suite_case(subject, name) for name in names]))
    assert [bool(row.any()) for row in runs.counts] == [False, True, True]


def test_damaged_traces_do_not_stop_the_others(subject: Subject, tmp_path: Path) -> None:
    with Recorder(subject) as recorder:
        recorder.record(Case("fine", ("fine",)), keep=tmp_path / "2")
    for name in ("1", "4"):
        (tmp_path / name).write_bytes((tmp_path / "2").read_bytes())
    (tmp_path / "3").write_bytes(b"no trace")
    processes = processes_in(tmp_path)
    assert sorted(p.path.name for p in processes) == ["1", "2", "4"]

    def opened(path: Path) -> str:
        if path.name != "2":
            raise TraceError(f"{path}: damaged")
        return path.name

    assert open_best(candidates(processes), opened, None)[1] == "2"  # type: ignore[arg-type]
    broken = [p for p in processes if p.path.name != "2"]
    with pytest.raises(TraceError, match="damaged"):
        open_best(broken, opened, None)  # type: ignore[arg-type]


def test_names_of_a_process(subject: Subject, tmp_path: Path) -> None:
    recording, _ = recorded(subject, "both", "other")
    assert Process(tmp_path, recording.trace.header).names == {"other", "p"}
