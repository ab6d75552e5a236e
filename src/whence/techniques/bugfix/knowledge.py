"""The database of bug-fix scenarios (definition 14) as a file that a team can read, share and merge.

The first line says what it is, and the version; each further line is one scenario, in JSON: its ``fixes`` (bug-fix
descriptions), its ``situation`` (descriptors), where it comes ``from``. Lines are sorted and each stands once, so that
what two people learned merges line by line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from whence.errors import UsageError

NAME, VERSION = "whence-fix-knowledge", 1
SHIPPED = Path(__file__).with_name("knowledge.jsonl")
OWN = "whence-fixes.jsonl"  # what the user's team has learned, in the subject's folder
_HEAD = json.dumps({"knowledge": NAME, "version": VERSION})
_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@dataclass(frozen=True, slots=True, order=True)
class Scenario:
    """A fix that was made: its descriptions, the descriptors of the statement before it, and where that was."""

    fixes: tuple[str, ...]
    situation: frozenset[str]
    origin: str

    def line(self) -> str:
        """The scenario as a line of a file."""
        text = {"fixes": list(self.fixes), "situation": sorted(self.situation), "from": self.origin}
        return json.dumps(text, ensure_ascii=True)


def load(path: Path) -> list[Scenario]:
    """The scenarios of a file.

    Raises UsageError, which names the line, where it is no knowledge, of another version, damaged, or has conflicts
    that a merge left.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text, so it holds no fixes") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    _check_markers(path, lines)
    _check_head(path, lines)
    return [_scenario(path, number, line) for number, line in enumerate(lines[1:], 2) if line.strip()]


def known(folder: Path, files: Sequence[Path] | None = None) -> list[Scenario]:
    """The scenarios of some files; None: those that are shipped, and what lies in the subject's folder.

    Raises UsageError as ``load`` does.
    """
    own = folder / OWN
    paths = files if files is not None else (SHIPPED, *([own] if own.is_file() else []))
    return merged([load(path) for path in paths])


def save(path: Path, scenarios: Iterable[Scenario]) -> None:
    """Write the scenarios; equal ones once, in order of their lines. Raises UsageError where that cannot be done."""
    lines = sorted({scenario.line() for scenario in scenarios})
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text("\n".join([_HEAD, *lines]) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def merged(parts: Sequence[Iterable[Scenario]]) -> list[Scenario]:
    """All scenarios of several databases, each once, in order."""
    return sorted({scenario.line(): scenario for part in parts for scenario in part}.values(), key=Scenario.line)


def _check_markers(path: Path, lines: Sequence[str]) -> None:
    for number, line in enumerate(lines, 1):
        if line.startswith(_MARKERS):
            hint = "keep the lines of both sides, and take out those that git put between them"
            raise UsageError(f"{path}:{number}: a merge left a conflict here", hint)


def _check_head(path: Path, lines: Sequence[str]) -> None:
    try:
        head = json.loads(lines[0]) if lines else None
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.get("knowledge") != NAME:
        raise UsageError(f"{path} holds no fixes that `whence fix learn` wrote", f"its first line has to be {_HEAD}")
    if head.get("version") != VERSION:
        raise UsageError(f"{path} is of version {head.get('version')}; this Whence reads version {VERSION}")


def _scenario(path: Path, number: int, line: str) -> Scenario:
    try:
        read = json.loads(line)
        fixes, situation, origin = read["fixes"], read["situation"], read["from"]
        texts = [*fixes, *situation, origin]
        if not fixes or not all(isinstance(text, str) for text in texts) or isinstance(fixes, str):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            f"{path}:{number}: this line is damaged", "take it out, or take it from an older copy"
        ) from None
    return Scenario(tuple(fixes), frozenset(situation), origin)
