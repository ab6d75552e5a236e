"""IR as text: LLVM's own printing is the canonical form that is read, rewritten and verified."""

from __future__ import annotations

import re
from typing import Any

from whence.errors import ProgramError

ALWAYS = "alwaysinline"
CALLED = "#3000000"  # how the attribute groups begin that functions get which are called after all
_GROUP = re.compile(rf"^attributes #(\d+) = \{{(.*) {ALWAYS} (.*)\}}$", re.MULTILINE)
_FUNCTION = re.compile(r"^define (.*?)^\}$", re.MULTILINE | re.DOTALL)
_REFERENCE = re.compile(r" #(\d+)(?= )")
# What takes the caller: a definition for inlining alone, assembly whose operands are constants then, vectors that its
# caller's target has registers for, and the question whether an argument is a constant.
_INLINED_ALONE = re.compile(r"^define available_externally|\basm\b|<\d+ x |@llvm\.is\.constant")


def canonical_text(bitcode: bytes) -> str:
    """The IR of a module as LLVM prints it; older IR is upgraded. Raises ``ProgramError`` if LLVM cannot read
    it.

    Functions that are always to be inlined are called as all others, where they can be: many copies of a function are
    slow to compile, and tell of one line at many places. The others are inlined.
    """
    import llvmlite.binding as llvm

    try:
        text = str(llvm.parse_bitcode(bitcode, llvm.create_context()))
    except RuntimeError as error:
        raise ProgramError(f"LLVM cannot read the captured IR: {_first_line(error)}") from error
    return _inlined(_called(text)) if ALWAYS in text else text


def _called(text: str) -> str:
    """The text in which functions that are always to be inlined are not, where they can be called."""
    groups = {number: f"{before} {behind}" for number, before, behind in _GROUP.findall(text)}

    def freed(function: re.Match[str]) -> str:
        head, line, body = function[0].partition("\n")
        reference = _REFERENCE.search(head)
        if reference is None or reference[1] not in groups or _INLINED_ALONE.search(function[0]):
            return function[0]
        return f"{head[: reference.start()]} {CALLED}{reference[1]}{head[reference.end() :]}{line}{body}"

    added = (f"attributes {CALLED}{number} = {{{words}}}\n" for number, words in groups.items())
    return _FUNCTION.sub(freed, text) + "".join(added)


def _inlined(text: str) -> str:
    """The text, as LLVM prints it, in which what is always to be inlined is."""
    import llvmlite.binding as llvm

    module = parse(text)
    if re.search(rf"^attributes #\d+ = \{{.* {ALWAYS} ", str(module), re.MULTILINE):
        llvm.initialize_native_target()
        machine = llvm.Target.from_triple(module.triple).create_target_machine()
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))
    return str(module)


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
