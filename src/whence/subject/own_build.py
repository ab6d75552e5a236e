"""The program of a ``whence.toml``: made by its own build, or of its sources."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from whence.build.capture import Capture
from whence.build.environment import BuildEnvironment
from whence.build.made_before import OBJECT, aside, keep_in_mind, made_before
from whence.build.programs import captured_modules, programs
from whence.build.quick import build_sources
from whence.build.toolchain import whence_home
from whence.errors import BuildError
from whence.findings import plural
from whence.run.config import SubjectConfig

BUILD_LINES = 40  # of what a failed build printed, the last ones
SHOWN_PROGRAMS = 5


@dataclass(frozen=True, slots=True)
class Built:
    """A program that was built, what is to be said of that, and what the program holds, where it was looked at."""

    program: Path
    told: str = ""
    capture: Capture | None = None


def built_program(config: SubjectConfig) -> Built:
    """Build what the configuration says. Raises BuildError with the compiler's message first."""
    program = config.program
    if program.sources:
        sources = sorted(p for pattern in program.sources for p in config.folder.glob(pattern))
        if not sources:
            raise BuildError(f"no source file matches {', '.join(program.sources)} in {config.folder}")
        return Built(build_sources(sources, program.flags, quick_folder(sources)))
    if program.path is None:
        raise BuildError(f"{config.folder}: whence.toml names neither a program nor its sources")
    if program.build:
        _run_build(program.build, config.folder)
    if not program.path.exists():
        raise BuildError(f"no program {program.path}", _what_was_made(config.folder, bool(program.build)))
    return _captured(program.path, program.build, config.folder) if program.build else Built(program.path)


def _captured(program: Path, build: str, folder: Path) -> Built:
    """The program, after the build had to make again what another compiler has made before.

    Raises BuildError where it cannot, and nothing of the program is captured.
    """
    capture, before = made_before(program, folder)
    if not before:
        return Built(program, capture=capture)
    try:
        with aside(before, folder):
            _run_build(build, folder)
    except (OSError, BuildError) as error:
        if capture is None and isinstance(error, BuildError):
            raise
        keep_in_mind(before)
        return Built(program, f"what another compiler made before could not be made anew: {error}")
    capture, left = made_before(program, folder)
    if left:
        keep_in_mind(left)
        return Built(program, capture=capture)
    objects = sum(path.suffix == OBJECT for path in before)
    made = f"the program and {plural(objects, 'object')}" if objects else "the program"
    return Built(program, f"built anew what was up to date, but not captured: {made}", capture)


def _what_was_made(folder: Path, was_built: bool) -> str:
    """What helps where the program is not there: the names of those that are, and can be analysed."""
    made = [path.relative_to(folder) for path, _ in programs(folder) if captured_modules(path)]
    if made:
        names = ", ".join(str(path) for path in sorted(made, key=lambda path: (len(path.parts), path))[:SHOWN_PROGRAMS])
        return f"set `path` in whence.toml to one of the programs that were made: {names}"
    if was_built:
        return "`build` in whence.toml made no program with whence-cc: it must not call a compiler by its path"
    return "build it with CC=whence-cc, or set `build` in whence.toml"


def _run_build(command: str, folder: Path) -> None:
    """Run the subject's own build; raises BuildError with the compiler's message, all of them in the hint."""
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=_build_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = done.stdout.strip().splitlines()[-BUILD_LINES:]
        message = f"`{command}` ended with status {done.returncode}"
        errors = [line for line in said if "error:" in line or "undefined" in line]
        raise BuildError(errors[0].strip() if errors else message, "\n".join([*said, message]))


def _build_environment() -> dict[str, str]:
    """Ours, in which every name of a C compiler is ``whence-cc``: makefiles call ``gcc`` whatever CC says.

    That one is in the path, too: whence may have been called by its place, in an inactive environment.
    """
    ours, variables = str(Path(sys.executable).parent), BuildEnvironment().variables(os.environ)
    return variables | {"PATH": os.pathsep.join([variables["PATH"], ours])}


def quick_folder(sources: Sequence[Path]) -> Path:
    """Where the executable of loose sources is built: a folder of Whence's own for each set of sources."""
    names = "\0".join(str(s.resolve()) for s in sources)
    return Path(whence_home()) / "quick" / hashlib.sha256(names.encode()).hexdigest()[:16]
