"""Allocators of the program's own, as the configuration names them: which arguments are sizes, counts and blocks.

``pool_alloc(pool, size)`` makes a block of so many bytes, ``pool_array(count, size)`` of so many elements,
``pool_free(pool, pointer)`` gives one back, and ``pool_resize(pointer, size)`` does both. Arguments of other names mean
nothing. What these functions do inside is not looked at: there a pool is cut up, and blocks that are gone are lists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NOTHING = -1
SIGNATURE = re.compile(r"\s*(\w+)\s*\(([^()]*)\)")


@dataclass(slots=True, frozen=True)
class Allocator:
    """One function: the numbers of its arguments from 0, NOTHING for what it has not."""

    name: str
    size: int = NOTHING
    count: int = NOTHING
    pointer: int = NOTHING


def parse_allocators(text: str) -> tuple[Allocator, ...]:
    """The allocators that a text such as ``pool_alloc(size) pool_free(pointer)`` names.

    Raises ValueError, with what was expected, where it cannot be read.
    """
    if SIGNATURE.sub("", text).strip():
        raise ValueError('functions with their arguments, such as "pool_alloc(size) pool_free(pointer)"')
    return tuple(_allocator(name, arguments) for name, arguments in SIGNATURE.findall(text))


def _allocator(name: str, arguments: str) -> Allocator:
    names = [argument.strip() for argument in arguments.split(",")]
    known = {word: names.index(word) for word in ("size", "count", "pointer") if word in names}
    if not known.keys() & {"size", "pointer"}:
        raise ValueError(f"an argument of {name} called size or pointer")
    return Allocator(name, **known)
