"""``whence.toml``: what the subject is, how to run it, and what is right. The keys are described in
``docs/configuration.md``.

Every key has a reader in a table, which checks the type and converts. A wrong key or value is reported with
its line: ``tomllib`` keeps no lines, so they are found by a scan of the text.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.errors import UsageError
from whence.probe.allocators import Allocator, parse_allocators
from whence.run.compare import EXACT, Comparison
from whence.run.sandbox import DEFAULT_LIMITS, MOST_PATTERN, Limits, kept_environment

FILE_NAME = "whence.toml"


@dataclass(slots=True, frozen=True)
class ProgramConfig:
    """The program: an executable (``path``, made by the command ``build``), or ``sources`` to compile
    directly.
    """

    path: Path | None = None  # absolute
    build: str | None = None
    sources: tuple[str, ...] = ()  # patterns, relative to the subject's folder
    flags: tuple[str, ...] = ()  # for compiling and linking sources
    name: str | None = None  # argv[0]


@dataclass(slots=True, frozen=True)
class CasesConfig:
    """Where the cases come from: exactly one of ``folder``, ``file``, ``command`` and ``tests`` is set."""

    folder: Path | None = None
    file: Path | None = None
    command: str | None = None
    tests: str | None = None
    reference: Path | None = None
    outputs: Path | None = None
    names: tuple[str, ...] = ()
    scripts: str | None = None
    names_from: str | None = None
    verdict: str = "status"
    report: str | None = None
    failing_output: str | None = None
    skip: tuple[int, ...] = (77,)
    copy: str = "each"
    process: str | None = None
    capture: bool = False
    files: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class SubjectConfig:
    """The whole configuration. ``folder`` is the subject's folder (absolute), that of ``whence.toml``."""

    folder: Path
    program: ProgramConfig
    cases: CasesConfig
    limits: Limits = DEFAULT_LIMITS
    compare: Comparison = EXACT
    toolchain: str | None = None
    allocators: tuple[Allocator, ...] = ()
    needs_cases: bool = True  # False: there are others, so that it may describe none


def read_config(path: Path, needs_cases: bool = True) -> SubjectConfig:
    """Return the configuration in a ``whence.toml`` (or in the folder ``path``).

    Without ``needs_cases`` it may name no cases, or a folder of cases that is not there. Raises UsageError that begins
    with ``whence.toml:LINE:`` on a key or value that cannot be used.
    """
    file = path / FILE_NAME if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"no {file.name} in {file.parent}", "`whence init` writes one") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {error}") from error
    return _Reader(text, file, needs_cases).read()


# ---- Values ----------------------------------------------------------------------------------------------------------


class _Wrong(Exception):
    """A value that is not what was expected; the text says what was."""


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _Wrong("a text in quotes")
    return value


def _strings(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
        raise _Wrong('a list of texts, such as ["a", "b"]')
    return tuple(values)


def _words(value: Any) -> tuple[str, ...]:
    """A list of words, or one text that is split as a shell does."""
    try:
        return tuple(shlex.split(value)) if isinstance(value, str) else _strings(value)
    except ValueError as error:
        raise _Wrong(f"words as in a shell ({error})") from error


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("true or false")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise _Wrong("a number that is not negative")
    return float(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _Wrong("a whole number that is not negative")
    return value


def _pattern(value: Any) -> int:
    if value == "zero":
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_PATTERN:
        raise _Wrong(f'"zero" or a byte from 0 to {MOST_PATTERN}')
    return value


def _statuses(value: Any) -> tuple[int, ...]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(v, int) and not isinstance(v, bool) and 0 <= v <= 255 for v in values):
        raise _Wrong("a list of exit statuses from 0 to 255")
    return tuple(values)


SIZE = re.compile(r"(\d+)\s*([KMG]?)(?:i?B)?", re.IGNORECASE)


def _size(value: Any) -> int:
    if isinstance(value, str) and (match := SIZE.fullmatch(value.strip())):
        return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2].upper()]
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise _Wrong('a size, such as "512 MiB" or a number of bytes')


def _variables(value: Any) -> dict[str, str]:
    if value == "keep":
        return kept_environment(os.environ)
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise _Wrong('a table of texts, such as {LANG = "C"}, or "keep"')
    return value


