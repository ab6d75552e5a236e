"""The test suites that ``whence init`` recognises in a folder, and the ``[cases]`` that describe them.

Only what runs one test at a time gives each test a verdict of its own, so a suite is described by a command with a name
in it and by what prints the names.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from whence.run.registered_tests import CTEST_FILE, json_list
from whence.run.registered_tests import MESON_FILE as MESON_TESTS

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
TEST_FOLDERS = ("tests", "test", "t")
SCRIPTS = ("*.t", "*.bats", "*.test", "*.sh")  # shell scripts last, which help the others
CHECK_RULE = r"^(?:[\w./-]+[ \t]+)*?(?P<target>check|test)(?:[ \t]+[\w./-]+)*[ \t]*:(?!=)"  # of several targets, too
CHECK_TARGET = re.compile(CHECK_RULE, re.M)
RUNNER = re.compile(r"(?:run[-_]?)?(?:all[-_]?)?tests?(?:\.sh|\.bash|\.py|\.pl)?")  # a script that runs all tests
STARTED = re.compile(r"(?<![\w./}])(?:[\w+-][\w.+-]*|\.{1,2})(?:/[\w.+-]+)+")  # what may be a program, from some folder
RECIPE = re.compile(rf"{CHECK_RULE}.*\n(?P<recipe>(?:\t.*\n|\s*\n)*)", re.M)  # what make does for it
WORD = re.compile(r"[\w.+-]+")
MOST_SCRIPTS = 200  # that are read for the programs which they name
INCLUDED = re.compile(r"^-?include\s+([\w.-]+)\s*$", re.M)
COMPARING = re.compile(r"^\t.*(?:\b(?:cmp|diff)\b|\$[({](?:CMP|DIFF)[)}])", re.M)  # lines of recipes that judge a test
ABOVE = re.compile(r"(?<![\w./])\.\./[\w.-]+")
CHANGES_FOLDER = re.compile(r"^\s*(?:cd|pushd)\s", re.M)
AUTOMAKE_TESTS = re.compile(r"^TESTS\s*=\s*\S", re.M)
AUTOMAKE_RULE = re.compile(r"^check-TESTS\s*:", re.M)
# Prints the tests of an Automake makefile, which may be made of further variables.
AUTOMAKE_NAMES = (
    r"printf 'include Makefile\nwhence-tests:\n\t@for t in $(TESTS); do echo $$t; done\n'"
    " | make -s {}-f - whence-tests"
)
# What a test prints goes into a log, `x.sh.log` or `x.log`; it may be all that tells of a failure.
AUTOMAKE_LOG = '{{ n={{name}}; cat {0}"$n".log {0}"${{n%.*}}".log 2>/dev/null; true; }}'

# What Meson tells other programs of its tests; its own form of them is binary, and names the folder of the build.
MESON_TEST = (
    "import json, os, sys; "
    f'test = next(t for t in json.load(open("{MESON_TESTS}")) if t["name"] == sys.argv[1]); '
    'os.environ.update(test["env"]); os.chdir(test["workdir"] or "."); os.execvp(test["cmd"][0], test["cmd"])'
)
MESON_NAMES = f'import json; print(*(t["name"] for t in json.load(open("{MESON_TESTS}"))), sep="\\n")'


@dataclass(frozen=True)
class FoundSuite:
    """A test suite: what it is called, its command, and where the names of its tests come from (``KEY``, value).

    ``sure``: a build has made it for a test runner; else it is what the names of files suggest.
    """

    kind: str
    command: str
    names: tuple[str, str] | None = None
    verdict: str | None = None
    sure: bool = False


def find_suite(folder: Path) -> FoundSuite | None:
    """The test suite of a folder, the kind that tells most of its tests first; nothing is run."""
    runners = (_ctest, _meson, _automake, _autotest)
    if sure := next((found for find in runners for found in find(folder)), None):
        return replace(sure, sure=True)
    guesses = (_scripts, _pytest, _check, _runner, _executed, _unmarked)
    return next((found for find in guesses for found in find(folder)), None)


def mentions(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """How often the tests of a folder, the recipe of its makefile and scripts, name each of some programs."""
    makefile = makefile_of(folder)
    recipe = "".join(found["recipe"] for found in RECIPE.finditer(_rules(makefile))) if makefile else ""
    scripts = [path for word in WORD.findall(recipe) if _is_executable_script(path := folder / word)]
    for place in TEST_FOLDERS:
        scripts += sorted({path for pattern in SCRIPTS for path in (folder / place).glob(pattern)})
    texts = [recipe, *(path.read_text(errors="replace") for path in scripts[:MOST_SCRIPTS] if path.is_file())]
    words = Counter(word for text in texts for word in WORD.findall(text))
    return {name: words[name] for name in names}


def makefile_of(folder: Path) -> Path | None:
    """The makefile that ``make`` takes there."""
    return next((folder / name for name in MAKEFILES if (folder / name).is_file()), None)


def _rules(makefile: Path) -> str:
    """The text of a makefile with those of its folder that it includes."""
    text = makefile.read_text(errors="replace")
    included = [makefile.parent / name for name in INCLUDED.findall(text) if name != makefile.name]
    return "\n".join([text, *(path.read_text(errors="replace") for path in included if path.is_file())])


def _ctest(folder: Path) -> Iterator[FoundSuite]:
    for path in sorted([folder / CTEST_FILE, *folder.glob(f"[!.]*/{CTEST_FILE}")]):
        if path.is_file() and (path.parent / "CMakeCache.txt").is_file():
            place = os.path.relpath(path.parent, folder)
            inside = f"cd {place} && " if place != "." else ""
            names = f"{inside}ctest -N | sed -n 's/^ *Test *#[0-9]*: //p'"
            yield FoundSuite("CTest", f"{inside}ctest --output-on-failure -R '^'{{name}}'$'", ("names_from", names))


def _meson(folder: Path) -> Iterator[FoundSuite]:
    for path in sorted([folder / MESON_TESTS, *folder.glob(f"[!.]*/{MESON_TESTS}")]):
        if tests := json_list(path):
            place = os.path.relpath(path.parents[1], folder)
            inside = f"cd {shlex.quote(place)} && " if place != "." else ""
            command = f"{inside}python3 -c {shlex.quote(MESON_TEST)} {{name}}"
            names = ("names_from", f"{inside}python3 -c {shlex.quote(MESON_NAMES)}")
            verdict = "tap" if any(test.get("protocol") == "tap" for test in tests) else None
            yield FoundSuite("Meson", command, names, verdict)


def _automake(folder: Path) -> Iterator[FoundSuite]:
    for place in ("", *TEST_FOLDERS, "testsuite", "src"):
        makefile = makefile_of(folder / place)
        text = makefile.read_text(errors="replace") if makefile else ""
        if AUTOMAKE_RULE.search(text) and AUTOMAKE_TESTS.search(text):
            inside = f"-C {place} " if place else ""
            names = AUTOMAKE_NAMES.format(inside)
            logs = f"{shlex.quote(place)}/" if place else ""
            command = f"make -s {inside}check SUBDIRS= TESTS={{name}}; s=$?; {AUTOMAKE_LOG.format(logs)}; exit $s"
            yield FoundSuite("Automake", command, ("names_from", names))


def _autotest(folder: Path) -> Iterator[FoundSuite]:
    for place in (*TEST_FOLDERS, "testsuite"):
        if (folder / place / "testsuite").is_file() and (folder / place / "atconfig").is_file():
            names = f"cd {place} && ./testsuite --list | sed -n 's/^ *\\([0-9][0-9]*\\): .*/\\1/p'"
            command = f"make -s -C {place} check TESTSUITEFLAGS={{name}}"
            yield FoundSuite("Autotest", command, ("names_from", names))


def _scripts(folder: Path) -> Iterator[FoundSuite]:
    """Scripts that are named as tests are, and say what runs them."""
    return (found for found, marked in _named_scripts(folder) if marked)


def _unmarked(folder: Path) -> Iterator[FoundSuite]:
    """Those that do not say it: a makefile's target or other scripts may read them in a way of their own."""
    return (found for found, marked in _named_scripts(folder) if not marked)


