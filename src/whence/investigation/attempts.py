"""The steps of a diagnosis, each under a share of its time and a net of its own: a step that fails costs one line."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from whence.errors import DEBUG, WhenceError
from whence.investigation.clock import Clock, OutOfTime, alarm
from whence.investigation.watcher import Watcher
from whence.trace.compiling import WHILE_COMPILING

T = TypeVar("T")


@dataclass(slots=True)
class Attempts:
    """``lines`` say what failed or had no time; ``stopped`` tells that the user has interrupted all of it, ``is_late``
    that the last step was begun, and ended by its share of the time.
    """

    clock: Clock
    watcher: Watcher
    lines: list[str] = field(default_factory=list)
    stopped: bool = False
    is_late: bool = False

    def take(self, name: str, doing: str, step: Callable[[], T], seconds: float = float("inf")) -> T | None:
        """What a step gives, in at most so many seconds of those that are left; None where it fails.

        ``name`` begins the line that tells of it, ``doing`` follows "while it was".
        """
        self.is_late = False
        if self.stopped:
            return None
        if not (seconds := min(seconds, self.clock.left)):
            self.lines.append(f"{name}: no time was left: --budget 5m")
            return None
        self.watcher.busy(doing)
        try:
            with alarm(seconds):
                return step()
        except KeyboardInterrupt as stop:
            if _is_late(stop):
                self.is_late = True
                self.lines.append(f"{name}: {_why_late(stop, seconds)}")
                return None
            self.stopped = True
            self.lines.append(f"interrupted while {doing}; what would have followed was left out")
        except WhenceError as error:
            self.lines.append(f"{name}: {error}" + (f" ({error.hint.splitlines()[0]})" if error.hint else ""))
        except MemoryError:
            self.lines.append(f"{name}: out of memory; record less: --window 64M, or a lower --trace-limit")
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            self.lines.append(f"{name}: internal error ({type(error).__name__}), see {save_bug(error, name)}")
        return None


def _is_late(stop: BaseException | None) -> bool:
    """Whether an interrupt, or one that it came of, was an alarm's."""
    return stop is not None and (isinstance(stop, OutOfTime) or _is_late(stop.__cause__))


def _why_late(stop: BaseException, seconds: float) -> str:
    """Why a step has not been done in so many seconds, and what to do."""
    if WHILE_COMPILING in getattr(stop, "__notes__", ()):
        return (
            f"the analysis is compiled at its first use, which took the {seconds:.1f} s that there were, "
            "and goes on in the background: run the same command again in a minute"
        )
    return f"not done in its share of the time, {seconds:.1f} s: --budget 5m"


def save_bug(error: BaseException, name: str) -> Path:
    """Save what a report of an internal error needs; the file. Where it cannot be saved, it goes to standard error."""
    from importlib.metadata import version

    from whence.build.toolchain import whence_home

    words = " ".join(sys.argv[1:])
    head = f"whence {version('whence')}, Python {platform.python_version()}, {platform.platform()}\nwhence {words}\n"
    text = f"{head}in: {name}\n\n{''.join(traceback.format_exception(error))}"
    path = Path(whence_home()) / "errors" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{name.replace(' ', '-')}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, errors="backslashreplace")
    except OSError:
        print(text, file=sys.stderr)
    return path
