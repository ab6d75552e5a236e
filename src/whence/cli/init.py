"""``whence init``: write a commented ``whence.toml`` from what a folder holds.

Nothing is built or run: the folder is surveyed, and what was found becomes the values; what could not be
found is written as the reader's next step, in a comment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from whence.build.capture import real_executable
from whence.build.single_test import Framework, framework_included, framework_of
from whence.cli.suites import TEST_FOLDERS, FoundSuite, find_suite, makefile_of, mentions
from whence.errors import BuildError, UsageError
from whence.run.cases import PARTS, natural_key
from whence.run.config import FILE_NAME
from whence.run.registered_tests import programs_of_tests

ELF_EXECUTABLES = {2, 3}  # the types of an ELF file that can be run: fixed and position-independent
CASE_FOLDERS = ("cases", "tests", "test", "testcases", "t", "inputs")
CASE_FILES = ("cases.txt", "tests.txt", "suite.txt", "cases", "suite", "universe", "testplan.txt")
OUTPUT_FOLDERS = ("outputs", "expected", "output", "golden")
NAMING = "(?:PROGRAMS?|PROG|TARGET|BIN|EXE|bin_PROGRAMS)"  # variables that hold the name of the program
CMAKE = "cmake -B {0} -DCMAKE_C_COMPILER=whence-cc && cmake --build {0}"
MESON = "CC=whence-cc meson setup {0} && ninja -C {0}"
TARGETS = re.compile(rf"^{NAMING}\s*[:?]?=\s*([\w./-]+)", re.M)
VERSION = re.compile(r"[-_]v?\d[\w.]*$")  # at the end of a folder's name
PROBES = {"CMakeFiles", "meson-private"}  # folders of programs that test the compiler
NO_PROGRAM = r"[\w./-]+\.(?:l?o|so|l?a)\b"
FIRST_OF_ALL = re.compile(
    rf"^all\s*:\s*(?!all-|config\.|{NO_PROGRAM})([\w./-]+)", re.M
)  # none of Automake's own targets
OF_CODE = re.compile(rf"^(?!{NO_PROGRAM})([\w./-]+)\s*:(?![=:])[^\n]*(?:\.[co]\b|OBJ)", re.M)  # a rule for a program
# What a build is made from that has not made its makefile yet, and how each names the first program.
TEMPLATES = {
    "Makefile.am": re.compile(r"^bin_PROGRAMS\s*=\s*([\w.-]+)", re.M),
    "Makefile.in": re.compile(rf"^{NAMING}\s*=\s*([\w.-]+)(?:\$\S*)?\s*$", re.M),
    "CMakeLists.txt": re.compile(r"^\s*add_executable\s*\(\s*([\w.-]+)\s", re.M | re.I),
    "meson.build": re.compile(r"\bexecutable\s*\(\s*'([\w.-]+)'"),
}
# A makefile's rule for a program of tests, which is made of something.
TEST_NAME = "(?:check|tests?)[_-][\\w-]+|[\\w-]+[_-](?:check|tests?)"
TEST_PROGRAM = re.compile(rf"^((?:[\w.-]+/)*(?:{TEST_NAME}))\s*:[^=\n]*\w", re.M)
TEMPLATE_FOLDERS = ("", "src")
OUT_OF_PLACE = {"CMakeLists.txt": "build", "meson.build": "build"}  # where such a build makes its programs
CHECKED = re.compile(r"^check_PROGRAMS\s*=\s*([\w./-]+)", re.M)  # Automake's: made by `make check` alone


@dataclass(frozen=True)
class FoundTests:
    """Tests in a program of their own, which is called ``program`` (None: it is made of loose sources)."""

    framework: Framework
    program: str | None


@dataclass(slots=True)
class Survey:
    """What a folder holds: paths relative to it, as text."""

    name: str
    sources: list[str]
    executables: list[str]
    build: str | None  # the command
    made: str | None  # the program that the makefile names, or what that is made from
    case_folder: str | None
    case_file: str | None
    outputs: str | None
    suite: FoundSuite | None
    tests: FoundTests | None

    @property
    def guess(self) -> str:
        """The program that a build makes which does not name it."""
        name = VERSION.sub("", self.name)
        return f"build/{name}" if self.build and "build" in self.build.split() else name

    @property
    def has_sure_suite(self) -> bool:
        """Whether a test runner's own files describe the tests, so that folders are not taken for cases."""
        return self.suite is not None and self.suite.sure

    @property
    def own_tests(self) -> FoundTests | None:
        """The tests that are the cases: where nothing else describes these better."""
        return None if self.has_sure_suite or self.case_folder or self.case_file else self.tests


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
def init(folder: Path) -> None:
    """Write a commented whence.toml from what FOLDER holds."""
    for line in write_configuration(folder):
        click.echo(line)


