"""Handles of the C library in a recorded run: streams, directories and compiled expressions that were closed and used.

What a handle stands for belongs to the library, so no access of the program's own tells of it: the calls do, by the
address that they give, take and close.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.library import numbers
from whence.probe.plan import NO_CALLEE
from whence.trace.blocks import Blocks
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
RESULT = -1  # instead of an argument's number
OPENS, CLOSES, USES, MAY_OPEN = range(4)  # what a call does with a handle
CALL = np.dtype([("address", np.int64), ("event", np.int64), ("does", np.int64), ("site", np.int64)])


class Family(NamedTuple):
    """Functions that deal with one kind of handle: each name with the argument that is the handle, or ``RESULT``.

    ``size``: bytes of a handle that lies in the program's own memory, which the program may write itself; 0: it is the
    library's, and closing it twice is an error.
    """

    word: str
    opens: dict[str, int]
    closes: dict[str, int]
    uses: dict[str, int]
    size: int = 0


class Misuse(NamedTuple):
    """A place where a handle was used after it was closed: the events of the first such call and of its argument, how
    often that was, whether the call closes it once more, the handle's address, and the calls that opened and closed it.
    """

    event: int
    argument: int
    times: int
    closes: bool
    address: int
    opened: int
    closed: int


def _names(text: str, argument: int) -> dict[str, int]:
    return dict.fromkeys(text.split(), argument)


FAMILIES = (
    Family(
        "stream",
        _names("fopen fopen64 fdopen popen tmpfile tmpfile64 freopen freopen64", RESULT),
        _names("fclose pclose", 0),
        _names(
            "fgetc getc fgetc_unlocked getc_unlocked fgetwc getwc fflush ferror feof fileno clearerr fseek fseeko "
            "ftell ftello rewind fgetpos fsetpos setbuf setvbuf setlinebuf fprintf vfprintf fscanf vfscanf fwprintf "
            "fwscanf getw",
            0,
        )
        | _names("fputs fputc putc fputc_unlocked putc_unlocked fputs_unlocked ungetc fputws fputwc putwc putw", 1)
        | _names("fgets fgets_unlocked fgetws getline", 2)
        | _names("fread fwrite fread_unlocked fwrite_unlocked getdelim", 3),
    ),
    Family(
        "directory",
        _names("opendir fdopendir", RESULT),
        _names("closedir", 0),
        _names("readdir readdir64 rewinddir seekdir telldir dirfd", 0),
    ),
    Family("compiled regular expression", _names("regcomp", 0), _names("regfree", 0), _names("regexec", 0), size=64),
)


def misuses(trace: Trace) -> list[Misuse]:
    """The places that used closed handles, in order of time.

    Only handles count that a call of the run opened. Where an unknown function gave the same address since, or the
    program wrote to a handle that lies in its own memory, it may be another one, and nothing is said.
    """
    found = [misuse for family in FAMILIES for misuse in _Calls(trace, family).misuses()]
    return sorted(found, key=lambda misuse: misuse.event)


class _Calls:
    """The calls of one family's functions in a run."""

    def __init__(self, trace: Trace, family: Family) -> None:
        self._trace, self._family = trace, family
        self._segments = trace.columns.segments[: trace.segments]
        self._sites = [self._called(functions) for functions in (family.opens, family.closes, family.uses)]

    def _called(self, functions: dict[str, int]) -> dict[int, int]:
        """The sites that call some functions, each with the argument that is the handle."""
        known, trace = numbers(), self._trace
        sites = trace.plan.sites
        callees = [-2 - known[name] for name in functions if name in known]
        found = {}
        for site in np.flatnonzero((sites["kind"] == Kind.CALL) & np.isin(sites["callee"], callees)).tolist():
            name = (trace.program.instruction(int(sites["instruction"][site])).callee or "")[1:]
            argument = functions.get(name, RESULT)  # names that share a number may differ in the argument
            if name in functions and argument < sites["aux"][site]:
                found[site] = argument
        return found

    def misuses(self) -> list[Misuse]:
        """The places that used a closed handle, each with its first use."""
        closes = self._of_sites(CLOSES)
        if not len(closes):
            return []
        handles = np.unique(closes["address"])
        calls = _in_order(self._of_sites(OPENS), closes, self._of_sites(USES, handles))
        if self._wrong(calls).any() and not self._family.size:
            calls = _in_order(calls, self._of_unknown_functions(handles))
        wrong = self._wrong(calls)
        rows = np.flatnonzero(wrong)
        rows = rows[np.argsort(calls["event"][rows])]
        _, first, times = np.unique(calls["site"][rows], return_index=True, return_counts=True)
        return [self._misuse(calls, row, n) for row, n in zip(rows[first].tolist(), times.tolist(), strict=True)]

    def _wrong(self, calls: NDArray[np.void]) -> NDArray[np.bool_]:
        """Which of the calls, in order, are given a handle whose last change was that it was closed."""
        opened, closed, may_be = (self._last(calls, does) for does in (OPENS, CLOSES, MAY_OPEN))
        is_use = calls["does"] == USES if self._family.size else np.isin(calls["does"], (CLOSES, USES))
        wrong = is_use & (opened >= 0) & (closed > opened) & (may_be < opened)
        return wrong & ~self._rewritten(calls, wrong, closed) if self._family.size else wrong

    def _last(self, calls: NDArray[np.void], does: int) -> Integers:
        """For each call the last one before it with its address that does something; -1: there is none."""
        last = np.maximum.accumulate(np.where(calls["does"] == does, np.arange(len(calls)), -1))
        before = np.append(-1, last[:-1])
        return np.where(before >= np.searchsorted(calls["address"], calls["address"]), before, -1)

    def _rewritten(self, calls: NDArray[np.void], wrong: NDArray[np.bool_], closed: Integers) -> NDArray[np.bool_]:
        """Which calls are given a handle in the program's own memory that was written since it was closed."""
        blocks, found = Blocks(self._trace), np.zeros(len(calls), np.bool_)
        for row in np.unique(closed[wrong]).tolist():
            address, since = int(calls["address"][row]), int(calls["event"][row])
            written = blocks.writes(address, address + self._family.size, since)
            found |= (closed == row) & (calls["event"] > min(written, default=self._trace.events))
        return found

    def _misuse(self, calls: NDArray[np.void], row: int, times: int) -> Misuse:
        address, event, does, site = calls[row].item()
        opened, closed = (int(calls["event"][self._last(calls, does)[row]]) for does in (OPENS, CLOSES))
        argument = event - int(self._trace.plan.sites["aux"][site]) + self._sites[does][site]
        return Misuse(event, argument, times, does == CLOSES, address, opened, closed)

    # ---- Events ------------------------------------------------------------------------------------------------------

    def _of_sites(self, does: int, handles: Integers | None = None) -> NDArray[np.void]:
        """The calls that do something, as far as their handles are known, and are among ``handles``, if given."""
        found = [np.zeros(0, CALL)]
        all_events = self._events_of(list(self._sites[does]))
        sites = self._trace.sites(all_events)
        for site, argument in self._sites[does].items():
            events = all_events[sites == site]
            number = site - int(self._trace.plan.sites["aux"][site]) + argument
            is_result = argument == RESULT
            addresses = self._results(events) if is_result else self._trace.arguments(events - site + number, number)
            found.append(_calls(addresses, events, does, site, handles))
        return np.concatenate(found)

    def _of_unknown_functions(self, handles: Integers) -> NDArray[np.void]:
        """The calls of unknown functions that gave one of the handles."""
        sites = self._trace.plan.sites
        events = self._events_of(np.flatnonzero((sites["kind"] == Kind.CALL) & (sites["callee"] == NO_CALLEE)).tolist())
        return _calls(self._results(events), events, MAY_OPEN, -1, handles)

    def _events_of(self, sites: list[int]) -> Integers:
        """The events of sites that end their segments, as calls do."""
        plan = self._trace.plan
        is_one = np.zeros(len(plan.segments), np.bool_)
        is_one[plan.sites["segment"][sites]] = True
        events = self._trace.last_events(np.flatnonzero(is_one[self._segments["id"]]))
        return events[events < self._trace.events]

    def _results(self, calls: Integers) -> Integers:
        """What calls returned; 0: it is not known."""
        rows = self._behind[self._trace.columns.events["segment"][calls]]
        events = np.where(rows >= 0, self._segments["event"][rows].astype(np.int64), 0)
        values, known = self._trace.values(events)
        is_result = self._trace.plan.sites["kind"][self._trace.sites(events)] == Kind.RESULT
        return np.where((rows >= 0) & is_result & known, values.astype(np.int64), 0)

    @cached_property
    def _behind(self) -> Integers:
        """For each segment the one that goes on behind it; -1: none does."""
        found = np.full(len(self._segments) + 1, -1, np.int64)
        found[self._segments["previous"]] = np.arange(len(self._segments))  # the last one stands for "none before"
        return found


def _calls(
    addresses: Integers, events: Integers, does: int, site: int, handles: Integers | None = None
) -> NDArray[np.void]:
    """Rows of calls whose handle is known, and is one of ``handles`` where these are given."""
    known = np.flatnonzero(addresses != 0 if handles is None else np.isin(addresses, handles))
    found = np.zeros(len(known), CALL)
    found["address"], found["event"], found["does"], found["site"] = addresses[known], events[known], does, site
    return found


def _in_order(*parts: NDArray[np.void]) -> NDArray[np.void]:
    """Calls by their handles' addresses, then time."""
    calls = np.concatenate(parts)
    ordered: NDArray[np.void] = calls[np.lexsort((calls["event"], calls["address"]))]
    return ordered
