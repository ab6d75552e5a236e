"""Files of the store that are read again: sound ones, or made anew where they came from.

A file may have been damaged or removed. Its content hash says whether what the build's folder still has is the same.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from whence.build.flags import CommandLine
from whence.build.store import Store, is_sound, read
from whence.build.toolchain import Toolchain
from whence.errors import BuildError

_AGAIN = "build the program again"


def kept_file(store: Store, digest: str, origin: Path) -> Path:
    """A file of a link: the store's, or what lies at its ``origin`` if that is the same.

    Raises ``BuildError`` where it is neither.
    """
    path = Path(store.file(digest))
    if not is_sound(str(path), digest):
        if not is_sound(str(origin), digest):
            raise BuildError(f"{origin}, linked into the program, is no longer in {store.root}", _AGAIN)
        store.write(str(path), read(str(origin)))
    return path


def kept_bitcode(store: Store, digest: str, entry: dict[str, Any], toolchain: Toolchain) -> Path:
    """The IR of a module: the store's, or what its source gives again by the call in ``entry``, if that is the same.

    Raises ``BuildError`` where it is neither.
    """
    path = Path(store.bitcode(digest))
    if not is_sound(str(path), digest):
        temporary = store.temporary(".bc")
        try:
            _compile_again(entry, toolchain, temporary)
            if not is_sound(temporary, digest):
                raise BuildError(f"the IR of {entry['source']} is no longer in {store.root}", _AGAIN)
            store.adopt(temporary, str(path))
        finally:
            Path(temporary).unlink(missing_ok=True)
    return path


def _compile_again(entry: dict[str, Any], toolchain: Toolchain, output: str) -> None:
    """Compile a source to IR as when it was captured, if it is still there."""
    line, folder = CommandLine(entry["arguments"]), entry["directory"]
    source = next((i for i in line.sources if i.absolute(folder) == entry["source"]), None)
    if source is not None and source.path != "-" and os.path.isdir(folder):  # noqa: PTH112
        command = toolchain.call(line.ir_arguments(source, output))
        quiet = subprocess.DEVNULL
        subprocess.run(command, cwd=folder, env=toolchain.environment(), stdin=quiet, stdout=quiet, stderr=quiet)
