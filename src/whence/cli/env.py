"""``whence env``: what makes builds call ``whence-cc``, to be read by a shell, CMake or Meson."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click

from whence.build.environment import BuildEnvironment


@click.command()
def env() -> None:
    """Print what makes builds call whence-cc, as lines for a shell: eval "$(whence env)".

    Afterwards every build in that shell is captured. For a single one: whence build -- COMMAND.
    """
    for line in lines(BuildEnvironment()):
        click.echo(line)


def lines(environment: BuildEnvironment) -> Iterator[str]:
    """Lines of shell; those for CMake and Meson are comments."""
    yield f"export CC={shlex.quote(str(environment.compiler))}"
    yield f'export PATH={shlex.quote(str(environment.programs))}:"$PATH"'
    yield f"# CMake: cmake -DCMAKE_TOOLCHAIN_FILE={shlex.quote(str(environment.cmake))} ..."
    yield f"# Meson: meson setup --native-file {shlex.quote(str(environment.meson))} ..."
