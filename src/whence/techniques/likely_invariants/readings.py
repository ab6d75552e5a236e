"""The values of a recorded run, all at once: one number for each event that has one.

Invariants are checked on traces. Recording a run takes a fifth of the time that observing it in the alter variant
takes, the trace is needed for slices anyway, and its events are the nodes of the dependence graph, so that nothing has
to be mapped. (Whose values are read: loads, stores and returns as in Sahoo et al. 2013, section 3.1.1; beyond the paper
results of calls, arguments, and which way branches went.)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import ACCESSES, ADDRESS_UNITS, NO_SLOT, Kind
from whence.probe.plan import ENTRY, FIRST, Plan
from whence.probe.sites import TYPES, Form
from whence.program.character_classes import class_entries
from whence.trace.columns import Columns, FrameKind, Table
from whence.trace.dependence import last_event, site_of
from whence.trace.kernels import lean
from whence.trace.lazy import lazy_zeros
from whence.trace.shadow import Int

if TYPE_CHECKING:
    from whence.program.model import Function, Instruction
    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

MOST_EVENTS = 1 << 26  # of a run, whose values are read: they take 13 bytes each
_DIRECT = int(FrameKind.DIRECT)
_ARG, _CALL, _RESULT, _RET, _BRANCH = (int(kind) for kind in (Kind.ARG, Kind.CALL, Kind.RESULT, Kind.RET, Kind.BRANCH))
UNKNOWN, NUMBER, NAN = 0, 1, 2
TOP = np.uint64(1 << 63)  # the key of 0, of 0.0 and of a null pointer
_FLOAT, _POINTER = int(Form.FLOAT), int(Form.POINTER)
_INFINITY, _SHORT_INFINITY = np.uint64(0x7FF << 52), np.uint64(0xFF << 55)  # in the highest bits of a word


class Source(IntEnum):
    """Where the value of a site's event stands."""

    NOWHERE = 0
    TRACE = 1  # in the event's own units
    DEFINITION = 2  # a load of a private local: in those of the store that it reads from
    ELSEWHERE = 3  # an argument, a return or a branch: what comes next tells it


_ELSEWHERE = int(Source.ELSEWHERE)
_TRACE, _DEFINITION = int(Source.TRACE), int(Source.DEFINITION)

READ = np.dtype(
    [
        ("source", "u1"),
        ("form", "u1"),
        ("width", "u1"),
        ("private", "u1"),
        ("kind", "u1"),
        ("unit", "<i4"),
        ("units", "<i4"),
        ("parameter", "<i4"),
        ("yes", "<i4"),
    ]
)


def static_sites(subject: Subject) -> NDArray[np.void]:
    """For each site of the subject's plan (READ) where its values stand, and how they are meant.

    ``form`` and ``width`` (bits) are those of ``probe.sites``; ``private`` tells loads and stores of private locals,
    ``kind`` is ``layout.Kind``. ``unit`` and ``units`` say where in the segment's record the value stands.
    ``parameter`` is the number of the parameter that a store at a function's entry saves (-1: none). A branch's values
    are 1 and 0 where it has two sides; ``yes`` is the program's number of the block on the side of 1. A switch's are
    the number of the block that it went to within its function; there ``yes`` is -1.
    """
    plan, program = subject.plan, subject.program
    rows = plan.sites[:-1]
    found = np.zeros(len(rows), READ)
    found["kind"], found["parameter"], found["yes"] = rows["kind"], -1, -1
    for site, (kind, number, aux) in enumerate(
        zip(*(rows[f].tolist() for f in ("kind", "instruction", "aux")), strict=True)
    ):
        instruction = program.instruction(number)
        text = _type(Kind(kind), instruction, aux)
        if text in TYPES:
            found["form"][site], found["width"][site] = TYPES[text]
            found["source"][site] = Source.TRACE if rows["units"][site] else _ELSEWHERE_OF.get(Kind(kind), 0)
    access = np.isin(rows["kind"], [int(kind) for kind in ACCESSES])
    private = (rows["kind"] <= Kind.STORE) & (rows["aux"] != NO_SLOT)
    found["private"] = private
    found["source"][private & (rows["kind"] == Kind.LOAD) & (found["source"] != 0)] = Source.DEFINITION
    shift = np.where(access & ~private, ADDRESS_UNITS, 0)
    found["unit"], found["units"] = rows["unit"] + shift, rows["units"] - shift
    found["source"][(found["source"] == Source.TRACE) & ~np.isin(found["units"], (1, 2))] = Source.NOWHERE
    _leave_out_classes(subject, found)
    _add_parameters(subject, found)
    _add_branches(subject, found)
    return found


