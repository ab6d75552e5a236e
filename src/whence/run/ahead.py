"""What an iterator gives, made ahead by a process of its own.

Python lets one thread run at a time: who makes thousands of objects keeps all threads waiting that run the subject.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from math import isfinite
from typing import BinaryIO, TypeVar

from whence.errors import WhenceError
from whence.run.parent import end_with_parent

FIRST, MOST = 8, 256  # items that are handed over at a time, at first and at most
LEAST = 0.001  # seconds of a timer, of which 0 would be none
OUTPUT = 3  # the first descriptor behind the standard ones
END = None  # instead of items, behind the last ones

Item = TypeVar("Item")


@contextmanager
def made_ahead(items: Iterable[Item], deadline: float) -> Iterator[Iterator[Item]]:
    """The items, which another process makes while they are asked for, until ``deadline`` (of ``time.monotonic``).

    It ends with the context at the latest. What making them changes is changed there alone, and what is raised there is
    raised here. Raises WhenceError where that process was ended by something else.
    """
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        _make(items, writable, deadline)
    os.close(writable)
    try:
        with os.fdopen(readable, "rb") as stream:
            yield _handed_over(stream, deadline)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _handed_over(stream: BinaryIO, deadline: float) -> Iterator[Item]:
    while True:
        try:
            found = pickle.load(stream)
        except (EOFError, pickle.UnpicklingError):
            if time.monotonic() < deadline:
                raise WhenceError("the process that made candidates was ended") from None
            return
        if found is END:
            return
        if isinstance(found, Exception):
            raise found
        yield from found


# ---- In the other process --------------------------------------------------------------------------------------------


def _make(items: Iterable[Item], writable: int, deadline: float) -> None:
    """Hand over the items, and end."""
    try:
        end_with_parent()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        if isfinite(deadline):
            signal.setitimer(signal.ITIMER_REAL, max(LEAST, deadline - time.monotonic()))
        os.dup2(writable, OUTPUT)
        os.closerange(OUTPUT + 1, os.sysconf("SC_OPEN_MAX"))  # who waits for the end of a pipe waits not for this
        gc.disable()  # what is made goes on its way; looking for garbage is a sixth of the time
        with os.fdopen(OUTPUT, "wb") as stream:
            _hand_over(iter(items), stream)
    finally:
        os._exit(0)


def _hand_over(items: Iterator[Item], stream: BinaryIO) -> None:
    size = FIRST
    try:
        while chunk := list(islice(items, size)):
            _put(chunk, stream)
            size = min(2 * size, MOST)
        _put(END, stream)
    except Exception as error:
        _put(error, stream)


def _put(message: object, stream: BinaryIO) -> None:
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()
