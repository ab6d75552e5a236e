"""Which of a command's processes a recording is of.

Each process of the program leaves a trace, those that it forked too. One that a fault or an abort ended is what the
case is about; a signal that others sent (a server is stopped in the end) is no crash. A trace that cannot be read does
not stop the use of the others.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from whence.errors import SubjectError, TraceError
from whence.run.oracle import find_assertion, signal_name
from whence.run.outcome import Kind, Outcome
from whence.trace.trace import FORKED, Header, Identity, Trace, open_units, read_header

MOST = 16  # processes that are looked at
LEAVE_OUT = "leave --follow out; children of a process with threads are not recorded"
SHOWN = 80  # characters of a command line
CRASHES = frozenset(
    {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGSYS, signal.SIGTRAP}
)


class NothingForked(SubjectError):
    """A run of which only forked processes count, and that has none."""


@dataclass(slots=True, frozen=True)
class Process:
    """One recorded process of a command."""

    path: Path
    header: Header

    @property
    def names(self) -> set[str]:
        """What it may be called: the last part of ``argv[0]`` and of its executable."""
        return {Path(name).name for name in (self.header.executable, *self.header.arguments[:1])}

    @property
    def has_crashed(self) -> bool:
        """Whether a fault or an abort ended it."""
        return has_crashed(self.header)

    @property
    def text(self) -> str:
        """Its command line."""
        line = " ".join(self.header.arguments)
        return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."


def has_crashed(header: Header) -> bool:
    """Whether a trace ends with a fault or an abort, and not with a signal that something else sent."""
    return header.end == "signal" and header.code in CRASHES


def crash_of(header: Header, stderr: bytes) -> Outcome:
    """The outcome of a process whose trace ends with a fault or an abort."""
    assertion = find_assertion(stderr) if header.code == signal.SIGABRT else None
    text = f"the program was killed by {signal_name(header.code)}"
    return Outcome(Kind.ASSERTION if assertion else Kind.CRASH, text, assertion=assertion)


def processes_in(folder: Path) -> list[Process]:
    """The recorded processes of a command, in order of time; raises SubjectError where there is none."""
    found: list[Process] = []
    for path in sorted(folder.iterdir(), key=lambda p: p.stat().st_mtime_ns):
        try:
            found.append(Process(path, read_header(open_units(path))))
        except TraceError:  # it was ended before it had a header
            continue
    if not found:
        raise SubjectError("the command did not run the program", "see `program` in docs/configuration.md")
    return found


def candidates(processes: list[Process], name: str | None = None, forked: bool = False) -> list[Process]:
    """Those of some processes to choose from, of one name if that is given: those that crashed, else the last ones.

    ``forked``: only those that another one forked. Raises NothingForked where there is none, SubjectError where none
    has the name.
    """
    if forked:
        processes = [p for p in processes if p.header.flags & FORKED]
        if not processes:
            raise NothingForked("the run has no forked process whose recording could be followed", LEAVE_OUT)
    named = [p for p in processes if name is None or name in p.names]
    if not named:
        ran = sorted({n for p in processes for n in p.names})
        raise SubjectError(f"the command ran no process named {name}", f"those that ran: {', '.join(ran)}")
    crashed = [p for p in named if p.has_crashed]
    whole = [p for p in named if not p.header.flags & FORKED]  # others hold their parent's run, too
    return (crashed or whole or named)[-MOST:]


def the_same(processes: list[Process], identity: Identity) -> list[Process]:
    """The process that was meant in another run of the command; raises TraceError where it did not run."""
    found = [process for process in processes if process.header.identity == identity]
    if not found:
        raise TraceError("the process that failed did not run this time")
    return found


def open_best(
    chosen: list[Process], open_trace: Callable[[Path], Trace], worth: Callable[[Trace], float] | None
) -> tuple[Process, Trace]:
    """The process whose trace is worth most, the last of equals; raises TraceError where no trace can be used."""
    usable: list[tuple[Process, Trace]] = []
    errors: list[TraceError] = []
    for process in chosen:
        try:
            usable.append((process, open_trace(process.path)))
        except TraceError as error:
            errors.append(error)
    if not usable:
        raise errors[-1]
    if worth is None or len(usable) == 1:
        return usable[-1]
    return max(reversed(usable), key=lambda pair: worth(pair[1]))
