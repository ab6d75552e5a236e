"""Changes of the source, compiled and run: what a change of one line does to all cases.

An altered run shows what a change does in a variant. What counts in the end is the source: compiled with the user's
own flags and run as the plain program, on every case. Compiling takes a part of a second, so a few changes can be
tried like that.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from os import cpu_count
from pathlib import Path
from typing import Any, TypeVar

from whence.build.edited import DoesNotCompile, Rebuild
from whence.build.scratch import scratch
from whence.errors import WhenceError
from whence.findings import plural
from whence.run.oracle import judge
from whence.run.outcome import Kind
from whence.run.runner import Cancelled, Runner
from whence.run.sandbox import Limits
from whence.subject.confined import Ground
from whence.subject.runs import Runs
from whence.subject.subject import Subject

SCHEDULED = "not run: the schedule is one of this build, and says nothing of the changed program"
NO_TIME = "no time was left to run all cases"
TRAPS = (
    "-fsanitize=array-bounds,bool,integer-divide-by-zero,null,pointer-overflow,shift,vla-bound",
    "-fsanitize-trap=all",
)
NewText = Callable[[], bytes]  # of a file
_Found = TypeVar("_Found")
PORTION = 64  # cases that are run at a time; the clock is looked at in between


@dataclass(slots=True, frozen=True)
class Edit:
    """A line of a file (as statements name it) with another text; ``before`` and ``after`` without indentation."""

    file: str
    line: int
    before: str
    after: str

    def applied(self, folder: Path) -> bytes:
        """The new text of its file in a folder; raises OSError where that is gone, or is not as the edit says."""
        lines = (folder / self.file).read_bytes().split(b"\n")
        old = lines[self.line - 1] if 0 < self.line <= len(lines) else b""
        core = old.strip()
        if core != self.before.encode(errors="surrogateescape"):
            raise OSError(f"line {self.line} of {self.file} is not the text that was shown")
        start = old.index(core)
        lines[self.line - 1] = old[:start] + self.after.encode() + old[start + len(core) :]
        return b"\n".join(lines)


@dataclass(slots=True, frozen=True)
class Tried:
    """What came of an edit: rows of ``Runs`` of the failing cases that pass with it, and of passing ones that fail.

    ``ran`` counts the cases. Where it was not compiled, or not run on all cases, ``trouble`` says why; ``compiles`` is
    False where the compiler refuses it.
    """

    repaired: tuple[int, ...] = ()
    broken: tuple[int, ...] = ()
    ran: int = 0
    how: str = ""  # of the first case that fails with it: its name and outcome
    trouble: str = ""
    compiles: bool = True

    def passes(self, failing: int) -> bool:
        """Whether all cases pass with it; ``failing`` do not without."""
        return not self.trouble and len(self.repaired) == failing and not self.broken


@dataclass(slots=True, frozen=True)
class Check:
    """What a check of an edited program came to: on ``runs`` of the ``cases`` that it can be made on.

    ``found`` says what it found wrong (empty: nothing), ``trouble`` why it was not made on all, ``before`` what it
    found that passing cases do without the edit, too.
    """

    runs: int = 0
    cases: int = 0
    found: str = ""
    trouble: str = ""
    before: str = ""

    @property
    def why_not(self) -> str:
        """Why it was not made on all, with how many of the runs are clean."""
        return f"{self.runs} of {self.cases} runs are clean, but {self.trouble}" if self.runs else self.trouble

    @property
    def is_clean(self) -> bool | None:
        """Whether nothing is wrong; None: not known, since it was not made on all."""
        return False if self.found else None if self.trouble else True


NONE_ELSEWHERE = Check()


@dataclass(slots=True)
class Checks:
    """What further checks say of an edited program: ``traps`` on arithmetic and bounds, ``memory`` in recorded runs.

    ``warning``: what the compiler warns of with the edit, and not without (empty: nothing). ``elsewhere``: what passing
    tests do that are other programs of the suite (of no cases where none comes to the edit).
    """

    traps: Check
    memory: Check
    warning: str = ""
    elsewhere: Check = NONE_ELSEWHERE

    @property
    def is_clean(self) -> bool | None:
        """Whether all were made and found nothing, nor did the compiler; False: one did; None: one was not made."""
        verdicts = {*(check.is_clean for check in self._all), *([False] if self.warning else [])}
        return False if False in verdicts else None if None in verdicts else True

    @property
    def doubt(self) -> tuple[bool, int]:
        """What is clean has the least: whether a check found something, and how many were not made."""
        return self.is_clean is False, sum(check.is_clean is None for check in self._all)

    @property
    def _all(self) -> tuple[Check, ...]:
        return self.traps, self.memory, self.elsewhere

    @property
    def words(self) -> str:
        """What they found, what they did not, and what was not checked."""
        made = (("arithmetic and bounds", self.traps), ("memory", self.memory))
        found = [*(check.found for check in self._all if check.found), *self._warned]
        clean = [f"{what} in {plural(c.runs, 'run')}" for what, c in made if c.is_clean and not c.before]
        missing = [f"{what} ({check.why_not})" for what, check in made if check.is_clean is None]
        missing = [] if self.elsewhere.found else missing
        missing += [f"other tests ({self.elsewhere.why_not})"] if self.elsewhere.is_clean is None else []
        before = [
            f"with {what} in {plural(check.runs, 'run')} nothing but what is wrong without it, too: {check.before}"
            for what, check in made
            if check.is_clean and check.before
        ]
        parts = [f"but {' and '.join(found)}"] if found else []
        parts += [f"nothing wrong with {' and '.join(clean)}"] if clean else []
        parts += [f"not checked: {' and '.join(missing)}"] if missing else []
        return "; ".join([*parts, *before, *self._passed])

    @property
    def found(self) -> str:
        """What the first of them found wrong; empty: nothing."""
        return next(filter(None, [*(check.found for check in self._all), *self._warned]), "")

    @property
    def _passed(self) -> list[str]:
        others = self.elsewhere.runs if self.elsewhere.is_clean else 0
        return (
            [f"{plural(others, 'test')} of other programs of the suite pass{'es' if others == 1 else ''}"]
            if others
            else []
        )

    @property
    def _warned(self) -> list[str]:
        return [f"the compiler warns of it: {self.warning}"] if self.warning else []

    def json(self) -> dict[str, Any]:
        """All, as results hold them (docs/json.md)."""
        return {"clean": self.is_clean, "checks": asdict(self)}


class Editing:
    """Tries edits on the cases of ``runs``, on all processors; use it in a ``with`` statement.

    After ``deadline`` (of ``time.monotonic``) nothing is begun.
    """

    def __init__(self, subject: Subject, runs: Runs, deadline: float) -> None:
        self._subject, self._runs, self.deadline = subject, runs, deadline
        self._scratch = scratch("edited")
        self._rebuild = Rebuild(subject.capture, Path(self._scratch.name), subject.places.modules_with)
        self._changed = set(subject.places.changed_files())
        self._ground = Ground(subject, runs)
        self._stop = threading.Event()
        self._numbers = 0
        self._trapping: dict[str, Tried] = {}  # of files as they are: what comes of their traps

    def __enter__(self) -> Editing:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def all(self, edits: Sequence[Edit]) -> list[Tried]:
        """What comes of each edit."""
        return self._each([(edit.file, partial(edit.applied, self._subject.folder)) for edit in edits])

    def texts(
        self, texts: Sequence[tuple[str, bytes]], flags: Sequence[str] = (), *, to_the_end: bool = True
    ) -> list[Tried]:
        """What comes of each new text of a file (as statements name it), compiled with further flags.

        Unless ``to_the_end`` it is run only until it is seen that not all cases pass.
        """
        return self._each([(file, partial(bytes, text)) for file, text in texts], flags, to_the_end)

    def trapped(self, texts: Sequence[tuple[str, bytes]], plain: Sequence[Tried]) -> list[Check]:
        """Each new text of a file on all cases with traps on bounds, null, overflowing pointers, shifts and division.

        ``plain`` is what came of each without. Cases that traps end in the unedited program, though they pass, count
        for nothing.
        """
        files = [file for file in dict.fromkeys(file for file, _ in texts) if file not in self._trapping]
        unedited = [(file, (self._subject.folder / file).read_bytes()) for file in files]
        changes = [(file, partial(bytes, text)) for file, text in (*unedited, *texts)]
        tried = self._each(changes, TRAPS, unedited=len(unedited))
        self._trapping |= zip(files, tried, strict=False)
        found = tried[len(files) :]
        return [self._trap(*row) for row in zip((self._trapping[file] for file, _ in texts), plain, found, strict=True)]

    def warned(self, texts: Sequence[tuple[str, bytes]]) -> list[str]:
        """The first thing that the compiler warns of in each new text of a file, and not in the file as it is."""
        files = list(dict.fromkeys(file for file, _ in texts))
        unedited = [(file, (self._subject.folder / file).read_bytes()) for file in files]
        found = self._in_parallel(self._warnings, [*unedited, *texts], "warned")
        before = dict(zip(files, found, strict=False))
        return [_new(before[file], after) for (file, _), after in zip(texts, found[len(files) :], strict=True)]

    def _warnings(self, file: str, text: bytes, name: str) -> Counter[str] | None:
        try:
            found = self._rebuild.warned(self._subject.folder / file, text, name, self.deadline)
            return Counter(one.text for one in found)
        except (WhenceError, OSError, TimeoutError):
            return None

    def _trap(self, unedited: Tried, plain: Tried, tried: Tried) -> Check:
        cases = plain.ran - len(unedited.broken)
        if trouble := unedited.trouble or tried.trouble:
            return Check(tried.ran, cases, "", trouble)
        ended = [*sorted(set(plain.repaired) - set(tried.repaired)), *tried.broken]
        new = [row for row in ended if row not in {*plain.broken, *unedited.broken}]
        old = [row for row in ended if row in unedited.broken]
        return Check(cases, cases, self._ends(new), before=self._ends(old))

    def _ends(self, rows: Sequence[int]) -> str:
        """The first of the cases that traps end, in words."""
        name = self._runs.tested[rows[0]].case.name if rows else ""
        return f"`{name}` fails where arithmetic and bounds are checked" if rows else ""

    def codes(self, texts: Sequence[tuple[str, bytes]]) -> list[bytes | None]:
        """What an optimising compiler makes of each new text of a file; None: it did not."""
        return self._in_parallel(self._code, texts, "code")

    def _in_parallel(
        self, of: Callable[[str, bytes, str], _Found], texts: Sequence[tuple[str, bytes]], name: str
    ) -> list[_Found]:
        """What comes of each new text of a file, each under a name of its own."""
        first, self._numbers = self._numbers, self._numbers + len(texts)
        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            jobs = [pool.submit(of, *text, f"{name}-{n}") for n, text in enumerate(texts, first)]
            return [job.result() for job in jobs]

    def _code(self, file: str, text: bytes, name: str) -> bytes | None:
        try:
            return self._rebuild.code(self._subject.folder / file, text, name, self.deadline)
        except (WhenceError, OSError, TimeoutError):
            return None

    def _each(
        self,
        changes: Sequence[tuple[str, NewText]],
        flags: Sequence[str] = (),
        to_the_end: bool = True,
        unedited: int = 0,
    ) -> list[Tried]:
        """What comes of each; the first ones are ``unedited``, so that failing cases fail with them, some for ever."""
        first, self._numbers = self._numbers, self._numbers + len(changes)
        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            rows = [self._runs.passing] * unedited + [self._rows] * (len(changes) - unedited)
            numbered = enumerate(zip(changes, rows, strict=True), first)
            jobs = [pool.submit(self._one, *one, f"edit-{n}", flags, mine, to_the_end) for n, (one, mine) in numbered]
            try:
                return [job.result() for job in jobs]
            except BaseException:
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _one(
        self, file: str, changed: NewText, name: str, flags: Sequence[str], rows: Sequence[int], to_the_end: bool
    ) -> Tried:
        """Compile the program with a changed file, and run it."""
        if any(case.schedule is not None for case in self._subject.cases):
            return Tried(trouble=SCHEDULED)
        if self._is_late:
            return Tried(trouble="no time was left to compile")
        if file in self._changed:
            return Tried(trouble=f"{file} was changed since the program was built")
        try:
            text = changed()
            if self._ground.trouble:
                return Tried(trouble=f"not run: {self._ground.trouble}")
            executable = self._rebuild.build(self._subject.folder / file, text, name, self.deadline, flags)
            return self._run(executable, rows, to_the_end)
        except TimeoutError:
            return Tried(trouble="no time was left to compile")
        except DoesNotCompile as error:
            return Tried(trouble=f"its line alone does not compile: {error}", compiles=False)
        except (WhenceError, OSError) as error:
            return Tried(trouble=f"not compiled: {error}")

    # ---- Runs --------------------------------------------------------------------------------------------------------

    @property
    def _rows(self) -> list[int]:
        """All cases, the failing ones first, but those that fail by a memory error, which no plain run shows."""
        runs = self._runs
        return [*(row for row in runs.failing if runs.tested[row].outcome.kind is not Kind.MEMORY), *runs.passing]

    def _run(self, executable: Path, rows: Sequence[int], to_the_end: bool) -> Tried:
        """Run those cases."""
        runs = self._runs
        failing = [row for row in rows if runs.tested[row].outcome.failed]
        repaired, broken, how = list[int](), list[int](), ""
        with Runner(executable, self._limits, name=self._subject.name, confined=True) as runner, self._ended(runner):
            for start in range(0, len(rows), PORTION):
                part = rows[start : start + PORTION]
                try:
                    results = [] if self._is_late else list(runner.run_cases([runs.tested[r].case for r in part]))
                except Cancelled:
                    results = []
                if not results or (self._is_late and any(result.timed_out for result in results)):
                    return Tried(tuple(repaired), tuple(broken), start, how, NO_TIME)
                for row, result in zip(part, results, strict=True):
                    outcome, failed = judge(result.case, result), runs.tested[row].outcome.failed
                    if outcome.passed and failed:
                        repaired.append(row)
                    elif outcome.failed and not failed:
                        broken.append(row)
                        how = how or f"`{result.case.name}`: {outcome.text or outcome.kind}"
                done = start + len(part)
                if not to_the_end and (broken or len(repaired) < min(done, len(failing))):
                    return Tried(tuple(repaired), tuple(broken), done, how)
        return Tried(tuple(repaired), tuple(broken), len(rows), how)

    @contextmanager
    def _ended(self, runner: Runner) -> Iterator[None]:
        """Inside, what runs at the deadline ends then: several cases of an endless edit take as many times as long."""
        left = max(0.0, min(self.deadline - time.monotonic(), threading.TIMEOUT_MAX))
        end = threading.Timer(left, runner.cancel)
        end.start()
        try:
            yield
        finally:
            end.cancel()

    @property
    def _limits(self) -> Limits:
        """The subject's limits; no run may take longer than there is time."""
        limits, left = self._subject.limits, max(1.0, self.deadline - time.monotonic())
        return replace(limits, time=min(limits.time, left)) if limits.time else limits

    @property
    def _is_late(self) -> bool:
        return self._stop.is_set() or time.monotonic() >= self.deadline


def _new(before: Counter[str] | None, after: Counter[str] | None) -> str:
    """The first message that is new, or more frequent; empty where one of both is not known."""
    return next(iter(after - before), "") if after is not None and before is not None else ""
