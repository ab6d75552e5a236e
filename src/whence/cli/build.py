"""``whence build``: run a build so that all that it compiles is captured."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from whence.build.environment import BuildEnvironment
from whence.build.programs import captured_modules, programs
from whence.errors import UsageError
from whence.findings import plural

SHOWN = 10  # programs


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True)
def build(command: Sequence[str]) -> int:
    """Run COMMAND with whence-cc as the C compiler, and name the programs that were captured.

    As in: whence build -- make. The exit status is that of COMMAND.
    """
    before = dict(programs(Path()))
    try:
        done = subprocess.run(command, env=BuildEnvironment().variables(os.environ), check=False)
    except OSError as error:
        raise UsageError(f"cannot run {command[0]}: {error.strerror}") from error
    made = [path for path, changed in programs(Path()) if before.get(path) != changed]
    for line in _told([(path, captured_modules(path)) for path in made], done.returncode):
        click.echo(line, err=True)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


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
