"""Test cases: what is run, and what is expected of it.

Cases come from a configuration (``load_cases``) or from the command line (``cases_from_options``). A case
whose right output only a program can tell (a reference program, or the subject itself for cases that pass by
definition) has no expectation yet; ``expectations.learn_expected`` fills it in.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path

from whence.errors import SubjectError, UsageError
from whence.run.compare import EXACT, Comparison
from whence.run.config import SOURCES_OF_CASES, CasesConfig, SubjectConfig
from whence.run.junit_reports import junit_names, printing_reports
from whence.run.outcome import Expected, Rule
from whence.run.sandbox import PINNED
from whence.run.schedule import Schedule
from whence.run.verdicts import tap_names

# what helps where cases are commands
MOST_FILES, MOST_BYTES = 200, 16 << 20  # files and folders in one that an argument names
TAKE_APART = "let whence take the suite apart (capture = true in [cases]), or describe a run by `arguments` and `stdin`"

# Quoted text, or a character with a meaning to the shell.
UNQUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|(?P<input><)|(?P<other>[|>;&])""", re.S)


@dataclass(slots=True, frozen=True)
class Suite:
    """A test suite in which a case is a command: its folder is copied, and the program there replaced by
    ours.
    """

    folder: Path | None  # None: the program stands alone
    program: str | None  # relative path of the program in the folder
    fresh: bool = True  # whether each case gets a copy of its own; else one copy serves all, one after another
    process: str | None = None  # name of the processes whose recordings count, where not all do
    forked: bool = False  # whether only those count that the program forked


@dataclass(slots=True, frozen=True)
class Place:
    """Where a case that was captured ran: the program's name there, the folder (relative to the working folder), and
    the working folder's path then, which words and variables may hold.
    """

    called: str
    folder: str
    work: str

    def moved(self, text: str, work: str) -> str:
        """A word or variable for another working folder."""
        return text.replace(self.work, work)


