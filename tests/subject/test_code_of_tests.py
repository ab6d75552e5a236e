"""Names of test code."""

from __future__ import annotations

import pytest

from whence.subject.code_of_tests import is_test_code

NAMES = """test.c tests/run.c test_list.c test-list.c list_test.c list-tests.c testList.c ListTest.c t/basic.c test1.c
src/unittest/a.c tinytest/tinytest.c unity.c lib/tests.c list.test.c unittest_io.c"""


@pytest.mark.parametrize("name", NAMES.split())
def test_names_of_test_code(name: str) -> None:
    assert is_test_code(name)


@pytest.mark.parametrize("name", ["testify.c", "latest.c", "attest/a.c", "contest.c", "fastest.c", "check.c", "tt/a.c"])
def test_other_names(name: str) -> None:
    assert not is_test_code(name)
