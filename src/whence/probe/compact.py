"""What a compact recording holds: of each segment the units that cannot be computed from the others.

A block that others only jump to (no branch decides) and that records nothing else needs no header either: it *follows*
what jumps to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.probe.computed import Computed
from whence.probe.layout import RETURNS_TWICE, starts_threads
from whence.probe.plan import Numbering
from whence.probe.variables import variables
from whence.program.cfg import predecessors, successors
from whence.program.program import Program

INSTALLERS = frozenset({"signal", "sigaction", "bsd_signal", "sysv_signal", "__sysv_signal", "ssignal", "sigset"})
# What can run in the middle of a segment, or changes what operations give: such programs are recorded in full.
DISTURBERS = INSTALLERS | {"makecontext", "swapcontext", "fesetround", "fesetenv", "feupdateenv", "fesetmode"}


@dataclass(slots=True)
class Kept:
    """What a compact recording holds of a segment: ``units`` in all, and where each unit of the layout is (``places``).

    With no units it has no header.
    """

    units: int
    places: dict[int, int]


def can_be_compact(program: Program) -> bool:
    """Whether runs of a program can be recorded compactly: nothing happens in the middle of a segment, and all that a
    frame holds are objects of a known size.
    """
    if starts_threads(program) or any(not DISTURBERS.isdisjoint(module.declarations) for module in program.modules):
        return False
    instructions = (i for ref in program.functions for i in ref.function.instructions())
    return not any(i.opcode == "alloca" and i.operands for i in instructions)


def variable_numbers(program: Program) -> list[dict[str, int]]:
    """For each module the numbers of the static variables that it can name, in the order of ``static_addresses``."""
    own: list[dict[str, int]] = []
    count, external = 0, dict[str, int]()
    for module in program.modules:
        names = variables(module)
        own.append({name: count + place for place, name in enumerate(names)})
        count += len(names)
        external |= {
            name: number
            for name, number in own[-1].items()
            if not module.globals[name].startswith(("internal ", "private "))
        }
    for module, numbers in zip(program.modules, own, strict=True):
        named = (name for name, text in module.globals.items() if _is_elsewhere(text))
        numbers |= {name: external[name] for name in named if name in external}
    return own


def _is_elsewhere(text: str) -> bool:
    return text.startswith("external ") and "thread_local" not in text.partition("global")[0]


def kept_units(computed: Computed) -> list[Kept]:
    """What a compact recording holds of each segment of a function."""
    implied = _without_header(computed)
    kept = []
    for number, segment in enumerate(computed.layout.segments):
        omitted = {unit + k for unit, units, _ in computed.omitted[number] for k in range(units)}
        recorded = [unit for unit in range(1, segment.units) if unit not in omitted]
        if number in implied:
            kept.append(Kept(0, {}))
        else:
            kept.append(Kept(1 + len(recorded), {unit: place for place, unit in enumerate(recorded, 1)}))
    return kept


def _without_header(computed: Computed) -> set[int]:
    """The segments that follow what jumps to their block, and record nothing; no loop is made of such blocks alone."""
    function, layout = computed.function, computed.layout
    graph = successors(function)
    before = predecessors(graph)
    if any(i.callee in RETURNS_TWICE for i in function.instructions() if i.opcode == "call"):
        return set()
    firsts = {s.block: n for n, s in enumerate(layout.segments) if s.first}
    found: dict[int, int] = {}
    for block, number in firsts.items():
        segment = layout.segments[number]
        omitted = sum(units for _, units, _ in computed.omitted[number])
        jumps = all(function.blocks[b].terminator.opcode == "br" and len(graph[b]) == 1 for b in before[block])
        jumps = jumps and not any(function.blocks[b].terminator.operands for b in before[block])
        if before[block] and jumps and segment.units == 1 + omitted and not (segment.entry or segment.assembles):
            found[block] = number
    _break_loops(graph, found)
    return set(found.values())


def _break_loops(graph: list[list[int]], found: dict[int, int]) -> None:
    """Take one block out of each loop that is made of ``found`` blocks alone (each has one successor at most there)."""
    done: set[int] = set()
    for start in list(found):
        way: list[int] = []
        block = start
        while block in found and block not in done:
            done.add(block)
            way.append(block)
            if len(graph[block]) != 1:
                break
            block = graph[block][0]
        if block in way and len(graph[way[-1]]) == 1:
            found.pop(block, None)


def computed_functions(program: Program, numbering: Numbering) -> Iterator[Computed]:
    """What can be computed of each function, in order of number."""
    numbers = variable_numbers(program)
    for ref, layout in zip(program.functions, numbering.layouts, strict=True):
        yield Computed(layout, program.modules[ref.module], numbers[ref.module])


def followers(computed: Computed, kept: list[Kept]) -> Mapping[int, int]:
    """For each segment after which one without a header comes, that one."""
    segments, graph = computed.layout.segments, successors(computed.function)
    firsts = {s.block: n for n, s in enumerate(segments) if s.first}
    found: dict[int, int] = {}
    for number, segment in enumerate(segments):
        ends = number + 1 == len(segments) or segments[number + 1].block != segment.block
        targets = graph[segment.block]
        if ends and len(targets) == 1 and not kept[firsts[targets[0]]].units:
            found[number] = firsts[targets[0]]
    return found
