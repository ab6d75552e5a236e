"""C snippets for the tests of probes and traces: compiled by the wrapper's code, run, recorded, decoded, sliced.

Executables lie in Whence's own folder under a hash of the text and of the code that builds them, so that a second
session compiles nothing. Expectations stand in the snippet itself, as comments at the end of a line: ``//+`` marks
the lines that a slice must hold, ``//?`` the line where it starts (and which it holds too); an occurrence may follow
(``//?2``, the last by default).
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import whence.build
import whence.probe
from whence.build.quick import build_sources
from whence.build.toolchain import whence_home
from whence.probe.instrument import Variant
from whence.probe.layout import Kind
from whence.run.cases import Case
from whence.run.runner import Runner, RunResult, TraceRequest
from whence.run.sandbox import Limits
from whence.subject.subject import Subject
from whence.trace.slicing import Slice, backward_slice, forward_slice
from whence.trace.trace import Trace

LIMITS = Limits(time=20.0, trace=1 << 30)
C = Path(__file__).parents[1] / "c"
PACKAGES = (Path(package.__file__ or "").parent for package in (whence.build, whence.probe))
BUILD_CODE = [path for folder in PACKAGES for path in sorted(folder.glob("*.py"))]

MOST_RUNNERS = 6
RUNNERS: dict[tuple[Path, Variant | None, Limits], Runner] = {}  # in the order of their last use


@atexit.register
def close_runners() -> None:
    """End all runners."""
    while RUNNERS:
        RUNNERS.popitem()[1].close()


class Snippet:
    """A C program given as text; ``files`` maps names to texts, the first one names the program."""

    def __init__(self, files: dict[str, str], flags: tuple[str, ...] = (), limits: Limits = LIMITS) -> None:
        self.files = files
        self.main = next(iter(files))
        self.folder = Path(whence_home()) / "snippets" / _key(files, flags)
        self._flags = flags
        self._limits = limits

    @cached_property
    def subject(self) -> Subject:
        """The captured program, built when first asked for."""
        self.folder.mkdir(parents=True, exist_ok=True)
        executable = self.folder / Path(self.main).stem
        with _lock(self.folder):
            if not (self.folder / "built").exists():
                for name, text in self.files.items():
                    (self.folder / name).write_text(text)
                sources = [self.folder / name for name in self.files if name.endswith(".c")]
                build_sources(sources, self._flags, self.folder)
                (self.folder / "built").touch()
        return Subject(self.folder, executable, [], self._limits)

    def runner(self, variant: Variant | None = None) -> Runner:
        """The runner of the plain program or of a variant; the ones used last are kept."""
        key = (self.folder, variant, self._limits)
        found = RUNNERS.pop(key, None) or self.subject.runner(variant)
        RUNNERS[key] = found
        while len(RUNNERS) > MOST_RUNNERS:
            RUNNERS.pop(next(iter(RUNNERS))).close()
        return found

    def run(self, *arguments: str, stdin: bytes = b"", variant: Variant | None = None) -> RunResult:
        """Run the plain program, or a variant without a trace."""
        return self.runner(variant).run_case(Case("case", arguments, stdin))

    def record(
        self,
        *arguments: str,
        stdin: bytes = b"",
        limit: int | None = None,
        ring: bool = False,
        variant: Variant = Variant.RECORD,
    ) -> tuple[RunResult, Path]:
        """Run the record variant, or another one that records; returns the result and the trace file."""
        runner = self.runner(variant)
        path = runner.sandbox.new_path("trace")
        request = TraceRequest(path, limit or self._limits.trace, ring)
        return runner.run_case(Case("case", arguments, stdin), request), path

    def open(self, path: Path) -> Trace:
        """Decode a trace file of this program."""
        subject = self.subject
        return Trace(path, subject.program, subject.plan, subject.fingerprint)

    def trace(self, *arguments: str, stdin: bytes = b"", limit: int | None = None, ring: bool = False) -> Trace:
        """Record one run and decode it; the file goes away with the trace."""
        _, path = self.record(*arguments, stdin=stdin, limit=limit, ring=ring)
        trace = self.open(path)
        path.unlink()
        return trace

    # ---- What the source says ----------------------------------------------------------------------------------------

    def marked(self, mark: str) -> list[int]:
        """Lines of the main file that end in a comment with this mark."""
        pattern = re.compile(rf"//\S*{re.escape(mark)}\S*\s*$")
        return [n for n, line in enumerate(self.files[self.main].splitlines(), 1) if pattern.search(line)]

    @property
    def expected(self) -> list[int]:
        """The lines that the slice from the criterion must hold."""
        return sorted({*self.marked("+"), *self.marked("?")})

    # ---- Events and lines --------------------------------------------------------------------------------------------

    @cached_property
    def _line_of_site(self) -> NDArray[np.int64]:
        program, found, text = self.subject.program, [], self.files[self.main].splitlines()
        for number in self.subject.plan.sites["instruction"][:-1].tolist():
            place = program.location(number)
            here = place is not None and Path(place.file).name == self.main
            found.append(place.line if here and place is not None and text[place.line - 1].strip() != "}" else 0)
        return np.array(found, np.int64)

    def lines_of(self, trace: Trace, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """The line of each event; 0 for code without a place, of another file, or of a closing brace."""
        return self._line_of_site[trace.sites(events)]

    def lines(self, trace: Trace, events: NDArray[np.int64]) -> list[int]:
        """The lines of the main file that the events stand on."""
        return sorted(set(self.lines_of(trace, events).tolist()) - {0})

    def events_at(self, trace: Trace, line: int, *kinds: Kind) -> list[int]:
        """All events of a line, in order of time; of some kinds, where any are given."""
        everything = np.arange(trace.events)
        found = everything[self.lines_of(trace, everything) == line].tolist()
        return [e for e in found if not kinds or trace.kind(e) in kinds]

    def criterion(self, trace: Trace) -> list[int]:
        """The last store on the criterion's line, in the execution that the mark names; else the arguments passed."""
        (line,) = self.marked("?")
        occurrence = re.search(r"\?(\d+)", self.files[self.main].splitlines()[line - 1])
        runs: list[list[int]] = []
        seen: set[int] = set()
        for event in self.events_at(trace, line):
            site = trace.site(event)
            if not runs or site in seen:
                runs.append([])
                seen = set()
            runs[-1].append(event)
            seen.add(site)
        chosen = runs[int(occurrence[1]) - 1 if occurrence else -1]
        stores = [e for e in chosen if trace.kind(e) is Kind.STORE]
        return stores[-1:] or [e for e in chosen if trace.kind(e) is Kind.ARG]

    def sliced(self, trace: Trace, criterion: Iterable[int] | None = None, control: bool = True) -> list[int]:
        """The lines of the backward slice, from the marked criterion if no events are given."""
        events = self.criterion(trace) if criterion is None else list(criterion)
        return self.lines(trace, backward(trace, events, control).events)


