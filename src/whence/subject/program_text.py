"""What follows from a program's text alone, its model, plans and declarations: kept on disk once a variant is built.

To read and lay out a program of 90,000 instructions takes ten seconds, to read that back one.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
import zlib
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from whence.build.capture import Capture
from whence.build.ir import canonical_text
from whence.build.store import Store, sealed, unsealed
from whence.probe.allocators import Allocator
from whence.probe.instrument import probes_version
from whence.probe.library import numbers
from whence.probe.plan import Numbering, Plan, make_plan
from whence.probe.pointers import Declarations, Sources
from whence.probe.sites import AlterPlan, make_alter_plan
from whence.program import reader
from whence.program.collector import collector_off
from whence.program.program import Program
from whence.program.reader import read_module

PARTS = ("program", "numbering", "plan", "alter_plan", "declarations")
KIND, LEVEL = "texts", 1  # in the store; the level of compression: the quickest, which leaves a sixth


class ProgramText:
    """The program model and all tables that are made of it, each when it is asked for or as it was kept.

    Properties raise ProgramError where the captured IR is not understood.
    """

    def __init__(self, bitcode: Sequence[Path], allocators: tuple[Allocator, ...]) -> None:
        self._bitcode, self._allocators = bitcode, allocators

    @cached_property
    def program(self) -> Program:
        """The program model of all captured modules."""
        return Program([read_module(canonical_text(bitcode.read_bytes())) for bitcode in self._bitcode])

    @cached_property
    def numbering(self) -> Numbering:
        """The layouts of the program's functions."""
        return Numbering(self.program)

    @cached_property
    def plan(self) -> Plan:
        """The static plan that gives traces their meaning."""
        return make_plan(self.program, self.numbering, numbers())

    @cached_property
    def alter_plan(self) -> AlterPlan:
        """The sites at which a run can be altered."""
        return make_alter_plan(self.program)

    @cached_property
    def declarations(self) -> tuple[Declarations, Sources]:
        """Which variables traces are about, and where pointers to them come from."""
        found = Declarations(self.program, self.plan, self.numbering, self._allocators)
        return found, found.tables()


def program_text(capture: Capture, allocators: tuple[Allocator, ...]) -> ProgramText:
    """The text of a captured program, as it was kept where it was."""
    path = _path(capture, allocators)
    content = unsealed(path.read_bytes()) if path.is_file() else None
    if content is None:
        path.unlink(missing_ok=True)  # it is damaged
        return ProgramText([module.bitcode for module in capture.modules], allocators)
    with collector_off():
        found: ProgramText = pickle.loads(zlib.decompress(content))
    return found


def keep(text: ProgramText, capture: Capture, allocators: tuple[Allocator, ...]) -> None:
    """Keep all of a program's text for the next command, unless it is kept; where there is no room, nothing is."""
    path = _path(capture, allocators)
    if path.is_file():
        return
    for name in PARTS:
        getattr(text, name)  # what is not asked for is not made
    with suppress(OSError):
        Store().write(str(path), sealed(zlib.compress(pickle.dumps(text, pickle.HIGHEST_PROTOCOL), LEVEL)))


def _path(capture: Capture, allocators: Sequence[Allocator]) -> Path:
    """Where a program's text is kept: by the code that makes it, and all that this is made of."""
    digest = hashlib.sha256(f"{_version()} {allocators}".encode())
    for module in capture.modules:
        digest.update(f" {module.hash}".encode())
    return Path(Store().path(KIND, digest.hexdigest(), ".text"))


@cache
def _version() -> str:
    """What tells the code that makes a text, and the libraries that read it back, from others."""
    digest = hashlib.sha256(f"{probes_version()} {platform.python_version()} {np.__version__}".encode())
    for path in sorted([*Path(reader.__file__).parent.glob("*.py"), Path(__file__)]):
        digest.update(path.read_bytes())
    return digest.hexdigest()
