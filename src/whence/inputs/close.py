"""Inputs close to a failing one: good ones, and further ones that show the same symptom.

Source: *Using Likely Invariants for Automated Software Fault Localization*, section 3.2: Algorithm 1 (parts are
deleted, or kept alone) and Algorithm 2 (tokens are replaced by their variations). Where the paper makes all inputs
first and sorts those that are good, here candidates wait in order of their edit distance from the failing input and are
tried nearest first, until no closer one can come. Tokens of the unreduced input are put back as well, one at a time.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, count, pairwise

from whence.inputs.channel import Channel, channels, find_channel
from whence.inputs.judge import RUNS, SMALL, Judge, Verdict, key_of
from whence.inputs.oracle import COMMAND, DETECTOR, Criteria
from whence.inputs.reduce import STOPPED, Reduction, reduce_input, split_blocks, split_bytes
from whence.inputs.tokens import Specification, guess_specification, split_lines, split_tokens
from whence.inputs.variations import Variation, byte_variations, input_variations
from whence.run.cases import Case
from whence.subject.subject import Subject

NUMBER = 8  # inputs of each sort
UNITS = 2_048  # pieces of an input from which on a level of Algorithm 1 is left out
TOKENIZED = 1 << 20  # bytes of an input from which on no tokens are replaced
FROM_REDUCTION = 128  # inputs of each sort that the reduction has come across
CHECKS = 16  # recordings for each failing input that is wanted
SHARE = 0.5  # of the budget that the reduction may use
SHOWN = 24  # bytes of a token in a text

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class CloseInput:
    """One input: its case, its bytes, its edit distance from the failing one (in bytes), and how it was made.

    The case can be run again: a good one expects what the reference program gave, or without one what the program
    itself gave.
    """

    case: Case
    data: bytes
    distance: int
    how: str


@dataclass(slots=True)
class CloseInputs:
    """Inputs close to ``base``, the failing one: ``good`` and ``failing`` ones with the same symptom, nearest first.

    ``tried`` candidates were run, of which ``rejected`` were refused by the program. ``reduction`` tells how ``base``
    was made from the case's own input, unless that was taken as it is.
    """

    good: list[CloseInput]
    failing: list[CloseInput]
    tried: int
    rejected: int
    notes: list[str]
    base: CloseInput
    reduction: Reduction | None = None


def close_inputs(
    subject: Subject,
    case: Case,
    *,
    number: int = NUMBER,
    channel: Channel | None = None,
    specification: Specification | None = None,
    reduce: bool = True,
    deadline: float | None = None,
    runs: int = RUNS,
    progress: Progress | None = None,
    criteria: Criteria | None = None,
    tokens: int = 1,
) -> CloseInputs:
    """Make ``number`` good and ``number`` failing inputs close to a failing case's, which is reduced first.

    ``tokens`` may vary at once. ``deadline`` (of ``time.monotonic``) and ``runs`` are the budget; what is found within
    it is given. Raises SubjectError and UsageError as ``Judge`` and ``find_channel`` do.
    """
    channel = channel or find_channel(case)
    criteria = criteria or Criteria()
    with Judge(subject, case, channel, criteria, runs, deadline, progress=progress) as judge:
        specification = specification or guess_specification(channel.read(case))
        reduction = None
        if reduce:
            judge.spend(SHARE)
            reduction = reduce_input(judge, specification)
        return search_close(judge, reduction, specification, number, tokens)


def close_everywhere(
    subject: Subject,
    case: Case,
    *,
    number: int = NUMBER,
    deadline: float | None = None,
    progress: Progress | None = None,
    criteria: Criteria | None = None,
) -> CloseInputs:
    """As ``close_inputs``, by all channels of the case in turn until there are enough inputs of both sorts.

    Where standard input is reduced already, it stays so while files and arguments are varied, so the later inputs are
    close to the reduced failing one as well; ``base`` is that. Distances are those within the channel.
    """
    found: CloseInputs | None = None
    ways = channels(case) or [find_channel(case)]  # which tells what is missing
    for turn, channel in enumerate(ways):
        end = None if deadline is None else time.monotonic() + (deadline - time.monotonic()) / (len(ways) - turn)
        made = close_inputs(
            subject,
            case if found is None else found.base.case,
            number=number,
            channel=channel,
            deadline=end,
            progress=progress,
            criteria=criteria,
        )
        found = made if found is None else _joined(found, made, number)
        if min(len(found.good), len(found.failing)) >= number:
            break
    assert found is not None
    return found


def _joined(one: CloseInputs, other: CloseInputs, number: int) -> CloseInputs:
    """What two channels gave, the nearest of both; ``base`` is reduced in both."""
    return CloseInputs(
        sorted([*one.good, *other.good], key=lambda made: made.distance)[:number],
        sorted([*one.failing, *other.failing], key=lambda made: made.distance)[:number],
        one.tried + other.tried,
        one.rejected + other.rejected,
        list(dict.fromkeys([*(one.notes if one.good else []), *other.notes])),
        other.base,
        one.reduction,
    )


def search_close(
    judge: Judge,
    reduction: Reduction | None,
    specification: Specification | None,
    number: int = NUMBER,
    tokens: int = 1,
) -> CloseInputs:
    """The same for a judge that is at work, around its input as it is or as it has been reduced."""
    base = judge.channel.read(judge.case) if reduction is None else reduction.data
    judge.spend(1.0)
    search = _Search(judge, base, specification, number, tokens)
    search.run()
    return CloseInputs(
        search.good.chosen(),
        search.failing.chosen(),
        judge.tried,
        judge.counts[Verdict.REJECTED],
        [*judge.notes, *search.notes()],
        CloseInput(_named(judge.settle(base).case, "reduced"), base, 0, "the failing input"),
        reduction,
    )


def _named(case: Case, what: str) -> Case:
    return replace(case, name=f"{case.name}, {what}")


# ---- Candidates ------------------------------------------------------------------------------------------------------


@dataclass(slots=True, frozen=True)
class _Candidate:
    """An input that waits to be tried: edits of another one, which are made when it is its turn."""

    base: bytes
    edits: tuple[Variation, ...]
    how: str
    turn: int = 1  # which of equally near ones go first: of every token one, then of every token another

    @property
    def data(self) -> bytes:
        parts, position = [], 0
        for start, end, text, _ in self.edits:
            parts += [self.base[position:start], text]
            position = end
        return b"".join([*parts, self.base[position:]])


def deletions(base: bytes, units: list[bytes]) -> Iterator[_Candidate]:
    """Algorithm 1: an input is split into n subsets, from all its units down to two; each goes, or stays alone."""
    ends = [0]
    for unit in units:
        ends.append(ends[-1] + len(unit))
    number = len(units)
    while number > 1:
        for index in range(number):
            start, end = ends[index * len(units) // number], ends[(index + 1) * len(units) // number]
            yield _Candidate(base, (Variation(start, end, b""),), f"without {shown(base[start:end])}")
            edits = (Variation(0, start, b""), Variation(end, len(base), b""))
            yield _Candidate(base, edits, f"only {shown(base[start:end])}")
        number //= 2


def replacements(base: bytes, specification: Specification | None, tokens: int, most: int) -> Iterator[_Candidate]:
    """Algorithm 2: variations of one token, and of up to ``tokens`` at once, at most about ``most`` of the latter."""
    varied = byte_variations(base) if specification is None else input_variations(base, specification)
    edits = list(varied)
    for edit in edits:
        yield _Candidate(base, (edit,), _became(base, edit), edit.turn)
    nearest = sorted(edits, key=lambda edit: _distance(base[edit.start : edit.end], edit.text))
    for together in range(2, tokens + 1):
        for chosen in combinations(nearest[: _affordable(together, most)], together):
            made = tuple(sorted(chosen))
            if all(before.end <= after.start for before, after in pairwise(made)):
                yield _Candidate(base, made, ", ".join(_became(base, edit) for edit in made))


def insertions(base: bytes, units: list[bytes], specification: Specification | None) -> Iterator[_Candidate]:
    """Each of some pieces, the shortest first, put between any two tokens: what a reduced input has lost, or once more.

    The source does not have this. It is what gives further failing inputs where the reduced one is a token or two.
    """
    places = [0]
    for token in split_tokens(base, specification):
        places.append(places[-1] + len(token))
    for unit in sorted(set(units), key=lambda unit: (len(unit), unit))[: UNITS // len(places)]:
        for place in places:
            yield _Candidate(base, (Variation(place, place, unit),), f"with {shown(unit)} put in", 4)


def _affordable(together: int, most: int) -> int:
    """Of how many things there are at most ``most`` combinations of so many."""
    number = together
    while math.comb(number + 1, together) <= most:
        number += 1
    return number


def _became(base: bytes, edit: Variation) -> str:
    return f"{shown(base[edit.start : edit.end])} became {shown(edit.text)}"


def shown(data: bytes) -> str:
    """Some bytes for people, escaped and cut."""
    text = data[:SHOWN].decode("utf-8", "backslashreplace")
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f"`{visible}`" + (f" ... ({len(data):,} bytes)" if len(data) > SHOWN else "")


def _distance(one: bytes, other: bytes) -> int:
    """The edit distance; of large texts, which would take seconds each, that of replacing all."""
    from rapidfuzz.distance import Levenshtein

    if min(len(one), len(other)) > SMALL:
        return max(len(one), len(other))
    return Levenshtein.distance(one, other)


# ---- The search ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Found:
    """The inputs of one sort that were found, nearest first."""

    name: str
    wanted: int
    inputs: list[CloseInput] = field(default_factory=list)

    def needs(self, distance: int) -> bool:
        """Whether an input at this distance would be among those that are wanted."""
        return len(self.inputs) < self.wanted or distance < self.inputs[self.wanted - 1].distance

    def add(self, found: CloseInput) -> None:
        self.inputs.append(found)
        self.inputs.sort(key=lambda one: one.distance)

    def chosen(self) -> list[CloseInput]:
        """Those that are wanted, with their cases named."""
        chosen = self.inputs[: self.wanted]
        for number, one in enumerate(chosen, 1):
            one.case = replace(one.case, name=f"{self.name} {number}")
        return chosen


class _Search:
    """Tries candidates in the order of their distance from ``base``."""

    def __init__(
        self, judge: Judge, base: bytes, specification: Specification | None, number: int, tokens: int
    ) -> None:
        self._judge, self._base = judge, base
        self._specification, self._tokens = specification, tokens
        name = judge.case.name
        self.good, self.failing = _Found(f"{name}, good", number), _Found(f"{name}, failing", number)
        self._waiting: list[tuple[int, int, int, _Candidate]] = []
        self._found: list[tuple[int, int, bytes]] = []
        self._known: set[bytes] = {key_of(base)}
        self._order = count()
        self._checks = CHECKS * number
        self._unstable = 0

    def run(self) -> None:
        """Search until enough are found and none can be closer, nothing is left to try, or the budget is used."""
        for verdict in (Verdict.GOOD, Verdict.SAME):
            recent = list(self._judge.seen[verdict])[-FROM_REDUCTION:]
            self._push(_Candidate(data, (), "seen while reducing", 4) for data in recent)
        self._expand(self._base)
        original = self._judge.channel.read(self._judge.case)
        if len(self._base) <= TOKENIZED:
            units = split_tokens(original[:SMALL], self._specification)
            self._push(insertions(self._base, units, self._specification))
        if self._base != original and len(original) <= SMALL:  # the last resort: what is close to the whole input
            heapq.heappush(self._found, (_distance(self._base, original), next(self._order), original))
        while self._has_next() and not self._judge.stopped:
            batch = self._next_batch()
            verdicts = self._judge.judge([data for _, _, data in batch])
            for (distance, how, data), verdict in zip(batch, verdicts, strict=True):
                self._take(distance, how, data, verdict)

    def _has_next(self) -> bool:
        """Whether a candidate waits that may be wanted; what was found is gone on from when nothing nearer waits."""
        while self._found and self._needs(self._found[0][0]):
            if self._waiting and self._waiting[0][0] <= self._found[0][0]:
                break
            self._expand(heapq.heappop(self._found)[2])
        return bool(self._waiting) and self._needs(self._waiting[0][0])

    def _needs(self, distance: int) -> bool:
        return self.good.needs(distance) or (self._checks > 0 and self.failing.needs(distance))

    def _next_batch(self) -> list[tuple[int, str, bytes]]:
        """The new candidates that are nearest, as many as run at a time: distances, how they were made, inputs."""
        size = self._judge.batch_size(len(self._base))
        batch: list[tuple[int, str, bytes]] = []
        while self._waiting and len(batch) < size:
            distance, _, _, candidate = heapq.heappop(self._waiting)
            data = candidate.data
            key = key_of(data)
            if key not in self._known:
                self._known.add(key)
                batch.append((distance, candidate.how, data))
        return batch

    def _push(self, candidates: Iterable[_Candidate]) -> None:
        for candidate in candidates:
            if self._judge.is_over():
                return
            place = (self._distance_of(candidate), candidate.turn, next(self._order))
            heapq.heappush(self._waiting, (*place, candidate))

    def _distance_of(self, candidate: _Candidate) -> int:
        """The edit distance from the base. Common ends add nothing to it; deletions alone are what they delete."""
        if candidate.base is not self._base:
            return _distance(self._base, candidate.data)
        if len(candidate.edits) > 1 and any(text for _, _, text, _ in candidate.edits):
            return _distance(self._base, candidate.data)
        return sum(_distance(self._base[start:end], text) for start, end, text, _ in candidate.edits)

    def _expand(self, data: bytes) -> None:
        """Queue what both algorithms make of an input."""
        levels = [split_bytes(data) if len(data) <= UNITS else split_blocks(data), split_lines(data)]
        if len(data) <= TOKENIZED:
            levels.insert(1, split_tokens(data, self._specification))
        for units in levels:
            if len(units) <= UNITS:
                self._push(deletions(data, units))
        if len(data) <= TOKENIZED:
            self._push(replacements(data, self._specification, self._tokens, self._judge.runs))

    def _take(self, distance: int, how: str, data: bytes, verdict: Verdict) -> None:
        """Keep a candidate that is good or shows the symptom, if it is near enough."""
        found = {Verdict.GOOD: self.good, Verdict.SAME: self.failing}.get(verdict)
        if found is None or not found.needs(distance):
            return
        if verdict is Verdict.SAME and not self._is_confirmed(data):
            return
        case = self._settled(data, verdict)
        if case is None:
            self._unstable += 1
            return
        found.add(CloseInput(case, data, distance, how))
        heapq.heappush(self._found, (distance, next(self._order), data))

    def _is_confirmed(self, data: bytes) -> bool:
        is_late = self._judge.is_over() and self._judge.stopped != "runs"
        if self._checks <= 0 or is_late:
            return False
        self._checks -= 1
        return self._judge.is_same(data)

    def _settled(self, data: bytes, verdict: Verdict) -> Case | None:
        """The case with what is expected of it; None where a second run is not like the first."""
        answer = self._judge.settle(data)
        if verdict is Verdict.GOOD and answer.verdict is not Verdict.GOOD:
            return None
        if verdict is Verdict.GOOD and self._judge.oracle.kind == DETECTOR:
            run = answer.result
            return replace(answer.case, expected=run.as_expected())
        return answer.case

    def notes(self) -> Iterator[str]:
        """What the search has to say of itself."""
        spec = self._specification
        yield f"tokens: {spec.name} ({spec.about})" if spec else "tokens: none fit the input, bytes were varied"
        if len(self._base) > TOKENIZED:
            yield f"of inputs beyond {TOKENIZED >> 20} MiB parts are left out, but no tokens replaced"
        if self._judge.stopped:
            yield f"the search for close inputs stopped early: {STOPPED[self._judge.stopped]}"
        if self._unstable:
            yield f"{self._unstable} inputs were left out: two runs of them differ"
        if self._checks <= 0:
            yield "of the inputs that fail, too many show the failure at another place"
        if not self.good.inputs:
            yield "no good input was found around this one; " + self._help()

    def _help(self) -> str:
        counts = ", ".join(f"{number:,} {verdict}" for verdict, number in self._judge.counts.most_common())
        more = "" if self._judge.oracle.kind == COMMAND else " (--spec, --tokens, --input)"
        return f"tried in all: {counts or 'nothing'}; other variations may help{more}, or a larger budget"
