"""Undefined behaviour made defined: a variant does what the plain program does at -O0, however it is optimised.

A faulty program overflows, divides by zero, reads beyond an array, follows a null pointer. An optimiser may assume
that none of it happens, and turn a crash into nonsense. So its licences are taken away, line by line: flags that
promise the absence of overflow, accesses that it could drop, forward or fold, and operands whose value, once known,
would let it fold a trap away.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

_RESULT = r"^\s*(%(?:\"[^\"]*\"|\S+)) = "
_PROMISES = re.compile(
    r"^(\s*%(?:\"[^\"]*\"|\S+) = (?:add|sub|mul|shl|lshr|ashr|sdiv|udiv|or|icmp|trunc|zext|uitofp|getelementptr)) "
    r"(?:(?:nuw|nsw|exact|disjoint|samesign|nneg|inbounds|nusw) )+"
)
_ACCESS = re.compile(r"^(\s*(?:%(?:\"[^\"]*\"|\S+) = )?(?:load|store)) (?!volatile|atomic)")
_DIVISION = re.compile(_RESULT + r"(?:sdiv|udiv|srem|urem) (i8|i16|i32|i64) [^,]+, ([^,\s]+)")
_SHIFT = re.compile(_RESULT + r"(?:shl|lshr|ashr) (i8|i16|i32|i64) [^,]+, (%[^,\s]+)")
_CONVERSION = re.compile(_RESULT + r"fpto[su]i (float|double) (\S+) to")
_INTEGER = {"float": "i32", "double": "i64"}
_ATTRIBUTES = re.compile(r"^attributes #\d+ = \{ ")
_MEMORY = re.compile(r" memory\([^)]*\)(?= )")


def defined(line: str, name: str, private: Container[str] = ()) -> Iterator[str]:
    """The lines that stand for an instruction's line; ``name`` is free in the function for a value of their own.

    ``private`` holds locals ("%x") whose accesses nothing but the function itself can observe.
    """
    text = _PROMISES.sub(r"\1 ", line)
    if found := _DIVISION.match(text):
        # What was recorded before a trap is in the trace by then; and it comes whether or not the result is used.
        yield f'{name} = call {found[2]} asm sideeffect "", "=r,0,~{{memory}}"({found[2]} {found[3]})'
        yield _with_operand(text, found, name)
        yield f'call void asm sideeffect "", "r"({found[2]} {found[1]})'
    elif found := _SHIFT.match(text):
        yield f'{name} = call {found[2]} asm "", "=r,0"({found[2]} {found[3]})'
        yield _with_operand(text, found, name)
    elif found := _CONVERSION.match(text):
        integer = _INTEGER[found[2]]
        yield f"{name}.b = bitcast {found[2]} {found[3]} to {integer}"
        yield f'{name}.o = call {integer} asm "", "=r,0"({integer} {name}.b)'
        yield f"{name} = bitcast {integer} {name}.o to {found[2]}"
        yield _with_operand(text, found, name)
    elif (found := _ACCESS.match(text)) and _pointer(text) not in private:
        yield f"{found[1]} volatile {text[found.end() :]}"
    else:
        yield text


def _with_operand(text: str, found: re.Match[str], name: str) -> str:
    """The line with another operand in the place of group 3."""
    return f"{text[: found.start(3)]}{name}{text[found.end(3) :]}"


def _pointer(access: str) -> str:
    """The pointer operand of a plain load or store, if it is a register."""
    return access.rpartition(", ptr ")[2].partition(",")[0]


def without_promises(line: str) -> str:
    """A module's line outside of functions: its attribute groups do not promise that nothing lies at address 0.

    Neither do they say that functions leave memory alone: probes write to it, and calls count though no result is used.
    """
    if not _ATTRIBUTES.match(line):
        return line
    return _ATTRIBUTES.sub(lambda start: f"{start[0]}null_pointer_is_valid ", _MEMORY.sub("", line))
