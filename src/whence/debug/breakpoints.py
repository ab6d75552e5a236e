"""Breakpoints on a recording: the instants at which they hold, in both directions.

A run that is recorded always does the same, so a breakpoint's hits are known: those of a line are the steps to it, in
order. Which of them is the tenth is the same forwards and backwards.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from whence.findings import Statement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.debug.timeline import Timeline

    Integers = NDArray[np.int64]

PATIENCE = 5.0  # seconds for which conditions are evaluated in search of one that holds
_COUNT = re.compile(r"\s*(==|>=|<=|>|<|%)?\s*(\d+)\s*")

Holds = Callable[[str, int], bool]  # whether a condition holds at an event


@dataclass(slots=True, frozen=True)
class Breakpoint:
    """A breakpoint: the steps at which it may stop (``events``, ascending), what is to hold there, and what is printed
    there instead of stopping (``message``).
    """

    number: int
    events: Integers
    condition: str = ""
    hits: str = ""
    message: str = ""

    def chosen(self) -> Integers:
        """The events that fit the number of hits that is asked for."""
        match = _COUNT.fullmatch(self.hits)
        if match is None:
            return self.events
        number, ordinals = int(match[2]), np.arange(1, len(self.events) + 1)
        comparisons = {
            ">=": ordinals >= number,
            "<=": ordinals <= number,
            ">": ordinals > number,
            "<": ordinals < number,
            "%": ordinals % max(number, 1) == 0,
        }
        chosen: Integers = self.events[comparisons.get(match[1] or "==", ordinals == number)]
        return chosen


def is_count(text: str) -> bool:
    """Whether a text says how many hits are meant: ``5``, ``>= 5``, ``% 10``."""
    return _COUNT.fullmatch(text) is not None


@dataclass(slots=True, frozen=True)
class Hit:
    """Where the run stops: an event, the breakpoints that hold there; ``gave_up``: after so many tests of conditions
    none had held.
    """

    event: int
    numbers: tuple[int, ...]
    gave_up: int = 0


def next_hit(breakpoints: list[Breakpoint], event: int, forwards: bool, bound: int, holds: Holds) -> Hit | None:
    """The first stop behind an event (or before it) and not beyond the event ``bound``; None: there is none."""
    tests, end = 0, time.monotonic() + PATIENCE
    for candidate, at in _candidates(breakpoints, event, forwards, bound):
        numbers = []
        for each in at:
            tests += bool(each.condition)
            if not each.condition or holds(each.condition, candidate):
                numbers.append(each.number)
        if numbers:
            return Hit(candidate, tuple(numbers))
        if time.monotonic() > end:
            return Hit(candidate, (), tests)
    return None


def _candidates(
    breakpoints: list[Breakpoint], event: int, forwards: bool, bound: int
) -> Iterator[tuple[int, list[Breakpoint]]]:
    """The events at which breakpoints may stop, in the order of the run or against it, each with its breakpoints."""
    stopping = [(each, each.chosen()) for each in breakpoints if not each.message]
    while True:
        nearest: dict[int, list[Breakpoint]] = {}
        for each, events in stopping:
            at = int(np.searchsorted(events, event, side="right" if forwards else "left")) - (not forwards)
            if 0 <= at < len(events):
                nearest.setdefault(int(events[at]), []).append(each)
        if not nearest:
            return
        event = min(nearest) if forwards else max(nearest)
        if (event > bound) if forwards else (event < bound):
            return
        yield event, nearest[event]


def messages(breakpoints: list[Breakpoint], after: int, upto: int, most: int) -> list[tuple[int, Breakpoint]]:
    """The breakpoints with messages that are passed on the way, each with its event, in order; at most so many."""
    found: list[tuple[int, Breakpoint]] = []
    for each in breakpoints:
        if each.message:
            events = each.chosen()
            first, end = np.searchsorted(events, [after, upto], side="right")
            found += [(event, each) for event in events[first:end][:most].tolist()]
    return sorted(found, key=lambda pair: pair[0])[:most]


class Lines:
    """The lines of the program at which it can stop, by files as a client names them."""

    def __init__(self, timeline: Timeline, folder: Path) -> None:
        self._timeline, self._folder = timeline, folder
        self._of_file: dict[str, dict[int, int]] = {}
        for number, statement in enumerate(timeline.reader.statements):
            self._of_file.setdefault(statement.file, {})[statement.line] = number
        self._names = {self._real(folder / file): file for file in self._of_file}

    @staticmethod
    def _real(path: Path) -> str:
        return os.path.realpath(path)

    def file(self, path: str) -> str | None:
        """The file of a path, as statements name it; None: the program has no such one."""
        return self._names.get(self._real(self._folder / path))

    def path(self, file: str) -> str:
        """The whole path of a file of a statement."""
        return os.path.normpath(self._folder / file)

    def at_or_behind(self, file: str, line: int) -> Statement | None:
        """The statement on a line, or on the next line that has one; None: there is none."""
        behind = [known for known in self._of_file[file] if known >= line]
        return Statement(file, min(behind)) if behind else None

    def lines(self, file: str, first: int, last: int) -> list[int]:
        """The lines with statements from one line to another."""
        return sorted(line for line in self._of_file[file] if first <= line <= last)

    def steps(self, statement: Statement) -> Integers:
        """The steps to a statement."""
        return self._timeline.at_statement(self._of_file[statement.file][statement.line])
