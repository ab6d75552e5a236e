"""What a build has told CTest, Meson or Automake of a suite's tests: which program each of them starts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

CTEST_FILE, MESON_FILE = "CTestTestfile.cmake", "meson-info/intro-tests.json"
WORD = r'(?:"([^"]*)"|\[(=*)\[(.*?)\]\2\]|([^\s"()]+))'
ADDED = re.compile(rf"^add_test\(\s*{WORD}((?:\s+\"[^\"]*\")+)", re.M)
BELOW = re.compile(r'^subdirs\("([^"]+)"\)', re.M)
MAKEFILE = "Makefile"  # as Automake calls it
VARIABLE = re.compile(r"^(\w+) = ((?:.*\\\n)*.*)", re.M)
NAMED_PROGRAM = re.compile(r"^([\w./+-]+)\$\(EXEEXT\)$")  # among the tests, beside names of scripts
REFERENCE = re.compile(r"^\$\((\w+)\)$")


def programs_of_tests(folder: Path) -> dict[str, Path]:
    """The executable that each test starts, by the test's name: the first file below the folder that its command names.

    Tests of other runners are not known, nor those that start nothing below the folder.
    """
    found: dict[str, Path] = {}
    for place in (folder, *sorted(path for path in folder.glob("[!.]*") if path.is_dir())):
        registered = (_of_ctest(place / CTEST_FILE), _of_meson(place / MESON_FILE), _of_automake(place / MAKEFILE))
        for name, words in chain(*registered):
            own = (Path(os.path.normpath(place / word)) for word in words)
            program = next((path for path in own if path.is_relative_to(folder) and _is_executable(path)), None)
            if program is not None:
                found.setdefault(name, program)
    return found


def _of_ctest(path: Path) -> Iterator[tuple[str, list[str]]]:
    if not path.is_file():
        return
    text = path.read_text(errors="replace")
    for quoted, _, bracketed, plain, words in ADDED.findall(text):
        yield quoted or bracketed or plain, re.findall(r'"([^"]*)"', words)
    for below in BELOW.findall(text):
        yield from _of_ctest(path.parent / below / CTEST_FILE)


def _of_meson(path: Path) -> Iterator[tuple[str, list[str]]]:
    for test in json_list(path):
        words = test.get("cmd")
        if isinstance(words, list):
            yield str(test.get("name")), [str(word) for word in words]


def _of_automake(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The programs among the tests of a makefile of Automake, by the names that the tests have there."""
    text = path.read_text(errors="replace") if path.is_file() else ""
    variables = {name: value.replace("\\\n", " ").split() for name, value in VARIABLE.findall(text)}
    waiting = variables.pop("TESTS", []) if "\ncheck-TESTS:" in text else []
    while waiting:
        word = waiting.pop()
        if program := NAMED_PROGRAM.match(word):
            yield program[1], [program[1]]
        elif of_tests := REFERENCE.match(word):
            waiting += variables.pop(of_tests[1], [])


def json_list(path: Path) -> list[dict[str, object]]:
    """The objects in a file of JSON, none where it is no such file."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return []
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
