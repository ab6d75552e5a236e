"""The program with its source edited, as the run that a failing run is compared with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from whence.build.edited import Rebuild
from whence.build.scratch import scratch
from whence.probe.instrument import Variant
from whence.subject.subject import of_capture
from whence.techniques.chains.reference import Kind, Reference

if TYPE_CHECKING:
    from whence.findings import Statement
    from whence.subject.subject import Subject


def edited_program(subject: Subject, at: Statement, text: bytes, words: str) -> Reference:
    """The program whose file that ``at`` names has this ``text``, built; ``words`` say what was edited there.

    Raises DoesNotCompile where the compiler refuses it, BuildError where it cannot be built any more.
    """
    folder = scratch("edited-reference")
    rebuild = Rebuild(subject.capture, Path(folder.name), subject.places.modules_with)
    found = of_capture(subject, rebuild.capture(subject.folder / at.file, text, "edited"))
    found.variant(Variant.REPLAY)
    return Reference(
        Kind.EDIT, f"the program with {words} on line {at.line}", statement=at, version=found, made_in=folder
    )
