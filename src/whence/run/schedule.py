"""Schedules: how the threads of a run take turns.

A thread goes on until it waits or ends; then the next one in order of number that can go on has the turn. A *point*
says where it is otherwise: "thread 1 does not begin its step 17 before thread 2 has had a turn". The same point several
times holds thread 1 for as many turns of thread 2, if no point gives it the turn before. A step is an access that
another thread could notice, or a call out of the program (``probe/layout.py``); each thread counts its own. So a
schedule is short, and the same in every run and in every variant. A turn also ends after ``SLICE`` steps, so that no
thread that spins keeps the others from what it waits for.

Where a schedule is searched, runs choose by chance or by priorities; what they chose is told as points (``Followed``).
``probe/runtime/record/schedule_file.h`` is the other side of the file that a run is given.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SLICE = 20_000
CHOICES = 4_096  # that a run can tell of
NAME = "whence-schedule"
VERSION = 1
MAGIC = b"WHNCSCH1"
_HEADER = struct.Struct("<8s15Q")
_POINT = struct.Struct("<IIQ")
_USED = 1 << 31
MOMENT_BYTES = 32


class Way(IntEnum):
    """How the thread that goes on is chosen where no point says it."""

    POINTS = 0  # by default
    CHANCE = 1
    PRIORITIES = 2


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """Before its step ``step`` thread ``thread`` gives the turn to thread ``next``; ``waits``: it waits, pauses or ends
    in that step, and ``next`` goes on rather than another one.
    """

    thread: int
    step: int
    next: int
    waits: bool = False

    @property
    def at(self) -> int:
        """The step as files have it."""
        return self.step << 1 | self.waits


@dataclass(frozen=True, slots=True)
class Schedule:
    """The points of a schedule, in order of time, and how the run goes on where there is none.

    ``chance``: of 65,536, that another thread has the turn at a step. ``changes``: how often a priority falls, within
    the first ``length`` steps that are considered: those of segments with their bit set in ``sites`` (empty: all).
    ``moments``: of so many choices the run tells all there was to choose from.
    """

    points: tuple[Point, ...] = ()
    way: Way = Way.POINTS
    seed: int = 0
    chance: int = 0
    changes: int = 0
    length: int = 0
    sites: bytes = field(default=b"", repr=False)
    moments: int = 0
    slice: int = SLICE

    def encode(self) -> bytes:
        """The file that a run is given."""
        sizes = (len(self.points), CHOICES, self.moments, len(self.sites))
        words = (int(self.way), self.seed, self.chance, self.changes, self.length, self.slice, *sizes, 0, 0, 0, 0, 0)
        points = b"".join(_POINT.pack(p.thread, p.next, p.at) for p in self.points)
        room = bytes(CHOICES * _POINT.size + self.moments * MOMENT_BYTES)
        return _HEADER.pack(MAGIC, *words) + points + room + self.sites


class End(IntEnum):
    """What a run under a schedule tells of its end."""

    NONE = 0
    DEADLOCK = 1
    FULL = 2  # the program wanted more threads than can be held


@dataclass(slots=True)
class Followed:
    """How threads took turns: the points that make the run again (``lost``: there were more), how many steps were
    considered, how many threads there were; ``moments`` as ``Schedule.moments`` asks.

    A moment has ``thread``, ``next`` (which went on), ``at`` (as ``Point.at``), ``ready`` (bits of the threads that
    could go on) and ``segment`` (that of a step).
    """

    points: tuple[Point, ...]
    considered: int
    threads: int
    end: End
    lost: int = 0
    moments: NDArray[np.void] | None = None

    @classmethod
    def decode(cls, data: bytes) -> Followed:
        """What a run has left in the file that it was given."""
        words = _HEADER.unpack_from(data)
        points, room, moments = words[7], words[8], words[9]
        end, choices, noted, considered, threads = words[11:]
        start = _HEADER.size + points * _POINT.size
        made = data[start : start + min(choices, room) * _POINT.size]
        found = tuple(Point(t, at >> 1, n & ~_USED, bool(at & 1)) for t, n, at in _POINT.iter_unpack(made))
        table = _moments(data, start + room * _POINT.size, min(moments, noted)) if moments else None
        return cls(found, considered, threads, End(end), max(choices - room, 0), table)


def _moments(data: bytes, start: int, count: int) -> NDArray[np.void]:
    import numpy as np

    names = [("thread", "<u4"), ("next", "<u4"), ("at", "<u8"), ("ready", "<u8"), ("segment", "<u4"), ("", "<u4")]
    return np.frombuffer(data, np.dtype(names), count, start)


DEFAULT = Schedule()


# ---- Schedule files --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScheduleFile:
    """A schedule on disk: of which case, and of which build (``fingerprint``)."""

    case: str
    fingerprint: int
    schedule: Schedule

    def write(self, path: Path) -> None:
        """Write it. Raises UsageError where that is not possible."""
        points = [{"thread": p.thread, "step": p.step, "next": p.next, "waits": p.waits} for p in self.schedule.points]
        content = {"schema": NAME, "version": VERSION, "build": f"{self.fingerprint:016x}", "case": self.case}
        try:
            path.write_text(json.dumps(content | {"slice": self.schedule.slice, "points": points}, indent=1) + "\n")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error


def read_schedule(path: Path) -> ScheduleFile:
    """The schedule of a file. Raises UsageError where it cannot be read, or is none."""
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"cannot read the schedule {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: no schedule: {error}", "give a file that `whence schedules` wrote") from error
    try:
        if content["schema"] != NAME or content["version"] != VERSION:
            raise ValueError(f"version {VERSION} of {NAME} was expected")
        points = tuple(_points(content["points"]))
        return ScheduleFile(
            str(content["case"]), int(content["build"], 16), Schedule(points, slice=_number(content["slice"]))
        )
    except (KeyError, TypeError, ValueError) as error:
        what = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) else error
        raise UsageError(f"{path}: no schedule: {what}", "give a file that `whence schedules` wrote") from error


def _points(rows: Iterable[Any]) -> Iterable[Point]:
    for row in rows:
        yield Point(_number(row["thread"]), _number(row["step"]), _number(row["next"]), bool(row.get("waits", False)))


def _number(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value < 1 << 62:
        raise ValueError(f"a number was expected, not {value!r}")
    return value
