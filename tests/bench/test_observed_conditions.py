"""What observing conditions comes to, on one fault of the corpus."""

from __future__ import annotations

import sys

import pytest

from bench import observed_conditions


def test_the_condition_that_is_missing_is_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["observed_conditions", "gatekeeper", "--every", "100", "--offset", "1"])
    observed_conditions.main()
    told = capsys.readouterr().out
    assert "| all cases pass with an edit at the faulty statement | 1 of 1 |" in told
    assert "| the real fix among the edits | 1 |" in told
