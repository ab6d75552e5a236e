"""The decoder against a twin that reads the same units naively, on random programs.

The twin knows the layouts of the functions, but none of the decoder's tables: a dictionary says for every byte what
wrote it, a list holds the frames, and control dependence is looked for backwards through a frame's history.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from generated import c_programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snippets import Snippet, Trace, Variant, snippet

from whence.probe.layout import Kind, Layout, Segment, Site
from whence.program.cfg import control_dependence
from whence.trace.columns import CHUNK_UNITS, HEADER_UNITS
from whence.trace.given import RECORD
from whence.trace.shadow import MAX_CELLS

STEPS = ("set", "copy", "load")
INPUTS = [(), ("3", "5"), ("12", "7"), ("250", "1000000")]
Origin = Any  # an event's number, or (event of a copy, origin of the byte), or "outside"


@dataclass
class Frame:
    """One activation: the segments it executed as (number, block, static segment), and its private locals."""

    function: int
    call: int  # the segment that called it, -1
    history: list[tuple[int, int, int]] = field(default_factory=list)
    locals: dict[int, int] = field(default_factory=dict)


class Twin:
    """Reads a trace of one thread."""

    def __init__(self, made: Snippet, trace: Trace) -> None:
        numbering = made.subject.numbering
        self.layouts: list[Layout] = numbering.layouts
        self.static: list[tuple[int, Segment]] = [
            (function, segment) for function, layout in enumerate(self.layouts) for segment in layout.segments
        ]
        self.controllers = [control_dependence(layout.function) for layout in self.layouts]
        self.units = trace.units
        self.frames: list[Frame] = []
        self.memory: dict[int, tuple[Origin, int | None]] = {}
        self.events = 0
        self.segments: list[tuple[int, int, int]] = []  # static segment, control, clock
        self.places: list[int] = []  # where each segment's units lie
        self.firsts: list[int] = []  # the number of its first event
        self.clock = -1
        self.definitions: dict[int, set[Origin]] = {}
        for chunk in range(trace.header.chunks):
            self.read_chunk(HEADER_UNITS + chunk * CHUNK_UNITS)

    def number(self, place: int, units: int) -> int:
        return int.from_bytes(self.units[place : place + units].tobytes(), "little")

    def read_chunk(self, start: int) -> None:
        place = start + 8
        while header := int(self.units[place]):
            if header >> 30 == 1:
                self.read_effects(place, header & 0x3FFFFFFF)
                place += header & 0x3FFFFFFF
            else:
                function, segment = self.static[header - 1]
                self.read_segment(header - 1, function, segment, place)
                place += segment.units

    def read_effects(self, place: int, size: int) -> None:
        """Nothing but a change of errno is expected of atoi and printf; the first records tell where statics lie,
        and what main is given.
        """
        if self.number(place + 1, 1) in (0, RECORD):
            return
        at = place + 2
        while at < place + size:
            operation = self.number(at, 1) & 255
            if operation == 2:
                for k in range(self.number(at + 4, 2)):
                    self.memory[self.number(at + 2, 2) + k] = ("outside", None)
            at += 2 * (1 + [0, 2, 2, 3, 2, 2, 2, 2, 2, 1][operation])

    def read_segment(self, identity: int, function: int, segment: Segment, place: int) -> None:
        number = len(self.segments)
        if segment.entry:
            self.frames.append(Frame(function, number - 1))
        frame = self.frames[-1]
        assert frame.function == function
        if segment.first:
            self.clock += 1
            control = self.controller(frame, segment.block)
        else:
            assert frame.history[-1][2] == identity - 1
            control = self.segments[frame.history[-1][0]][1]
        frame.history.append((number, segment.block, identity))
        self.segments.append((identity, control, self.clock))
        self.places.append(place)
        self.firsts.append(self.events)
        for offset, site in enumerate(segment.sites):
            self.read_site(self.events + offset, site, place, frame)
        self.events += len(segment.sites)
        if segment.sites and segment.sites[-1].kind is Kind.RET:
            self.frames.pop()

    def controller(self, frame: Frame, block: int) -> int:
        """The latest segment of a block that the block depends on; -1: it runs whenever the function does."""
        candidates = self.controllers[frame.function][block]
        return next((n for n, executed, _ in reversed(frame.history) if executed in candidates), -1)

    def read_site(self, event: int, site: Site, place: int, frame: Frame) -> None:
        at = place + site.unit
        if site.kind is Kind.LOAD and site.aux >= 0:
            self.definitions[event] = {frame.locals[site.aux]} if site.aux in frame.locals else set()
        elif site.kind is Kind.STORE and site.aux >= 0:
            frame.locals[site.aux] = event
        elif site.kind is Kind.LOAD:
            self.load(event, self.number(at, 2), site.size, self.number(at + 2, site.units - 2))
        elif site.kind is Kind.STORE:
            value = self.number(at + 2, site.units - 2)
            for k in range(site.size):
                self.memory[self.number(at, 2) + k] = (event, value >> 8 * k & 255)
        elif site.kind is Kind.COPY:
            self.copy(event, self.number(at, 2), self.number(at + 2, 2), self.number(at + 4, 2))
        elif site.kind is Kind.SET:
            for k in range(self.number(at + 4, 2)):
                self.memory[self.number(at, 2) + k] = ((event, event), self.number(at + 2, 2) & 255)
        elif site.kind is Kind.BYVAL:
            self.pass_structure(self.number(at, 2), site, frame)

    def pass_structure(self, target: int, site: Site, frame: Frame) -> None:
        _, segment = self.static[self.segments[frame.call][0]]
        position = next(n for n, s in enumerate(segment.sites) if s.kind is Kind.ARG and s.aux == site.aux)
        source = self.number(self.places[frame.call] + segment.sites[position].unit, 2)
        self.copy(self.firsts[frame.call] + position, target, source, site.size)

    def load(self, event: int, address: int, size: int, value: int) -> None:
        found = [self.memory.get(address + k) for k in range(size)]
        for k, byte in enumerate(found):  # the trace agrees with itself
            assert byte is None or byte[1] is None or byte[1] == value >> 8 * k & 255
        self.definitions[event] = {byte[0] for byte in found if byte is not None}

    def copy(self, event: int, target: int, source: int, length: int) -> None:
        kept = [self.memory.get(source + k) for k in range(length)]
        for k, byte in enumerate(kept):
            self.memory[target + k] = ((event, byte[0] if byte else None), byte[1] if byte else None)


def origins(trace: Trace, definition: int) -> set[Origin]:
    """What a definition of the decoder's columns stands for, as the twin says it."""
    columns = trace.columns
    if definition < -MAX_CELLS:
        number = -definition - MAX_CELLS - 1
        first, end = columns.multi_start[number : number + 2].tolist()
        return {o for r in columns.multi_reference[first:end].tolist() for o in origins(trace, r)}
    if definition == 0:
        return set()
    if definition > 0:
        return {definition - 1}
    cell = columns.cells[-definition - 1]
    if trace.kind(int(cell["parent"])) is Kind.CALL:
        return {"outside"}
    below = origins(trace, int(cell["definition"])) or {None}
    return {(int(cell["parent"]), origin) for origin in below}


