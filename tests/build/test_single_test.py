"""Test programs that run one of their tests alone, with the frameworks themselves where these are installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.framework_tests import FAILING, TESTS, write_sources
from whence.build.capture import read_executable
from whence.build.quick import build_sources
from whence.build.single_test import FRAMEWORKS, LISTED, NAMES, VARIABLE, framework_of, running_single_tests
from whence.errors import BuildError

BY_DRIVER = {framework.driver: framework for framework in FRAMEWORKS}
WITH = ("check", "cmocka", "criterion", "unity", "unity-script")


def built(folder: Path, name: str) -> Path:
    """The program of tests; skips where the framework is not installed."""
    framework = BY_DRIVER[name.partition("-")[0]]
    if framework.libraries and not Path("/usr/include", framework.header).exists():
        pytest.skip(f"{framework.name} is not installed")
    return build_sources(write_sources(folder, name), framework.libraries, folder / "built")


def run(program: Path, chosen: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {} if chosen is None else {VARIABLE: chosen}
    return subprocess.run([program], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", WITH)
def test_one_test_runs_alone(tmp_path: Path, name: str) -> None:
    program = built(tmp_path, name)
    framework = framework_of(program)
    assert framework is not None and framework.driver == name.partition("-")[0]
    single = running_single_tests(program, framework)
    listed = [line.removeprefix(LISTED) for line in run(single, NAMES).stdout.splitlines() if line.startswith(LISTED)]
    assert [test.rpartition("test_")[2] for test in listed] == list(TESTS)
    failed = [test.rpartition("test_")[2] for test in listed if run(single, test).returncode]
    assert failed == list(FAILING)
    assert run(single, "test_that_is_not_there").returncode == 0


@pytest.mark.parametrize("name", ["check", "cmocka", "unity", "unity-script"])
def test_without_a_name_it_runs_all_of_them_as_the_plain_program(tmp_path: Path, name: str) -> None:
    program = built(tmp_path, name)
    framework = framework_of(program)
    assert framework is not None
    plain, single = run(program), run(running_single_tests(program, framework))
    assert plain.returncode != 0
    assert (single.returncode, single.stdout) == (plain.returncode, plain.stdout)


def test_the_driver_is_known_and_made_once(tmp_path: Path) -> None:
    program = built(tmp_path, "unity")
    single = running_single_tests(program, BY_DRIVER["unity"])
    assert read_executable(single).uncaptured == []
    assert {module.hash for module in read_executable(single).modules} == {
        module.hash for module in read_executable(program).modules
    }
    made = single.stat().st_mtime_ns
    assert running_single_tests(program, BY_DRIVER["unity"]).stat().st_mtime_ns == made


def test_a_program_older_than_its_sources_is_told(tmp_path: Path) -> None:
    program = built(tmp_path, "unity")
    source = tmp_path / "total.c"
    source.write_text(source.read_text() + "int more;\n")
    with pytest.raises(BuildError, match="older than its sources"):
        running_single_tests(program, BY_DRIVER["unity"])


def test_other_programs_have_no_framework(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    assert framework_of(build_sources([tmp_path / "a.c"], [], tmp_path / "built")) is None
    assert framework_of(tmp_path / "a.c") is None
    assert framework_of(tmp_path / "nowhere") is None
