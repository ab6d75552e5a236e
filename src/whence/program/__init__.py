"""The static view of a captured program: IR reader, CFG, control dependence, debug information.

``read_module`` makes a ``Module`` from canonical IR, ``Program`` numbers the modules of an executable, and
``print_module`` gives the text back. ``cfg`` has control dependence, ``types`` the sizes of LLVM types,
``debug`` the C types and variables, ``expression`` what an instruction does, in C.
"""

from whence.program.model import Block, Function, Instruction, Location, Module, Operand
from whence.program.printer import print_module
from whence.program.program import FunctionRef, Program
from whence.program.reader import read_module

__all__ = [
    "Block",
    "Function",
    "FunctionRef",
    "Instruction",
    "Location",
    "Module",
    "Operand",
    "Program",
    "print_module",
    "read_module",
]
