"""Which functions and instructions of two versions of a program correspond, by a diff of their sources.

Key idea: the lines of matched functions are matched by a diff, and their instructions in order of the text. Two
instructions match when opcode and type agree and the diff has matched their lines, or has both within the same change:
a faulty line is then a mutant of the correct one, so ``i < n`` matches ``i <= n``, and all around stays where it was.
(Sumner and Zhang, "Automatic failure inducing chain computation through aligned execution comparison", section 4.5.)

Matches of a function are monotone: what stands behind one matched instruction matches what stands behind its partner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, cached_property
from pathlib import Path, PurePath

import numpy as np
from numpy.typing import NDArray

from whence.program.debug import DebugInfo, Variable, describe
from whence.program.line_changes import changes, code_lines
from whence.program.locations import Locations, checksums, is_as_compiled
from whence.program.model import Instruction, Location, Module
from whence.program.program import FunctionRef, Program

Integers = NDArray[np.int64]
NONE = -1
MUST = 3  # parts of a token that must agree
MOST_PAIRS = 1 << 24  # of equal elements of two texts that are compared: a few seconds


@dataclass(frozen=True)
class Correspondence:
    """What of a ``first`` program corresponds to what of a ``second`` one, as numbers of the second; NONE: nothing.

    ``modules``, ``functions`` and ``instructions`` are indexed by the first program's numbers; no number stands twice.
    """

    first: Program
    second: Program
    modules: Integers
    functions: Integers
    instructions: Integers

    @cached_property
    def blocks(self) -> Integers:
        """For each block of the first program the one that holds the partner of its first matched instruction."""
        found = np.full(self.first.block_count, NONE, np.int64)
        matched = np.flatnonzero(self.instructions >= 0)[::-1]
        found[blocks_of(self.first, matched)] = blocks_of(self.second, self.instructions[matched])
        return found

    @property
    def shares(self) -> tuple[float, float]:
        """The share of either program's instructions that have a partner, from 0 to 1."""
        matched = int((self.instructions >= 0).sum())
        return matched / max(self.first.instruction_count, 1), matched / max(self.second.instruction_count, 1)


def blocks_of(program: Program, instructions: Integers) -> Integers:
    """The numbers of the blocks in which instructions stand."""
    return np.searchsorted(np.asarray(program.block_starts), instructions, side="right") - 1


def correspond(first: Program, second: Program) -> Correspondence:
    """The correspondence of two versions of a program, by names and by their sources.

    Where a source cannot be read, or is not what was compiled any more, its functions are matched by their instructions
    alone.
    """
    modules = _matched_modules(first, second)
    functions = _matched_functions(first, second, modules)
    found = np.full(first.instruction_count, NONE, np.int64)
    sources = _Sources(first, second)
    infos = describe(first.modules), describe(second.modules)
    for one, other in zip(first.functions, functions.tolist(), strict=True):
        if other == NONE:
            continue
        ref = second.functions[other]
        pairs = _match(_Text(one, infos[0][one.module]), _Text(ref, infos[1][ref.module]), sources)
        for mine, theirs in pairs:
            found[one.first_instruction + mine] = ref.first_instruction + theirs
    return Correspondence(first, second, modules, functions, found)


# ---- Modules and functions -------------------------------------------------------------------------------------------


def _matched_modules(first: Program, second: Program) -> Integers:
    """Modules match by the longest end of their paths that tells them from the others; what is left, if it is one."""
    found = np.full(len(first.modules), NONE, np.int64)
    left = [list(range(len(program.modules))) for program in (first, second)]
    longest = max((len(PurePath(module.source).parts) for module in (*first.modules, *second.modules)), default=0)
    for length in range(longest, 0, -1):
        sides = [
            _unique([(_end(program.modules[number], length), number) for number in numbers])
            for program, numbers in zip((first, second), left, strict=True)
        ]
        for end in sides[0].keys() & sides[1].keys():
            found[sides[0][end]] = sides[1][end]
            left[0].remove(sides[0][end])
            left[1].remove(sides[1][end])
    if len(left[0]) == len(left[1]) == 1:
        found[left[0][0]] = left[1][0]
    return found


def _end(module: Module, length: int) -> Hashable:
    """The last parts of its source's path."""
    return PurePath(module.source).parts[-length:]


def _unique(pairs: Sequence[tuple[Hashable, int]]) -> dict[Hashable, int]:
    """The numbers of the keys that stand there once."""
    times = Counter(key for key, _ in pairs)
    return {key: number for key, number in pairs if times[key] == 1}


def _matched_functions(first: Program, second: Program, modules: Integers) -> Integers:
    """Functions match by name: within matched modules, then those whose name is the only one of its kind that is left.

    So a function can have moved to another file, or have become static.
    """
    found = np.full(len(first.functions), NONE, np.int64)
    theirs = {(ref.module, ref.name): ref.id for ref in second.functions}
    for ref in first.functions:
        found[ref.id] = theirs.get((int(modules[ref.module]), ref.name), NONE)
    taken = set(found.tolist())
    mine = _unique([(ref.name, ref.id) for ref in first.functions if found[ref.id] == NONE])
    rest = _unique([(ref.name, ref.id) for ref in second.functions if ref.id not in taken])
    for name in mine.keys() & rest.keys():
        found[mine[name]] = rest[name]
    return found