@dataclass(slots=True, frozen=True)
class Case:
    """One test input with its oracle.

    ``files`` are put into the working folder: (relative name, source file or folder). A case with a
    ``command`` runs that with the shell in a copy of its suite's folder. ``expected`` of None is to be
    learned. A command whose output matches ``failing_output`` has failed. With a ``schedule`` its threads take turns
    as that says. With a ``place`` it is an invocation that a test suite made; ``passed``: the same program passed it
    when it was captured, so that it does not fail by itself now. ``said_to_fail``: the user gave it as a failing one.
    """

    name: str
    arguments: tuple[str, ...] = ()
    stdin: bytes | Path | None = None
    files: tuple[tuple[str, Path], ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    expected: Expected | None = None
    comparison: Comparison = EXACT
    rule: Rule = Rule.OUTPUT
    command: str | None = None
    suite: Suite | None = None
    skip_statuses: tuple[int, ...] = ()
    failing_output: str | None = None
    schedule: Schedule | None = None
    place: Place | None = None
    passed: bool = False
    said_to_fail: bool = False

    @property
    def follows_children(self) -> bool:
        """Whether only processes count that the program forks."""
        return self.suite is not None and self.suite.forked


# ---- From the command line -------------------------------------------------------------------------------------------


def cases_from_options(fails: Sequence[str], expects: Sequence[str | None], passes: Sequence[str]) -> list[Case]:
    """Return the cases of ``--fails``, ``--expect`` and ``--passes``, failing ones first.

    Each text holds arguments as in a shell, with an optional ``< file``. ``expects[i]`` is the right output
    of ``fails[i]``; without it a crash, a failed assertion or a non-zero status is the failure. The
    expectations of passing cases are to be learned. Raises UsageError on quotes that do not match or an input
    file that is missing.
    """
    cases = []
    for number, (line, expect) in enumerate(zip(fails, expects, strict=True), 1):
        expected = Expected(None if expect is None else expect.encode(errors="surrogateescape"))
        case = _case_from_line(line, f"fails {number}", Path.cwd(), "--fails", expected)
        cases.append(replace(case, said_to_fail=True))
    for number, line in enumerate(passes, 1):
        cases.append(_case_from_line(line, f"passes {number}", Path.cwd(), "--passes", None))
    return cases


def _case_from_line(line: str, name: str, folder: Path, where: str, expected: Expected | None) -> Case:
    arguments, stdin = split_line(line, where)
    source = None if stdin is None else folder / stdin
    if source is not None and not _is_file(source):
        raise UsageError(f"{where}: no such input file: {stdin}")
    return Case(name, arguments, source, tuple(_files_named(arguments, folder)), expected=expected)


def split_line(line: str, where: str) -> tuple[tuple[str, ...], str | None]:
    """Split a command line as a shell does: the arguments, and the file after ``<`` if there is one.

    Raises UsageError, naming ``where``, when quotes do not match or a redirection is incomplete.
    """
    for token in UNQUOTED.finditer(line):
        if token["other"]:
            hint = "an argument is meant literally in quotes; standard input comes from a file"
            raise UsageError(f"{where}: only '< file' can be redirected, not '{token['other']}': {line}", hint)
    marks = [token.start() for token in UNQUOTED.finditer(line) if token["input"]]
    try:
        parts = [shlex.split(line[a + 1 : b]) for a, b in pairwise([-1, *marks, len(line)])]
    except ValueError as error:
        raise UsageError(f"{where}: cannot split the command line ({error}): {line}") from error
    if len(parts) == 1:
        return tuple(parts[0]), None
    if len(parts) > 2 or not parts[1]:
        raise UsageError(f"{where}: one file is expected after '<': {line}")
    return (*parts[0], *parts[1][1:]), parts[1][0]


def _files_named(arguments: Iterable[str], folder: Path) -> list[tuple[str, Path]]:
    """Files of the subject's folder that arguments name: the run needs its own copies.

    Of a folder that is named all its files, unless it is too large to be one of data for a case.
    """
    found: dict[str, Path] = {}
    for argument in arguments:
        for text in _names_in(argument):
            path = Path(text)
            if not text or path.is_absolute() or ".." in path.parts:
                continue
            if _is_file(folder / path):
                found[text] = folder / path
            elif path.parts and _is_folder(folder / path):
                found |= {str(inner.relative_to(folder)): inner for inner in _files_of(folder / path)}
    return list(found.items())


def _names_in(argument: str) -> Iterator[str]:
    """What may be a file's name in an argument: all of it, what follows ``=`` or a letter, each maybe behind ``@``."""
    is_option = argument.startswith("-") and not argument.startswith("--")
    for text in (argument, argument.partition("=")[2], argument[2:] if is_option else ""):
        yield text
        yield text.removeprefix("@")


def _files_of(folder: Path) -> list[Path]:
    """The files in a folder and in those inside; none where there are too many, or they are too large."""
    inside = list(islice(folder.rglob("*"), MOST_FILES + 1))
    files = sorted(path for path in inside if path.is_file())
    is_small = len(inside) <= MOST_FILES and sum(path.stat().st_size for path in files) <= MOST_BYTES
    return files if is_small else []


def _is_folder(path: Path) -> bool:
    """Whether a folder of that name is there."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _is_file(path: Path) -> bool:
    """Whether a file of that name is there. What cannot be a name (too long, with a NUL) names none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def following_children(case: Case, program: str) -> Case:
    """The case as a command that runs the program of that name, so that processes which it forks are recorded."""
    if case.command is not None:
        assert case.suite is not None
        return replace(case, suite=replace(case.suite, forked=True))
    command = "exec " + shlex.join([f"./{program}", *case.arguments])
    return replace(case, command=command, suite=Suite(None, program, forked=True))


# ---- From a configuration --------------------------------------------------------------------------------------------


def load_cases(config: SubjectConfig) -> list[Case]:
    """Return the cases that the configuration describes, in a stable order.

    Raises SubjectError when there is none (and it needs some) or when a file of a case cannot be used, UsageError for
    a wrong line.
    """
    loaders = {"folder": _cases_of_folder, "file": _cases_of_file, "command": _cases_of_command}
    loaders["tests"] = _case_of_tests
    source = next((name for name in SOURCES_OF_CASES if getattr(config.cases, name) is not None), None)
    cases = loaders[source](config.cases, config) if source else []
    if source and not cases and config.needs_cases:
        raise SubjectError(f"no cases were found in {getattr(config.cases, source)}")
    return configured(cases, config)


def configured(cases: Sequence[Case], config: SubjectConfig) -> list[Case]:
    """Return the cases with what the configuration says of every case: its files, environment and comparison.

    Raises SubjectError where a pattern of its files matches nothing.
    """
    shared = tuple(_shared_files(config))
    how = config.compare
    return [
        replace(
            case,
            files=(*shared, *case.files),
            environment={**config.cases.environment, **case.environment},
            comparison=how,
        )
        for case in cases
    ]


def _shared_files(config: SubjectConfig) -> Iterator[tuple[str, Path]]:
    """The files that every case finds in its working folder."""
    for pattern in config.cases.files:
        found = sorted(config.folder.glob(pattern))
        if not found:
            raise SubjectError(f"files: nothing matches {pattern} in {config.folder}")
        for path in found:
            yield str(path.relative_to(config.folder)), path


# A folder of cases: what the parts of a case may be called, in a subfolder of its own or after NAME and a
# dot.
PARTS = {
    "args": "arguments",
    "stdin": "stdin",
    "input": "stdin",
    "in": "stdin",
    "expected": "stdout",
    "stdout": "stdout",
    "output": "stdout",
    "out": "stdout",
    "stderr": "stderr",
    "err": "stderr",
    "status": "status",
    "env": "environment",
    "files": "files",
    "expected-files": "left",
}


def _cases_of_folder(settings: CasesConfig, config: SubjectConfig) -> list[Case]:
    assert settings.folder is not None
    groups: dict[str, dict[str, Path]] = {}
    for path in settings.folder.iterdir():
        if path.is_dir() and path.suffix not in (".files", ".expected-files"):
            parts = {PARTS[p.name]: p for p in path.iterdir() if p.name in PARTS}
            groups.setdefault(path.name, {}).update(parts)
        elif path.suffix[1:] in PARTS:
            groups.setdefault(path.stem, {})[PARTS[path.suffix[1:]]] = path
    names = sorted((name for name, parts in groups.items() if parts), key=natural_key)
    return [_case_of_parts(name, groups[name], config.folder) for name in names]


def _case_of_parts(name: str, parts: Mapping[str, Path], folder: Path) -> Case:
    line = _text(parts["arguments"]) if "arguments" in parts else ""
    arguments, stdin = split_line(" ".join(line.splitlines()), str(parts.get("arguments", name)))
    if stdin is not None:
        raise SubjectError(f"{parts['arguments']}: standard input belongs into a file of its own, {name}/stdin")
    files = parts.get("files")
    own = [(path.name, path) for path in sorted(files.iterdir())] if files else []
    return Case(
        name,
        arguments,
        parts.get("stdin"),
        (*_files_named(arguments, folder), *own),
        _variables_in(parts["environment"]) if "environment" in parts else {},
        Expected(
            parts["stdout"].read_bytes() if "stdout" in parts else None,
            parts["stderr"].read_bytes() if "stderr" in parts else None,
            _status_in(parts["status"]) if "status" in parts else 0,
            tuple(_contents_below(parts["left"])) if "left" in parts else (),
        ),
    )


def _contents_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes()


def _variables_in(path: Path) -> dict[str, str]:
    variables = {}
    for number, line in enumerate(_text(path).splitlines(), 1):
        name, equals, value = line.partition("=")
        if line and not equals:
            raise SubjectError(f"{path}:{number}: NAME=value was expected")
        if line:
            variables[name] = value
    return variables


def _status_in(path: Path) -> int:
    text = _text(path).strip()
    if not text.isdigit():
        raise SubjectError(f"{path}: an exit status was expected, not {text[:20]!r}")
    return int(text)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def natural_key(name: str) -> list[tuple[int, int | str]]:
    """Return a key for sorting names as people do: ``t2`` before ``t10``."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name) if part]


def _cases_of_file(settings: CasesConfig, config: SubjectConfig) -> list[Case]:
    """One case a line; ``#`` starts a comment. Outputs belong to the cases in the natural order of their
    names.
    """
    assert settings.file is not None
    lines = [
        (number, line)
        for number, line in enumerate(_text(settings.file).splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    expectations = _outputs_in(settings.outputs, len(lines)) if settings.outputs else [None] * len(lines)
    return [
        _case_from_line(line, str(count), config.folder, f"{settings.file.name}:{number}", expected)
        for count, ((number, line), expected) in enumerate(zip(lines, expectations, strict=True), 1)
    ]


def _outputs_in(folder: Path, count: int) -> list[Expected | None]:
    paths = sorted((p for p in folder.iterdir() if p.is_file()), key=lambda p: natural_key(p.name))
    if len(paths) != count:
        raise SubjectError(f"{folder} holds {len(paths)} outputs for {count} cases")
    return [Expected(path.read_bytes(), status=None) for path in paths]


RULES = {"status": Rule.STATUS, "tap": Rule.TAP, "automake": Rule.AUTOMAKE, "junit": Rule.JUNIT}


def _cases_of_command(settings: CasesConfig, config: SubjectConfig) -> list[Case]:
    assert settings.command is not None
    program = config.program.path
    inside = program is not None and program.is_relative_to(config.folder)
    suite = Suite(
        config.folder,
        str(program.relative_to(config.folder)) if program is not None and inside else None,
        settings.copy == "each",
        settings.process,
    )
    command = printing_reports(settings.command, settings.report) if settings.report else settings.command
    return [
        Case(
            name,
            expected=Expected(),
            rule=RULES[settings.verdict],
            command=command.replace("{name}", shlex.quote(name)),
            environment={} if "PATH" in settings.environment else {"PATH": own_path()},
            suite=suite,
            skip_statuses=settings.skip,
            failing_output=settings.failing_output,
        )
        for name in _names_of_tests(settings, config)
    ]


def own_path() -> str:
    """Where the user finds programs: tests need what there may be, such as Python with pytest in an environment."""
    return os.environ.get("PATH") or PINNED["PATH"]


def _case_of_tests(settings: CasesConfig, config: SubjectConfig) -> list[Case]:
    """The run of a program with all its tests, which is taken apart once the program is known."""
    return [Case("tests", expected=Expected())]


def _names_of_tests(settings: CasesConfig, config: SubjectConfig) -> list[str]:
    if settings.scripts is not None:
        found = [str(path.relative_to(config.folder)) for path in config.folder.glob(settings.scripts)]
        return sorted(found, key=natural_key)
    if settings.names_from is not None:
        return _names_printed(settings.names_from, config)
    return list(settings.names) or ["command"]


def _names_printed(command: str, config: SubjectConfig) -> list[str]:
    """Names that a command prints, one a line, as the test points of a TAP stream, or as the tests of JUnit reports.

    It runs in the user's folder.
    """
    run = subprocess.run(command, shell=True, cwd=config.folder, capture_output=True, stdin=subprocess.DEVNULL)
    if run.returncode:
        words = run.stderr.decode(errors="replace").strip().splitlines()
        raise SubjectError(f"names_from: `{command}` ended with status {run.returncode}", words[-1] if words else "")
    try:
        names = tap_names(run.stdout) or junit_names(run.stdout)
    except SyntaxError as error:
        raise SubjectError(f"names_from: the JUnit report that `{command}` prints cannot be read: {error}") from error
    names = names or run.stdout.decode(errors="surrogateescape").split("\n")
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))
