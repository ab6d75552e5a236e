"""What names the runs of a case: everything that they depend on, under one hash. Results are kept by it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from whence.run.cases import Case
from whence.run.sandbox import Limits


def case_key(variant: str, code: str, case: Case, limits: Limits, name: str) -> str:
    """The hash (32 hexadecimal digits) of what decides a case's runs in a variant.

    ``variant`` names the executable by the content of all that it was made of, ``code`` what runs and judges it,
    ``name`` is its ``argv[0]``. Raises OSError where a file of the case cannot be read.
    """
    digest = hashlib.sha256()
    environment = sorted(case.environment.items())
    judged_by = (case.expected, case.comparison, case.rule, case.skip_statuses, case.failing_output)
    settings = (environment, *judged_by, limits, case.place)
    for text in (variant, code, name, repr(case.arguments), repr(settings)):
        add_content(digest, os.fsencode(text))
    add_content(digest, case.stdin.read_bytes() if isinstance(case.stdin, Path) else case.stdin or b"")
    for file, source in case.files:
        for path in _files_below(source):
            inside = os.path.relpath(path, source)
            add_content(digest, os.fsencode(f"{file}/{inside} {path.lstat().st_mode:o}"))
            if path.is_symlink():
                add_content(digest, os.fsencode(path.readlink()))
            add_content(digest, path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()[:32]


def add_content(digest: hashlib._Hash, content: bytes) -> None:
    """Add bytes to a hash, with their number, so that no two sequences of them are alike."""
    digest.update(len(content).to_bytes(8, "little"))
    digest.update(content)


def _files_below(source: Path) -> Iterable[Path]:
    return sorted(source.rglob("*")) if source.is_dir() else [source]