_ELSEWHERE_OF = {
    Kind.LOAD: int(Source.DEFINITION),
    Kind.ARG: int(Source.ELSEWHERE),
    Kind.RET: int(Source.ELSEWHERE),
}


def _type(kind: Kind, instruction: Instruction, argument: int) -> str:
    """The LLVM type of a site's value; empty: it has none that is looked at."""
    if kind in (Kind.LOAD, Kind.RESULT):
        return instruction.type
    if kind is Kind.STORE:
        return instruction.operands[0].type
    if kind is Kind.ARG:
        return instruction.operands[argument].type
    return instruction.operands[0].type if kind is Kind.RET and instruction.operands else ""


def _leave_out_classes(subject: Subject, found: NDArray[np.void]) -> None:
    """Take no values of loads from the table of character classes: what is looked at is a bit of them."""
    plan, program = subject.plan, subject.program
    for ref in program.functions:
        numbers = [ref.first_instruction + entry.index for entry in class_entries(ref.function)]
        if numbers:
            found["source"][np.isin(plan.sites["instruction"][:-1], numbers)] = Source.NOWHERE


def _add_parameters(subject: Subject, found: NDArray[np.void]) -> None:
    """Note which stores save a parameter: those of a function's first segment."""
    plan, program = subject.plan, subject.program
    for segment in np.flatnonzero(plan.segments["flags"][:-1] & ENTRY).tolist():
        function: Function = program.functions[int(plan.segments["function"][segment])].function
        numbers = {parameter.text: n for n, parameter in enumerate(function.parameters)}
        for site in range(*plan.segments["site_start"][segment : segment + 2].tolist()):
            if found["kind"][site] == Kind.STORE:
                text = program.instruction(int(plan.sites["instruction"][site])).operands[0].text
                found["parameter"][site] = numbers.get(text, -1)


def _add_branches(subject: Subject, found: NDArray[np.void]) -> None:
    """Give branches a form, and those with two sides the block behind the condition that holds."""
    plan, program = subject.plan, subject.program
    blocks = plan.segments["block"][plan.sites["segment"][:-1]]
    for site in np.flatnonzero(found["kind"] == Kind.BRANCH).tolist():
        instruction = program.instruction(int(plan.sites["instruction"][site]))
        found["source"][site], found["form"][site], found["width"][site] = Source.ELSEWHERE, Form.INTEGER, 32
        if instruction.opcode == "br":
            ref = program.functions[int(plan.blocks["function"][blocks[site]])]
            labels = [block.label for block in ref.function.blocks]
            found["yes"][site], found["width"][site] = ref.first_block + labels.index(instruction.labels[0]), 1


@dataclass(slots=True)
class Readings:
    """The values of a run: parallel arrays with one element an event.

    ``sites`` (int32) are the events' sites, ``state`` (uint8) is UNKNOWN, NUMBER or NAN. ``keys`` (uint64) are the
    values where they are numbers: unsigned numbers in the order of the values, which are signed integers of the site's
    width, or floating-point numbers with the infinities at both ends. Of a pointer it is that of 0 or 1: null or not.
    ``cut``: the run has more events than are read.
    """

    sites: NDArray[np.int32]
    keys: NDArray[np.uint64]
    state: NDArray[np.uint8]
    cut: bool


def read(trace: Trace, static: NDArray[np.void], done: int, most: int = MOST_EVENTS) -> Readings:
    """The values of the first ``most`` events of a run; of those from ``done`` on, which it did not come to, none."""
    count = min(trace.events, most)
    found = Readings(
        lazy_zeros(count, np.int32)[:count],
        lazy_zeros(count, np.uint64)[:count],
        lazy_zeros(count, np.uint8)[:count],
        count < trace.events,
    )
    segments = int(np.searchsorted(trace.columns.segments["event"][: trace.segments], count, side="left"))
    stop = min(done, count)
    _read(trace.plan, trace.columns, trace.units, static, segments, stop, found.sites, found.keys, found.state)
    return found