def _one_pattern(value: Any) -> str:
    return _patterns(_string(value))[0]


def _patterns(value: Any) -> tuple[str, ...]:
    patterns = _strings(value)
    for pattern in patterns:
        try:
            re.compile(pattern.encode())
        except re.error as error:
            raise _Wrong(f"a regular expression ({error} in {pattern!r})") from error
    return patterns


def _allocators(value: Any) -> tuple[Allocator, ...]:
    try:
        return tuple(allocator for text in _strings(value) for allocator in parse_allocators(text))
    except ValueError as error:
        raise _Wrong(str(error)) from error


def _one_of(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            raise _Wrong("one of " + ", ".join(f'"{choice}"' for choice in choices))
        return str(value)

    return read


# The sections and keys; paths are made absolute by the reader.
KEYS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "program": {"path": _string, "build": _string, "sources": _strings, "flags": _words, "name": _string},
    "cases": {
        "folder": _string,
        "file": _string,
        "command": _string,
        "tests": _string,
        "reference": _string,
        "outputs": _string,
        "names": _strings,
        "scripts": _string,
        "names_from": _string,
        "verdict": _one_of("status", "tap", "automake", "junit"),
        "report": _string,
        "failing_output": _one_pattern,
        "skip": _statuses,
        "copy": _one_of("each", "once"),
        "process": _string,
        "capture": _boolean,
        "files": _strings,
        "environment": _variables,
    },
    "limits": {"time": _number, "memory": _size, "output": _size, "processes": _count, "trace": _size}
    | {"pattern": _pattern, "aslr": _boolean},
    "compare": {
        "status_only": _boolean,
        "white_space": _boolean,
        "mask": _patterns,
        "tolerance": _number,
        "stderr": _boolean,
        "files": _boolean,
        "memory": _boolean,
    },
    "toolchain": {"compiler": _string},
    "memory": {"allocators": _allocators},
}
PATHS = {
    ("program", "path"),
    ("cases", "folder"),
    ("cases", "file"),
    ("cases", "reference"),
    ("cases", "outputs"),
}
SOURCES_OF_CASES = ("folder", "file", "command", "tests")
# Which keys of [cases] belong to which source of cases; all others fit each of them.
BELONGS = {
    "outputs": "file",
    "names": "command",
    "scripts": "command",
    "names_from": "command",
    "verdict": "command",
    "report": "command",
    "failing_output": "command",
    "skip": "command",
    "copy": "command",
    "process": "command",
    "capture": "command",
}


