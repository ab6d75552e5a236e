"""Names of the variables that live at a point, such that no two are the same.

A name alone means what it means in C there: a local of the innermost call whose braces hold the point, then a static
variable. What such a name hides, or another call has as well, gets more: ``main.i``, ``fact#2.n`` (the second open
call of ``fact``, counted from outside), ``::total``, ``other.c::total``, ``main.i:12`` (declared on line 12). A local
outside of its braces has no name alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whence.subject.live_objects import Frame, LiveObject
    from whence.subject.subject import Subject


def unique_names(variables: Sequence[LiveObject], frames: Sequence[Frame], subject: Subject) -> dict[int, str]:
    """The name of each variable that has one, by its index."""
    innermost = frames[-1]
    several = {frame.ref.id for frame in frames if frame.activation > 1}

    def claim(index: int) -> tuple[int, int]:
        """Who has a right to a name comes first."""
        made = variables[index]
        if made.frame is None:
            return (2, 0) if made.module == innermost.ref.module else (3, 0)
        line = made.variable.line if made.variable is not None else 0
        if not made.in_scope:
            return 5, line
        return (0, -line) if made.frame.number == innermost.number else (4, -made.frame.depth)

    order = sorted((n for n, made in enumerate(variables) if made.name), key=lambda n: (claim(n), n))
    found: dict[int, str] = {}
    taken: set[str] = set()
    for index in order:
        made = variables[index]
        candidates = _of_local(made, several) if made.frame is not None else _of_static(made, subject)
        name = next(candidate for candidate in candidates if candidate not in taken)
        taken.add(name)
        found[index] = name
    return dict(sorted(found.items()))


def _of_local(made: LiveObject, several: set[int]) -> Iterator[str]:
    """The names of a local, the shortest first."""
    assert made.frame is not None
    if made.in_scope:
        yield made.name
    number = f"#{made.frame.activation}" if made.frame.ref.id in several else ""
    yield from _longer(f"{made.frame.function}{number}.{made.name}", made)


def _of_static(made: LiveObject, subject: Subject) -> Iterator[str]:
    """The names of a static variable: one of a function is qualified by it, another by its file."""
    yield made.name
    assert made.variable is not None
    if function := owner(made, subject):
        yield from _longer(f"{function}.{made.name}", made)
        return
    yield f"::{made.name}"
    yield from _longer(f"{Path(made.variable.file).name}::{made.name}", made)


def _longer(name: str, made: LiveObject) -> Iterator[str]:
    yield name
    name += f":{made.variable.line}" if made.variable is not None else ""
    yield name
    number = 1
    while True:
        number += 1
        yield f"{name}({number})"


def owner(made: LiveObject, subject: Subject) -> str:
    """The function that a static variable is declared in; empty: none."""
    assert made.variable is not None
    debug, scope = subject.expressions[made.module].debug, made.variable.scope
    while scope >= 0:
        kind, fields = debug.node(str(scope))
        if kind == "DISubprogram":
            return fields.get("name", "").strip('"')
        outer = fields.get("scope", "") if kind.startswith("DILexicalBlock") else ""
        scope = int(outer[1:]) if outer.startswith("!") else -1
    return ""
