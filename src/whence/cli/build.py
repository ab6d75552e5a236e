"""``whence build``: run a build so that all that it compiles is captured."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from whence.build.environment import BuildEnvironment
from whence.build.records import read_records
from whence.errors import UsageError
from whence.findings import plural

SHOWN = 10  # programs
SKIPPED = {".git", ".hg", ".svn", "CMakeFiles"}


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True)
def build(command: Sequence[str]) -> int:
    """Run COMMAND with whence-cc as the C compiler, and name the programs that were captured.

    As in: whence build -- make. The exit status is that of COMMAND.
    """
    before = dict(_programs(Path()))
    try:
        done = subprocess.run(command, env=BuildEnvironment().variables(os.environ), check=False)
    except OSError as error:
        raise UsageError(f"cannot run {command[0]}: {error.strerror}") from error
    made = [path for path, changed in _programs(Path()) if before.get(path) != changed]
    for line in _told([(path, _modules(path)) for path in made], done.returncode):
        click.echo(line, err=True)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _programs(folder: Path) -> Iterator[tuple[Path, int]]:
    """The executables below a folder, with the times of their last change."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for path in (Path(place, name) for name in files):
            if os.access(path, os.X_OK) and path.is_file() and not path.is_symlink():
                yield path, path.stat().st_mtime_ns


def _modules(path: Path) -> int:
    """How many captured modules a program holds; 0 where it was not linked by whence-cc."""
    with path.open("rb") as file:
        kinds = [record.kind for record in read_records(file)]
    return kinds.count("module") if "link" in kinds else 0


def _told(made: Sequence[tuple[Path, int]], status: int) -> Iterator[str]:
    """What came of the build, in lines."""
    captured = [(path, modules) for path, modules in made if modules]
    for path, modules in captured[:SHOWN]:
        yield f"whence: captured {path}: {plural(modules, 'module')}"
    if len(captured) > SHOWN:
        yield f"whence: captured {len(captured) - SHOWN} more programs"
    if captured or status:
        return
    if made:
        yield "whence: nothing was captured: the build calls its compiler by a path, or makes no C program"
    else:
        yield "whence: no program was made; where all is up to date already, build it anew (make clean)"