# ---- Reading ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads one file; keeps its text for the lines of errors."""

    def __init__(self, text: str, file: Path, needs_cases: bool) -> None:
        self.text = text
        self.file = file
        self.needs_cases = needs_cases
        self.folder = file.parent.resolve()

    def read(self) -> SubjectConfig:
        try:
            data = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise self._syntax_error(str(error)) from error
        for name in data:
            self._known(name, KEYS, ())
        sections = {name: self._section(name, data.get(name, {})) for name in KEYS}
        self._check_program(sections["program"])
        if not self.needs_cases and not sections["cases"].get("folder", self.folder).exists():
            del sections["cases"]["folder"]
        self._check_cases(sections["cases"])
        return SubjectConfig(
            folder=self.folder,
            program=ProgramConfig(**sections["program"]),
            cases=CasesConfig(**sections["cases"]),
            limits=Limits(**sections["limits"]),
            compare=Comparison(**sections["compare"]),
            toolchain=sections["toolchain"].get("compiler"),
            allocators=sections["memory"].get("allocators", ()),
            needs_cases=self.needs_cases,
        )

    def _section(self, section: str, table: Any) -> dict[str, Any]:
        if not isinstance(table, dict):
            raise self._error((section,), f"a section [{section}] was expected, not a value")
        return {key: self._value(section, key, value) for key, value in table.items()}

    def _value(self, section: str, key: str, value: Any) -> Any:
        self._known(key, KEYS[section], (section,))
        try:
            read = KEYS[section][key](value)
        except _Wrong as wrong:
            raise self._error((section, key), f"{key}: {wrong} was expected, not {_shown(value)}") from wrong
        return self.folder / read if (section, key) in PATHS else read

    def _known(self, key: str, keys: Mapping[str, Any], parents: tuple[str, ...]) -> None:
        if key in keys:
            return
        kind = "key" if parents else "section"
        near = difflib.get_close_matches(key, keys, 1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(keys)}"
        homes = [f"[{section}]" for section, inner in KEYS.items() if key in inner]
        hint = f"it belongs below {' or '.join(homes)}" if homes else hint
        place = f" in [{parents[0]}]" if parents else ""
        raise self._error((*parents, key), f"unknown {kind} {key}{place}; {hint}")

    def _check_program(self, program: Mapping[str, Any]) -> None:
        if ("path" in program) == ("sources" in program):
            raise self._error(("program",), "[program] needs either path or sources")
        for key, other in (("build", "path"), ("flags", "sources")):
            if key in program and other not in program:
                raise self._error(("program", key), f"{key} belongs to {other}, which is not set")

    def _check_cases(self, cases: Mapping[str, Any]) -> None:
        given = [source for source in SOURCES_OF_CASES if source in cases]
        if len(given) > 1 or (not given and self.needs_cases):
            raise self._error(("cases",), "[cases] needs one of folder, file, command and tests")
        for key, source in BELONGS.items():
            if key in cases and source not in given:
                where = f"but the cases come from {given[0]}" if given else "which is not set"
                raise self._error(("cases", key), f"{key} belongs to {source}, {where}")
        if "reference" in cases and "file" not in cases and not cases.get("capture"):
            where = f"but the cases come from {given[0]}, without capture = true" if given else "which is not set"
            message = f"reference belongs to file, {where}"
            raise self._error(("cases", "reference"), message)
        if "file" in cases and ("reference" in cases) == ("outputs" in cases):
            raise self._error(("cases", "file"), "file needs either reference or outputs, to know what is right")
        if (cases.get("verdict") == "junit") != ("report" in cases):
            keys = ("cases", "report" if "report" in cases else "verdict")
            raise self._error(keys, 'verdict = "junit" and report, the file that the tests write, belong together')
        if len(lists := [key for key in ("names", "scripts", "names_from") if key in cases]) > 1:
            raise self._error(("cases", lists[1]), f"only one of {' and '.join(lists)} can be used")
        for key in ("folder", "file", "outputs"):  # a reference may be made by the build
            if key in cases and not cases[key].exists():
                raise self._error(("cases", key), f"{key}: {cases[key]} does not exist")

    def _error(self, keys: tuple[str, ...], message: str) -> UsageError:
        return UsageError(f"{self.file.name}:{line_of(self.text, keys)}: {message}")

    def _syntax_error(self, message: str) -> UsageError:
        text, _, place = message.partition(" (at ")
        match = re.match(r"line (\d+)", place)
        line = int(match[1]) if match else self.text.count("\n") + 1
        return UsageError(f"{self.file.name}:{line}: {text[:1].lower()}{text[1:]}")


def _shown(value: Any) -> str:
    text = repr(value).replace("'", '"') if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 40 else text[:37] + "..."


# ---- Lines of keys ---------------------------------------------------------------------------------------------------

HEADER = re.compile(r"\s*\[\[?([^\]]+)\]\]?\s*(?:#.*)?$")
NAME = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
KEY = re.compile(rf"\s*({NAME}(?:\s*\.\s*{NAME})*)\s*=")


def line_of(text: str, keys: tuple[str, ...]) -> int:
    """Return the line of a key, of its section when it has no line of its own (an inline table), else 1."""
    best, best_depth = 1, 0
    for line, path in _keys_of_lines(text):
        depth = min(len(path), len(keys))
        if path[:depth] != keys[:depth]:
            continue
        if depth > best_depth:
            best, best_depth = line, depth
    return best


def _keys_of_lines(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Lines that set a key or open a section, with the key's full path."""
    section: tuple[str, ...] = ()
    fence = ""  # the quotes that end the text of several lines in which the scan is
    for number, line in enumerate(text.splitlines(), 1):
        if fence:
            fence = "" if fence in line else fence
            continue
        if match := HEADER.match(line):
            section = _names(match[1])
            yield number, section
        elif match := KEY.match(line):
            yield number, section + _names(match[1])
        fence = next((f for f in ('"' * 3, "'" * 3) if line.count(f) % 2), "")


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(NAME, dotted))
