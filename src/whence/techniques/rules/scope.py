"""Which frame variables of a function can be named at a place in the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence.probe.sites import Finder
from whence.program.debug import DebugInfo, Variable
from whence.program.model import Location
from whence.program.program import FunctionRef

if TYPE_CHECKING:
    from whence.subject.subject import Subject


class Scopes:
    """The named frame variables of a subject's functions, by their slots (as AlterPlan numbers them)."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._finders: dict[int, Finder] = {}
        self._variables: dict[int, list[Variable | None]] = {}
        self._around: dict[tuple[int, int], frozenset[int]] = {}

    def visible(self, ref: FunctionRef, location: Location) -> list[int]:
        """The slots of variables that are declared above a place in a function, and whose scope holds it."""
        debug = self._subject.expressions[ref.module].debug
        around = self._enclosing(ref.module, debug, location.scope)
        return [
            slot for slot, variable in enumerate(self._of(ref)) if variable and _is_seen(variable, location, around)
        ]

    def are_alike(self, ref: FunctionRef, one: int, other: int) -> bool:
        """Whether two variables of a function have the same type."""
        variables = self._of(ref)
        types = [variable.type for at in (one, other) if (variable := variables[at])]
        return len(types) == 2 and all(types) and len({t.spelling for t in types if t}) == 1

    def _of(self, ref: FunctionRef) -> list[Variable | None]:
        """The variable in each slot of a function; None for what the compiler made up."""
        if ref.id not in self._variables:
            if ref.module not in self._finders:
                self._finders[ref.module] = Finder(self._subject.program.modules[ref.module])
            debug = self._subject.expressions[ref.module].debug
            found = [debug.variable_at(ref.function, s.pointer) for s in self._finders[ref.module].frame(ref.function)]
            self._variables[ref.id] = [v if v and v.name and not (v.artificial or v.indirect) else None for v in found]
        return self._variables[ref.id]

    def _enclosing(self, module: int, debug: DebugInfo, scope: int) -> frozenset[int]:
        """The metadata numbers of a scope and of those around it."""
        if (module, scope) not in self._around:
            found, number = set(), scope
            while number >= 0 and number not in found:
                found.add(number)
                parent = debug.node(str(number))[1].get("scope", "")
                number = int(parent[1:]) if parent.startswith("!") else -1
            self._around[module, scope] = frozenset(found)
        return self._around[module, scope]


def _is_seen(variable: Variable, location: Location, around: frozenset[int]) -> bool:
    if variable.register.startswith("@"):  # a global, or a static local
        return variable.scope not in around or variable.line <= location.line
    return variable.scope in around and variable.line <= location.line
