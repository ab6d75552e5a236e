"""When reading a long run in windows is given up, and what is said of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from whence.errors import TooLong
from whence.investigation import reading
from whence.investigation.reading import Reading


class Times:
    """A clock with a budget, of which a second goes by with each window."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, budget: float, each: float = 1.0) -> None:
        self.budget, self.each, self.now = budget, each, 100.0
        self.told: list[str] = []
        monkeypatch.setattr(reading, "time", SimpleNamespace(monotonic=lambda: self.now))

    @property
    def left(self) -> float:
        return self.budget - (self.now - 100.0)

    def busy(self, text: str) -> None:
        self.told.append(text)

    def read(self, windows: int) -> str:
        """Read them; what is said where that is given up."""
        made: Any = Reading(self, self)  # type: ignore[arg-type]
        try:
            for number in range(windows):
                made(number, windows)
                self.now += self.each
        except TooLong:
            assert made.trouble
        return str(made.trouble)


def test_all_is_read_where_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times(monkeypatch, budget=60)
    assert times.read(20) == ""
    assert times.told[0] == "reading window 1 of 20 of a long run" and len(times.told) == 20


def test_it_is_given_up_early_and_says_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times(monkeypatch, budget=60)
    assert "--budget 5m would do" in times.read(100)  # 100 s, and 140 s for the slice
    assert len(times.told) < 6
    enough = Times(monkeypatch, budget=300)
    assert enough.read(100) == ""


def test_it_is_given_up_later_where_it_becomes_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times(monkeypatch, budget=60)
    made: Any = Reading(times, times)  # type: ignore[arg-type]
    with pytest.raises(TooLong):
        for number in range(20):
            made(number, 20)
            times.now += 1.0 if number < 10 else 5.0
    assert 11 < len(times.told) < 20
