"""Several recorded runs of one case as one formula: they part at branches, and come together where these join.

A *fork* sends one branch instance of a run another way: another run, recorded with that branch forced. Both have the
same events up to the branch. Its *region* reaches from there to the first instance, in the same frame, of the block
that post-dominates it, or to the end of the frame. The main run's region is encoded first; then the state goes back to
the branch, and the other run's region is encoded; at the join each byte, register and phi is what the one or the other
has, by the branch's condition. Then the main run goes on. (The guards and phi functions of Jin and Orso, "Improving
efficiency and accuracy of formula-based debugging", algorithm 3, on executed instances.) Forks of forks nest.

A run that does not come to the join, or comes there after other input or output than the main run, is followed to its
end, as a path of its own; where only the other run comes there, that one is followed further.

Terms keep the values of the run that they were made from: the results of a region are symbols of their own, and where
sides are merged the choice has the value of the run that is followed further.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from whence.formula.encoder import NOTHING, Encoder, Inputs
from whence.formula.encoding import Encoding, Instance
from whence.formula.library import Known
from whence.formula.memory import UNKNOWN
from whence.formula.registers import Content, Frame
from whence.formula.tape import Tape
from whence.formula.terms import Term
from whence.probe.layout import Kind
from whence.probe.plan import FIRST, RETURNS
from whence.program.cfg import immediate_post_dominators, predecessors, successors
from whence.program.collector import collector_off
from whence.program.program import Program
from whence.trace.columns import N_IN, N_OUT
from whence.trace.trace import Trace

RETURN = -1  # the join of a branch whose region ends with its frame


@dataclass(eq=False)
class Side:
    """A recorded run: the main one, or one that parts from ``parent`` at its event ``fork``, a branch.

    ``forks`` are the sides that part from it, by the event; ``last`` is the last row that matters (a run that fails
    does so there), of a run that ``fails``. Events have numbers of their own in an encoding: ``number`` gives them.
    """

    trace: Trace
    last: int
    fails: bool
    parent: Side | None = None
    fork: int = -1
    forks: dict[int, list[Side]] = field(default_factory=dict)
    base: int = 0

    def number(self, event: int) -> int:
        """The number in the encoding of an event of this run."""
        if self.parent is not None and event <= self.fork:
            return self.parent.number(event)
        return self.base + event

    def all(self) -> list[Side]:
        """This side and all that part from it, or from those, parents first."""
        return [self, *(below for sides in self.forks.values() for side in sides for below in side.all())]


class Mark(NamedTuple):
    """Something that a path comes to, under a guard (a term of one bit).

    ``instance`` has been encoded, for ``side``; where it is None the run ends there, and fails if the side ``fails``.
    ``ways``: of a branch that is merged, the conditions of the sides, of which one has to hold.
    """

    guard: Term
    side: Side
    instance: Instance | None
    ways: tuple[Term, ...] = ()


@dataclass
class Merged:
    """The encoding of several sides, and the ``marks`` in the order in which they were encoded."""

    encoding: Encoding
    sides: list[Side]
    marks: list[Mark] = field(default_factory=list)


Frames = dict[int, tuple[Frame, Content]]


class _Point(NamedTuple):
    """Where a path is: before a row of a side, under a guard; ``phis`` are what the row's phis give, if merged."""

    side: Side
    row: int
    guard: Term
    phis: dict[str, Term] | None = None


class _End(NamedTuple):
    """What one side of a region has left."""

    point: _Point
    way: Term
    phis: dict[str, Term]
    frames: Frames
    library: Known
    codes: dict[int, int]


