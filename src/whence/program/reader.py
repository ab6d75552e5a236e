"""Reads a module of IR from the canonical text that LLVM prints, losing nothing.

Canonical text has one construct a line: instructions are indented by two spaces, debug records by four,
continuations by ten, and a ``switch`` ends with ``  ]``. So the reader goes by lines, keeps every line as it
is, and looks inside those that matter.
"""

from __future__ import annotations

import re

from whence.errors import ProgramError
from whence.program.collector import collector_off
from whence.program.instructions import InstructionReader
from whence.program.locations import Locations, unescape
from whence.program.model import Block, Declaration, Function, Instruction, Location, Module
from whence.program.syntax import NAME, Unreadable, closing, parse_formals, skip_to_type, type_end

_ATTACHMENTS = re.compile(r"[-\w$.\\]+ !\d+(?:, ![-\w$.\\]+ !\d+)*")
_TRAILING_ATTACHMENTS = re.compile(r"(?:, ![-\w$.\\]+ !\d+)+$")
_DEBUG = re.compile(r"!dbg !(\d+)")
_HEADER_LABEL = re.compile(r'("[^"]*"|[-\w$.]+):')
_COMPILE_UNIT = re.compile(r"!DICompileUnit\(.*?\bfile: !(\d+)")
_NUMBERED_FORMAL = re.compile(r"%\d+")
_TARGET = re.compile(r'target (datalayout|triple) = "([^"]*)"')


def read_module(text: str) -> Module:
    """Read canonical LLVM IR, as ``str(llvmlite.binding.parse_assembly(...))`` prints it.

    Raises ProgramError, naming the line, where the text is not understood.
    """
    with collector_off():
        return _ModuleReader(text).read()


class _ModuleReader:
    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.module = Module("", "")
        self.locations = Locations(self.module.metadata)
        self.instructions = InstructionReader(self.module.types)
        self.at = 0  # index of the line being read

    def read(self) -> Module:
        """The whole module; ProgramError where the text is not understood."""
        self._read_metadata()
        try:
            while self.at < len(self.lines):
                self._read_top_level(self.lines[self.at])
                self.at += 1
        except (Unreadable, ValueError, IndexError) as error:  # the latter two: a part of the line is missing
            line = self.lines[min(self.at, len(self.lines) - 1)].strip()
            raise ProgramError(f"{self.module.name}: IR line {self.at + 1}: {error}: {line}") from error
        self._name_source()
        return self.module

    def _read_metadata(self) -> None:
        """Metadata stands at the end, but the instructions refer to it."""
        metadata = self.module.metadata
        for line in self.lines:
            if line.startswith("!") and line[1:2].isdigit():
                number, _, body = line.partition(" = ")
                metadata[int(number[1:])] = body

    def _read_top_level(self, line: str) -> None:
        module = self.module
        if line.startswith("define "):
            function = self._read_function(line)
            module.functions[function.name] = function
            module.chunks.append(function)
            return
        module.chunks.append(line)
        if line.startswith("@"):
            name, _, rest = line[1:].partition(" = ") if line[1] != '"' else _quoted_name(line[1:])
            module.globals[name] = rest
        elif line.startswith("%"):
            name, _, body = line.partition(" = type ")
            module.types[name] = body
        elif line.startswith("declare "):
            declaration = _read_declaration(line)
            module.declarations[declaration.name] = declaration
        elif line.startswith("; ModuleID = '"):
            module.name = line[14:-1]
        elif match := _TARGET.fullmatch(line):
            setattr(module, match[1], match[2])
        elif line.startswith("source_filename = "):
            module.source = unescape(line[19:-1])

    def _name_source(self) -> None:
        for text in self.module.metadata.values():
            if match := _COMPILE_UNIT.search(text):
                self.module.source = self.locations.file(int(match[1])) or self.module.source
                return

    def _read_function(self, header: str) -> Function:
        return_type, name, formals, rest = _read_signature(header, len("define "))
        parameters, variadic = parse_formals(formals)
        subprogram = _DEBUG.search(rest)
        internal = header.startswith(("define internal ", "define private "))
        number = int(subprogram[1]) if subprogram else None
        function = Function(name, header, return_type, parameters, variadic, internal, number)
        self._read_blocks(function)
        return function

    def _read_blocks(self, function: Function) -> None:
        lines = self.lines
        numbered = sum(1 for p in function.parameters if _NUMBERED_FORMAL.fullmatch(p.text))
        block = Block(str(numbered), "")
        index = 0
        while True:
            self.at += 1
            line = lines[self.at]
            if line.startswith("  "):
                if line.startswith("    #dbg_"):  # a debug record: kept, not an instruction
                    block.lines.append(line)
                    continue
                block.positions.append(len(block.lines))
                instruction = self._read_instruction(self._gather(block, line))
                instruction.index = index
                index += 1
                block.instructions.append(instruction)
            elif match := _HEADER_LABEL.match(line):
                block = Block(match[1], line)
                function.blocks.append(block)
            elif line == "}":
                break
            elif line:
                raise Unreadable("an instruction or a label is expected")
            if not function.blocks:
                function.blocks.append(block)

    def _gather(self, block: Block, line: str) -> str:
        """The instruction's text, which may go on over the lines that follow; all are kept in the block."""
        lines = self.lines
        first = self.at
        if line[-1] == "[" and line.lstrip().startswith("switch "):
            while not lines[self.at].startswith("  ]"):
                self.at += 1
        while lines[self.at + 1].startswith("          "):
            self.at += 1
        if self.at == first:
            block.lines.append(line)
            return line[2:]
        whole = lines[first : self.at + 1]
        block.lines.extend(whole)
        return "\n".join(whole)[2:]

    def _read_instruction(self, text: str) -> Instruction:
        body, location = text, None
        head, separator, tail = text.partition(", !")
        if separator:
            if not _ATTACHMENTS.fullmatch(tail):  # ", !" stands in a string, too
                match = _TRAILING_ATTACHMENTS.search(text)
                head, tail = (text[: match.start()], match[0][3:]) if match else (text, "")
            body, location = head, self._location(tail)
        instruction = self.instructions.read(body)
        instruction.text = text
        instruction.location = location
        return instruction

    def _location(self, attachments: str) -> Location | None:
        if not attachments.startswith("dbg !"):
            match = _DEBUG.search("!" + attachments)
            return self.locations.at(match[1]) if match else None
        number, _, _ = attachments[5:].partition(",")
        return self.locations.at(number)


def _quoted_name(line: str) -> tuple[str, str, str]:
    end = line.index('"', 1) + 1
    return line[:end], " = ", line[end + 3 :]


def _read_signature(line: str, start: int) -> tuple[str, str, str, str]:
    """Return type, name, the text between the parentheses, and the text behind them."""
    while line.startswith("!", start):  # a declaration's attachments come first
        start = line.index(" ", line.index(" ", start) + 1) + 1
    start = skip_to_type(line, start)
    end = type_end(line, start)
    name = NAME.match(line, end + 1)
    if name is None:
        raise Unreadable("a function's name is expected")
    close = closing(line, name.end())
    return line[start:end], name[0][1:], line[name.end() + 1 : close - 1], line[close:]


def _read_declaration(line: str) -> Declaration:
    return_type, name, formals, _ = _read_signature(line, len("declare "))
    parameters, variadic = parse_formals(formals)
    return Declaration(name, line, return_type, parameters, variadic)
