"""Puts the compiled analysis into the wheel, where one is built beside an environment that has it (``make setup``).

It is for the machine's kind of processor, its version of Python, and that environment's version of Numba; with others
the analysis is compiled at its first use, as with a wheel that has none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASK = "from whence.trace.compiled import CACHE; print(CACHE)"
PATIENCE = 60  # seconds


class CompiledAnalysis(BuildHookInterface):
    """Adds ``whence/kernels`` to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files that the wheel gets."""
        if version == "editable":
            return
        kept = _compiled(Path(self.root))
        if kept is None:
            self.app.display_info("without the compiled analysis: `make setup` compiles it")
            return
        for path in sorted(kept.rglob("*.nb?")):
            build_data["force_include"][str(path)] = f"whence/kernels/{kept.name}/{path.relative_to(kept)}"


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
