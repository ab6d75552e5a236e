"""The variables that a checked run's table of objects is of, as the program's text declares them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whence.probe.layout import is_frame_local
from whence.trace import objects

if TYPE_CHECKING:
    from whence.probe.pointers import Declarations
    from whence.program.debug import Variable
    from whence.subject.subject import Subject

TEXT_SHOWN = 24  # characters of a string constant


def declared_variable(
    subject: Subject, declarations: Declarations, kind: int, declared: int
) -> tuple[Variable | None, str]:
    """The variable of an object of the table (its ``kind`` and ``declared``), or words for what has no name."""
    item = declarations.statics[declared] if kind == objects.STATIC else declarations.locals[declared]
    module = subject.program.modules[item.module]
    debug = subject.expressions[item.module].debug
    function = subject.program.functions[item.function].function if item.function >= 0 else None
    register = item.register
    if function is not None and kind == objects.COPIED:
        variable = next((v for v in debug.variables(function) if v.register == register), None)
    else:
        variable = debug.variable_at(function, register)
    if variable is not None:
        return variable, ""
    if function is None:
        text = module.globals[register[1:]]
        literal = re.search(r' c"(.*)\\00"', text)
        return None, f'the text "{literal[1][:TEXT_SHOWN]}"' if literal else f"a constant of {module.name}"
    made = next((i for i in function.instructions() if i.result == register), None)
    name = subject.program.functions[item.function].name
    if made is not None and not is_frame_local(made):
        return None, f"memory that `alloca` gave to `{name}`"
    return None, f"a compound literal or a temporary object of `{name}`"
