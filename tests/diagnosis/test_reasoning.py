"""What ``whence locate`` does about formulas where there is no time left."""

from __future__ import annotations

import time
from types import SimpleNamespace

from whence.diagnosis.reasoning import correction_sets


def test_without_time_formulas_are_left_out_and_the_summary_says_so():
    work = SimpleNamespace(deadline=time.monotonic() - 1, stopped="")  # its time is over, which nothing has noticed yet
    found = correction_sets(SimpleNamespace(subject=SimpleNamespace(name="p")), [0], work)  # type: ignore[arg-type]
    assert (found.technique, found.ranking) == ("formula", [])
    assert found.summary == ["no time was left for formulas: --budget 5m"]
