"""What ``whence locate`` does about formulas where there is no time left."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from whence.diagnosis.reasoning import correction_sets


@pytest.mark.parametrize(("left", "seconds"), [(-1.0, 5.0), (60.0, 0.0), (None, 0.0)])
def test_without_time_formulas_are_left_out_and_the_summary_says_so(left: float | None, seconds: float) -> None:
    work = SimpleNamespace(deadline=None if left is None else time.monotonic() + left, stopped="")
    investigation = SimpleNamespace(subject=SimpleNamespace(name="p"))
    found = correction_sets(investigation, [0], work, seconds)  # type: ignore[arg-type]
    assert (found.technique, found.ranking) == ("formula", [])
    assert found.summary == ["no time was left for formulas: --budget 5m"]