def write_configuration(folder: Path) -> list[str]:
    """Write ``whence.toml`` into the folder; returns lines that say what was found and what to do next.

    Raises UsageError when the file is there already, or when the folder holds no C program.
    """
    path = folder / FILE_NAME
    found = survey(folder)
    if not (found.sources or found.executables or found.build):
        raise UsageError(f"{folder} holds no C files, no makefile and no executable", "run it in the program's folder")
    text = configuration(found)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists already", "edit it, or remove it to start again") from error
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return [f"wrote {path}", *_summary(found)]


def _summary(found: Survey) -> Iterable[str]:
    yield f"program: {_program_value(found)}"
    suite = found.suite and f"{found.suite.kind}: {found.suite.command}"
    tests = found.own_tests and f"each test of {found.own_tests.framework.name} in it"
    source = suite if found.has_sure_suite else found.case_folder or found.case_file or tests or suite
    yield f"cases: {source or 'none found; the file says how to add some'}"
    if not found.has_sure_suite and not found.executables and found.build:
        yield "a suite of CTest, Meson or Automake is found once the program is built: run `whence init` again then"
    yield "next: read through it, then `whence locate`" if source else "next: add cases, then `whence locate`"


# ---- The survey ------------------------------------------------------------------------------------------------------


def survey(folder: Path) -> Survey:
    """Return what the folder holds, without running anything."""
    folder = folder.resolve()
    makefile = makefile_of(folder)
    rules = makefile.read_text(errors="replace") if makefile else ""
    own, checked = TARGETS.search(rules), CHECKED.search(rules)
    target = own or checked or FIRST_OF_ALL.search(rules) or OF_CODE.search(rules)
    made = target[1] if target else None
    build = _build_command(folder, makefile is not None)
    return Survey(
        name=folder.name,
        sources=sorted(path.name for path in folder.glob("*.c")),
        executables=_executables(folder),
        build=f"{build} all check TESTS=" if checked and not own else build,
        made=_named_by_template(folder) if makefile is None else made,
        case_folder=next((n for n in CASE_FOLDERS if _holds_cases(folder / n)), None),
        case_file=next((n for n in CASE_FILES if (folder / n).is_file()), None),
        outputs=next((n for n in OUTPUT_FOLDERS if (folder / n).is_dir()), None),
        suite=find_suite(folder),
        tests=_tests(folder, rules, build is not None),
    )


def _tests(folder: Path, rules: str, has_build: bool) -> FoundTests | None:
    """The tests of a known framework in a program that is there, or that is made of sources that include its header."""
    for name in _executables(folder):
        if framework := framework_of(real_executable(folder / name)):
            return FoundTests(framework, name)
    sources = [path for place in ("", *TEST_FOLDERS) for path in sorted((folder / place).glob("*.c"))]
    framework = next(filter(None, map(framework_included, sources)), None)
    program = TEST_PROGRAM.search(rules)
    if framework is None or (has_build and program is None):
        return None
    return FoundTests(framework, program[1] if has_build and program else None)


