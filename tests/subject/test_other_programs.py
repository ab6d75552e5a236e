"""Tests of a suite that are programs of their own: the passing ones count in the spectrum of the one that fails."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.clamp_library import CLAMP, TWICE
from tests.support.cli_tool import subject_folder, write
from whence.errors import BuildError
from whence.findings import Statement
from whence.run.config import SubjectConfig, read_config
from whence.subject.capture import captured_cases, with_captured_cases
from whence.subject.coverage import Coverage, OtherRun, Site
from whence.subject.other_programs import runs_of_other_programs
from whence.subject.subject import Subject, built_from_config

LIBRARY = "\n" + CLAMP + TWICE
HEAD = "#include <stdlib.h>\nint clamp(int, int), twice(int);\n"
TESTS = {
    "above": "int main(void) { if (twice(2) != 4) return 2; if (clamp(9, 5) != 5) abort(); return 0; }",
    "below": "int main(void) { return clamp(3, 5) != 3; }",
    "doubled": "int main(void) { return twice(3) != 6; }",
    "wrong": "int main(void) { return clamp(7, 5) != 5; }",
    "alone": "int main(void) { return 0; }",
}


def suite(name: str) -> tuple[Subject, SubjectConfig]:
    """A library with a program for each test, built with the wrapper; ``above`` is the subject."""
    folder = subject_folder(f"others-{name}")
    shutil.rmtree(folder, ignore_errors=True)
    write(folder / "lib.c", LIBRARY)
    compiler = str(Path(sys.executable).with_name("whence-cc"))
    for test, main in TESTS.items():
        write(folder / f"{test}.c", HEAD + main)
        subprocess.run([compiler, "-g", "-O0", "-o", f"t/{test}", f"{test}.c", "lib.c"], cwd=_with(folder), check=True)
    names = ", ".join(f'"t/{test}"' for test in TESTS)
    text = f'[program]\npath = "t/above"\n[cases]\ncommand = "./{{name}}"\nnames = [{names}]\ncapture = true\n'
    write(folder / "whence.toml", text)
    config = read_config(folder)
    return built_from_config(config), config


def _with(folder: Path) -> Path:
    (folder / "t").mkdir(exist_ok=True)
    return folder


def test_what_passing_tests_of_other_programs_executed_counts() -> None:
    subject, config = suite("counts")
    captured = captured_cases(subject, config)
    executed = {other.name: {s for site in other.executed for s in site.statements} for other in captured.others}
    assert sorted(executed) == ["t/below", "t/doubled"]  # `wrong` fails, and `alone` has nothing in common
    assert executed["t/below"] == {Statement("lib.c", line) for line in (4, 6)}
    assert executed["t/doubled"] == {Statement("lib.c", line) for line in (10,)}
    assert any("2 passing tests of other programs with the same functions count" in line for line in captured.remarks)
    again = captured_cases(subject, config)
    assert again.others == captured.others
    assert with_captured_cases(subject, config).others == tuple(captured.others)


def test_the_coverage_has_a_passing_row_more_for_each() -> None:
    sites = [Site((Statement("a.c", line),)) for line in (1, 2, 3)]
    own = Coverage(np.array([[1, 4, 0]], np.uint32), np.array([True]), sites, ["fails"])
    both = own.with_others([OtherRun("other", (sites[1], Site((Statement("b.c", 1),))))])
    assert both.counts.tolist() == [[1, 4, 0], [0, 1, 0]]
    assert both.failed.tolist() == [True, False]
    assert list(both.names) == ["fails", "other"]
    assert own.with_others([]) is own


def test_a_program_that_cannot_be_built_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, _ = suite("lost")

    def fails(*_: object) -> set[Site]:
        raise BuildError("the compiler ended")

    monkeypatch.setattr("whence.subject.other_programs._executed", fails)
    found, lost = runs_of_other_programs(subject, [case for case in subject.cases if case.name == "t/below"])
    assert not found
    assert lost == ["t/below does not count in the spectrum: the compiler ended"]


def test_a_failing_test_that_is_another_program_is_the_subject() -> None:
    folder = suite("instead")[0].folder
    settings = folder / "whence.toml"
    settings.write_text(settings.read_text().replace('path = "t/above"', 'path = "t/alone"'))
    config = read_config(folder)
    found = with_captured_cases(built_from_config(config), config)
    assert found.executable == folder / "t/above"
    assert [case.name for case in found.cases] == ["t/above:1"]
    told = "no run of alone is known to fail; test `t/above` does, and runs above: that is the program here"
    assert told in found.remarks
    assert sorted(other.name for other in found.others) == ["t/below", "t/doubled"]
