"""Variables of two versions of a program that correspond, by the numbers under which a pass over a trace knows them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator

import numpy as np
from numpy.typing import NDArray

from whence.probe.pointers import Declarations
from whence.program.correspondence import NONE, Correspondence
from whence.program.debug import describe
from whence.program.program import FunctionRef, Program

Integers = NDArray[np.int64]
EXTERNAL = -2
_DEBUG = re.compile(r", !dbg !\d+")


def matched_statics(correspondence: Correspondence, first: Declarations, second: Declarations) -> Integers:
    """For each static variable of the first version the one of the second, NONE where there is none.

    They correspond by name and size, those that one module alone knows in matched modules. Constants without a name
    correspond by their text.
    """
    own = np.arange(len(correspondence.second.modules))
    theirs = {key: number for number, key in enumerate(_static_keys(correspondence.second, second, own))}
    mine = _static_keys(correspondence.first, first, correspondence.modules)
    return np.array([NONE if key is None else theirs.get(key, NONE) for key in mine], np.int64)


def _static_keys(program: Program, declared: Declarations, modules: Integers) -> Iterator[Hashable]:
    """What tells each static variable from the others; of equal constants in a module their order. None: no partner."""
    times: Counter[Hashable] = Counter()
    for item, size in zip(declared.statics, declared.static_sizes, strict=True):
        name = item.register[1:]
        text = _DEBUG.sub("", program.modules[item.module].globals[name])
        home = int(modules[item.module]) if text.startswith(("internal ", "private ")) else EXTERNAL
        key: Hashable = (home, text) if text.startswith("private ") else (home, name, size)
        yield (key, times[key]) if home != NONE else None
        times[key] += 1


def matched_locals(correspondence: Correspondence, first: Declarations, second: Declarations) -> Integers:
    """For each local whose address is recorded in the first version the one of the second, NONE where there is none.

    They correspond where their declarations, or the parameters that they are, do, and name and size agree.
    """
    theirs = {key: number for number, key in enumerate(_local_keys(correspondence.second, second))}
    found = []
    for function, place, name, size in _local_keys(correspondence.first, first):
        other = int(correspondence.functions[function])
        if place >= 0:
            place = int(correspondence.instructions[place])
        found.append(theirs.get((other, place, name, size), NONE))
    return np.array(found, np.int64)


def _local_keys(program: Program, declared: Declarations) -> Iterator[tuple[int, int, str, int]]:
    """For each local its function, its instruction (of a parameter a number below NONE), its name and its size."""
    infos = describe(program.modules)
    places: dict[int, dict[str, int]] = {}
    for item, size in zip(declared.locals, declared.local_sizes, strict=True):
        if item.function not in places:
            places[item.function] = _places(program.functions[item.function])
        variable = infos[item.module].variable_at(program.functions[item.function].function, item.register)
        name = variable.name if variable is not None else ""
        yield item.function, places[item.function][item.register], name, size


def _places(ref: FunctionRef) -> dict[str, int]:
    """What tells a function's locals: where each is made, or which parameter it is."""
    made = (i for i in ref.function.instructions() if i.opcode == "alloca" and i.result)
    parameters = {parameter.text: NONE - 1 - number for number, parameter in enumerate(ref.function.parameters)}
    return parameters | {i.result or "": ref.first_instruction + i.index for i in made}
