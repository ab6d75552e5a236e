"""The benchmarks over the corpus' faults, each on one fault: their commands work, and the table has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHES = ("corpus", "effect", "rules", "values", "invariants", "causes", "formula", "formula_paths", "implicit")


def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"bench.{name}", "gatekeeper", "--workers", "1", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("name", BENCHES)
def test_one_fault(name: str) -> None:
    done = run(name, "--every", "100", "--details")
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert "gatekeeper 01" in done.stdout  # the line of the fault
    assert len(rows) >= 3 and all(line.count("|") == rows[0].count("|") for line in rows[:3])
