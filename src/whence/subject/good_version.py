"""A good version of a program: another build or source of it, which passes the case that fails."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from whence.errors import UsageError
from whence.run.cases import Case
from whence.run.config import FILE_NAME, read_config
from whence.subject.subject import Subject, built_from_config, built_from_sources, with_cases

HINT = "name a folder with a whence.toml, a C file, or an executable that was built with whence-cc"


def good_version(path: Path, subject: Subject, case: Case) -> Subject:
    """The version at a path, with the one case: a folder of a ``whence.toml``, a C file, or an executable.

    Raises UsageError where it is none of these, BuildError where it does not build.
    """
    found = _opened(path, subject)
    found.limits = replace(subject.limits)
    return with_cases(found, [case])


def _opened(path: Path, subject: Subject) -> Subject:
    if path.is_dir():
        if not (path / FILE_NAME).exists():
            raise UsageError(f"there is no {FILE_NAME} in {path}", HINT)
        return built_from_config(read_config(path))
    if not path.is_file():
        raise UsageError(f"there is no good version {path}", HINT)
    if path.suffix == ".c":
        return built_from_sources([path], ["-w"], subject.limits)
    if os.access(path, os.X_OK):
        return Subject(path.resolve().parent, path.resolve(), [], subject.limits)
    raise UsageError(f"{path} is no good version", HINT)