def assert_twins_agree(made: Snippet, arguments: tuple[str, ...]) -> None:
    trace = made.trace(*arguments)
    twin = Twin(made, trace)
    rows = trace.columns.segments[: trace.segments]
    assert trace.events == twin.events
    assert [s[0] for s in twin.segments] == rows["id"].tolist()
    assert [s[1] for s in twin.segments] == rows["control"].tolist()
    assert [s[2] for s in twin.segments] == trace.segment_clock.tolist()
    found = {e: origins(trace, int(trace.columns.events[e]["definition"])) for e in twin.definitions}
    assert found == twin.definitions


@settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(c_programs())
def test_the_decoder_and_its_twin_read_the_same(text: str):
    made = snippet(text, "-w")
    for arguments in INPUTS:
        plain = made.run(*arguments)
        assert plain.signal == 0
        for variant in Variant:
            assert made.run(*arguments, variant=variant).observed == plain.observed
        assert_twins_agree(made, arguments)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 90), st.integers(0, 90), st.integers(1, 40))))
def test_shadow_memory_is_a_dictionary_of_bytes(steps: list[tuple[str, int, int, int]]):
    """Stores, copies (overlapping too) and loads around the border of a page."""
    from whence.trace.columns import N_CELL, new_columns
    from whence.trace.memory import copy, store, writers_of
    from whence.trace.shadow import new_shadow

    columns, shadow, base = new_columns(), new_shadow(), 3 * 4096 - 50
    writers: dict[int, int] = {}

    def source(reference: int) -> int:
        """The store behind copies."""
        while reference < 0:
            reference = int(columns.cells[-reference - 1]["definition"])
        return reference

    for event, (step, one, other, length) in enumerate(steps):
        if step == "set":
            size = min(length, 16)
            store(columns, shadow, base + one, size, 1, 2, True, event)
            writers |= {one + k: event + 1 for k in range(size)}
        elif step == "copy":
            before = int(columns.counts[N_CELL])
            copy(columns, shadow, base + one, base + other, length, 1, event)
            writers |= {one + k: old for k, old in enumerate([writers.get(other + k, 0) for k in range(length)])}
            made = columns.cells[before : int(columns.counts[N_CELL])]
            assert made["length"].sum() == length
        else:
            definition = writers_of(columns, shadow, base + one, length)
            if definition < -MAX_CELLS:
                number = -definition - MAX_CELLS - 1
                first, end = columns.multi_start[number : number + 2].tolist()
                found = {source(r) for r in columns.multi_reference[first:end].tolist()}
            else:
                found = {source(definition)}
            assert found - {0} == {writers.get(one + k, 0) for k in range(length)} - {0}


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_a_load_tells_by_its_value_that_something_else_wrote(size: int):
    from whence.trace.columns import new_columns
    from whence.trace.memory import load, store
    from whence.trace.shadow import new_shadow

    columns, shadow = new_columns(), new_shadow()
    value = int.from_bytes(bytes(range(1, size + 1)), "little")
    store(columns, shadow, 8192, size, value, 0, True, 4)
    assert load(columns, shadow, 8192, size, value, 2) == 5
    other = np.int64(value ^ 1)
    assert load(columns, shadow, 8192, size, other, 2) == -1
    assert columns.cells[0]["parent"] == 2
    assert load(columns, shadow, 8192, size, other, 3) == -1  # whose bytes are known now
