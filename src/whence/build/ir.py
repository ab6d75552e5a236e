"""IR as text: LLVM's own printing is the canonical form that is read, rewritten and verified."""

from __future__ import annotations

from typing import Any

from whence.errors import ProgramError


def canonical_text(bitcode: bytes) -> str:
    """The IR of a module as LLVM prints it; older IR is upgraded. Raises ``ProgramError`` if LLVM cannot read
    it.
    """
    import llvmlite.binding as llvm

    try:
        return str(llvm.parse_bitcode(bitcode, llvm.create_context()))
    except RuntimeError as error:
        raise ProgramError(f"LLVM cannot read the captured IR: {_first_line(error)}") from error


def global_names(bitcode: bytes) -> tuple[set[str], set[str]]:
    """The functions and variables that a module names without defining them, and those that it defines for others."""
    import llvmlite.binding as llvm

    try:
        module = llvm.parse_bitcode(bitcode, llvm.create_context())
    except RuntimeError as error:
        raise ProgramError(f"LLVM cannot read the captured IR: {_first_line(error)}") from error
    values = [*module.functions, *module.global_variables]
    named = {value.name for value in values if value.is_declaration}
    local = (llvm.Linkage.internal, llvm.Linkage.private)
    return named, {v.name for v in values if not v.is_declaration and v.linkage not in local}


def verify(text: str) -> None:
    """Raise ``ProgramError`` with LLVM's message unless the text is a well-formed module."""
    parse(text)


def parse(text: str) -> Any:
    """The text as a verified llvmlite module; raises ``ProgramError`` with LLVM's message."""
    import llvmlite.binding as llvm

    try:
        module = llvm.parse_assembly(text, llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise ProgramError(f"LLVM refuses the rewritten module: {_first_line(error)}") from error
    return module


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), "no message")