def _named_scripts(folder: Path) -> Iterator[tuple[FoundSuite, bool]]:
    """Where others can be executed and these cannot, they are what those read.

    Where the folder's makefile judges more tests than there are scripts, those are helpers of some of them.
    """
    for place in TEST_FOLDERS:
        makefile = makefile_of(folder / place)
        judged = len(COMPARING.findall(makefile.read_text(errors="replace"))) if makefile else 0
        executed = _executable_scripts(folder / place)
        for pattern in SCRIPTS:
            found = set((folder / place).glob(pattern))
            if len(found) > judged and (found & executed or not executed):
                script = min(found & executed or found)
                yield _of_scripts(folder, pattern, script), script in executed or _interpreter(script) is not None


def _executed(folder: Path) -> Iterator[FoundSuite]:
    """Scripts of any name; a makefile's target knows better what they need."""
    for place in TEST_FOLDERS:
        if _executable_scripts(folder / place):
            names = f"find {place} -maxdepth 1 -type f -perm -100 -exec grep -l '^#!' {{}} +"
            yield FoundSuite("scripts", "./{name}", ("names_from", names))


def _runner(folder: Path) -> Iterator[FoundSuite]:
    """A script that runs all tests by its name, in the folder from which it names a program that is there."""
    for place in (".", "scripts", *TEST_FOLDERS):
        for script in sorted(path for path in _executable_scripts(folder / place) if RUNNER.fullmatch(path.name)):
            words = STARTED.findall(script.read_text(errors="replace"))
            starts = [folder, script.parent, *sorted(path for path in folder.glob("[!.]*") if path.is_dir())]
            start = next((start for start in starts if any(_is_program(start / word) for word in words)), None)
            if start is not None:
                inside = "" if start == folder else f"cd {shlex.quote(os.path.relpath(start, folder))} && "
                name = os.path.relpath(script, start)
                yield FoundSuite("script", f"{inside}{name if '/' in name else f'./{name}'}")


