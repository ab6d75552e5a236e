"""Other initial values: entries of static tables changed in copies of the program, whose cases are run.

No statement executes an entry, so no altered run changes it for all that read it. But its bytes stand in the executable
file: a copy with other ones is the program with another number in its source, as far as the compiler has not put the
number into the code. What mends there is compiled in the source before it is believed, as all rules are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.build.scratch import scratch
from whence.build.static_data import Stored, stored_variables
from whence.errors import SubjectError
from whence.findings import plural
from whence.program.initialisers import Initialiser
from whence.run.oracle import judge
from whence.run.outcome import Kind
from whence.run.runner import Runner
from whence.subject.confined import Ground
from whence.subject.edited import SCHEDULED
from whence.subject.initial_values import InitialValue
from whence.techniques.rules.candidates import Family

if TYPE_CHECKING:
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

NEAR = (1, -1, 2, -2, 10, -10)  # by how much a number is changed
COLUMN = 8  # values of the same part of other rows that are tried, the nearest ones
SMALL = (0, 1)
PORTION, MOST_BYTES = 64, 1 << 26  # copies that are there at a time, and their bytes
SLOWER = 10.0  # times the longest run of the program that a run with another value may take,
LEAST = 0.2  # and seconds that it may take in any case
NUMBERS = ("int", "char", "bool", "enum")


@dataclass(slots=True, frozen=True)
class Other:
    """An entry with another value, and where its bytes stand in the executable: what a header has, once a module."""

    entry: InitialValue
    value: int
    offsets: tuple[int, ...]

    @property
    def data(self) -> bytes:
        """The bytes of the value."""
        size = self.entry.given.size
        return (self.value & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    @property
    def text(self) -> str:
        """The value in C, written as the one is that stands there: hexadecimal, a character, with its suffix."""
        old, ctype = self.entry.given.text, self.entry.path.type
        if ctype is not None and ctype.plain.kind == "enum":
            return ctype.plain.enumerators.get(self.value, str(self.value))
        number = old.rstrip("uUlL")
        suffix = old[len(number) :]
        if old.startswith("'") and 32 <= self.value < 127:
            return repr(chr(self.value)) if chr(self.value) not in "'\"" else f"'\\{chr(self.value)}'"
        if number[:2] in ("0x", "0X") and self.value >= 0:
            digits = f"{self.value:0{len(number) - 2}x}"
            return number[:2] + (digits.upper() if number[2:] != number[2:].lower() else digits) + suffix
        return str(self.value) + suffix


@dataclass(slots=True)
class OtherValues:
    """What came of changing entries: ``rows`` as those of the part ``rules``, and how many values were ``tried``."""

    rows: list[dict[str, Any]]
    tried: int
    entries: int

    @property
    def told(self) -> str:
        """What was done, in a sentence."""
        clean = sum(not row["p2f"] and row["f2p"] == row["failing"] for row in self.rows)
        other = plural(self.tried, "other number")
        text = f"ran the program with {other} in place of {plural(self.entries, 'initial value')}: "
        if not self.rows:
            return f"{text}none of the changes makes a failing case pass"
        return (
            f"{text}{len(self.rows)} repair one at least, {clean or 'none'} of them all without breaking a passing one"
        )


def other_initial_values(
    subject: Subject, runs: Runs, among: Sequence[int], entries: Sequence[InitialValue], deadline: float
) -> OtherValues:
    """Try other values of entries, the most suspicious ones first, on the failing cases of the rows ``among``.

    What mends the first of them runs on all cases. Raises SubjectError where the executable says nothing of variables.
    """
    stored = stored_variables(subject.executable)
    if not stored:
        raise SubjectError("the executable has no symbols, which say where its tables are", "build it without -s")
    if not _plain(runs, runs.failing):
        raise SubjectError("no failing case is a run of the program whose verdict shows without a checker")
    if any(case.schedule is not None for case in subject.cases):
        raise SubjectError(SCHEDULED)
    if trouble := Ground(subject, runs).trouble:
        raise SubjectError(f"not run: {trouble}")
    image = subject.executable.read_bytes()
    placed = [(entry, places) for entry in entries if (places := _places(entry, stored, image))]
    with scratch("values") as folder:
        search = _Search(subject, runs, among, image, Path(folder), deadline)
        rows = search.all(_turns(placed))
    return OtherValues(rows, search.tried, len(placed))


def _places(entry: InitialValue, stored: dict[str, list[Stored]], image: bytes) -> tuple[int, ...]:
    """Where an entry's bytes stand; nowhere where that is not known, or it is no number that the source shows.

    Of the variables of a name those count whose bytes are what the source says.
    """
    ctype, given = entry.path.type, entry.given
    if given.value is None or ctype is None or ctype.plain.kind not in NUMBERS or given.size > 8:
        return ()
    known = [other for other in entry.others if other.value is not None]
    bases = (place.offset for place in stored.get(entry.variable.register[1:], []))
    return tuple(base + given.start for base in bases if all(_holds(image, base, other) for other in known))


def _holds(image: bytes, base: int, given: Initialiser) -> bool:
    assert given.value is not None
    found = int.from_bytes(image[base + given.start : base + given.start + given.size], "little")
    return (found - given.value) & ((1 << 8 * given.size) - 1) == 0


def _turns(placed: Sequence[tuple[InitialValue, tuple[int, ...]]]) -> Iterator[Other]:
    """The values of all entries, each entry's likeliest ones first: the first of all, then the second of all."""
    waiting = [(entry, places, _values(entry)) for entry, places in placed]
    while waiting:
        left = []
        for entry, places, values in waiting:
            if (value := next(values, None)) is not None:
                yield Other(entry, value, places)
                left.append((entry, places, values))
        waiting = left