@dataclass(frozen=True)
class Program:
    """A program of ``tests/c``: a C file, or a folder with ``main.c``. Lines ``//: key text`` say how it runs and ends.

    ``ends`` is how the trace's header says it ended; ``status`` its exit status where the header cannot tell.
    """

    name: str
    snippet: Snippet
    settings: dict[str, str]

    @property
    def arguments(self) -> list[str]:
        """Its arguments."""
        return shlex.split(self.settings.get("arguments", ""))

    @property
    def stdin(self) -> bytes:
        """Its standard input."""
        return self.settings.get("stdin", "").encode().decode("unicode_escape").encode("latin-1")

    @property
    def end(self) -> tuple[str, int]:
        """How it ends: ``exit``, ``signal`` or ``killed``, and the status or signal."""
        kind, _, code = self.settings.get("ends", "exit 0").partition(" ")
        return kind, int(code or 0)

    def trace(self) -> Trace:
        """One recorded run."""
        return self.snippet.trace(*self.arguments, stdin=self.stdin)


@cache
def program(name: str) -> Program:
    """The program of ``tests/c`` with this name."""
    path = C / f"{name}.c"
    paths = [path] if path.exists() else sorted((C / name).glob("*.c"), key=lambda p: (p.stem != "main", p.name))
    texts = {p.name: p.read_text() for p in paths}
    settings = dict(re.findall(r"^//: (\w+) (.*)$", "\n".join(texts.values()), re.M))
    limits = replace(LIMITS, time=float(settings.get("time", LIMITS.time)))
    return Program(name, _made(tuple(texts.items()), tuple(shlex.split(settings.get("flags", ""))), limits), settings)


def programs() -> list[str]:
    """Names of all programs of ``tests/c``."""
    return sorted(p.stem for p in C.iterdir())


def backward(trace: Trace, events: Iterable[int], control: bool = True) -> Slice:
    """The backward slice from some events."""
    return backward_slice(trace.plan, trace.columns, np.array(sorted(set(events))) + 1, control)


def forward(trace: Trace, events: Iterable[int], control: bool = True) -> Slice:
    """The forward slice from some events."""
    return forward_slice(trace.plan, trace.columns, np.array(sorted(set(events))) + 1, control)


@cache
def _made(files: tuple[tuple[str, str], ...], flags: tuple[str, ...], limits: Limits) -> Snippet:
    return Snippet(dict(files), flags, limits)


def snippet(code: str, *flags: str, time: float = LIMITS.time, memory: int = LIMITS.memory, **files: str) -> Snippet:
    """The snippet of ``snippet.c`` and of further modules given as ``name="text"``; one object for equal texts."""
    others = tuple((f"{name}.c", text) for name, text in files.items())
    limits = replace(LIMITS, time=time, memory=memory)
    return _made((("snippet.c", code), *others), flags, limits)


def _key(files: dict[str, str], flags: tuple[str, ...]) -> str:
    digest = hashlib.sha256(repr((files, flags)).encode())
    for path in BUILD_CODE:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Two workers do not build the same snippet at once."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
