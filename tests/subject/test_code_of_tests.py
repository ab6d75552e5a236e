"""Names of test code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.framework_tests import write_sources
from whence.build.quick import build_sources
from whence.subject.code_of_tests import is_test_code, modules_of_tests
from whence.subject.subject import Subject

NAMES = """test.c tests/run.c test_list.c test-list.c list_test.c list-tests.c testList.c ListTest.c t/basic.c test1.c
src/unittest/a.c tinytest/tinytest.c unity.c lib/tests.c list.test.c unittest_io.c"""


@pytest.mark.parametrize("name", NAMES.split())
def test_names_of_test_code(name: str) -> None:
    assert is_test_code(name)


@pytest.mark.parametrize("name", ["testify.c", "latest.c", "attest/a.c", "contest.c", "fastest.c", "check.c", "tt/a.c"])
def test_other_names(name: str) -> None:
    assert not is_test_code(name)


def test_a_source_that_calls_a_framework_is_test_code_whatever_its_name(tmp_path: Path) -> None:
    tests, *others = write_sources(tmp_path, "unity")
    named = tests.rename(tmp_path / "check.c")
    subject = Subject(tmp_path, build_sources([named, *others], [], tmp_path / "built"), [])
    names = [Path(module.source).name for module in subject.capture.modules]
    assert sorted(names[number] for number in modules_of_tests(subject)) == ["check.c", "unity.c"]
