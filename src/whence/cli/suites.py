"""The test suites that ``whence init`` recognises in a folder, and the ``[cases]`` that describe them.

Only what runs one test at a time gives each test a verdict of its own, so a suite is described by a command with a name
in it and by what prints the names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
TEST_FOLDERS = ("tests", "test", "t")
SCRIPTS = ("*.sh", "*.test", "*.t", "*.bats")
CHECK_TARGET = re.compile(r"^(check|test)\s*:", re.M)
AUTOMAKE_TESTS = re.compile(r"^TESTS\s*=\s*\S", re.M)
AUTOMAKE_RULE = re.compile(r"^check-TESTS\s*:", re.M)
# Prints the tests of an Automake makefile, which may be made of further variables.
AUTOMAKE_NAMES = (
    r"printf 'include Makefile\nwhence-tests:\n\t@for t in $(TESTS); do echo $$t; done\n'"
    " | make -s {}-f - whence-tests"
)


@dataclass(frozen=True)
class FoundSuite:
    """A test suite: what it is called, its command, and where the names of its tests come from (``KEY``, value)."""

    kind: str
    command: str
    names: tuple[str, str] | None = None
    verdict: str | None = None


def find_suite(folder: Path) -> FoundSuite | None:
    """The test suite of a folder, the kind that tells most of its tests first; nothing is run."""
    kinds = (_ctest, _automake, _autotest, _scripts, _pytest, _check)
    return next((found for find in kinds for found in find(folder)), None)


def makefile_of(folder: Path) -> Path | None:
    """The makefile that ``make`` takes there."""
    return next((folder / name for name in MAKEFILES if (folder / name).is_file()), None)


def _ctest(folder: Path) -> Iterator[FoundSuite]:
    for path in sorted([folder / "CTestTestfile.cmake", *folder.glob("[!.]*/CTestTestfile.cmake")]):
        if path.is_file() and (path.parent / "CMakeCache.txt").is_file():
            place = os.path.relpath(path.parent, folder)
            inside = f"cd {place} && " if place != "." else ""
            names = f"{inside}ctest -N | sed -n 's/^ *Test *#[0-9]*: //p'"
            yield FoundSuite("CTest", f"{inside}ctest --output-on-failure -R '^'{{name}}'$'", ("names_from", names))


def _automake(folder: Path) -> Iterator[FoundSuite]:
    for place in ("", *TEST_FOLDERS, "testsuite", "src"):
        makefile = makefile_of(folder / place)
        text = makefile.read_text(errors="replace") if makefile else ""
        if AUTOMAKE_RULE.search(text) and AUTOMAKE_TESTS.search(text):
            inside = f"-C {place} " if place else ""
            names = AUTOMAKE_NAMES.format(inside)
            yield FoundSuite("Automake", f"make -s {inside}check SUBDIRS= TESTS={{name}}", ("names_from", names))


def _autotest(folder: Path) -> Iterator[FoundSuite]:
    for place in (*TEST_FOLDERS, "testsuite"):
        if (folder / place / "testsuite").is_file() and (folder / place / "atconfig").is_file():
            names = f"cd {place} && ./testsuite --list | sed -n 's/^ *\\([0-9][0-9]*\\): .*/\\1/p'"
            command = f"make -s -C {place} check TESTSUITEFLAGS={{name}}"
            yield FoundSuite("Autotest", command, ("names_from", names))


def _scripts(folder: Path) -> Iterator[FoundSuite]:
    for place in TEST_FOLDERS:
        for pattern in SCRIPTS:
            if (script := next((folder / place).glob(pattern), None)) is not None:
                yield _of_scripts(f"{place}/{pattern}", script)


def _of_scripts(pattern: str, script: Path) -> FoundSuite:
    if pattern.endswith(".bats"):
        return FoundSuite("bats", "bats {name}", ("scripts", pattern))
    command = "./{name}" if os.access(script, os.X_OK) else "sh {name}"
    if pattern.endswith(".t"):
        return FoundSuite("TAP", command, ("scripts", pattern), "tap")
    return FoundSuite("scripts", command, ("scripts", pattern))


def _pytest(folder: Path) -> Iterator[FoundSuite]:
    for place in TEST_FOLDERS:
        if next((folder / place).glob("test_*.py"), None) is not None:
            names = f"python3 -m pytest --collect-only -q {place} | grep ::"
            yield FoundSuite("pytest", "python3 -m pytest -q {name}", ("names_from", names))


def _check(folder: Path) -> Iterator[FoundSuite]:
    makefile = makefile_of(folder)
    if makefile and (target := CHECK_TARGET.search(makefile.read_text(errors="replace"))):
        yield FoundSuite("make", f"make {target[1]}")
