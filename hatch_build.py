"""Puts the compiled analysis into the wheel, where one is built beside an environment that has it (``make setup``).

And packs the wheel tightly.

It is for the machine's kind of processor, its version of Python, and that environment's version of Numba; with others
the analysis is compiled at its first use, as with a wheel that has none.
"""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import deflate
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASK = "from whence.trace.compiled import CACHE; print(CACHE)"
PATIENCE = 60  # seconds
SMALLEST = 12  # of libdeflate's levels
TIGHT = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}  # for machine code


class CompiledAnalysis(BuildHookInterface):
    """Adds ``whence/kernels`` to a wheel."""

    PLUGIN_NAME = "custom"
    _packed: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files that the wheel gets."""
        if version == "editable":
            return
        kept = _compiled(Path(self.root))
        if kept is None:
            self.app.display_info("without the compiled analysis: `make setup` compiles it")
            return
        packed = Path(tempfile.mkdtemp(), f"{kept.name}.tar.xz")  # together they take half of what they take one by one
        with lzma.open(packed, "wb", filters=[TIGHT]) as file, tarfile.open(fileobj=file, mode="w") as archive:
            for path in sorted(kept.rglob("*.nb?"), key=_order):
                archive.add(path, str(path.relative_to(kept)), filter=_alike)
        build_data["force_include"][str(packed)] = f"whence/kernels/{packed.name}"
        self._packed = packed

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel has got, and pack it once more, as tightly as can be."""
        if self._packed is not None:
            shutil.rmtree(self._packed.parent)
        if version != "editable":
            _pack_tightly(Path(artifact_path))


def _order(path: Path) -> tuple[str, int, str]:
    """Like files beside each other, which takes less place."""
    return path.suffix, path.stat().st_size, path.name


def _pack_tightly(wheel: Path) -> None:
    """Write a wheel with the same entries, in the same order, each as small as can be.

    ``zipfile`` compresses with zlib alone, so what libdeflate made is put in as it is, and its header written again.
    """
    tight = wheel.with_suffix(".tight")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(tight, "w") as new, tight.open("r+b") as headers:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith(".xz"):
                new.writestr(entry, content, zipfile.ZIP_STORED)
                continue
            new.writestr(entry, deflate.deflate_compress(content, SMALLEST), zipfile.ZIP_STORED)
            entry.compress_type, entry.CRC, entry.file_size = zipfile.ZIP_DEFLATED, zlib.crc32(content), len(content)
            headers.seek(entry.header_offset)
            headers.write(entry.FileHeader())
            headers.flush()
    tight.replace(wheel)


def _alike(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry without what differs from machine to machine."""
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry


def _compiled(root: Path) -> Path | None:
    """The folder with what is compiled of these sources, by the interpreter that builds or that of ``make setup``.

    A build in isolation has variables that would lead the latter astray, and a cache of one's own (``WHENCE_HOME``)
    holds more than all need.
    """
    environment = {name: value for name, value in os.environ.items() if name != "WHENCE_HOME"}
    for python in (Path(sys.executable), root / ".venv" / "bin" / "python"):
        try:
            asked = subprocess.run(
                [python, "-E", "-c", ASK],
                cwd=root / "src",
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            continue
        kept = Path(asked.stdout.strip())
        if any(kept.rglob("*.nbc")):
            return kept
    return None
