"""Tests of a suite that are programs of their own: the passing ones count in the spectrum of the one that fails."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.program_suite import program_suite
from whence.errors import BuildError
from whence.findings import Statement
from whence.run.config import read_config
from whence.subject.capture import captured_cases, with_captured_cases
from whence.subject.coverage import Coverage, OtherRun, Site
from whence.subject.other_programs import runs_of_other_programs
from whence.subject.subject import built_from_config


def test_what_passing_tests_of_other_programs_executed_counts() -> None:
    subject, config = program_suite("counts")
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
    subject, _ = program_suite("lost")

    def fails(*_: object) -> set[Site]:
        raise BuildError("the compiler ended")

    monkeypatch.setattr("whence.subject.other_programs._executed", fails)
    found, lost = runs_of_other_programs(subject, [case for case in subject.cases if case.name == "t/below"])
    assert not found
    assert lost == ["t/below does not count in the spectrum: the compiler ended"]


def test_a_failing_test_that_is_another_program_is_the_subject() -> None:
    folder = program_suite("instead")[0].folder
    settings = folder / "whence.toml"
    settings.write_text(settings.read_text().replace('path = "t/above"', 'path = "t/alone"'))
    config = read_config(folder)
    found = with_captured_cases(built_from_config(config), config)
    assert found.executable == folder / "t/above"
    assert [case.name for case in found.cases] == ["t/above:1"]
    told = "no run of alone is known to fail; test `t/above` does, and runs above: that is the program here"
    assert told in found.remarks
    assert sorted(other.name for other in found.others) == ["t/below", "t/doubled"]
