"""Whether two observations of one case are the same, and where they first differ.

A run that is altered has to be the same each time up to the change. Time, random numbers and addresses that the system
chooses make it another one; what differs first shows which of them it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whence.alter.changes import Observed, Verdict

if TYPE_CHECKING:
    from whence.alter.describe import Describer

NONE = -1  # the site of a run that has ended
COMPARED = ("clock", "site", "value")


@dataclass(slots=True, frozen=True)
class Moment:
    """What one of the runs shows there: the site that it comes to, at which clock, and the bits of its value."""

    clock: int
    site: int  # NONE: the run has ended
    value: int


@dataclass(slots=True, frozen=True)
class Divergence:
    """The first point at which two runs differ: event number ``index`` of both. ``end`` says how their ends differ."""

    index: int
    first: Moment
    second: Moment
    end: str = ""

    def text(self, describer: Describer) -> str:
        """The difference in one sentence, in the user's words."""
        if self.end:
            return self.end
        a, b = self.first, self.second
        if (a.clock, a.site) == (b.clock, b.site):
            values = describer.value(a.site, a.value), describer.value(b.site, b.value)
            if values[0] == values[1]:  # two addresses
                values = f"{a.value:#x}", f"{b.value:#x}"
            what = f"{_place(a, describer)}: {describer.quoted(a.site)}"
            return f"{what} is {values[0]} in one run, {values[1]} in another"
        return f"one run comes to {_place(a, describer)}, another to {_place(b, describer)}"


def first_difference(first: Observed, second: Observed) -> Divergence | None:
    """The first point at which two observations differ, in events or, where these are equal, at the end; or None.

    Where one was cut, the events that both have are compared, and the ends are not.
    """
    a, b = first.events, second.events
    length = min(len(a), len(b))
    differs = np.zeros(length, np.bool_)
    for name in COMPARED:
        differs |= a[name][:length] != b[name][:length]
    is_cut = (first.cut and len(a) == length) or (second.cut and len(b) == length)
    if differs.any() or (len(a) != len(b) and not is_cut):
        index = int(np.argmax(differs)) if differs.any() else length
        return Divergence(index, _moment(first, index), _moment(second, index))
    end = "" if is_cut else _ends(first, second)
    return Divergence(length, _moment(first, length), _moment(second, length), end) if end else None


def _moment(observed: Observed, index: int) -> Moment:
    """The event with a number; behind the last one the run's end."""
    if index >= len(observed.events):
        return Moment(observed.length, NONE, 0)
    event = observed.events[index]
    return Moment(int(event["clock"]), int(event["site"]), int(event["value"]))


def _ends(first: Observed, second: Observed) -> str:
    """How the ends of two runs with equal events differ."""
    a, b = first.result, second.result
    if a["length"] != b["length"]:
        return f"one run takes {a['length']} clock ticks, another {b['length']}"
    if (a["status"], a["signal"]) != (b["status"], b["signal"]):
        return f"one run ends with {_ending(first)}, another with {_ending(second)}"
    if a["verdict"] != b["verdict"]:
        return f"the outcome of one run is {_verdict(first)}, that of another {_verdict(second)}"
    if a["first_wrong"] != b["first_wrong"]:
        return "the outputs of two runs differ"
    return ""


def _ending(observed: Observed) -> str:
    signal = int(observed.result["signal"])
    return f"signal {signal}" if signal else f"status {observed.result['status']}"


def _verdict(observed: Observed) -> str:
    return Verdict(int(observed.result["verdict"])).name.lower().replace("_", " ")


def _place(moment: Moment, describer: Describer) -> str:
    """Where a run is: ``shop.c:12 at clock 40``."""
    if moment.site == NONE:
        return f"its end at clock {moment.clock}"
    statement = describer.statement(moment.site)
    where = f"{statement.file}:{statement.line}" if statement else "code without a line"
    return f"{where} at clock {moment.clock}"
