"""Where a failing run is too long to record, how much of its end is kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from whence.errors import TooLong
from whence.investigation.investigation import WINDOW, Investigation


class Long:
    """An investigation whose failing run is too long, until its end is enough."""

    def __init__(self, option: int | None, configured: int) -> None:
        self.setup = SimpleNamespace(trace_limit=option)
        self.subject = SimpleNamespace(limits=SimpleNamespace(trace=configured))
        self.kept = 0

    def keep_end(self, window: int) -> None:
        self.kept = window

    def record_failing(self, rows: list[int], _: object = None) -> tuple[int, str]:
        if not self.kept:
            raise TooLong("the recording reached its limit")
        return rows[0], "end"


@pytest.mark.parametrize(
    ("option", "configured", "kept"),
    [(None, 0, WINDOW), (None, 4 << 30, WINDOW), (1 << 20, 0, 1 << 20), (4 << 30, 2 << 20, 2 << 20)],
)
def test_no_more_than_any_limit_allows(option: int | None, configured: int, kept: int) -> None:
    investigation: Any = Long(option, configured)
    assert Investigation.record_failing_or_end(investigation, [3]) == (3, "end")
    assert investigation.kept == kept
