"""Thousands of candidate edits tried on the cases: many are compiled into one build, and each run chooses one.

Key idea: compiling takes a part of a second, a run of a small program a millisecond. So hundreds of edits are compiled
at once (``program/schemata.py``), and the fork server's environment says which one a run has. What repairs a failing
case is run on all others until one breaks. It is a sieve: what passes it is compiled by itself before it is told
(``Editing``). An edit that the compiler refuses is left out and counted; its diagnostics tell which ones those are.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from os import cpu_count
from pathlib import Path
from typing import NamedTuple

from whence.build.edited import QUICKLY, DoesNotCompile, Rebuild
from whence.build.flags import is_optimised
from whence.build.scratch import scratch
from whence.errors import BuildError, WhenceError
from whence.findings import Statement
from whence.program.c_source import CSource, lines_of
from whence.program.schemata import Schemata, can_be_chosen, schemata
from whence.program.source_edits import SourceEdit
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.runner import Cancelled, RunLost, Runner
from whence.run.sandbox import Limits
from whence.subject.chosen_edit import choosing
from whence.subject.confined import Ground
from whence.subject.coverage import Coverage
from whence.subject.edited_elsewhere import EditedElsewhere
from whence.subject.runs import Runs, coverage
from whence.subject.subject import Subject

BATCH = 500  # edits of a build
FIRST_WINDOW, WINDOW = BATCH // 2, 4 * BATCH  # edits that are sorted by file at a time, at first and at most
WAITING = 1.0  # seconds that edits are waited for until those are built that are there
AHEAD = 1  # batches that wait for a processor
ROUNDS = 20  # of leaving out what does not compile
PORTION = 64  # runs at a time; the clock is looked at in between
PORTION_ENDLESS = 16  # ... where most of them go on until they are ended
FIRST = 8  # passing cases that an edit runs on before all others: those that most edits broke
SLOWER, LEAST = 5.0, 0.1  # times the longest run that passes, and seconds, that a run with an edit may take
AGAIN = 3  # runs without an edit by which the time of the first case is taken
LONGEST_AGAIN = 12  # passing cases of which it is taken at most, where that has no end
SLOWED, SLACK = 2.0, 0.2  # times the cases' own time, and seconds, that they may take where nothing is optimised
LEAST_BUSY = 0.02  # seconds of processor time that it may take at least
_ERROR = re.compile(r"^.*?:(\d+):(\d+): (?:fatal )?error:", re.MULTILINE)
_NAME = re.compile(rb"[A-Za-z_]\w*")
_UNDEFINED = re.compile(r"undefined (?:reference to [`']|symbol: )(\w+)")
# Nothing that a programmer would write: a pointer as a number, one of another type, a function that is not declared.
STRICT = tuple(
    f"-Werror={name}" for name in ("int-conversion", "incompatible-pointer-types", "implicit-function-declaration")
)
ALL_ERRORS = ("-ferror-limit=0", "-fno-caret-diagnostics", "-fno-color-diagnostics", "-fbracket-depth=4096")


@dataclass(slots=True, frozen=True)
class Sieved:
    """An edit that repairs a failing case: rows of ``Runs`` that it repairs, and of a passing case that it breaks."""

    edit: SourceEdit
    repaired: tuple[int, ...]
    broken: tuple[int, ...] = ()
    checked: bool = True  # on all passing cases that it reaches; False: there was no time for that
    ran: int = 0  # passing cases, and tests of other programs, that it ran on
    refuted: bool = False  # a test of another program, which it ran on as well, fails with it
    further: tuple[int, ...] = ()  # of further failing cases on which it was run those that it repairs
    unrepaired: int = 0  # and how many of them it does not

    @property
    def share_repaired(self) -> float:
        """Of all failing cases that it ran on the share that it repairs."""
        repaired = len(self.repaired) + len(self.further)
        return repaired / (repaired + self.unrepaired)

    def passes(self, failing: int) -> bool:
        """Whether all cases pass with it, of which so many fail without, and tests of other programs."""
        return len(self.repaired) == failing and not self.broken and self.checked and not self.refuted


class Joint(NamedTuple):
    """Edits of one file, by their numbers, that an ``executable`` has, made with ``objects`` in place of modules."""

    executable: Path
    edits: dict[int, SourceEdit]
    objects: Mapping[str, Path]


@dataclass(slots=True)
class Count:
    """What became of candidate edits: ``tried`` were run, ``refused`` do not compile, ``late`` had no time."""

    tried: int = 0
    refused: int = 0
    late: int = 0
    runs: int = 0
    troubles: dict[str, str] = field(default_factory=dict)  # why a file's edits cannot be built

    def add(self, other: Count) -> None:
        """Count what became of other edits, too."""
        self.tried, self.refused = self.tried + other.tried, self.refused + other.refused
        self.late, self.runs = self.late + other.late, self.runs + other.runs
        self.troubles |= other.troubles


class CandidateRuns:
    """Tries candidate edits on the cases of ``runs``; use it in a ``with`` statement.

    After ``deadline`` (of ``time.monotonic``) nothing is begun. ``further``: rows of failing cases on which edits are
    run as well with which all others pass.
    """

    def __init__(self, subject: Subject, runs: Runs, deadline: float, further: Sequence[int] = ()) -> None:
        self._subject, self._runs, self._deadline, self._further = subject, runs, deadline, further
        self._scratch = scratch("candidates")
        self._rebuild = Rebuild(subject.capture, Path(self._scratch.name), subject.places.modules_with)
        self._ground = Ground(subject, runs)
        self._builds = 0
        self._runners: set[Runner] = set()  # those in use
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._again: dict[int, float] = {}  # seconds that a case takes where it was run once more
        self._last: dict[str, tuple[str, ...]] = {}  # by file: the flags that come last where edits of it are built
        self._flagging = threading.Lock()
        self._breaking = Counter[int]()  # of passing cases: how many edits each has failed with
        self.count = Count()

    def __enter__(self) -> CandidateRuns:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def sieve(
        self, files: Mapping[str, CSource], edits: Iterable[SourceEdit], rows: Sequence[int]
    ) -> Iterator[list[Sieved]]:
        """The edits that repair a failing case of ``rows``, batch by batch in their order; the first rows run first.

        ``files`` are the sources by the names that edits have for them. Edits that are no choice while the program runs
        are passed over. Whoever stops asking ends what is still running.
        """
        end = threading.Timer(max(0.0, min(self._deadline - time.monotonic(), threading.TIMEOUT_MAX)), self._end)
        end.start()
        jobs: deque[Future[list[Sieved]]] = deque()
        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            try:
                for file, batch in _batches(files, edits):
                    jobs.append(pool.submit(self._batch, files[file], batch, rows))
                    while len(jobs) > (cpu_count() or 1) + AHEAD:
                        yield jobs.popleft().result()
                    if self._is_late:
                        break
                while jobs:
                    yield jobs.popleft().result()
            finally:
                end.cancel()
                if jobs:
                    self._end()
                pool.shutdown(cancel_futures=True)
                self._stop.clear()  # other edits may be tried until the deadline

    def _end(self) -> None:
        """Let everything that runs end at once: a run with an edit may go on for as long as its limit says."""
        self._stop.set()
        with self._lock:
            for runner in self._runners:
                runner.cancel()

    # ---- Builds ------------------------------------------------------------------------------------------------------

    def build(self, source: CSource, edits: Sequence[SourceEdit]) -> Joint:
        """An executable with those of the edits (of one file) that compile and can be linked, by their numbers.

        Raises BuildError where none can be built with this file, TimeoutError where there is no time.
        """
        file, left = edits[0].file, dict(enumerate(edits, 1))
        path = self._subject.folder / file
        for _ in range(ROUNDS):
            last = self._flags(source, file)
            text = schemata(source, list(left.items()))
            name = self._name()
            failure: BuildError
            try:
                objects = self._rebuild.objects(path, text.text, name, self._deadline, ALL_ERRORS, last)
                return Joint(self._rebuild.linked(objects, name, self._deadline, chooses=True), left, objects)
            except DoesNotCompile as error:
                owners, failure = owners_of(error.hint, text), error
                if not owners <= left.keys() and self._is_loosened(file):
                    continue
                refused = owners & left.keys()
            except BuildError as error:
                refused, failure = _unlinked(error.hint, left), error
            if not refused:
                raise failure
            self._add(refused=len(refused))
            left = {number: edit for number, edit in left.items() if number not in refused}
        raise DoesNotCompile(f"the edits of {path.name} together do not compile")

    def _name(self) -> str:
        """A name for the next build."""
        with self._lock:
            self._builds += 1
            return f"build-{self._builds}"

    def _flags(self, source: CSource, file: str) -> tuple[str, ...]:
        """The flags that come last where edits of a file are built.

        They are QUICKLY where the file compiles so, and the cases do then what they do by themselves, about as soon.
        And STRICT, until the file's own text is found not to compile with that.
        """
        with self._flagging:
            if file not in self._last:
                quickly = QUICKLY if self._serves_quickly(source, self._subject.folder / file) else ()
                self._last[file] = (*quickly, *STRICT)
            return self._last[file]

    def _is_loosened(self, file: str) -> bool:
        """Compile a file without STRICT from now on; False where it was compiled so already."""
        with self._flagging:
            before = self._last[file]
            self._last[file] = tuple(flag for flag in before if flag not in STRICT)
            return before != self._last[file]

    def _serves_quickly(self, source: CSource, path: Path) -> bool:
        if not any(is_optimised(one.arguments) for one in self._subject.capture.modules if one.source == str(path)):
            return False
        tested = self._runs.tested
        rows = [row for row in (*self._runs.failing, *self._runs.passing) if not tested[row].outcome.endless][:PORTION]
        try:
            text = schemata(source, [])
            executable = self._rebuild.build(path, text.text, self._name(), self._deadline, (), True, QUICKLY)
            with self._running(executable, rows) as runner:
                results = list(runner.run_cases([choosing(tested[row].case, 0) for row in rows]))
        except (WhenceError, OSError, TimeoutError, RunLost, Cancelled):
            return False
        plain = [tested[row].result for row in rows]
        ended, own = ([(one.stdout, one.code) for one in all_] for all_ in (results, plain))
        if ended != own or sum(one.wall for one in results) > SLOWED * sum(one.wall for one in plain) + SLACK:
            return False
        with self._lock:
            self._again |= {row: result.wall for row, result in zip(rows, results, strict=True)}
        return True

    @contextmanager
    def _running(self, executable: Path, rows: Sequence[int]) -> Iterator[Runner]:
        """A runner of an executable, for the cases of some rows, which ends when the search does."""
        with Runner(executable, self.limits_of(rows), name=self._subject.name, confined=True) as runner:
            with self._lock:
                self._runners.add(runner)
            try:
                yield runner
            finally:
                with self._lock:
                    self._runners.discard(runner)

    def _batch(self, source: CSource, edits: Sequence[SourceEdit], rows: Sequence[int]) -> list[Sieved]:
        """The edits of a batch that repair a failing case."""
        if self._is_late:
            self._add(late=len(edits))
            return []
        if self._ground.trouble:
            with self._lock:
                self.count.troubles.setdefault(edits[0].file, f"not run: {self._ground.trouble}")
            return []
        try:
            joint = self.build(source, edits)
        except TimeoutError:
            self._add(late=len(edits))
            return []
        except DoesNotCompile:
            if len(edits) > 1:  # what is wrong is no edit's own text: by halves
                half = len(edits) // 2
                return [one for part in (edits[:half], edits[half:]) for one in self._batch(source, part, rows)]
            self._add(refused=1)
            return []
        except (WhenceError, OSError) as error:
            with self._lock:
                self.count.troubles.setdefault(edits[0].file, str(error))
            return []
        with self._running(joint.executable, rows) as runner:
            found = self._run(runner, source, joint.edits, rows)
        return list(self._run_elsewhere(joint, found, len(rows)))

    def _run_elsewhere(self, joint: Joint, found: Sequence[Sieved], failing: int) -> Iterator[Sieved]:
        """What came of edits, with tests of other programs where all cases pass."""
        elsewhere, numbers = self._subject.derived(EditedElsewhere), {edit: n for n, edit in joint.edits.items()}
        if not self._subject.passed_tests or not any(one.passes(failing) for one in found):
            yield from found
            return
        with (
            self._running(self._subject.executable, self._runs.failing) as runner,
            elsewhere.joint(joint.objects) as there,
        ):
            runner.limits = self._subject.limits
            for one in found:
                if not one.passes(failing):
                    yield one
                    continue
                check = there.check(runner, Statement(one.edit.file, one.edit.line), numbers[one.edit], self._deadline)
                yield replace(one, ran=one.ran + check.runs, refuted=bool(check.found))

    # ---- Runs --------------------------------------------------------------------------------------------------------

    def _run(self, runner: Runner, source: CSource, edits: dict[int, SourceEdit], rows: Sequence[int]) -> list[Sieved]:
        """The edits that repair the first row, with all that they repair, and what they break.

        A few at a time: where runs are long, what is found first is checked, though there is no time for the others.
        """
        numbers, found = list(edits), list[Sieved]()
        size = PORTION_ENDLESS if self._runs.tested[rows[0]].outcome.endless else PORTION
        self._time(runner, rows[0])
        for start in range(0, len(numbers), size):
            if self._is_late:
                self._add(late=len(numbers) - start)
                break
            part = numbers[start : start + size]
            self._add(tried=len(part))
            repaired = self._repaired(runner, part, rows)
            checked = [self._checked(runner, source, edits[n], n, mine) for n, mine in repaired.items()]
            found += [self._tried_further(runner, n, one, len(rows)) for n, one in zip(repaired, checked, strict=True)]
        return found

    def _repaired(self, runner: Runner, numbers: Sequence[int], rows: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """All rows that edits repair, of those that repair the first."""
        repaired: dict[int, tuple[int, ...]] = dict.fromkeys(self._passing(runner, rows[0], numbers), (rows[0],))
        for row in rows[1:] if repaired else ():
            for number in self._passing(runner, row, list(repaired)):
                repaired[number] += (row,)
        return repaired

    def _passing(self, runner: Runner, row: int, numbers: Sequence[int]) -> list[int]:
        """The edits with which a case passes; none where there is no time."""
        if self._is_late:
            return []
        runner.limits = self.limits_of([row])
        verdicts = self._verdicts(runner, [(row, number) for number in numbers])
        return [number for number, passes in zip(numbers, verdicts, strict=True) if passes]

    def _checked(
        self, runner: Runner, source: CSource, edit: SourceEdit, number: int, repaired: tuple[int, ...]
    ) -> Sieved:
        """The edit with the first passing case that it breaks, of those that come to its function."""
        rows = self._reaching(source, edit)
        with self._lock:
            rows = sorted(rows, key=lambda row: -self._breaking[row])
        starts = [0, *range(FIRST, len(rows), PORTION)]
        for start, end in pairwise((*starts, len(rows))):
            if self._is_late:
                return Sieved(edit, repaired, checked=False)
            part = rows[start:end]
            runner.limits = self.limits_of(part)
            verdicts = self._verdicts(runner, [(row, number) for row in part])
            broken = [row for row, ok in zip(part, verdicts, strict=True) if not ok]
            if broken:
                with self._lock:
                    self._breaking.update(broken)
                return Sieved(edit, repaired, tuple(sorted(broken)), not self._stop.is_set(), start + len(part))
        return Sieved(edit, repaired, ran=len(rows))

    def _tried_further(self, runner: Runner, number: int, one: Sieved, failing: int) -> Sieved:
        """What came of an edit, with the further failing cases where all others pass with it."""
        if not (self._further and one.passes(failing)) or self._is_late:
            return one
        runner.limits = self.limits_of(self._further)
        verdicts = self._verdicts(runner, [(row, number) for row in self._further])
        if self._stop.is_set():
            return one
        repaired = tuple(row for row, ok in zip(self._further, verdicts, strict=True) if ok)
        return replace(one, further=repaired, unrepaired=len(verdicts) - len(repaired))

    def _verdicts(self, runner: Runner, wanted: Sequence[tuple[int, int]]) -> list[bool]:
        """Whether the case of each row passes with each edit; one whose run cannot be made does not."""
        cases = [choosing(self._runs.tested[row].case, number, self._busy(row)) for row, number in wanted]
        self._add(runs=len(cases))
        try:
            return [judge(result.case, result).passed for result in runner.run_cases(cases)]
        except Cancelled:
            return [False] * len(cases)
        except RunLost:
            return [self._alone(runner, case) for case in cases]

    def _alone(self, runner: Runner, case: Case) -> bool:
        try:
            return judge(case, runner.run_case(case)).passed
        except (RunLost, Cancelled):
            return False

    def _reaching(self, source: CSource, edit: SourceEdit) -> list[int]:
        """The rows of the passing cases that come to the function of an edit."""
        function = source.function_at(edit.parts[0].start)
        lines = lines_of(function) if function is not None else range(0)
        columns = [n for n, touched in enumerate(self._lines) if any(f == edit.file and x in lines for f, x in touched)]
        if not columns:
            return self._runs.passing
        counts = self._coverage.counts[:, columns].sum(axis=1)
        return [row for row in self._runs.passing if counts[row]]

    @cached_property
    def _coverage(self) -> Coverage:
        found: Coverage = coverage(self._subject, self._runs)
        return found

    @cached_property
    def _lines(self) -> list[tuple[tuple[str, int], ...]]:
        """For each column of the coverage its files and lines."""
        return [tuple((s.file, s.line) for s in site.statements) for site in self._coverage.sites]

    def limits_of(self, rows: Iterable[int]) -> Limits:
        """The subject's limits for runs of these cases with an edit: a few times as long as they take without.

        A case that does not end without it may take that of the longest that passes.
        """
        limits, tested = self._subject.limits, self._runs.tested
        ended = [row if not tested[row].outcome.endless else None for row in rows]
        longest = max((self._longest if row is None else tested[row].result.wall for row in ended), default=0.0)
        wanted = max(LEAST, SLOWER * longest)
        return replace(limits, time=min(limits.time, wanted) if limits.time else wanted)

    def _busy(self, row: int) -> float:
        """Seconds of processor time that a case may take with an edit."""
        is_endless = self._runs.tested[row].outcome.endless
        return max(LEAST_BUSY, SLOWER * (self._longest if is_endless else self._wall(row)))

    def _wall(self, row: int) -> float:
        """Seconds that a case takes without an edit."""
        return self._again.get(row, self._runs.tested[row].result.wall)

    def _time(self, runner: Runner, row: int) -> None:
        """Run a case without an edit: what it took at first may be due to what else the machine did.

        In place of one without an end the longest ones that pass, of which its limit comes.
        """
        if not self._runs.tested[row].outcome.endless:
            self._time_again(runner, row)
            return
        for _ in range(LONGEST_AGAIN):
            longest = max(self._runs.passing, key=self._wall, default=row)
            if not self._time_again(runner, longest):
                return
            self.__dict__.pop("_longest", None)

    def _time_again(self, runner: Runner, row: int) -> bool:
        """Run a case without an edit, unless that was done, or it takes less time than any may; whether it was run."""
        tested = self._runs.tested[row]
        if row in self._again or tested.outcome.endless or SLOWER * tested.result.wall <= LEAST_BUSY:
            return False
        runner.limits = self.limits_of([row])
        try:
            walls = [result.wall for result in runner.run_cases([choosing(tested.case, 0)] * AGAIN)]
        except (RunLost, Cancelled):
            return False
        self._again[row] = min(tested.result.wall, *walls)
        return True

    @cached_property
    def _longest(self) -> float:
        """Seconds of the longest run that passes."""
        return max(map(self._wall, self._runs.passing), default=self._subject.limits.time or 1.0)

    def _add(self, **numbers: int) -> None:
        with self._lock:
            for name, number in numbers.items():
                setattr(self.count, name, getattr(self.count, name) + number)

    @property
    def _is_late(self) -> bool:
        return self._stop.is_set() or time.monotonic() >= self._deadline


def _batches(files: Mapping[str, CSource], edits: Iterable[SourceEdit]) -> Iterator[tuple[str, list[SourceEdit]]]:
    """Edits of one file each, as many as a build has, in the order of their first ones; few are asked for ahead.

    Where edits of large files are long in making, those that are there are built meanwhile.
    """
    choices, size = (edit for edit in edits if can_be_chosen(files[edit.file], edit)), FIRST_WINDOW
    is_over = False
    while not is_over:
        open_: dict[str, list[SourceEdit]] = {}
        waited = 0.0
        for _ in range(size):
            asked = time.monotonic()
            edit = next(choices, None)
            waited += time.monotonic() - asked
            if is_over := edit is None:
                break
            batch = open_.setdefault(edit.file, [])
            batch.append(edit)
            if len(batch) == BATCH:
                yield edit.file, open_.pop(edit.file)
            if waited > WAITING:
                break
        yield from open_.items()
        size = min(2 * size, WINDOW)


def owners_of(diagnostics: str, text: Schemata) -> set[int]:
    """The numbers of the edits in whose text the compiler found an error; 0 where it is in none of them."""
    places = ((int(found[1]), int(found[2])) for found in _ERROR.finditer(diagnostics))
    return {text.owner(line, column) for line, column in places}


def _unlinked(diagnostics: str, edits: Mapping[int, SourceEdit]) -> set[int]:
    """The numbers of the edits that name what the linker did not find: an undeclared function compiles in older C."""
    names = {name.encode() for name in _UNDEFINED.findall(diagnostics)}
    called = {
        number: {name for _, new in edit.changes for name in _NAME.findall(new)} for number, edit in edits.items()
    }
    return {number for number, own in called.items() if own & names}
