"""Sizes, alignments and member offsets of LLVM types in the data layouts of x86-64 and AArch64 (64-bit
pointers).

The *store size* is the number of bytes that a load or store touches, the *alloc size* the distance between
neighbours in an array: ``x86_fp80`` stores 10 bytes and takes 16. Answers are kept in the module's
``layouts``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from whence.errors import ProgramError
from whence.program.model import Module
from whence.program.syntax import struct_members

_SCALARS = {  # store size, alloc size, alignment
    "ptr": (8, 8, 8),
    "half": (2, 2, 2),
    "bfloat": (2, 2, 2),
    "float": (4, 4, 4),
    "double": (8, 8, 8),
    "x86_fp80": (10, 16, 16),
    "fp128": (16, 16, 16),
    "ppc_fp128": (16, 16, 16),
    "void": (0, 0, 1),
}
_INTEGER = re.compile(r"i(\d+)")
_SEQUENCE = re.compile(r"[\[<](\d+) x (.*)[\]>]", re.DOTALL)

Layout = tuple[int, int, int]


def size_of(type_text: str, module: Module) -> int:
    """Store size in bytes; 0 for void. Raises ProgramError for a type without a known size."""
    return layout(type_text, module)[0]


def alloc_size_of(type_text: str, module: Module) -> int:
    """Size in bytes with the padding that keeps array elements aligned."""
    return layout(type_text, module)[1]


def known_size_of(type_text: str, module: Module) -> int:
    """``alloc_size_of``; 0 for a type without a known size."""
    try:
        return alloc_size_of(type_text, module)
    except ProgramError:
        return 0


def alignment_of(type_text: str, module: Module) -> int:
    """The ABI alignment in bytes."""
    return layout(type_text, module)[2]


def layout(type_text: str, module: Module) -> Layout:
    """Store size, alloc size and alignment in bytes."""
    found = module.layouts.get(type_text)
    if found is None:
        found = module.layouts[type_text] = _layout(type_text, module)
    return found


def members(type_text: str, module: Module) -> tuple[tuple[str, ...], bool]:
    """The member types of a struct type, and whether it is packed; ProgramError for any other type."""
    body = module.types.get(type_text, type_text)
    found = struct_members(body)
    if found is None:
        raise ProgramError(f"{module.name}: {type_text} is not a struct")
    return found, body.startswith("<")


def member_offset(type_text: str, index: int, module: Module) -> int:
    """Offset in bytes of member ``index`` of a struct type."""
    types, packed = members(type_text, module)
    offset = 0
    for number, member in enumerate(types):
        _, size, alignment = layout(member, module)
        offset = offset if packed else _round_up(offset, alignment)
        if number == index:
            return offset
        offset += size
    raise ProgramError(f"{module.name}: {type_text} has no member {index}")


def offset_of(type_text: str, indices: Sequence[str], module: Module) -> int | None:
    """Bytes that a ``getelementptr`` with these indices adds to its base; None where one of them is no constant.

    ``type_text`` is what the base points to. Raises ProgramError for a type without a known size.
    """
    if not all(re.fullmatch(r"-?\d+", index) for index in indices):
        return None
    offset = int(indices[0]) * alloc_size_of(type_text, module)
    for index in map(int, indices[1:]):
        body = module.types.get(type_text, type_text)
        if (fields := struct_members(body)) is not None:
            offset += member_offset(type_text, index, module)
            type_text = fields[index]
        elif (match := _SEQUENCE.fullmatch(body)) and body[0] == "[":
            type_text = match[2]
            offset += index * alloc_size_of(type_text, module)
        else:
            return None
    return offset


def holds_array(type_text: str, module: Module) -> bool:
    """Whether a type is an array, or a struct with one in it."""
    body = module.types.get(type_text, type_text)
    if body.startswith("["):
        return True
    return any(holds_array(member, module) for member in struct_members(body) or ())


def _layout(text: str, module: Module) -> Layout:
    if text in _SCALARS:
        return _SCALARS[text]
    if text.startswith("ptr "):
        return _SCALARS["ptr"]
    if match := _INTEGER.fullmatch(text):
        return _integer(int(match[1]))
    if text.startswith(("{", "<{")) or text in module.types:
        return _struct(text, module)
    if match := _SEQUENCE.fullmatch(text):
        return _sequence(text[0] == "<", int(match[1]), match[2], module)
    raise ProgramError(f"{module.name}: the size of type {text} is not known")


def _integer(bits: int) -> Layout:
    """Odd widths (``_BitInt``) take the alignment of the next larger power of two, 16 at most."""
    store = (bits + 7) // 8
    alignment = min(1 << (store - 1).bit_length(), 16)
    return store, _round_up(store, alignment), alignment


def _struct(text: str, module: Module) -> Layout:
    types, packed = members(text, module)
    offset, widest = 0, 1
    for member in types:
        _, size, alignment = layout(member, module)
        alignment = 1 if packed else alignment
        offset = _round_up(offset, alignment) + size
        widest = max(widest, alignment)
    size = _round_up(offset, widest)
    return size, size, widest


def _sequence(vector: bool, count: int, element: str, module: Module) -> Layout:
    store, size, alignment = layout(element, module)
    if not vector:
        return count * size, count * size, alignment
    match = _INTEGER.fullmatch(element)
    bits = count * (int(match[1]) if match else 8 * store)
    packed = (bits + 7) // 8
    alignment = 1 << max(packed - 1, 0).bit_length()
    return packed, _round_up(packed, alignment), alignment


def _round_up(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment
