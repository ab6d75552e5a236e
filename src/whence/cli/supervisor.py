"""A command does its work in a process of its own, so that its time is kept and its best result is always shown.

The parent waits. Through a pipe the child tells when its time is up, what it is doing, and the best findings so far.
Nearly always the child ends by itself, having shown its result. Where it does not - code that nothing interrupts runs
on, memory is used up, a library crashes, the command is stopped and the child does not react - the parent ends it with
all that it started, and shows the best findings.

``whence --help`` loads this module, too: what only a supervised command needs is imported where it is used.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from whence.errors import DEBUG
from whence.investigation.clock import Clock

if TYPE_CHECKING:
    from whence.findings import Findings

    Show = Callable[[Findings], int]  # shows findings, and gives the exit status; can be pickled

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SHOWING = 0.25  # of the budget, and seconds, that the child may take to show its result by itself
SHOWING_LEAST = 5.0
GRACE = 5.0  # seconds that the child has to show what it found once it has been told to stop
LOOK = 0.1  # seconds between two looks at the clock
SELDOM = (100_000, 20, 50)  # objects made, and rounds of the younger generations, between looking for garbage
STARTED = 19  # in a process' stat behind its name: when it began
SIZE = 8  # bytes of a message's length
COMPILING = "compiling the analysis at its first use, which goes on in the background"
INTERRUPTED, INTERNAL = 130, 3


class Line:
    """The child's end of the pipe; where there is no parent, what is told goes nowhere."""

    def __init__(self) -> None:
        self._fd = -1
        self._best: tuple[Findings, Show] | None = None
        self._is_showing = False
        self._busy = ""
        self.doing = ""  # what is shown of it
        self.before_showing: Callable[[], None] = lambda: None  # removes what a terminal shows of the work

    def forget(self) -> None:
        """A command begins: nothing has been found or shown."""
        self._best, self._is_showing = None, False

    def open(self, fd: int) -> None:
        """Tell the parent through this descriptor from now on."""
        self._fd = fd

    def due(self, end: float | None, budget: float) -> None:
        """When all has to be over (of ``time.monotonic``; None: the clock stands still), of so many seconds."""
        self._tell("due", end, budget)

    def busy(self, what: str) -> None:
        """What is being done, in words that can follow "while" and "took its time: "."""
        self._busy = self.doing = what
        self._tell("busy", what)

    def compiling(self, begins: bool) -> None:
        """What is being done has to wait until the analysis is compiled, or goes on."""
        self.doing = COMPILING if begins else self._busy
        self._tell("busy", self.doing)

    def best(self, findings: Findings, show: Show) -> None:
        """The best findings so far, and how to show them."""
        self._best = findings, show
        self._tell("best", findings, show)

    def stopped(self, why: str) -> int | None:
        """Show the best findings so far with why there are no better ones; the exit status, None without findings."""
        if self._best is None or self._is_showing:
            return None
        return _show_best(*self._best, why)

    def showing(self) -> None:
        """The child has begun to show its result, and needs only a moment."""
        self._is_showing = True
        self.before_showing()
        self._tell("showing")

    def shown(self, status: int) -> None:
        """All has been shown; the exit status. What comes after that is of no concern to the user."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._tell("shown", status)

    def _tell(self, *message: Any) -> None:
        if self._fd < 0:
            return
        import pickle

        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        data = len(data).to_bytes(SIZE, "little") + data
        while data:
            data = data[os.write(self._fd, data) :]


line = Line()
clock = Clock(line.due)  # there is one command a process
_began = float("inf")  # when this process began (of time.monotonic), where it is one of a command


def supervise(command: Callable[[], int]) -> int:
    """The exit status of ``command``, which is done by a child process; with ``DEBUG`` set, by this one."""
    global _began
    _began = time.monotonic() - _age()
    if os.environ.get(DEBUG):
        return command()
    sys.stdout.flush()
    sys.stderr.flush()
    parent, (readable, writable) = os.getpid(), os.pipe()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # until both have their handlers
    child = os.fork()
    if child == 0:
        os.close(readable)
        _become_child(parent, mask)
        line.open(writable)
        _tell_when_compiling()
        _leave(_interruptible(command))
    os.close(writable)
    with contextlib.suppress(OSError):  # both set it, so that it is set whoever comes first
        os.setpgid(child, child)
    return _Watch(child, readable).status(mask)


def start_clock(budget: float | None) -> None:
    """The command's time begins, from the start of its process on: that takes time, too."""
    clock.start(budget, max(0.0, time.monotonic() - _began))


def _age() -> float:
    """For how many seconds this process has been there."""
    from pathlib import Path

    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[STARTED])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def _become_child(parent: int, mask: Iterable[int]) -> None:
    """A process group of its own, which Ctrl-C does not reach: the parent passes it on. It dies with its parent.

    What a command makes mostly stays until it ends: looking for garbage as often as by default takes a tenth of it.
    """
    from whence.run.parent import end_with_parent

    gc.set_threshold(*SELDOM)
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # in a background job it is ignored
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # progress is shown from a group in the background
    end_with_parent()
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if os.getppid() != parent:
        os._exit(INTERRUPTED)


def _interruptible(command: Callable[[], int]) -> int:
    """The status of a command, to which SIGINT is an exception; before and behind it, and where it does not take that
    exception, SIGINT ends the process, of which the parent tells."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return command()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
        raise  # it is blocked
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _tell_when_compiling() -> None:
    from whence.trace.compiling import Waiting

    Waiting.told = line.compiling


def _leave(status: int) -> NoReturn:
    """End at once: with the libraries that a command loads, the interpreter takes a second to clear itself away."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _is_readable(fd: int, seconds: float) -> bool:
    """Whether there is something to read, at last after so many seconds; of any descriptor, as ``select`` does not."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(1000 * seconds))


class _Watch:
    """The parent's side."""

    def __init__(self, child: int, readable: int) -> None:
        self._child, self._fd = child, readable
        self._data = b""
        self._end: float | None = None  # when the child is ended
        self._budget = 0.0
        self._busy = ""
        self._best: tuple[Findings, Show] | None = None
        self._is_showing = False
        self._status: int | None = None  # of a child that has shown all
        self._stop: signal.Signals | None = None  # what the user has sent
        self._ended = ""  # why the child was ended

    def status(self, mask: Iterable[int]) -> int:
        """Wait for the child and end it when it is time; the command's exit status. ``mask``: signals to be blocked."""
        from whence.build.scratch import remove_scratch

        with self._signals():
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            while self._receive():
                if self._is_late() and not self._is_heard():
                    self._kill("its time was up" if self._stop is None else "it did not react")
            _, code = os.waitpid(self._child, 0)
        os.close(self._fd)
        remove_scratch(self._child)  # also of one that ended by itself: an alarm may have ended its own removing
        status = os.waitstatus_to_exitcode(code)
        if status >= 0:
            return 128 + self._stop if self._stop and status == INTERRUPTED else status
        self._clear()
        return self._show(-status)

    # ---- The child -------------------------------------------------------------------------------------------------

    def _is_late(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def _is_heard(self) -> bool:
        """Whether the child, which is late, has just told that it shows its result; meanwhile it stands still."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._child, signal.SIGSTOP)
            os.waitid(os.P_PID, self._child, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            while _is_readable(self._fd, 0) and self._receive():
                pass
            if not self._is_late():
                os.kill(self._child, signal.SIGCONT)
        return not self._is_late()

    def _receive(self) -> bool:
        """Take in what the child has told by now, after a short wait; False when it has ended."""
        if _is_readable(self._fd, LOOK):
            part = os.read(self._fd, 1 << 20)
            self._data += part
            if not part:
                return False
        while len(self._data) >= SIZE:
            size = SIZE + int.from_bytes(self._data[:SIZE], "little")
            if len(self._data) < size:
                break
            message, self._data = self._data[SIZE:size], self._data[size:]
            self._note(message)
        return True

    def _note(self, message: bytes) -> None:
        import pickle

        kind, *values = pickle.loads(message)
        if kind == "due" and self._stop is None:
            end, self._budget = values
            self._end = end
        elif kind == "busy":
            self._busy = values[0]
        elif kind == "best":
            self._best = values[0], values[1]
        elif kind == "showing":
            self._is_showing = True
            if self._end is not None:
                self._end = time.monotonic() + max(SHOWING_LEAST, SHOWING * self._budget)
        elif kind == "shown":
            self._status = values[0]

    def _kill(self, why: str) -> None:
        """End the child and what it has started, except for programs under diagnosis, which end with their servers."""
        self._ended = why
        self._end = None
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError):
                kill(self._child, signal.SIGKILL)

    def _clear(self) -> None:
        """Remove what the child had no time to remove."""
        from whence.report.screen import restore
        from whence.run.sandbox import sweep

        restore(sys.stderr)
        sweep()

    # ---- Signals ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Inside, signals that end a command tell the child to stop; the second one ends it."""

        def stop(number: int, _: object) -> None:
            if self._stop is not None:
                self._kill("it was stopped")
                return
            self._stop = signal.Signals(number)
            self._end = time.monotonic() + GRACE
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGINT)

        ignored = [s for s in STOPS if s is not signal.SIGINT and signal.getsignal(s) is signal.SIG_IGN]  # by nohup
        before = {s: signal.signal(s, stop) for s in STOPS if s not in ignored}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    # ---- What is shown ---------------------------------------------------------------------------------------------

    def _show(self, number: int) -> int:
        """Show the best findings of a child that a signal has ended; the exit status."""
        why = self._why(number)
        if self._status is not None:
            return self._status
        if self._is_showing:
            print(f"whence: the result may be cut short: {why}", file=sys.stderr)
            return INTERNAL
        if self._best is None:
            print(f"whence: nothing was found: {why}", file=sys.stderr)
            if not self._stop:
                print(f"  help: {self._hint()}", file=sys.stderr)
            return 128 + self._stop if self._stop else 1 if self._ended else INTERNAL
        return _show_best(*self._best, why)

    def _why(self, number: int) -> str:
        doing = f" while it was {self._busy}" if self._busy else ""
        if self._stop is not None:
            return f"interrupted ({self._stop.name}){doing}"
        if self._ended:
            return f"{self._ended}{doing}"
        name = signal.Signals(number).name
        end = "killed, as the system does where memory is used up" if number == signal.SIGKILL else f"ended by {name}"
        return f"whence was {end}{doing}"

    def _hint(self) -> str:
        return "more time: --budget 5m" if self._ended else "this is a bug of whence, please report it"


def _show_best(findings: Findings, show: Show, why: str) -> int:
    """Show findings that nothing better came after, with the reason; the exit status."""
    findings.warnings.append(f"stopped early: {why}")
    return show(findings)