def _is_program(path: Path) -> bool:
    """Whether a file is an executable that was built."""
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _executable_scripts(folder: Path) -> set[Path]:
    return {path for path in folder.glob("*") if _is_executable_script(path)}


def _is_executable_script(path: Path) -> bool:
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def _interpreter(script: Path) -> str | None:
    """What the first line of a script says that runs it (``perl -w``)."""
    first = script.read_text(errors="replace").partition("\n")[0]
    return first.removeprefix("#!").strip() or None if first.startswith("#!") else None


def _of_scripts(folder: Path, pattern: str, script: Path) -> FoundSuite:
    """The suite of the scripts beside one of them that match a pattern."""
    place = script.parent.name
    names = ("scripts", f"{place}/{pattern}")
    if pattern == "*.bats":
        return FoundSuite("bats", "bats {name}", names)
    text = script.read_text(errors="replace")
    executed = os.access(script, os.X_OK)
    run = "./" if executed else f"{_interpreter(script) or 'sh'} "
    command = f'cd {place} && {run}"$(basename {{name}})"' if _starts_inside(folder, text) else f"{run}{{name}}"
    if pattern == "*.t" or "not ok" in text:
        return FoundSuite("TAP", command, names, "tap")
    return FoundSuite("scripts", command, names)


def _starts_inside(folder: Path, script: str) -> bool:
    """Whether a script expects to be started in its own folder: from there it names what lies in the one above."""
    above = {path.parts[1] for path in map(Path, ABOVE.findall(script)) if path.parts[1:]}
    return not CHANGES_FOLDER.search(script) and any((folder / name).exists() for name in above)


def _pytest(folder: Path) -> Iterator[FoundSuite]:
    for place in TEST_FOLDERS:
        if next((folder / place).glob("test_*.py"), None) is not None:
            names = f"python3 -m pytest --collect-only -q {place} | grep ::"
            yield FoundSuite("pytest", "python3 -m pytest -q {name}", ("names_from", names))


def _check(folder: Path) -> Iterator[FoundSuite]:
    makefile = makefile_of(folder)
    if makefile and (target := CHECK_TARGET.search(_rules(makefile))):
        yield FoundSuite("make", f"make {target[1]}")
