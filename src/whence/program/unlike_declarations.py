"""What one module of a program declares otherwise than another one defines it: no compiler sees both.

A linker knows names alone. An array that is declared where a pointer is defined, or the other way round, an `int` for a
`long`, a function that is called without a declaration and gives a pointer: the bytes are taken for something else.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from whence.program.model import Module
from whence.program.program import Program
from whence.program.syntax import type_end
from whence.program.types import known_size_of

OWN = ("internal ", "private ")  # linkages of what no other module can mean
# What a function gives, by the type of its result; others are passed on in one way.
RESULTS = {"i32": "32 bits", "i64": "64 bits", "ptr": "a pointer", "float": "a float", "double": "a double"}
_TYPE = re.compile(r"\b(?:global|constant) ")
_ARRAY = re.compile(r"\[(\d+) x (.*)\]", re.DOTALL)


class Unlike(NamedTuple):
    """A name, and what it is where it is declared and where it is defined: the files, and each in words."""

    name: str
    declared_in: str
    declared: str
    defined_in: str
    defined: str

    def text(self, folder: Path) -> str:
        """One sentence."""
        here, there = (os.path.relpath(file, folder) for file in (self.declared_in, self.defined_in))
        return f"`{self.name}` is declared as {self.declared} in {here}, but defined as {self.defined} in {there}"


def unlike_declarations(program: Program) -> list[Unlike]:
    """The variables and functions that a module declares otherwise than another one defines them, by name."""
    return sorted({*_variables(program), *_functions(program)})


def _variables(program: Program) -> list[Unlike]:
    defined: dict[str, Module] = {}
    for module in program.modules:
        for name, text in module.globals.items():
            if not text.startswith((*OWN, "external ", "extern_weak ")):
                defined.setdefault(name, module)
    found = []
    for module in program.modules:
        for name, text in module.globals.items():
            home = defined.get(name, module)
            if home is not module and not text.startswith(OWN):
                one, other = _type(text), _type(home.globals[name])
                if _differ(one, module, other, home):
                    words = _variable(one, module), module.source, _variable(other, home), home.source
                    found.append(Unlike(name, words[1], words[0], words[3], words[2]))
    return found


def _type(text: str) -> str:
    """The type of a variable from the text behind its name; empty: it is not known."""
    found = _TYPE.search(text)
    return text[found.end() : type_end(text, found.end())] if found else ""


def _differ(declared: str, one: Module, defined: str, other: Module) -> bool:
    """Whether two types have different bytes, as far as that is known."""
    if not declared or not defined:
        return False
    arrays = _ARRAY.fullmatch(declared), _ARRAY.fullmatch(defined)
    if arrays[0] and arrays[1]:
        is_longer = int(arrays[0][1]) > int(arrays[1][1]) > 0
        return _differ(arrays[0][2], one, arrays[1][2], other) or is_longer
    if any(arrays) and "ptr" in (declared, defined):
        return True
    sizes = known_size_of(declared, one), known_size_of(defined, other)
    if arrays[0] and int(arrays[0][1]) == 0:
        return False  # of one variable that holds others
    return 0 not in sizes and sizes[0] != sizes[1]


def _variable(text: str, module: Module) -> str:
    """A type in words."""
    if text == "ptr":
        return "a pointer"
    if array := _ARRAY.fullmatch(text):
        number = f"{int(array[1]):,} " if int(array[1]) else ""
        return f"an array of {number}elements of {_bytes(known_size_of(array[2], module))}"
    kind = "a structure" if text.startswith(("%", "{")) else "a number"
    return f"{kind} of {_bytes(known_size_of(text, module))}"


def _bytes(number: int) -> str:
    return f"{number:,} byte" if number == 1 else f"{number:,} bytes"


def _functions(program: Program) -> list[Unlike]:
    """Functions whose result is taken for something else, as that of one that is called without a declaration."""
    defined = {f.name: (f, m) for m in program.modules for f in m.functions.values() if not f.internal}
    found = []
    for module in program.modules:
        for name, declaration in module.declarations.items():
            function, home = defined.get(name, (None, module))
            if function is None:
                continue
            here, there = RESULTS.get(declaration.return_type), RESULTS.get(function.return_type)
            if here and there and here != there:
                words = f"a function that gives {here}", f"one that gives {there}"
                found.append(Unlike(name, module.source, words[0], home.source, words[1]))
    return found
