"""The benchmarks over the corpus' faults, each on one fault: their commands work, and the table has it."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from bench.faults import fault_options

ROOT = Path(__file__).parents[2]
BENCHES = ("corpus", "effect", "rules", "values", "invariants", "candidates", "causes", "formula", "formula_paths")
WORDS = ("gatekeeper", "--every", "100", "--details", "--workers")
SEARCHING = ("effect", "values", "causes", "formula", "formula_paths")  # for as long as they are told


@pytest.mark.parametrize("name", BENCHES)
def test_one_fault(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    budget = ("--budget", "3") if name in SEARCHING else ()
    monkeypatch.setattr(sys, "argv", [name, *WORDS, "1", *budget])
    import_module(f"bench.{name}").main()
    assert holds_the_fault(capsys.readouterr().out)


def test_as_a_command_with_processes() -> None:
    command = [sys.executable, "-m", "bench.implicit", *WORDS, "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert holds_the_fault(done.stdout)


def holds_the_fault(text: str) -> bool:
    """Whether a benchmark's output tells of the fault, and has a table."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    is_table = len(rows) >= 3 and all(line.count("|") == rows[0].count("|") for line in rows[:3])
    return "gatekeeper 01" in text and is_table  # the line of the fault


@pytest.mark.parametrize("word", ["0", "-1", "a", "1.5", ""])
def test_a_count_that_is_none_is_refused_in_a_line(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--every", "--workers"):
        with pytest.raises(SystemExit):
            fault_options("").parse_args([f"{option}={word}"])
        assert capsys.readouterr().err.endswith(f"error: argument {option}: {word} is not a whole number from 1 on\n")