@lean
def _read(
    plan: Plan,
    columns: Columns,
    units: NDArray[np.uint32],
    static: Table,
    segments: Int,
    done: Int,
    sites: NDArray[np.int32],
    keys: NDArray[np.uint64],
    state: NDArray[np.uint8],
) -> None:
    """Read the values, in order of time; what a callee received or returned is that of its caller's event, too."""
    for segment in range(segments):
        row = columns.segments[segment]
        start = plan.segments[row.id].site_start
        flags = plan.segments[row.id].flags
        if flags & FIRST and row.pred >= 0:
            _note_branch(plan, columns, static, row.pred, plan.segments[row.id].block, done, keys, state)
        for site in range(start, plan.segments[row.id + 1].site_start):
            event = row.event + site - start
            if event >= done:
                if event < len(sites):
                    sites[event] = site
                continue
            sites[event] = site
            source = static[site].source
            if source == _TRACE:
                if not _is_reached(plan, units, static, row.word, site):
                    continue
                bits = _word(units, row.word + static[site].unit, static[site].units)
                _keep(static, site, event, bits, keys, state)
                if flags & ENTRY and static[site].parameter >= 0:
                    _note_argument(plan, columns, static, row.frame, static[site].parameter, bits, keys, state)
                elif row.source > 0 and event == row.event and static[site].kind == _RESULT:
                    _note_return(plan, columns, static, row.source - 1, bits, keys, state)
            elif source == _DEFINITION:
                definition = columns.events[event].definition - 1
                if 0 <= definition < event:
                    keys[event], state[event] = keys[definition], state[definition]


@lean
def _is_reached(plan: Plan, units: NDArray[np.uint32], static: Table, word: Int, site: Int) -> Any:
    """Whether an access by address came to it before the run ended; everything else did."""
    place = word + plan.sites[site].unit
    return static[site].unit == plan.sites[site].unit or units[place] != 0 or units[place + 1] != 0


@lean
def _word(units: NDArray[np.uint32], place: Int, count: Int) -> np.uint64:
    """A number of one unit or two."""
    found = np.uint64(units[place])
    if count == 2:
        found |= np.uint64(units[place + 1]) << np.uint64(32)
    return found


@lean
def _keep(
    static: Table,
    site: Int,
    event: Int,
    bits: np.uint64,
    keys: NDArray[np.uint64],
    state: NDArray[np.uint8],
) -> None:
    """Note a value of a site, given by its bits (zero-extended)."""
    form, width = static[site].form, static[site].width
    shift = np.uint64(64 - width)
    high = bits << shift
    state[event] = NUMBER
    if form == _POINTER:
        keys[event] = TOP | np.uint64(bits != 0)
    elif form == _FLOAT:
        infinity = _INFINITY if width == 64 else _SHORT_INFINITY
        if high & ~TOP > infinity:
            state[event] = NAN
        elif high & TOP:
            keys[event] = TOP if high == TOP else ~high  # -0.0 is 0.0
        else:
            keys[event] = high | TOP
    elif width == 1:
        keys[event] = TOP | (bits & np.uint64(1))
    else:
        keys[event] = np.uint64(np.int64(high) >> np.int64(shift)) ^ TOP


@lean
def _note_branch(
    plan: Plan,
    columns: Columns,
    static: Table,
    pred: Int,
    block: Int,
    done: Int,
    keys: NDArray[np.uint64],
    state: NDArray[np.uint8],
) -> None:
    """Note which way the branch went that ended the block before."""
    event = last_event(plan, columns, pred)
    if event < columns.segments[pred].event or event >= done:
        return
    site = site_of(plan, columns, event)
    if static[site].kind == _BRANCH:
        if static[site].yes >= 0:
            _keep(static, site, event, np.uint64(block == static[site].yes), keys, state)
        else:
            first = plan.functions[plan.blocks[block].function].block_start
            _keep(static, site, event, np.uint64(block - first), keys, state)


@lean
def _note_argument(
    plan: Plan,
    columns: Columns,
    static: Table,
    frame: Int,
    parameter: Int,
    bits: np.uint64,
    keys: NDArray[np.uint64],
    state: NDArray[np.uint8],
) -> None:
    """Note what a function of the program was given as the value of its caller's argument."""
    segment = columns.frames[frame].call
    if segment < 0 or columns.frames[frame].kind != _DIRECT:
        return
    call = last_event(plan, columns, segment)
    site = site_of(plan, columns, call)
    arguments = plan.sites[site].aux
    if plan.sites[site].kind != _CALL or parameter >= arguments:
        return
    behind = arguments - parameter
    if static[site - behind].kind == _ARG and static[site - behind].source == _ELSEWHERE:
        _keep(static, site - behind, call - behind, bits, keys, state)


@lean
def _note_return(
    plan: Plan,
    columns: Columns,
    static: Table,
    event: Int,
    bits: np.uint64,
    keys: NDArray[np.uint64],
    state: NDArray[np.uint8],
) -> None:
    """Note the result of a call as the value of its callee's return."""
    site = site_of(plan, columns, event)
    if static[site].kind == _RET:
        _keep(static, site, event, bits, keys, state)
