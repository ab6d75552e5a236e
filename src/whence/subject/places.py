"""Which statement each instruction of a program belongs to.

A statement is a source line. Two kinds of code bear a line that nobody wrote a statement on: what takes a function's
result to its caller, and the jumps at the end of a block; the compiler gives both the place of a closing brace. The
source text tells, where it can be read; debug information tells by a checksum whether it is still what was compiled.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whence.findings import Statement
from whence.program.locations import checksums, is_as_compiled
from whence.program.model import Block, Function, Instruction, Location
from whence.program.program import Program


class Places:
    """The statements of one program, with files relative to ``folder`` where they lie there."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program, self.folder = program, folder
        self._names: dict[str, str] = {}
        self._texts: dict[str, list[bytes]] = {}

    @cached_property
    def statements(self) -> list[Statement]:
        """All statements, in order of file and line."""
        return self._numbered[0]

    @cached_property
    def numbers(self) -> NDArray[np.int32]:
        """For each instruction of the program its statement, as an index of ``statements``; -1: none."""
        return self._numbered[1]

    @cached_property
    def _numbered(self) -> tuple[list[Statement], NDArray[np.int32]]:
        keys: dict[tuple[str, int], int] = {}
        of_instruction = [keys.setdefault(k, len(keys)) if k else -1 for k in self._keys()]
        order = sorted(keys)
        rank = np.empty(len(keys) + 1, np.int32)
        rank[[keys[key] for key in order]] = np.arange(len(keys))
        rank[-1] = -1
        return [Statement(*key) for key in order], rank[np.array(of_instruction, np.int64)]

    def _keys(self) -> list[tuple[str, int] | None]:
        return [
            self._key(ref.function, block, instruction)
            for ref in self.program.functions
            for block in ref.function.blocks
            for instruction in block.instructions
        ]

    def _key(self, function: Function, block: Block, instruction: Instruction) -> tuple[str, int] | None:
        location = instruction.location
        if location is None or location.line == 0 or not is_statement(block, instruction):
            return None
        if self._is_brace(location):
            location = _of_condition(function, block, instruction)
        return (self.name(location.file), location.line) if location else None

    def name(self, file: str) -> str:
        """A source file as results name it: relative to the folder where it lies there."""
        if file not in self._names:
            path = os.path.normpath(file)
            inside = Path(path).is_relative_to(self.folder)
            self._names[file] = str(Path(path).relative_to(self.folder)) if inside else path
        return self._names[file]

    def _is_brace(self, location: Location) -> bool:
        """Whether the place is a closing brace in the source."""
        if location.file not in self._texts:
            try:
                self._texts[location.file] = Path(location.file).read_bytes().split(b"\n")
            except OSError:
                self._texts[location.file] = []
        lines = self._texts[location.file]
        if location.line > len(lines):
            return False
        return lines[location.line - 1][location.column - 1 : location.column] == b"}"

    def changed_files(self) -> list[str]:
        """Names of the source files that are not what was compiled any more, or that are gone."""
        compiled = self._checksums().items()
        return sorted({self.name(file) for file, checksum in compiled if not is_as_compiled(file, checksum)})

    def modules_with(self, file: Path) -> list[int]:
        """The modules, by number, whose debug information names a file: those of which it is a part."""
        names = ({os.path.normpath(name) for name in checksums(m.metadata)} for m in self.program.modules)
        return [number for number, files in enumerate(names) if str(file) in files]

    def _checksums(self) -> dict[str, str]:
        """The MD5 of each source file of a statement, as far as debug information has it."""
        used = {s.file for s in self.statements}
        found = (pair for module in self.program.modules for pair in checksums(module.metadata).items())
        return {file: checksum for file, checksum in found if self.name(file) in used}


def _of_condition(function: Function, block: Block, instruction: Instruction) -> Location | None:
    """Where the condition of a branch is computed: the compiler puts the test of a ``do`` loop on its closing brace.

    What ``&&`` and ``||`` give has no line: the last operand has.
    """
    if instruction.opcode != "br" or not instruction.operands:
        return None
    condition = instruction.operands[0].text
    computed = next((i for i in block.instructions if i.result == condition), None)
    if computed is None or computed.opcode != "phi":
        return computed.location if computed else None
    named = {operand.text for operand in computed.operands}
    places = (i.location for b in function.blocks for i in b.instructions if i.result in named)
    return next((at for at in reversed(list(places)) if at is not None and at.line > 0), None)


def is_statement(block: Block, instruction: Instruction) -> bool:
    """Whether an instruction belongs to a statement that a user wrote, and not to the way out of a function."""
    if instruction.opcode == "load":
        return instruction.operands[0].text != "%retval"
    if instruction.opcode != "ret":
        return True
    if not instruction.operands:
        return False
    value = instruction.operands[0].text
    return not any(i.result == value and not is_statement(block, i) for i in block.instructions)