def _executables(folder: Path) -> list[str]:
    """Programs in the folder and two levels below: the one with the folder's own name comes first, then those that the
    tests name most often; those of tests last.
    """
    candidates = [path for depth in ("*", "[!.]*/*", "[!.]*/[!.]*/*") for path in folder.glob(depth)]
    found = [path.relative_to(folder) for path in candidates if _is_program(path)]
    name, named = VERSION.sub("", folder.name), mentions(folder, {path.name for path in found})

    def key(path: Path) -> tuple[object, ...]:
        is_test = not {*TEST_FOLDERS}.isdisjoint(path.parts[:-1])
        is_own = path.name in (folder.name, name)
        return not is_own, is_test, -named[path.name], len(path.parts), natural_key(str(path))

    programs = [str(path) for path in sorted(found, key=key) if PROBES.isdisjoint(path.parts)]
    started = {str(path.relative_to(folder)) for path in programs_of_tests(folder).values()}
    if started.isdisjoint(programs[:1]):  # a test runner knows better which programs its tests start
        programs.sort(key=lambda program: program not in started)
    return programs


def _named_by_template(folder: Path) -> str | None:
    """The first program that the files say which a build is made from; None: they name none."""
    for name, pattern in TEMPLATES.items():
        for place in TEMPLATE_FOLDERS:
            path = folder / place / name
            found = pattern.search(path.read_text(errors="replace")) if path.is_file() else None
            if found:
                return str(Path(OUT_OF_PLACE.get(name, ""), place, found[1]))
    return None


def _is_program(path: Path) -> bool:
    if ".so" in path.suffixes or not path.is_file() or not os.access(path, os.X_OK):
        return False
    try:
        with real_executable(path).open("rb") as file:  # which may be behind a script of libtool's
            header = file.read(18)
    except BuildError:
        return False
    return header[:4] == b"\x7fELF" and int.from_bytes(header[16:18], "little") in ELF_EXECUTABLES


def _build_command(folder: Path, has_makefile: bool) -> str | None:
    """The command that builds the program in a folder: as it was built there, else as the folder's files allow."""
    if has_makefile:
        return "make CC=whence-cc"
    for left, command in (("meson-private", MESON), ("CMakeCache.txt", CMAKE)):
        for path in sorted(folder.glob(f"*/{left}")):
            return command.format(path.parent.name)
    if (folder / "configure").is_file():
        return "./configure CC=whence-cc && make"
    if (folder / "CMakeLists.txt").is_file():
        return CMAKE.format("build")
    if (folder / "meson.build").is_file():
        return MESON.format("build")
    return None


def _holds_cases(folder: Path) -> bool:
    """Whether a folder holds cases as subfolders (``a/args``, ``a/expected``) or groups (``a.in``,
    ``a.out``).
    """
    if not folder.is_dir():
        return False
    outputs = {name for name, part in PARTS.items() if part in ("stdout", "status", "left")}
    if any(any((sub / name).exists() for name in outputs) for sub in folder.iterdir() if sub.is_dir()):
        return True
    groups: dict[str, set[str]] = {}
    for path in folder.iterdir():
        groups.setdefault(path.stem, set()).add(path.suffix[1:])
    return any(kinds & outputs and (kinds & PARTS.keys()) - outputs for kinds in groups.values())


# ---- The text --------------------------------------------------------------------------------------------------------


def configuration(found: Survey) -> str:
    """Return the text of the ``whence.toml``."""
    return "\n".join(
        [
            "# What Whence runs, and what is right. All keys: docs/configuration.md",
            "",
            "[program]",
            *_program_lines(found),
            "",
            "[cases]",
            *_case_lines(found),
            "",
            "# Uncomment what should differ; these are the defaults.",
            "[limits]",
            "# time = 10             # seconds a run",
            '# memory = "2 GiB"',
            '# output = "16 MiB"     # each of standard output and standard error',
            "# processes = 256",
            '# trace = "4 GiB"       # the recording of one run',
            '# pattern = "zero"      # what fresh memory holds, or a byte such as 170; as it comes by default',
            "# aslr = false          # true: addresses differ from run to run",
            "",
            "[compare]",
            "# status_only = false   # true: outputs are not compared",
            "# white_space = true    # false: any white space equals any other",
            '# mask = []             # regular expressions for what varies, such as ["[0-9]+ ms"]',
            "# tolerance = 0.0       # numbers may differ by this much, absolutely or relative",
            "# stderr = false        # true: standard error is compared too",
            "# files = true          # false: files that the program leaves are not compared",
            "# memory = false        # true: a memory error makes a case fail that passes in all else",
            "",
        ]
    )