# ---- Lines -----------------------------------------------------------------------------------------------------------


class _Sources:
    """The sources of both programs."""

    def __init__(self, first: Program, second: Program) -> None:
        self._checksums = [
            dict(pair for module in program.modules for pair in checksums(module.metadata).items())
            for program in (first, second)
        ]
        self._lines = cache(self._read)

    def _read(self, side: int, file: str) -> list[str]:
        """The lines of a file as they were compiled; none where they are not there any more."""
        checksum = self._checksums[side].get(file)
        if checksum is not None and not is_as_compiled(file, checksum):
            return []
        try:
            return code_lines(Path(file).read_text(errors="replace"))
        except OSError:
            return []

    def keys(self, one: _Text, other: _Text) -> tuple[dict[int, int], dict[int, int]]:
        """A number for each line of two functions: the same for matched lines; below 0 that of a change.

        Nothing where the lines of one are not known. Functions are compared by themselves, since they may have moved.
        """
        old, new = (self._lines(n, text.file)[text.lines.start - 1 :] for n, text in enumerate((one, other)))
        old, new = old[: len(one.lines)], new[: len(other.lines)]
        if not old or not new:
            return {}, {}
        mine, theirs = np.arange(len(old) + 1), np.zeros(len(new) + 1, np.int64)
        line, second_line = 1, 1
        for number, region in enumerate(changes(old, new), 1):
            theirs[second_line : region.start] = np.arange(line, region.old_start)
            mine[region.old_start : region.old_stop] = -number
            theirs[region.start : region.stop] = -number
            line, second_line = region.old_stop, region.stop
        theirs[second_line:] = np.arange(line, len(old) + 1)
        return (
            dict(enumerate(mine[1:].tolist(), one.lines.start)),
            dict(enumerate(theirs[1:].tolist(), other.lines.start)),
        )


# ---- Instructions ----------------------------------------------------------------------------------------------------


class _Text:
    """A function's instructions, and what tells one from the others."""

    def __init__(self, ref: FunctionRef, info: DebugInfo) -> None:
        self.ref, self._info = ref, info

    @cached_property
    def file(self) -> str:
        """The file in which the function stands."""
        number = self.ref.function.subprogram
        return Locations(self._info.module.metadata).file_of_scope(number) if number is not None else ""

    @cached_property
    def lines(self) -> range:
        """The lines of that file on which it stands."""
        found = [v.line for v in self._variables.values() if v.file == self.file]
        instructions = self.ref.function.instructions()
        found += [i.location.line for i in instructions if i.location and i.location.file == self.file]
        return range(min(filter(None, found), default=1), max(found, default=0) + 1)

    @cached_property
    def _variables(self) -> dict[str, Variable]:
        """The variables that registers hold."""
        return {v.register: v for v in self._info.variables(self.ref.function)}

    def _name(self, register: str) -> str:
        """A register's or a global's name, without the number that may have shifted; "" for a nameless one."""
        if register in self._variables:
            return self._variables[register].name
        return register if register.startswith("@") else register.rstrip("0123456789")

    def tokens(self, keys: Mapping[int, int]) -> list[tuple[Hashable, ...]]:
        """For each instruction its line's key, opcode and type, then what tells it from others that would match.

        What stands on no line of the function, such as what the compiler made or what was included, has the key 0.
        """
        return [self._token(instruction, keys) for instruction in self.ref.function.instructions()]

    def _token(self, instruction: Instruction, keys: Mapping[int, int]) -> tuple[Hashable, ...]:
        place: Location | Variable | None = instruction.location
        type_text = instruction.type
        if instruction.opcode == "alloca":
            place, type_text = self._variables.get(instruction.result or ""), instruction.element_type
        key = keys.get(place.line, 0) if place is not None and place.file == self.file else 0
        operands = tuple(self._name(o.text) if o.text[:1] in "%@" else o.text for o in instruction.operands)
        named = self._name(instruction.result or ""), instruction.callee or "", instruction.predicate, operands
        return key, instruction.opcode, type_text, named


def _match(one: _Text, other: _Text, sources: _Sources) -> Iterator[tuple[int, int]]:
    """Pairs of instructions, by their indices in either function.

    First what is the same in all that tells it, then, in the gaps between, what agrees as far as it must.
    """
    keys = sources.keys(one, other)
    mine, theirs = one.tokens(keys[0]), other.tokens(keys[1])
    if mine == theirs:
        yield from ((n, n) for n in range(len(mine)))
        return
    a = b = 0
    for start, second_start, size in _stretches(mine, theirs):
        gap, second_gap = mine[a:start], theirs[b:second_start]
        for place, second_place, count in _stretches([t[:MUST] for t in gap], [t[:MUST] for t in second_gap]):
            yield from ((a + place + n, b + second_place + n) for n in range(count))
        yield from ((start + n, second_start + n) for n in range(size))
        a, b = start + size, second_start + size


def _stretches(mine: Sequence[Hashable], theirs: Sequence[Hashable]) -> Iterator[tuple[int, int, int]]:
    """Stretches of equal elements in order, the last one empty; nothing else where there are too many ways to pair."""
    times = Counter(theirs)
    if sum(times[element] for element in mine) <= MOST_PAIRS:
        yield from SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    else:
        yield len(mine), len(theirs), 0
