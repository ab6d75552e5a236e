"""Which source files are those of a test program, or of what such programs are written with.

Their names tell it, or what they call: functions that frameworks have for tests, and their checks.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whence.subject.subject import Subject

FRAMEWORKS = (
    "acutest cmocka criterion ctest cunit cutest embunit greatest minicheck minunit munit seatest sput tinytest unity "
    "utest"
)
_FRAMEWORK = FRAMEWORKS.replace(" ", "|")
FOLDERS = re.compile(rf"(unit)?tests?|testing|testsuite|t|{_FRAMEWORK}", re.I)
FILES = re.compile(rf"(unit)?tests?([_\-.\d].*|[A-Z].*)?|.*[_\-.](unit)?tests?\d*|.*Tests?|{_FRAMEWORK}")
# What Check, CMocka, Criterion and Unity have for tests, as compilers see it.
CALLED = re.compile(
    r"_tcase_add_test|_ck_assert_failed|_cmocka_run_group_tests|_assert_(true|return_code|\w*equal|(not_)?in_\w+)"
    r"|criterion_(send_assert|abort_test)|cri_assert_\w+|Unity(Begin|Fail|DefaultTestRun|Assert\w+)"
)


def is_test_code(name: str) -> bool:
    """Whether a source file is one of a test program, by its name or those of its folders."""
    path = PurePath(name)
    return bool(FILES.fullmatch(path.stem)) or any(FOLDERS.fullmatch(folder) for folder in path.parts[:-1])


def modules_of_tests(subject: Subject) -> set[int]:
    """The numbers of the modules whose sources are test code; none where ``main`` is not among them."""
    modules = subject.capture.modules
    found = {n for n, module in enumerate(modules) if is_test_code(subject.places.name(module.source))}
    found |= {n for n, module in enumerate(subject.program.modules) if any(map(CALLED.fullmatch, module.declarations))}
    main = next((ref.module for ref in subject.program.functions if ref.name == "main"), -1)
    return found if main in found else set()