class Merging:
    """Encodes sides with an encoder of the program's replay variant (see ``Encoder``)."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._state = encoder, encoder.state
        self._terms = encoder.state.terms
        self._tapes: dict[Side, Tape] = {}

    def encode(self, main: Side, inputs: Inputs = NOTHING, cut: Collection[Kind] = (), cells: int = 0) -> Merged:
        """The encoding of a run and all that parts from it; branches have to be in ``cut``."""
        sides = main.all()
        _number(sides)
        self._merged = Merged(self._encoder.begin(main.trace, inputs, cut, cells), sides)
        with collector_off():
            self._follow(_Point(main, 0, self._terms.constant(1, 1)), None)
        return self._merged

    def _tape(self, side: Side) -> Tape:
        if side not in self._tapes or self._tapes[side].base != side.base:
            self._tapes[side] = Tape(side.trace, side.base)
        return self._tapes[side]

    # ---- Following ---------------------------------------------------------------------------------------------------

    def _follow(self, at: _Point, stop: tuple[int, int] | None) -> _Point | None:
        """Encode from a point to the join of a region (frame, block); None where the path ends before."""
        state = self._state
        while at.row <= at.side.last:
            state.use(self._tape(at.side))
            if stop is not None and self._is_at(at.row, stop):
                return at
            frame = state.frame_of[at.row]
            branch = self._visit(at)
            following: _Point | None = _Point(at.side, at.row + 1, at.guard)
            if branch is not None and (forks := at.side.forks.get(branch.event - at.side.base)):
                following = self._region(at, branch, forks)
            elif stop == (frame, RETURN) and self._returns(at.row):
                return following
            if following is None:
                return None
            at = following
        self._merged.marks.append(Mark(at.guard, at.side, None))
        return None

    def _is_at(self, row: int, stop: tuple[int, int]) -> bool:
        segment = self._state.plan.segments[self._state.ids[row]]
        is_there = self._state.frame_of[row] == stop[0] and segment["block"] == stop[1]
        return bool(is_there and segment["flags"] & FIRST)

    def _returns(self, row: int) -> bool:
        return bool(self._state.plan.segments["flags"][self._state.ids[row]] & RETURNS)

    def _visit(self, at: _Point) -> Instance | None:
        """Encode a row; the answer is its branch, if it ends with one that went one of several ways."""
        instances = self._merged.encoding.instances
        count = len(instances)
        self._encoder.visit(at.row, merged=at.phis)
        branch = None
        for instance in instances[count:]:
            if instance.kind is Kind.BRANCH and instance.value is not None:
                branch = instance
                if (instance.event - at.side.base) in at.side.forks:
                    continue  # its ways are told where its region ends
            self._merged.marks.append(Mark(at.guard, at.side, instance))
        return branch

    # ---- Regions -----------------------------------------------------------------------------------------------------

    def _region(self, at: _Point, branch: Instance, forks: Sequence[Side]) -> _Point | None:
        """Encode all sides of a branch; where they come together, or the only one that goes on."""
        stop = self._state.frame_of[at.row], self._join(at.row)
        ways = self._ways(at, branch, forks)
        self._merged.marks.append(Mark(at.guard, at.side, branch, tuple(ways)))
        guards = self._guards(at.guard, ways)
        before = self._frames(), self._encoder.library.content()
        ends: list[_End] = []
        for side, way, guard in zip([at.side, *forks], ways, guards, strict=True):
            self._state.memory.mark()
            self._go_back(*before)
            end = self._follow(_Point(side, at.row + 1, guard), stop)
            if end is not None and ends and not _same_position(ends[0].point, end):
                end = self._follow(end, None)
            phis = self._phis(end, stop[1])
            frames, library, codes = self._frames(), self._encoder.library.content(), self._state.memory.undo()
            if end is not None:
                ends.append(_End(end, way, phis, frames, library, codes))
        if not ends:
            return None
        self._go_back(ends[0].frames, ends[0].library)
        whole = guards == [end.point.guard for end in ends]  # else some path ended on the way
        return self._merge(ends, at.guard if whole else None)

    def _ways(self, at: _Point, branch: Instance, forks: Sequence[Side]) -> list[Term]:
        """Of each side, the main one first, whether the branch goes its way."""
        state, terms = self._state, self._terms
        is_switch = state.trace.instruction(branch.event - at.side.base).opcode == "switch"
        main = branch.term if branch.value else terms.negate(branch.term)
        if not is_switch:
            return [main, *(terms.negate(main) for _ in forks)]
        way_to, ways = state.way_to, [main]
        for side in forks:
            meaning = way_to(self._tape(side).next_block[at.row])
            ways.append(state.note(Kind.BRANCH, side.base + side.fork, meaning, 0))
        return ways

    def _guards(self, guard: Term, ways: Sequence[Term]) -> list[Term]:
        """Under which each side runs: its way is taken, and none before it."""
        terms, found = self._terms, []
        for way in ways:
            found.append(terms.both([guard, way]))
            guard = terms.both([guard, terms.negate(way)])
        return found

    def _join(self, row: int) -> int:
        """The block where the ways of a row's branch come together, by its number in the program; RETURN: none."""
        block = int(self._state.plan.segments["block"][self._state.ids[row]])
        ref = self._state.program.function_of_block(block)
        joined = _post_dominators(self._state.program, ref.id)[block - ref.first_block]
        return ref.first_block + joined if joined < len(ref.function.blocks) else RETURN

    def _frames(self) -> Frames:
        return {number: (frame, frame.content()) for number, frame in self._state.frames.items()}

    def _go_back(self, frames: Frames, library: Known) -> None:
        """Let frames, and what is known of the library, be as they were; memory goes back by itself."""
        self._state.frames = {number: frame for number, (frame, _) in frames.items()}
        for frame, content in frames.values():
            frame.restore(content)
        self._encoder.library.restore(library)

    def _phis(self, end: _Point | None, join: int) -> dict[str, Term]:
        """What the phis at the join give on a side."""
        if end is None or join == RETURN:
            return {}
        self._state.use(self._tape(end.side))
        return self._encoder.incoming(end.row) if end.phis is None else end.phis

    # ---- Joins -------------------------------------------------------------------------------------------------------

    def _merge(self, ends: Sequence[_End], guard: Term | None) -> _Point:
        """The state where sides come together, and the point at which the first of them goes on."""
        first = ends[0]
        self._state.use(self._tape(first.point.side))
        if len(ends) > 1 and self._state.evaluation.value(first.way) == 0:  # the main run is not among them
            self._state.evaluation.set(first.way, 1)
        self._state.memory.put(self._codes(ends))
        for number, (frame, content) in first.frames.items():
            others = [end.frames[number][1] for end in ends if number in end.frames]
            if len(others) == len(ends):
                self._merge_frame(frame, [content, *others[1:]], [end.way for end in ends])
        phis = self._merge_names([end.phis for end in ends], [end.way for end in ends])
        if guard is None:
            guard = self._terms.constant(0, 1)
            for end in ends:
                guard = self._terms.apply("or", 1, guard, end.point.guard)
        return _Point(first.point.side, first.point.row, guard, phis)

    def _choose(self, ways: Sequence[Term], values: Sequence[Term]) -> Term:
        """What the sides have: of the last the value where the way is none of the others."""
        found = values[-1]
        for way, value in zip(reversed(ways[:-1]), reversed(values[:-1]), strict=True):
            found = self._terms.choose(way, value, found)
        return found

    def _merge_names(self, sides: Sequence[Mapping[str, Term]], ways: Sequence[Term]) -> dict[str, Term]:
        """Registers that all sides have; others are made again when they are asked for."""
        names = [name for name in sides[0] if all(name in side for side in sides)]
        return {name: self._choose(ways, [side[name] for side in sides]) for name in names}

    def _merge_frame(self, frame: Frame, contents: Sequence[Content], ways: Sequence[Term]) -> None:
        for block, registers in enumerate(frame.blocks):
            sides = [content[0][block] for content in contents]
            if any(side is not registers for side in sides):
                frame.blocks[block] = self._merge_names(sides, ways)
        for slot in frame.locals:
            slots = [content[1].get(slot, frame.locals[slot]) for content in contents]
            frame.locals[slot] = self._choose(ways, slots)
        returned = [content[4] for content in contents]
        if frame.returned is not None and all(returned):
            values = [known[1] for known in returned if known is not None]
            if len({self._terms.widths[value] for value in values}) == 1:
                frame.returned = frame.returned[0], self._choose(ways, values)

    def _codes(self, ends: Sequence[_End]) -> dict[int, int]:
        """What the bytes hold that a side has changed; neighbouring bytes of one term on each side stay one term."""
        found: dict[int, int] = {}
        pieces: list[tuple[int, list[int], int]] = []  # address, code of the first byte on each side, length
        for place in sorted({place for end in ends for place in end.codes}):
            codes = self._of_sides(ends, place)
            if UNKNOWN in codes or len(set(codes)) == 1:
                found[place] = UNKNOWN if UNKNOWN in codes else codes[0]
            elif pieces and sum(pieces[-1][::2]) == place and self._follow_on(*pieces[-1][1:], codes):
                pieces[-1] = (*pieces[-1][:2], pieces[-1][2] + 1)
            else:
                pieces.append((place, codes, 1))
        for place, codes, length in pieces:
            parts = [self._state.memory.part(code, length) for code in codes]
            code = self._state.memory.code_of(self._choose([end.way for end in ends], parts))
            found |= {place + k: code + k for k in range(length)}
        return found

    def _follow_on(self, first: Sequence[int], length: int, codes: Sequence[int]) -> bool:
        """Whether bytes are, on each side, those behind so many others of the same term."""
        follows = self._state.memory.follows
        return all(follows(one + length - 1, other) for one, other in zip(first, codes, strict=True))

    def _of_sides(self, ends: Sequence[_End], place: int) -> list[int]:
        """A byte's code on each side; a side that left it alone where nothing was known of it has the others' code."""
        before = self._state.memory.code(place)
        known = next((end.codes[place] for end in ends if place in end.codes), UNKNOWN)
        return [end.codes.get(place, known if before == UNKNOWN else before) for end in ends]


