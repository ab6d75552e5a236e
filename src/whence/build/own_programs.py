"""Executables of Whence's own, each compiled and linked once: the launcher (``probe/launcher``), and the shim that
stands in for a program while a test suite runs (``probe/capture``, ``shim.py``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from whence.build.compilers import run
from whence.build.store import Store, is_sealed, seal, sha256
from whence.build.toolchain import find_toolchain, whence_home
from whence.build.variant import RUNTIME, compile_c

PROBE = RUNTIME.parent
_SERVER = ("server/confine.c", "server/processes.c", "server/server.c", "server/set_up.c", "base/clock.c")
_launchers: dict[str, Path] = {}  # by home: a process starts many


def launcher() -> Path:
    """The fork server for programs that hold none. Raises BuildError with clang's message if it cannot be made."""
    home = whence_home()
    if home not in _launchers or not is_sealed(str(_launchers[home])):
        sources = [PROBE / "launcher" / "launcher.c", *(RUNTIME / name for name in _SERVER)]
        _launchers[home] = own_program("launcher", sources, [f"-I{RUNTIME}"], PROBE)
    return _launchers[home]


def own_program(name: str, sources: Sequence[Path], flags: Sequence[str] = (), root: Path | None = None) -> Path:
    """The executable of C files of Whence's own, which include headers by their paths from ``root`` on.

    Raises BuildError with the first message of clang or the linker where it cannot be made.
    """
    toolchain, store = find_toolchain("bundled"), Store()
    objects = [compile_c(toolchain, source, ("-O2", "-g0", "-std=gnu17", *flags), root=root) for source in sources]
    path = Path(store.path("objects", sha256(b"\0".join(map(os.fsencode, objects))), f".{name}"))
    if not is_sealed(str(path)):
        target = store.temporary(f".{name}")
        run(toolchain, [*map(str, objects), "-o", target], Path.cwd(), f"link the {name}")
        seal(target)
        store.adopt(target, str(path))
    return path
