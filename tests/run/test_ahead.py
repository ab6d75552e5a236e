"""What another process makes: all of it and in order, its errors, and its end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from itertools import count

import pytest

from whence.errors import UsageError, WhenceError
from whence.run.ahead import made_ahead


def later(seconds: float) -> float:
    return time.monotonic() + seconds


@pytest.mark.parametrize("number", [0, 1, 8, 9, 1000])
def test_all_is_handed_over_in_its_order(number: int) -> None:
    wanted = [(n, f"item {n}") for n in range(number)]
    with made_ahead(iter(wanted), later(30)) as items:
        assert list(items) == wanted


def test_what_making_changes_is_changed_there_alone() -> None:
    made: list[int] = []

    def makes() -> Iterator[int]:
        for n in range(3):
            made.append(n)
            yield len(made)

    with made_ahead(makes(), later(30)) as items:
        assert list(items) == [1, 2, 3]
    assert not made


def test_an_error_is_raised_here() -> None:
    def makes() -> Iterator[int]:
        yield from range(8)
        raise UsageError("no more of these")

    with made_ahead(makes(), later(30)) as items:
        assert [next(items) for _ in range(8)] == list(range(8))
        with pytest.raises(UsageError, match="no more of these"):
            next(items)


def test_the_process_ends_with_the_context() -> None:
    with made_ahead((os.getpid() for _ in count()), later(60)) as items:
        child = next(items)
        assert child != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_it_ends_at_the_deadline_also_in_the_midst_of_an_item() -> None:
    def makes() -> Iterator[int]:
        yield from range(8)
        time.sleep(60)
        yield 8

    began = time.monotonic()
    with made_ahead(makes(), later(0.5)) as items:
        assert list(items) == list(range(8))
    assert time.monotonic() - began < 20


def test_a_process_that_something_else_ended_is_told_of() -> None:
    def makes() -> Iterator[int]:
        yield from range(8)
        os.kill(os.getpid(), signal.SIGKILL)

    with made_ahead(makes(), later(60)) as items, pytest.raises(WhenceError, match="was ended"):
        list(items)
