"""The benchmarks of what a technique costs: their commands work, and print a row for each program."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from bench.common import COSTED

LEAST = {"memory.large": ("--size", "1"), "memory.cost": ("--rounds", "1"), "suppression.cost": ("--rounds", "1")}


@pytest.mark.parametrize("name", LEAST)
def test_a_table_of_costs(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [name, *LEAST[name]])
    assert import_module(f"bench.{name}").main() == 0
    header, _, *rows = (line.split(" | ") for line in capsys.readouterr().out.splitlines())
    assert [row[0].removeprefix("| ") for row in rows] == (["matrix"] if name == "memory.large" else list(COSTED))
    assert all(len(row) == len(header) for row in rows)
