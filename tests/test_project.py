"""Whence as a library: what the README and docs/library.md show, without a command line."""

from __future__ import annotations

import ast
import re
import time
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from cli_tool import subject_folder

import whence
from whence.errors import SubjectError, UsageError
from whence.findings import Findings, Statement
from whence.investigation.watcher import Watcher

TRIANGLE = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rows = atoi(argv[1]), total = 0;
    for (int row = 1; row < rows; row++)
        total += row;
    printf("%d\n", total);
    return argc != 2;
}
"""
FAULT = 7
DOC = Path(__file__).resolve().parents[1] / "docs" / "library.md"
TECHNIQUES = [name for name in whence.__all__ if is_dataclass(getattr(whence, name)) and name != "Setup"]


@pytest.fixture(scope="module")
def project():
    source = subject_folder("library", triangle_c=TRIANGLE) / "triangle.c"
    with whence.open_sources([source], fails=[("4", "10\n"), ("3", "6\n")], passes=["0", "-2"]) as opened:
        yield opened


def test_locate_gives_typed_findings_within_its_budget(project) -> None:
    project.find(whence.Spectrum())  # builds, runs the cases
    began = time.monotonic()
    found = project.locate(budget=60)
    assert time.monotonic() - began < 66
    assert isinstance(found, Findings) and found.technique == "locate"
    assert Statement("triangle.c", FAULT) in [entry.statement for entry in found.ranking if entry.rank <= 2]
    assert found.symptom is not None and found.symptom.kind == "wrong-output"
    assert project.investigation.clock.budget == 60


@pytest.mark.parametrize("name", [name for name in TECHNIQUES if name != "SeveralFaults"])
def test_each_technique_is_run_alike(project, name) -> None:
    found = project.find(getattr(whence, name)(), budget=60)
    assert isinstance(found, Findings)
    assert found.summary and (found.ranking or name == "MemoryErrors")
    assert all(entry.statement.file == "triangle.c" for entry in found.ranking)


def test_cases_are_run_once_for_all_techniques(project) -> None:
    assert project.investigation.runs is project.investigation.runs
    before = project.investigation.runs
    project.find(whence.Slicing())
    assert project.investigation.runs is before


def test_a_folder_is_opened_with_its_own_cases(tmp_path) -> None:
    (tmp_path / "triangle.c").write_text(TRIANGLE)
    for name, words, right in (("four", "4", "10\n"), ("none", "0", "0\n")):
        (tmp_path / f"{name}.args").write_text(words)
        (tmp_path / f"{name}.out").write_text(right)
    (tmp_path / "whence.toml").write_text('[program]\nsources = "triangle.c"\n[cases]\nfolder = "."\n')
    with whence.open(tmp_path) as project:
        found = project.find(whence.Spectrum("op2"))
    assert found.ranking[0].statement.file == "triangle.c"
    assert found.parts["cases"]["failed"] == 1


def test_what_is_wrong_is_an_error_of_its_kind(project, tmp_path) -> None:
    with pytest.raises(UsageError, match=r"there is no whence\.toml"):
        whence.open(tmp_path)
    with pytest.raises(UsageError, match="no criterion"):
        project.find(whence.Slicing(at="nowhere"))
    source = subject_folder("library", triangle_c=TRIANGLE) / "triangle.c"
    right = whence.open_sources([source], fails=[("4", "6\n")])
    with right, pytest.raises(SubjectError, match="no case fails"):
        right.locate()
    with pytest.raises(AttributeError):
        _ = whence.nothing


def test_a_watcher_is_told_how_it_goes_on() -> None:
    class Noting(Watcher):
        def __init__(self) -> None:
            self.told: list[str] = []

        def busy(self, what: str) -> None:
            self.told.append(what)

        def best(self, findings: Findings, folder: Path) -> None:
            self.told.append(findings.technique)

    watcher = Noting()
    source = subject_folder("library", triangle_c=TRIANGLE) / "triangle.c"
    with whence.open_sources([source], fails=[("4", "10\n")], passes=["0"], watcher=watcher) as project:
        project.locate(alter=False)
    assert watcher.told[0] == "running cases to learn what is right"
    assert "running the cases" in watcher.told and "locate" in watcher.told


def test_the_page_names_each_technique_with_its_options() -> None:
    rows = dict(re.findall(r"^\| `whence\.(\w+)` \|.*\| (.*) \|$", DOC.read_text(), re.M))
    assert sorted(rows) == sorted(TECHNIQUES)
    for name, options in rows.items():
        assert re.findall(r"`(\w+)`", options) == [field.name for field in fields(getattr(whence, name))]


def test_the_examples_of_the_page_can_be_compiled() -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOC.read_text(), re.S)
    assert blocks
    for block in blocks:
        ast.parse(block)
