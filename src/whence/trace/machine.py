"""The state in which compact traces are made whole: frames with registers, and the locals that lie on the stack."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.plan import FIRST, FRAME
from whence.trace.effects import COPY as COPIED
from whence.trace.effects import OPERANDS
from whence.trace.effects import WRITE as WRITTEN
from whence.trace.kernels import lean
from whence.trace.lazy import lazy_zeros
from whence.trace.memory import wide
from whence.trace.shadow import Int

DEPTH = 1 << 24  # frames
REGISTERS = 1 << 29
OBJECTS = 1 << 26
SPARE = 1 << 20  # more than one function takes of any of them

# Places of ``Machine.counts``.
N_DEPTH, N_OBJECTS, EXPECTED, ODD, DOUBT, CHUNK, PLACE, SEQUENCE = range(8)
N_COUNTS = 8
NONE = -1
NO_FAULT, READING, WRITING, ANY_ACCESS, DIVISION = range(5)  # what ended the run


class Machine(NamedTuple):
    """The state of a run: ``counts``, the ``registers`` of all frames (as bits, doubles and floats), the ``frames``
    (function, where the registers begin, last segment, address, first object), and the ``objects`` on the stack
    (address and bytes), the highest one first.
    """

    counts: NDArray[np.int64]
    registers: NDArray[np.int64]
    doubles: NDArray[np.float64]
    floats: NDArray[np.float32]
    frames: Any
    objects: Any


class Ending(NamedTuple):
    """How a run ended: ``is_whole``: its last segment was done as a whole; ``fault`` (one of the above) at
    ``address``; and where its stack lies.
    """

    is_whole: bool
    fault: int
    address: int
    lowest: int
    top: int


FRAME_ROW = np.dtype([(name, np.int64) for name in ("function", "base", "last", "address", "objects")])
OBJECT_ROW = np.dtype([("address", np.int64), ("size", np.int64)])


@lean
def doubt(machine: Machine) -> None:
    """Note that what the run did is not certain."""
    machine.counts[DOUBT] = 1


@lean
def push(function: Int, address: Int, plan_frame: Int, machine: Machine) -> None:
    """A new frame; ``plan_frame`` is how many registers the one below keeps."""
    depth = machine.counts[N_DEPTH]
    base = machine.frames[depth - 1].base + plan_frame if depth else np.int64(0)
    row = machine.frames[depth]
    row.function, row.base, row.last, row.address = function, base, NONE, address
    row.objects = machine.counts[N_OBJECTS]
    machine.registers[base] = 0
    machine.counts[N_DEPTH] = depth + 1
    if depth + SPARE > DEPTH or base + SPARE > REGISTERS or row.objects + SPARE > OBJECTS:
        doubt(machine)


@lean
def pop(machine: Machine) -> None:
    """The top frame is left, with its locals."""
    depth = machine.counts[N_DEPTH] - 1
    machine.counts[N_DEPTH] = depth
    machine.counts[N_OBJECTS] = machine.frames[depth].objects


@lean
def find_frame(identity: Int, flags: Int, function: Int, address: Int, machine: Machine) -> None:
    """A longjmp left frames: the one that a segment belongs to becomes the top one."""
    while machine.counts[N_DEPTH]:
        row = machine.frames[machine.counts[N_DEPTH] - 1]
        same = row.function == function
        if flags & FRAME:
            same = same and row.address == address
        elif not flags & FIRST:
            same = same and row.last + 1 == identity
        if same:
            return
        pop(machine)
    doubt(machine)
    push(function, address, 0, machine)


@lean
def place_object(address: Int, size: Int, machine: Machine) -> None:
    """A local, put in the order of addresses among those of its frame."""
    place = machine.counts[N_OBJECTS]
    first = machine.frames[machine.counts[N_DEPTH] - 1].objects
    while place > first and machine.objects[place - 1].address < address:
        machine.objects[place].address = machine.objects[place - 1].address
        machine.objects[place].size = machine.objects[place - 1].size
        place -= 1
    if place > first and machine.objects[place - 1].address == address:  # made once more; what was moved goes back
        for k in range(place, machine.counts[N_OBJECTS]):
            machine.objects[k].address = machine.objects[k + 1].address
            machine.objects[k].size = machine.objects[k + 1].size
        return
    machine.objects[place].address = address
    machine.objects[place].size = size
    machine.counts[N_OBJECTS] += 1


@lean
def check_written(address: Int, size: Int, lowest: Int, top: Int, machine: Machine) -> None:
    """What is written on the stack must be locals."""
    if size <= 0 or address + size <= lowest or address >= top:
        return
    low, high = np.int64(0), machine.counts[N_OBJECTS]
    while low < high:
        middle = (low + high) // 2
        if machine.objects[middle].address > address:
            low = middle + 1
        else:
            high = middle
    if low >= machine.counts[N_OBJECTS] or address + size > machine.objects[low].address + machine.objects[low].size:
        doubt(machine)


@lean
def check_effect(units: NDArray[np.uint32], start: Int, end: Int, lowest: Int, top: Int, machine: Machine) -> bool:
    """What a library call wrote must be locals as well; False: the record holds nonsense."""
    position = start + 2
    if np.int64(units[start + 1]) in (0, 0xFFFFFFFF):
        return True
    while position < end and units[position]:
        opcode = wide(units, position) & 255
        if opcode >= len(OPERANDS) or position + 2 * (1 + OPERANDS[opcode]) > end:
            return False
        if opcode == WRITTEN:
            check_written(wide(units, position + 2), wide(units, position + 4), lowest, top, machine)
        elif opcode == COPIED:
            check_written(wide(units, position + 2), wide(units, position + 6), lowest, top, machine)
        position += 2 * (1 + OPERANDS[opcode])
    return True


def new_machine() -> Machine:
    """A machine that has done nothing."""
    counts = np.zeros(N_COUNTS, np.int64)
    counts[[EXPECTED, CHUNK]] = NONE
    registers = lazy_zeros(REGISTERS, np.int64)
    frames, objects = lazy_zeros(DEPTH, FRAME_ROW), lazy_zeros(OBJECTS, OBJECT_ROW)
    return Machine(counts, registers, registers.view(np.float64), registers.view(np.float32), frames, objects)
