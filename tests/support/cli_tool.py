"""The command line under test, run within this process: what it printed, and its exit status.

Programs lie in a folder of each worker's own under Whence's home, so that a second session finds its variants built.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import unittest.mock
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from whence.build.toolchain import whence_home
from whence.cli import COMMANDS, run
from whence.cli.supervisor import clock
from whence.report.json import SCHEMA_PATH
from whence.subject import runs

UNDER = (("fix", "learn"), ("fix", "knowledge"))  # commands of two words
WITHOUT_BUDGET = (("init",), ("doctor",), ("build",), ("env",), ("mcp",), ("lsp",), ("dap",), ("fix", "knowledge"))


@dataclass(frozen=True)
class Done:
    """A finished command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The result, valid by the schema."""
        found: dict[str, Any] = json.loads(self.out)
        _validator().validate(found)
        return found


@cache
def _validator() -> Draft202012Validator:
    """The schema's, made once: to look at the schema itself takes longer than a command."""
    return Draft202012Validator(json.loads(SCHEMA_PATH.read_text()))


def subject_folder(name: str, **files: str) -> Path:
    """A folder that holds these files (``prog_c`` for ``prog.c``), the same one in every session."""
    folder = Path(whence_home()) / "cli-tests" / os.environ.get("PYTEST_XDIST_WORKER", "alone") / name
    for file, text in files.items():
        write(folder / file.replace("_", "."), text)
    return folder


def write(path: Path, text: str) -> Path:
    """Write a file unless it holds the text already."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path


@contextlib.contextmanager
def time_up_after_the_runs() -> Iterator[None]:
    """Inside, a command's time is over as soon as its cases have been run."""
    run_all = runs.run_all

    def run_and_stop(*arguments: Any, **named: Any) -> runs.Runs:
        found = run_all(*arguments, **named)
        clock.start(1e-6)
        return found

    with unittest.mock.patch.object(runs, "run_all", run_and_stop):
        yield


@contextlib.contextmanager
def _at(folder: Path, words: tuple[str, ...]) -> Iterator[None]:
    before, arguments = Path.cwd(), sys.argv
    os.chdir(folder)
    sys.argv = ["whence", *words]
    try:
        yield
    finally:
        os.chdir(before)
        sys.argv = arguments


def whence(folder: Path, *words: str, is_bug: bool = False) -> Done:
    """Run ``whence`` with these words in a folder, in this process; never raises what a user would not see.

    There is time enough for all that is asked for, on a machine that does other things too. ``is_bug``: an internal
    error is what is expected.
    """
    name = words[:2] if words[:2] in UNDER else words[:1]
    if name and name[0] in COMMANDS and name not in WITHOUT_BUDGET and "--budget" not in words:
        words = (*name, "--budget", "10m", *words[len(name) :])
    out, err = io.StringIO(), io.StringIO()
    status: Any = None
    with _at(folder, words), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = run()
        except SystemExit as ended:
            status = ended.code
    assert "Traceback" not in err.getvalue()
    assert is_bug == ("internal error" in out.getvalue() + err.getvalue())
    return Done(int(status or 0), out.getvalue(), err.getvalue())