def _values(entry: InitialValue) -> Iterator[int]:
    """Other values of an entry: a little more or less, those of the same part of other rows, small ones, negated."""
    given = entry.given
    own = given.value
    assert own is not None
    alike = [o for o in entry.others if o.value is not None and o.size == given.size and o is not given]
    alike.sort(key=lambda other: abs(other.start - given.start))
    column = list(dict.fromkeys(other.value for other in alike if other.value is not None))[:COLUMN]
    ctype = entry.path.type
    bits = 8 * given.size
    is_signed = ctype is not None and ctype.plain.signed
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    near = [own + step for step in NEAR]
    if ctype is not None and ctype.plain.kind == "enum":
        near, column = column, [value for value in ctype.plain.enumerators if value not in column][:COLUMN]
    tried = (*near, *column, *SMALL, -own)
    yield from (value for value in dict.fromkeys(tried) if value != own and lowest <= value <= highest)


def _plain(runs: Runs, rows: Sequence[int]) -> list[int]:
    """Those of some cases, each once, that are runs of the program, with a verdict that a plain run shows."""
    tested = runs.tested
    mine = (row for row in dict.fromkeys(rows) if tested[row].outcome.kind is not Kind.MEMORY)
    return [row for row in mine if tested[row].case.command is None]


class _Search:
    """Runs copies of the executable with other bytes."""

    def __init__(
        self, subject: Subject, runs: Runs, among: Sequence[int], image: bytes, folder: Path, deadline: float
    ) -> None:
        self._subject, self._runs, self._image, self._folder, self._deadline = subject, runs, image, folder, deadline
        self._failing, self._passing = _plain(runs, [*among, *runs.failing]), _plain(runs, runs.passing)
        longest = max((tested.result.wall for tested in runs.tested if tested.outcome.passed), default=0.0)
        usual = max(LEAST, SLOWER * longest)
        time_limit = min(subject.limits.time, usual) if subject.limits.time else usual
        self._limits = replace(subject.limits, time=time_limit)
        self.tried = 0

    def all(self, values: Iterator[Other]) -> list[dict[str, Any]]:
        """A row for each value with which a failing case passes, until the time is over."""
        found: list[dict[str, Any]] = []
        size = max(os.cpu_count() or 1, min(PORTION, MOST_BYTES // max(len(self._image), 1)))
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            while time.monotonic() < self._deadline and (portion := list(islice(values, size))):
                # Written before any is run: a file that is open for writing when another thread forks is not run.
                copies = [self._copy(number, other) for number, other in enumerate(portion)]
                results = list(pool.map(self._one, copies, portion))
                self.tried += sum(result is not None for result in results)
                found += [result for result in results if result]
        return found

    def _copy(self, number: int, other: Other) -> Path:
        """The executable with another value."""
        path = self._folder / f"value-{number}"
        image = bytearray(self._image)
        for offset in other.offsets:
            image[offset : offset + len(other.data)] = other.data
        path.write_bytes(image)
        path.chmod(0o700)
        return path

    def _one(self, path: Path, other: Other) -> dict[str, Any] | None:
        """What comes of a value: on the first failing case, then, if that passes, on all.

        Empty where it does not pass, None where there is no time to try it.
        """
        if time.monotonic() >= self._deadline:
            return None
        with Runner(path, self._limits, name=self._subject.name, confined=True) as runner:
            first, *failing = self._failing
            verdict = self._passes(runner, first)
            if not verdict:
                return None if verdict is None else {}
            verdicts = {row: self._passes(runner, row) for row in (*failing, *self._passing)}
        repaired = [first, *(row for row in failing if verdicts[row])]
        broken = [row for row in self._passing if verdicts[row] is False]
        checked = sum(verdicts[row] is not None for row in self._passing)
        return self._row(other, repaired, broken, checked, sum(verdict is None for verdict in verdicts.values()))

    def _passes(self, runner: Runner, row: int) -> bool | None:
        """Whether a case passes; None: there is no time for it."""
        if time.monotonic() >= self._deadline:
            return None
        result = runner.run_case(self._runs.tested[row].case)
        return judge(result.case, result).passed

    def _row(
        self, other: Other, repaired: Sequence[int], broken: Sequence[int], checked: int, unknown: int
    ) -> dict[str, Any]:
        entry, tested, failing = other.entry, self._runs.tested, len(self._failing)
        before, after = self._edited(other)
        doubt = f"there was no time for {plural(unknown, 'run')} with it" if unknown else ""
        return {
            "file": entry.statement.file,
            "line": entry.statement.line,
            "rule": f"`{other.text}` instead of `{entry.given.text}` in `{entry.path.text}`",
            "before": before,
            "after": after,
            "f2p": len(repaired),
            "p2f": len(broken),
            "failing": failing,
            "checked": checked,
            "unknown": unknown,
            "score": round(len(repaired) / sqrt(failing * (len(repaired) + len(broken) + unknown)), 6),
            "doubt": f"it breaks {plural(len(broken), 'passing case')}" if broken else doubt,
            "family": Family.VALUE.name.lower(),
            "cases": [tested[row].case.name for row in repaired],
            "broken": [tested[row].case.name for row in broken],
        }

    def _edited(self, other: Other) -> tuple[str, str]:
        """The line with the number that stands there, and with the other one in its place."""
        given = other.entry.given
        text = Path(other.entry.variable.file).read_bytes()
        start, end = given.at, given.at + len(given.text)
        first, last = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", end)
        line = text[first : last if last >= 0 else len(text)]
        new = line[: start - first] + other.text.encode() + line[end - first :]
        before, after = (each.decode(errors="surrogateescape").strip() for each in (line, new))
        return before, after
