"""Ten cases for each real program (``cases.toml``), as subjects that Whence can run and alter."""

from __future__ import annotations

import base64
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.real.programs import HERE, chosen_recipes, ensure_built
from whence.run.cases import Case
from whence.run.expectations import learn_expected
from whence.subject.subject import Subject, with_cases

PROGRAMS = ("gzip", "grep", "sed", "bc", "diffutils")
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC0"}


def subject_of(program: str, work: Path) -> Subject:
    """The program built with ``whence-cc``, with its cases; what the program prints by itself is right."""
    (recipe,) = chosen_recipes([program])
    tree = ensure_built(recipe, work, "whence", "whence-cc")
    table = tomllib.loads((HERE / "cases.toml").read_text(encoding="utf-8"))[program]
    cases = [_case(row, work / "cases" / program / row["name"]) for row in table["cases"]]
    return learned(Subject(tree, tree / table["executable"], cases))


def learned(subject: Subject) -> Subject:
    """The subject with expectations that are missing taken from its own runs."""
    with subject.runner() as runner:
        return with_cases(subject, learn_expected(subject.cases, runner))


def _case(row: Mapping[str, Any], folder: Path) -> Case:
    files = [(name, _written(folder / name, content(text))) for name, text in row.get("files", {}).items()]
    return Case(row["name"], tuple(shlex.split(row["args"])), content(row.get("stdin", "")), tuple(files), ENVIRONMENT)


def _written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def content(text: str) -> bytes:
    """Bytes of a text in the file: ``base64:...`` is binary, ``repeat:N:...`` a text N times."""
    if text.startswith("base64:"):
        return base64.b64decode(text[7:])
    if text.startswith("repeat:"):
        _, count, part = text.split(":", 2)
        return part.encode() * int(count)
    return text.encode()
