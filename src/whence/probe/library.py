"""What Whence knows about functions of the C library, read from ``runtime/library/table.h``.

The same file gives the wrappers in ``runtime/library`` their numbers, so the two sides cannot disagree. A
function that is not in the table is unknown: its result and all memory that it could reach depend on all its
arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

DEFINITIONS = Path(__file__).with_name("runtime") / "library" / "table.h"
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(r"(WRAPPED|PURE|SAME)\((\w+)((?:, *[\w=]+)*)\)")


@dataclass(slots=True, frozen=True)
class LibraryFunction:
    """One function; argument numbers count from 0, -1 where there is none.

    ``number`` is the id of its effect records; names that mean the same function share it. ``wrapped``: calls
    go to a wrapper, which writes effect records. ``pure``: the result depends on the arguments alone, and no
    memory of the program is touched.
    """

    name: str
    number: int
    wrapped: bool
    pure: bool
    returns: int = -1  # the argument that is also the result
    format: int = -1  # the argument that is a printf format
    scan: int = -1  # the argument that is a scanf format
    may_block: bool = False
    prints: bool = False  # puts bytes out
    noreturn: bool = False
    glibc_only: bool = False


def _properties(text: str) -> dict[str, int | bool]:
    """The fields that follow a name: ``, returns=0, blocks`` gives ``{"returns": 0, "may_block": True}``."""
    flags = {"blocks": "may_block", "prints": "prints", "noreturn": "noreturn", "glibc": "glibc_only"}
    found: dict[str, int | bool] = {}
    for word in filter(None, re.split(r", *", text)):
        key, _, value = word.partition("=")
        if value:
            found[key] = int(value)
        else:
            found[flags[key]] = True
    return found


def _parse(text: str) -> Iterator[LibraryFunction]:
    """The functions of a definition file, in order."""
    by_name: dict[str, LibraryFunction] = {}
    number = 0
    for treatment, name, rest in _ENTRY.findall(_COMMENT.sub("", text)):
        if treatment == "SAME":
            function = replace(by_name[rest.lstrip(", ")], name=name)
        else:
            number += 1
            wrapped = treatment == "WRAPPED"
            function = LibraryFunction(name, number, wrapped, not wrapped, **_properties(rest))  # type: ignore[arg-type]
        by_name[name] = function
        yield function


FUNCTIONS: dict[str, LibraryFunction] = {f.name: f for f in _parse(DEFINITIONS.read_text())}


def wrapped(musl: bool = False) -> list[str]:
    """Names of the functions that have a wrapper in the runtime, when it is built for glibc or for musl."""
    return [f.name for f in FUNCTIONS.values() if f.wrapped and not (musl and f.glibc_only)]


def numbers() -> dict[str, int]:
    """Number of every known function by name."""
    return {f.name: f.number for f in FUNCTIONS.values()}


def names() -> dict[int, str]:
    """The first name of every number, for showing effect records."""
    return {f.number: f.name for f in reversed(FUNCTIONS.values())}
