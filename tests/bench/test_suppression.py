"""The benchmark of suppression runs from end to end: one program of a table each."""

from __future__ import annotations

import sys

import pytest

from bench.suppression.__main__ import main


def test_the_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["suppression", "null_field", "heap_strcpy", "lost_step"])
    assert main() == 0
    printed = capsys.readouterr().out
    assert "With threads: right in 1 of 1" in printed and "3 (1 + 1 + 1)" in printed
    assert "| null_field | " in printed
    assert "Correct twins that crash in an order: 0 of " in printed
