"""How good reasoning is: correction sets and cause trees of corpus faults, with bounds somewhat above the measured.

(All faults: ``python -m bench.formula``, ``python -m bench.causes``.)
"""

from __future__ import annotations

import json

import pytest
from cli_tool import subject_folder, whence

from corpus import corpus


def result(program: str, number: str, *words: str) -> tuple[dict, tuple[int, ...]]:
    """What a command says of a seeded fault, and the faulty lines."""
    fault = next(fault for fault in corpus.faults(program) if fault.id == number)
    folder = subject_folder(f"corpus-{program}-{number}")
    corpus.prepare(fault, folder)
    return json.loads(whence(folder, *words, "--json").out), fault.lines


@pytest.mark.parametrize(
    ("program", "number", "most"), [("gatekeeper", "07", 4), ("gatekeeper", "21", 3), ("lexer", "08", 4)]
)
def test_the_fault_is_a_correction_that_comes_early(program, number, most):
    found, lines = result(program, number, "formula", "--budget", "60s")  # a third of it, where nothing else is at work
    faulty = [entry for entry in found["ranking"] if entry["line"] in lines]
    assert min(entry["rank_worst"] for entry in faulty) <= most
    assert any(entry["evidence"]["alone"] or entry["evidence"]["rule_score"] for entry in faulty)


@pytest.mark.parametrize(
    ("program", "number"), [("gatekeeper", "07"), ("cache", "04"), ("sched", "08"), ("stats", "04")]
)
def test_the_root_cause_is_in_the_tree_with_few_lines_to_read(program, number):
    found, lines = result(program, number, "causes")
    faulty = [entry["evidence"] for entry in found["ranking"] if entry["line"] in lines]
    assert min((e["level"], e["lines_to_read"]) for e in faulty) <= (3, 8)