def _number(sides: Sequence[Side]) -> None:
    """Give events their numbers: those of a side follow one another, a parent's before those of its forks."""
    base = 0
    for side in sides:
        side.base = base
        base += side.trace.events


@lru_cache(maxsize=1 << 12)
def _post_dominators(program: Program, function: int) -> list[int]:
    """For each block the one through which every way to a return leads; ways that never return do not count."""
    graph = successors(program.functions[function].function)
    before = predecessors(graph)
    blocks = program.functions[function].function.blocks
    pending = [number for number, block in enumerate(blocks) if block.instructions[-1].opcode == "ret"]
    returning = set(pending)
    while pending:
        more = [block for block in before[pending.pop()] if block not in returning]
        returning.update(more)
        pending += more
    ways = [[t for t in targets if t in returning] if n in returning else [] for n, targets in enumerate(graph)]
    return immediate_post_dominators(ways)


def _same_position(one: _Point, other: _Point) -> bool:
    """Whether two runs have read and printed as much when they come to points."""
    return _positions(one) == _positions(other)


def _positions(point: _Point) -> dict[tuple[str, int], int]:
    """How far each stream has been read, or printed on, before a point."""
    trace, found = point.side.trace, dict[tuple[str, int], int]()
    event = int(trace.columns.segments["event"][point.row]) if point.row < trace.segments else trace.events
    for name, table, count in (("in", trace.columns.ins, N_IN), ("out", trace.columns.outs, N_OUT)):
        rows = table[: int(trace.columns.counts[count])]
        for row in rows[rows["event"] < event]:
            found[name, int(row["stream"])] = int(row["offset"] + row["length"])
    return found
