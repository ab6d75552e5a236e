"""Cases written as a folder of cases, which users can read, edit and keep (docs/configuration.md).

A case that was captured from a test may need what such a folder cannot say: another folder to run in with files beside
it, the path of that folder. So the written cases are read back and run: what does not end as it did does not stay.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from whence.build.single_test import VARIABLE
from whence.errors import SubjectError
from whence.run.cases import Case, load_cases
from whence.run.config import CasesConfig, ProgramConfig, SubjectConfig
from whence.run.oracle import judge
from whence.run.runner import RunLost, Runner
from whence.subject.subject import Subject

NOT_PLAIN = re.compile(r"[^\w+-]+")


@dataclass(slots=True)
class Written:
    """The folders of the cases that were written, and for each other case its name and why it was not."""

    folders: list[Path] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class _Unfit(Exception):
    """A case that a folder cannot say; the text says why."""


def write_cases(subject: Subject, target: Path) -> Written:
    """Write the subject's cases into the folder ``target``, which must not be there.

    Raises SubjectError where all cases are commands, OSError where the folder cannot be written.
    """
    cases = [case for case in subject.cases if case.command is None]
    if any(VARIABLE in case.environment for case in cases):
        raise SubjectError("the cases are tests that the program holds, which no folder can name", 'tests = "*" does')
    if not cases:
        why = "\n".join(subject.remarks) or "`capture = true` takes test suites apart"
        raise SubjectError("the cases are commands, which no folder of cases can hold", why)
    target.mkdir(parents=True)
    target = target.resolve()  # a run opens its input in another folder
    written, folders = Written(), {}
    for number, case in enumerate(cases, 1):
        name = f"{number:03}-{NOT_PLAIN.sub('-', case.name).strip('-')}"
        try:
            _write(case, target / name)
            folders[name] = case
        except _Unfit as unfit:
            written.left_out.append(f"{case.name}: {unfit}")
    config = SubjectConfig(
        subject.folder, ProgramConfig(), CasesConfig(folder=target), subject.limits, cases[0].comparison
    )
    with subject.runner() as runner:
        for again in load_cases(config) if folders else ():
            if _is_alike(folders[again.name], again, runner):
                written.folders.append(target / again.name)
            else:
                shutil.rmtree(target / again.name)
                written.left_out.append(f"{folders[again.name].name}: it does something else in a folder of its own")
    return written


def _write(case: Case, folder: Path) -> None:
    expected = case.expected
    if expected is None or expected.status is None:
        raise _Unfit("which exit status is right is not known")
    start = case.place.folder if case.place else "."
    files = _files_from(case, start)
    left = {os.path.relpath(name, start): content for name, content in expected.files}
    if beside := [name for name in left if name.startswith("..")]:
        raise _Unfit(f"it leaves files beside the folder that it runs in ({beside[0]})")
    work = case.place.work if case.place else None
    variables = {name: value for name, value in case.environment.items() if work is None or work not in value}
    if any("\n" in text for text in [*case.arguments, *variables.values()]):
        raise _Unfit("an argument or a variable has several lines")
    if work and any(work in text for text in [*case.arguments, os.fsdecode(expected.stdout or b"")]):
        raise _Unfit("an argument or its output names the folder that it ran in")
    folder.mkdir()
    lines = "".join(f"{name}={value}\n" for name, value in variables.items())
    parts = {
        "args": os.fsencode(shlex.join(case.arguments) + "\n"),
        "stdin": case.stdin.read_bytes() if isinstance(case.stdin, Path) else case.stdin,
        "env": os.fsencode(lines) or None,
        "expected": expected.stdout,
        "stderr": expected.stderr,
        "status": b"%d\n" % expected.status if expected.status else None,
    }
    for name, content in parts.items():
        if content is not None:
            (folder / name).write_bytes(content)
    for name, source in files.items():
        _copy(source, folder / "files" / name)
    for name, content in left.items():
        if content is not None:
            place = folder / "expected-files" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def _files_from(case: Case, start: str) -> Mapping[str, Path]:
    """The files that the case finds, by their names from the folder on that it starts in; folders come first."""
    named = {os.path.relpath(name, start): source for name, source in case.files}
    if outside := [name for name in named if name.startswith("..") and not named[name].is_dir()]:
        raise _Unfit(f"it uses files beside the folder that it runs in ({outside[0]})")
    return {name: named[name] for name in sorted(named) if not name.startswith("..") and name != "."}


def _copy(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(source, place, follow_symlinks=False)


def _is_alike(case: Case, again: Case, runner: Runner) -> bool:
    """Whether a case ends in the same way as it was written, with the files that the configuration gives all cases."""
    if case.place is None:
        again = replace(again, files=tuple({**dict(case.files), **dict(again.files)}.items()))
    try:
        return judge(case, runner.run_case(case)).kind is judge(again, runner.run_case(again)).kind
    except RunLost:
        return False
