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


ASKING = ("SeveralFaults", "Schedules", "LearnFix")  # which need a state, threads, a fix


@pytest.mark.parametrize("name", [name for name in TECHNIQUES if name not in ASKING])
def test_each_technique_is_run_alike(project, name) -> None:
    found = project.find(getattr(whence, name)(), budget=60)
    assert isinstance(found, Findings)
    assert found.summary and (found.ranking or name in ("MemoryErrors", "DataRaces"))
    assert all(entry.statement.file == "triangle.c" for entry in found.ranking)


UNLOCKED = """\
#include <assert.h>
#include <pthread.h>
static int counter;
static void *work(void *p)
{
    counter++;
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
"""


def test_schedules_are_those_of_a_program_with_threads(project) -> None:
    source = subject_folder("library-threads", unlocked_c=UNLOCKED) / "unlocked.c"
    with whence.open_sources([source], fails=[("", None)], flags=["-pthread"]) as opened:
        found = opened.find(whence.Schedules(), budget=60)
    assert [entry.statement.line for entry in found.ranking][:1] == [6]
    with pytest.raises(SubjectError, match="starts no threads"):
        project.find(whence.Schedules())


def test_locate_leaves_steps_out(project) -> None:
    without = ("slice", "memory", "causes", "switch", "values", "formula", "confirmation")
    found = project.find(whence.Locate(without=without))
    told = {reason["technique"] for entry in found.ranking for reason in entry.evidence["reasons"]}
    assert "rules" in found.parts and not {"slice", "tree", "pairs"} & set(found.parts)
    assert told <= {"locate", "rules", "invariants"}
    rest = project.find(whence.Locate(without=("rules", "operators", "invariants"), alter=False))
    assert "slice" in rest.parts and "rules" not in rest.parts
    with pytest.raises(UsageError, match="no step 'magic'"):
        project.find(whence.Locate(without=("magic",)))


def test_locate_without_rules_of_operators_has_none(project) -> None:
    every, some = (project.find(whence.Locate(without=("confirmation", *more))) for more in ((), ("operators",)))
    families = [{rule["family"] for rule in found.parts["rules"]} for found in (every, some)]
    assert "operator" in families[0] and "operator" not in families[1]


def test_changes_are_compiled_unless_that_is_left_out(project) -> None:
    compiled, told = (project.find(whence.Rules(confirm=confirm)).parts["rules"] for confirm in (True, False))
    assert any(rule.get("confirmed") is not None for rule in compiled)
    assert all(rule.get("confirmed") is None for rule in told)


def test_relevant_slicing_takes_all_potential_dependences_where_none_is_verified(project) -> None:
    verified, every = (project.find(whence.RelevantSlicing(verify=verify)) for verify in (True, False))
    assert every.parts["implicit"]["switched"] == every.parts["implicit"]["verified"] == 0
    assert {e.statement for e in verified.ranking} <= {e.statement for e in every.ranking}
    assert "without switching a branch" in every.summary[-1]


def test_a_budget_without_an_end(project) -> None:
    found = project.find(whence.ValueReplacement(), budget=float("inf"))
    assert found.parts["search"]["altered"] > 0 and not found.parts["search"]["stopped"]
    assert project.investigation.clock.left == float("inf")


def test_cases_are_run_once_for_all_techniques(project) -> None:
    assert project.investigation.runs is project.investigation.runs
    before = project.investigation.runs
    project.find(whence.Slicing())
    assert project.investigation.runs is before


def test_cases_that_fail_in_different_ways_are_looked_at_together_where_they_have_one_cause() -> None:
    source = subject_folder("library-one-cause", triangle_c=TRIANGLE) / "triangle.c"
    cases = {"fails": [("4", "10\n"), ("", None)], "passes": ["0"]}  # a wrong output, and a crash in atoi
    counts = {}
    for one_cause in (False, True):
        with whence.open_sources([source], setup=whence.Setup(one_cause=one_cause), **cases) as opened:
            counts[one_cause] = len(opened.investigation.rows_alike(5))
    assert counts == {False: 1, True: 2}


def test_a_folder_is_opened_with_its_own_cases(tmp_path) -> None:
    (tmp_path / "triangle.c").write_text(TRIANGLE)
    for name, words, right in (("four", "4", "10\n"), ("none", "0", "0\n")):
        (tmp_path / f"{name}.args").write_text(words)
        (tmp_path / f"{name}.out").write_text(right)
    (tmp_path / "whence.toml").write_text('[program]\nsources = "triangle.c"\n[cases]\nfolder = "."\n')
    with whence.open(tmp_path) as project:
        found = project.find(whence.Spectrum(formula="op2"))
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
