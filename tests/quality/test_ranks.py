"""How good the ranks are: faults of the corpus and of the demo, with bounds somewhat above what was measured.

A change that makes a rank worse than its bound has to be wanted. (All faults: ``python -m bench.corpus``.)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_tool import subject_folder, whence

from corpus import corpus

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Bound:
    """The worst rank allowed to the best-placed faulty line; measured: one to four of 78 to 215 statements."""

    program: str
    fault: str
    rank: int


BOUNDS = [Bound("gatekeeper", "10", 3), Bound("graph", "19", 3), Bound("lexer", "10", 3), Bound("stats", "01", 4)]


def fault_of(bound: Bound) -> corpus.Fault:
    return next(fault for fault in corpus.faults(bound.program) if fault.id == bound.fault)


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda b: f"{b.program}-{b.fault}")
def test_seeded_fault(bound):
    fault = fault_of(bound)
    folder = subject_folder(f"corpus-{bound.program}-{bound.fault}")
    corpus.prepare(fault, folder)
    found = json.loads(whence(folder, "locate", "--budget", "15", "--json").out)
    assert found["cases"]["failed"] == fault.failing
    faulty = [e for e in found["ranking"] if e["line"] in fault.lines]
    assert any(e["evidence"]["in_slice"] for e in faulty)
    assert min(e["rank_worst"] for e in faulty) <= bound.rank
    covered = [row["formulas"]["ochiai"]["average"] for row in found["formulas"] if row["line"] in fault.lines]
    assert min((e["rank"] + e["rank_worst"]) / 2 for e in faulty) <= min(covered)
    assert 0 < len(found["slice"]) < len(found["ranking"])  # what led to the failure is a part of what was executed
