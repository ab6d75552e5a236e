"""What the symptom search asks of a trace: who wrote a byte, how a run ended, which branches decided over printing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind as Site
from whence.probe.layout import Leaves
from whence.probe.library import FUNCTIONS
from whence.probe.plan import RETURNS
from whence.run.formats import Formats
from whence.trace.columns import N_OUT, N_PIECE, CellKind

if TYPE_CHECKING:
    from whence.program.expression import Expressions
    from whence.program.model import Instruction, Location, Operand
    from whence.program.program import FunctionRef
    from whence.trace.trace import Trace

MOST_BRANCHES = 16  # that a missing or misplaced output is traced back to
WINDOW = 20_000  # segment instances before the end in which an endless loop is looked for
WAYS_OUT = 16  # branches that may lie between two rounds of a loop, each deciding over the next
MADE = (Site.LOAD, Site.RMW, Site.RESULT, Site.PHI)  # what gives a value that others are computed from


@dataclass(slots=True)
class Source:
    """What made a byte of an output stream.

    ``event`` is the argument's event, the call's where the text is literal (``argument`` -1). It is one of ``call``,
    or of another call where that found it in a list (va_list): what the variadic function was given. ``start`` and
    ``length`` are the piece's range in the stream; ``previous`` is the call that wrote to the stream before, -1.
    ``criteria`` are the references to slice from.
    """

    call: int
    event: int
    argument: int
    start: int
    length: int
    previous: int
    begin: int  # of all that the call wrote
    criteria: list[int] = field(default_factory=list)

    @property
    def is_literal(self) -> bool:
        """Whether the byte is constant text."""
        return self.argument < 0


class Evidence:
    """Questions about one trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.plan, self.columns = trace, trace.plan, trace.columns
        self.formats = Formats(trace.program, trace.plan)
        self._expressions: dict[int, Expressions] = {}

    # ---- Events --------------------------------------------------------------------------------------------

    def segment_of(self, event: int) -> int:
        """The segment instance of an event, which is in the columns then."""
        self.trace.bring(event)
        return int(self.columns.events[event]["segment"])

    def frame(self, event: int) -> int:
        """The frame in which an event happened."""
        return int(self.columns.segments[self.segment_of(event)]["frame"])

    def events_of(self, segment: int) -> range:
        """The events of a segment instance."""
        row = self.columns.segments[segment]
        return range(int(row["event"]), int(row["event"]) + self._sites_in(int(row["id"])))

    def last_event(self, segment: int) -> int:
        """The last event of a segment instance: its call, branch or return; -1 for a segment without events."""
        row = self.columns.segments[segment]
        sites = self._sites_in(int(row["id"]))
        return int(row["event"]) + sites - 1 if sites else -1

    def _sites_in(self, segment: int) -> int:
        starts = self.plan.segments["site_start"]
        return int(starts[segment + 1] - starts[segment])

    def arguments(self, call: int) -> range:
        """The events of a call's arguments."""
        count = int(self.plan.sites[self.trace.site(call)]["aux"])
        return range(call - count, call)

    def control(self, event: int) -> int:
        """The branch that let the event's block execute in its frame, -1."""
        control = int(self.columns.segments[self.segment_of(event)]["control"])
        return self.last_event(control) if control >= 0 else -1

    def open_frames(self, segment: int) -> set[int]:
        """The frame of a segment instance and those that it was called from."""
        frames: set[int] = set()
        while segment >= 0:
            frame = int(self.columns.segments[segment]["frame"])
            frames.add(frame)
            segment = int(self.columns.frames[frame]["call"])
        return frames

    # ---- Words ---------------------------------------------------------------------------------------------

    def explainer(self, event: int) -> Expressions:
        """What tells the instructions of an event's module in C."""
        from whence.program.expression import Expressions

        number = self.function_of(event).module
        if number not in self._expressions:
            self._expressions[number] = Expressions(self.trace.program.modules[number])
        return self._expressions[number]

    def function_of(self, event: int) -> FunctionRef:
        """The function that an event's instruction belongs to."""
        instruction = int(self.plan.sites[self.trace.site(event)]["instruction"])
        return self.trace.program.function_of_instruction(instruction)

    def leaves(self, event: int, operand: Operand) -> list[int]:
        """The events of an event's segment that an operand of its function comes from."""
        if not operand.is_register:
            return []
        leaves = Leaves(self.function_of(event).function).of(operand.text)
        wanted = {id(leaf.instruction) for leaf in leaves if leaf.instruction is not None}
        events = self.events_of(self.segment_of(event))
        return [e for e in events if self.trace.kind(e) in MADE and id(self.trace.instruction(e)) in wanted]

    def expression(self, event: int, instruction: Instruction | None = None) -> str:
        """What the event's instruction does (or another one of its function), as C text."""
        shown = instruction or self.trace.instruction(event)
        return self.explainer(event).expression(self.function_of(event).function, shown)

    def argument_text(self, source: Source) -> str:
        """The C text of the argument that made a byte."""
        return self.operand_text(source.event, self.trace.instruction(source.event).operands[source.argument])

    def operand_text(self, event: int, operand: Operand) -> str:
        """An operand of an event's function, as C text."""
        return self.explainer(event).value(self.function_of(event).function, operand).text

    def accessed(self, event: int) -> str:
        """The place that a load or store accesses, as C text."""
        path = self.explainer(event).accessed(self.function_of(event).function, self.trace.instruction(event))
        return f"`{path.text}`" if path else "memory"

    def callee_name(self, call: int) -> str:
        """The name of the function that a call calls, or words for one that has none."""
        name = self.trace.instruction(call).callee or ""
        return name[1:] if name.startswith("@") else "a function called through a pointer"

    def place(self, event: int) -> Location | None:
        """Where an event stands in the source; a return where the value was set that it returns."""
        if self.trace.kind(event) is Site.RET and event:
            before = event - 1
            if self.segment_of(before) == self.segment_of(event) and self.trace.kind(before) is Site.LOAD:
                definition = int(self.columns.events[before]["definition"])
                if definition > 0:
                    return self.trace.location(definition - 1)
        return self.trace.location(event)

    # ---- Output --------------------------------------------------------------------------------------------

    @cached_property
    def _outs(self) -> Any:
        return self.columns.outs[: self.columns.counts[N_OUT]]

    def last_output(self, stream: int) -> int:
        """The call that wrote last to a stream, -1."""
        rows = np.flatnonzero(self._outs["stream"] == stream)
        return int(self._outs[rows[-1]]["event"]) if len(rows) else -1

    def source_of(self, stream: int, offset: int) -> Source | None:
        """What made a byte of the stream; None where no recorded call wrote it."""
        outs = self._outs
        holds = (outs["stream"] == stream) & (outs["offset"] <= offset) & (offset < outs["offset"] + outs["length"])
        rows = np.flatnonzero(holds)
        if not len(rows):
            return None
        row = int(rows[-1])
        earlier = np.flatnonzero(outs["stream"][:row] == stream)
        previous = int(outs[earlier[-1]]["event"]) if len(earlier) else -1
        return self._piece(row, offset, previous) or self._literal(row, previous)

    def _literal(self, row: int, previous: int) -> Source:
        out = self._outs[row]
        call = int(out["event"])
        self.trace.bring(call)
        start = int(out["offset"])
        return Source(call, call, -1, start, int(out["length"]), previous, start, [call + 1])

    def _piece(self, row: int, offset: int, previous: int) -> Source | None:
        """The argument whose piece of an output holds the byte; None for text that is constant."""
        start = int(self._outs[row]["offset"])
        pieces = self.columns.pieces[: self.columns.counts[N_PIECE]]
        begins = start + pieces["offset"]
        hits = np.flatnonzero((pieces["out"] == row) & (begins <= offset) & (offset < begins + pieces["length"]))
        if not len(hits):
            return None
        piece = pieces[hits[0]]
        call, argument = int(self._outs[row]["event"]), int(piece["argument"])
        self.trace.bring(call)
        events = self.arguments(call)
        if argument >= len(events):
            return None
        event, first, length = events[argument], int(begins[hits[0]]), int(piece["length"])
        if self._is_list(event):
            number = int(np.count_nonzero(pieces["out"][: hits[0]] == row))
            given = self._given(int(self._outs[row]["cell"]), int(np.count_nonzero(pieces["out"] == row)))
            event = given[number] if given else event
        reads = self._read_by(int(self._outs[row]["cell"]), event, offset - first, length)
        argument = event - self.arguments(self._call_of(event)).start
        if not reads and not self.trace.instruction(event).operands[argument].is_register:
            return None
        return Source(call, event, argument, first, length, previous, start, [event + 1, *reads])

    def _given(self, cell: int, pieces: int) -> list[int]:
        """The arguments, by their events, that a call found in a list, one for each of its pieces; empty: not known.

        Each was read where the variadic function's call had put it.
        """
        reads = [self.columns.cells[read] for read in self._reads(cell)]
        writers = [w for row in reads if row["kind"] == CellKind.READ for w in self._listed(int(row["definition"]))]
        cells = [self.columns.cells[-w - 1] for w in writers if w < 0]
        given = [int(row["definition"]) - 1 for row in cells if row["kind"] == CellKind.VARIADIC]
        return given if len(given) == pieces else []

    def _call_of(self, argument: int) -> int:
        """The call that an argument was given to."""
        self.trace.bring(argument)
        return next(event for event in count(argument + 1) if self.trace.kind(event) is not Site.ARG)

    def _reads(self, cell: int) -> list[int]:
        """The cells of what a call read, in order."""
        return [-r - 1 for r in self._listed(int(self.columns.cells[-cell - 1]["definition"])) if r < 0]

    def _read_by(self, cell: int, argument: int, index: int, length: int) -> list[int]:
        """References to what wrote byte ``index`` of the string that an argument points to, or the string as a whole.

        Nothing where the argument is a number, or a string that nothing wrote. For an argument list (va_list) of which
        it is not known what it leads to all that the call read stands.
        """
        address = self.trace.value(argument)
        found: list[int] = []
        for read in self._reads(cell):
            row = self.columns.cells[read]
            if int(row["kind"]) != CellKind.READ or int(row["address"]) != address:
                continue
            writers = self._listed(int(row["definition"]))
            exact = int(row["length"]) - length in (0, 1)
            covering = [w for w in writers if self._covers(w, address + index)] if exact and address else []
            found += [max(covering, key=self.time)] if covering else writers
        return [cell] if self._is_list(argument) else found

    def _is_list(self, argument: int) -> bool:
        """Whether an argument is the va_list of a function such as vprintf."""
        instruction = self.trace.instruction(argument)
        function = FUNCTIONS.get((instruction.callee or "@")[1:])
        return function is not None and function.format >= 0 and function.name.lstrip("_").startswith("v")

    def _listed(self, definition: int) -> list[int]:
        """The references that a definition stands for."""
        from whence.trace.shadow import MAX_CELLS

        if definition >= -MAX_CELLS:
            return [definition] if definition else []
        number = -definition - MAX_CELLS - 1
        first, end = self.columns.multi_start[number], self.columns.multi_start[number + 1]
        return [int(r) for r in self.columns.multi_reference[first:end]]

    def time(self, reference: int) -> int:
        """The event that a reference names, or that made the cell that it names."""
        return reference - 1 if reference > 0 else int(self.columns.cells[-reference - 1]["parent"])

    def _covers(self, reference: int, address: int) -> bool:
        """Whether what a reference names wrote the byte at an address."""
        if reference > 0:
            if not self.trace.holds(reference - 1):  # nothing else than the window tells
                return False
            start = self.trace.address(reference - 1)
            size = int(self.plan.sites[self.trace.site(reference - 1)]["size"])
        else:
            row = self.columns.cells[-reference - 1]
            start, size = int(row["address"]), int(row["length"])
        return start is not None and start <= address < start + size

    # ---- Branches ------------------------------------------------------------------------------------------

    def deciding(self, segments: range, text: bytes, start: int, ends: bool = False) -> list[int]:
        """Branch events among segment instances that decided over printing, or with ``ends`` over ending the run.

        Printing what ``text`` holds from ``start`` on, or anything where no call's text is like it. Of each branch the
        last event, latest first, at most ``MOST_BRANCHES``.
        """
        deciders = self.formats.deciders(text, start)
        if deciders is None:
            deciders = self.formats.all_deciders
        if ends:
            deciders = deciders | self.formats.ending_deciders
        first, end = max(segments.start, self.trace.first_segment), segments.stop
        blocks = self.plan.segments["block"][self.columns.segments["id"][first:end]]
        found: list[int] = []
        seen: set[int] = set()
        for index in np.flatnonzero(deciders[blocks])[::-1]:
            event, block = self.last_event(first + int(index)), int(blocks[index])
            if block in seen or event < 0 or self.trace.kind(event) is not Site.BRANCH:
                continue
            seen.add(block)
            found.append(event)
            if len(found) == MOST_BRANCHES:
                break
        return found

    def endless_branch(self) -> int:
        """The branch of the outermost loop that went round in the last part of the run; without one the last event.

        A loop's branch is the one that decides over its own next execution, be it through others: where a loop can be
        left amid a round as well, each of its ways out decides over the next.
        """
        end = self.trace.segments
        first = max(self.trace.first_segment, end - max(WINDOW, end // 10))
        loops = self._round_again(first, end)
        if not len(loops):
            return self.last_event(end - 1) if end else -1
        frames = self.columns.segments["frame"][loops]
        outer = loops[frames == frames.min()]
        return self.last_event(int(self._least_repeated(outer)))

    def _round_again(self, first: int, end: int) -> NDArray[np.int64]:
        """The instances between these that another one of the same static segment depends on, in order."""
        controls, identities = self.columns.segments["control"], self.columns.segments["id"]
        later = np.arange(first, end)
        earlier = controls[later].astype(np.int64)
        found = []
        for _ in range(WAYS_OUT):
            inside = earlier >= first
            later, earlier = later[inside], earlier[inside]
            same = identities[later] == identities[earlier]
            found.append(earlier[same])
            later, earlier = later[~same], controls[earlier[~same]].astype(np.int64)
        return np.unique(np.concatenate(found))

    def _least_repeated(self, segments: NDArray[np.int32]) -> int:
        """The last instance of the static segment that occurs least: of nested loops, the outer one.

        Of several that occur once a round, so that which is least depends on where the recording ends, the first one
        of the program's text.
        """
        identities = self.columns.segments["id"][segments]
        kinds, counts = np.unique(identities, return_counts=True)
        least = kinds[counts <= counts.min() + 1].min()
        return int(segments[identities == least][-1])

    # ---- Ends ----------------------------------------------------------------------------------------------

    def last_call(self) -> int:
        """The call that the run was in when it ended, -1."""
        event = self.last_event(self.trace.segments - 1) if self.trace.segments else -1
        return event if event >= 0 and self.trace.kind(event) is Site.CALL else -1

    def exit_event(self) -> int:
        """The argument of the call that ended the program, or the return of ``main``; -1: neither is in the trace."""
        call, returned = self._last_exit(), self._last_return_of_main()
        if call > returned:
            arguments = self.arguments(call)
            return arguments[0] if len(arguments) else call
        return returned

    def _last_exit(self) -> int:
        exits = {-2 - f.number for f in FUNCTIONS.values() if f.noreturn}
        last = self.plan.segments["site_start"][1:] - 1
        ends = np.isin(self.plan.sites["callee"][last], list(exits)) & (self.plan.sites["kind"][last] == Site.CALL)
        return self._last_instance(ends)

    def _last_return_of_main(self) -> int:
        main = [ref.id for ref in self.trace.program.functions if ref.name == "main"]
        segments = self.plan.segments[:-1]
        in_main = np.isin(self.plan.blocks["function"][segments["block"]], main)
        return self._last_instance(in_main & (segments["flags"] & RETURNS != 0))

    def _last_instance(self, chosen: NDArray[np.bool_]) -> int:
        """The last event of the latest instance of the chosen static segments, -1."""
        first = self.trace.first_segment
        instances = np.flatnonzero(chosen[self.columns.segments["id"][first : self.trace.segments]])
        return self.last_event(first + int(instances[-1])) if len(instances) else -1
