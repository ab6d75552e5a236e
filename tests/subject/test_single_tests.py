"""Each test of a test program as a case: from ``tests`` in whence.toml, and of what a suite starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.framework_tests import FAILING, FAULT, TESTS, write_sources
from whence import FailureInducingChain, Fix
from whence.errors import SubjectError
from whence.findings import Statement
from whence.project import Project, open_folder
from whence.subject.written_cases import write_cases

DIRECT = '[program]\nsources = ["*.c"]\n[cases]\ntests = "{0}"\n'
SUITE = """\
[program]
path = "t/test_total"
[cases]
command = "cd t && TMPDIR=/tmp ./{name}"
names = ["test_total"]
capture = true
"""
# A program that talks to a process of its own by a file beside the suite, as test programs do that fork for each test.
APART = """\
__attribute__((constructor)) static void apart(void)
{
    if (getenv("WHENCE_TEST"))
        return;
    char name[] = "/tmp/apart_XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    close(file);
}
"""


def opened(folder: Path, toml: str) -> Project:
    (folder / "whence.toml").write_text(toml)
    return open_folder(folder)


def verdicts(project: Project) -> dict[str, bool]:
    """Whether each case passes."""
    return {one.case.name: one.outcome.passed for one in project.investigation.runs.tested}


EXPECTED = {f"test_{name}": name not in FAILING for name in TESTS}


def test_each_test_is_a_case(tmp_path: Path) -> None:
    write_sources(tmp_path, "unity")
    with opened(tmp_path, DIRECT.format("*")) as project:
        assert verdicts(project) == EXPECTED
        assert "4 tests of Unity in test_total are cases of their own" in project.investigation.subject.remarks


@pytest.mark.skipif(not Path("/usr/include/criterion/criterion.h").exists(), reason="Criterion is not installed")
def test_tests_whose_framework_starts_processes_for_them_can_be_altered(tmp_path: Path) -> None:
    write_sources(tmp_path, "criterion")
    toml = DIRECT.replace("[cases]", 'flags = ["-lcriterion"]\n[cases]').format("*")
    with opened(tmp_path, toml) as project:
        assert verdicts(project) == {f"total/{name}": passed for name, passed in EXPECTED.items()}
        found = project.locate(budget=25)
    assert found.ranking[0].statement == Statement(*FAULT)
    assert any("altered runs" in line for line in found.summary)


def test_those_that_match_a_pattern(tmp_path: Path) -> None:
    write_sources(tmp_path, "unity")
    with opened(tmp_path, DIRECT.format("*o*")) as project:
        assert verdicts(project) == {name: passed for name, passed in EXPECTED.items() if "o" in name[5:]}


def test_what_holds_none_is_told(tmp_path: Path) -> None:
    write_sources(tmp_path, "unity")
    with pytest.raises(SubjectError, match="no test of Unity that matches nothing"):
        opened(tmp_path, DIRECT.format("nothing"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(SubjectError, match="a holds no tests of a framework that is known"):
        opened(other, DIRECT.format("*"))


def test_the_fault_is_found_with_the_other_tests_as_passing_cases(tmp_path: Path) -> None:
    write_sources(tmp_path, "unity")
    with opened(tmp_path, DIRECT.format("*")) as project:
        found = project.locate(budget=25)
    assert found.ranking[0].statement == Statement(*FAULT)
    assert found.symptom is not None and "test_one:FAIL: Expected 3 Was 0" in found.symptom.text
    stack = found.symptom.details["stack"]["first"]
    assert [call["function"] for call in stack[:2]] == ["UnityAssertEqualNumber", "test_one"]
    assert all(entry.statement.file == "total.c" for entry in found.ranking[:3])


def test_the_tests_of_a_program_that_a_suite_starts_are_taken_apart_though_it_cannot_be_captured(
    tmp_path: Path,
) -> None:
    write_sources(tmp_path, "unity")
    (tmp_path / "t").mkdir()
    tests = tmp_path / "test_total.c"
    tests.write_text("#define _GNU_SOURCE\n#include <stdlib.h>\n#include <unistd.h>\n" + tests.read_text() + APART)
    compiler = str(Path(sys.executable).with_name("whence-cc"))
    subprocess.run([compiler, "-o", "t/test_total", *map(str, sorted(tmp_path.glob("*.c")))], cwd=tmp_path, check=True)
    with opened(tmp_path, SUITE) as project:
        assert verdicts(project) == EXPECTED
    with opened(tmp_path, SUITE) as project:  # from what was kept
        assert verdicts(project) == EXPECTED
        assert project.investigation.subject.executable.parent != tmp_path / "t"


def test_no_change_of_test_code_is_suggested_nor_made_for_a_run_to_compare_with(tmp_path: Path) -> None:
    write_sources(tmp_path, "unity")
    with opened(tmp_path, DIRECT.format("*")) as project:
        edits = project.find(Fix(), budget=25)
        chain = project.find(FailureInducingChain(), budget=15)
    assert {edit["file"] for edit in edits.parts["edits"]} == {"total.c"}
    assert edits.parts["edits"][0]["line"] == FAULT[1]
    assert any("no edit of test code is tried" in line and "test_total.c" in line for line in edits.summary)
    assert chain.parts["chain"]["steps"][0]["file"] == "total.c"


def test_they_are_not_written_as_a_folder_of_cases(tmp_path: Path) -> None:
    write_sources(tmp_path, "unity")
    with opened(tmp_path, DIRECT.format("*")) as project, pytest.raises(SubjectError, match="which no folder can name"):
        write_cases(project.investigation.subject, tmp_path / "kept")