def _program_value(found: Survey) -> str:
    if found.own_tests and found.own_tests.program:
        return found.own_tests.program
    if found.executables:
        return found.executables[0]
    if found.build:
        return found.made or found.guess
    return ", ".join(found.sources)


def _program_lines(found: Survey) -> Iterable[str]:
    if not found.executables and not found.build:
        yield f"sources = [{', '.join(quoted(name) for name in found.sources)}]"
        libraries = found.own_tests.framework.libraries if found.own_tests else ()
        if libraries:
            yield f"flags = [{', '.join(map(quoted, libraries))}]"
        else:
            yield '# flags = ["-O1", "-lm"]   # for compiling and linking them'
        return
    guessed = not found.executables and not found.made and not found.own_tests
    yield f"path = {quoted(_program_value(found))}" + (
        "   # a guess: the program that the build makes" if guessed else ""
    )
    if others := [name for name in found.executables if name != _program_value(found)]:
        yield f"# other executables: {', '.join(others[:5])}"
    if found.build:
        yield f"build = {quoted(found.build)}"
    else:
        yield '# build = "make CC=whence-cc"   # the program must have been built with whence-cc'


def _case_lines(found: Survey) -> Iterable[str]:
    if found.suite and found.has_sure_suite:
        yield from _suite_lines(found.suite)
    elif found.case_folder:
        yield "# A folder of cases: a subfolder each (args, stdin, files/, env, expected, expected-files/, status),"
        yield "# or a.in and a.out"
        yield f"folder = {quoted(found.case_folder)}"
    elif found.case_file:
        yield "# A case a line: arguments as in a shell, `< file` for standard input."
        yield f"file = {quoted(found.case_file)}"
        if found.outputs:
            yield f"outputs = {quoted(found.outputs)}   # a file a case, in the natural order of their names"
        else:
            yield 'reference = "./good"   # a program that is right, or: outputs = "folder of right outputs"'
    elif found.own_tests:
        yield f"# Each test of {found.own_tests.framework.name} in the program is a case; or a pattern of their names."
        yield 'tests = "*"'
        yield '# files = ["data/*"]   # what the tests read'
    elif found.suite:
        yield from _suite_lines(found.suite)
    else:
        yield "# No cases were found. Make a folder with a subfolder a case, for example"
        yield "#   cases/empty/args  cases/empty/stdin  cases/empty/expected"
        yield 'folder = "cases"'


def _suite_lines(suite: FoundSuite) -> Iterable[str]:
    if suite.names:
        yield f"# The tests of a suite ({suite.kind}): the command runs the one of a name, and says whether it passes."
    else:
        yield "# Whether this command succeeds is the verdict of one test; with {name} in it, of a test a name."
    yield f"command = {quoted(suite.command)}"
    yield f"{suite.names[0]} = {quoted(suite.names[1])}" if suite.names else '# names = ["one", "two"]'
    if suite.verdict:
        yield f"verdict = {quoted(suite.verdict)}"
    yield "capture = true   # each invocation of the program in them becomes a case, which all techniques work on"
    yield '# reference = "good/program"   # a version that is right tells what is right where the tests do not'


def quoted(text: str) -> str:
    """Return a text as TOML writes it, as it is where that can be."""
    if ('"' in text or "\\" in text) and text.isprintable():
        for quotes in ("'", "'''"):
            if quotes not in text:
                return f"{quotes}{text}{quotes}"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
