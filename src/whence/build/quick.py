"""Building loose C files (``whence locate prog.c``) by the same wrapper that real builds use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from whence.build.compilers import first_message
from whence.build.scratch import scratch
from whence.errors import BuildError


def build_sources(sources: Sequence[Path], flags: Sequence[str], out_dir: Path) -> Path:
    """Compile and link C files with IR captured; returns the executable, named after the first source.

    Raises ``BuildError`` whose message is the compiler's first one (all of them in the hint), and if a file
    is missing.
    """
    for source in sources:
        if not source.is_file():
            raise BuildError(f"{source}: no such file")
    out_dir.mkdir(parents=True, exist_ok=True)
    out = out_dir / sources[0].stem
    # -lm: C files tried in a hurry use mathematics without saying so, and an unused library costs nothing. -g: so that
    # GDB knows their lines; it changes no code.
    words = ["-g", *map(str, sources), *flags, "-o", str(out), "-lm"]
    command = [sys.executable, "-m", "whence.build.wrapper", *words]
    # Clang's own temporary files go where an interrupted build leaves nothing behind.
    with scratch("build") as place:
        own = {**os.environ, "TMPDIR": place}
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=own)
    if done.returncode:
        raise BuildError(first_message(done.stderr), done.stderr.strip())
    return out
