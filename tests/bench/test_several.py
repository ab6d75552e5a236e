"""The experiment with several faults: its versions and suites, and one small run of it."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from bench.several import THRESHOLDS, cluster_table, measure, suite, technique_table, versions
from corpus import corpus
from whence.build.toolchain import whence_home
from whence.findings import Statement
from whence.subject.coverage import Coverage, Site

LINES = [Statement("p.c", n) for n in range(1, 9)]


@pytest.mark.parametrize("program", corpus.programs())
def test_versions(program):
    found = list(islice(versions(program, 1), 10))
    assert len({tuple(fault.id for fault in faults) for faults in found}) == 10
    assert all(2 <= len(faults) <= 5 for faults in found)
    assert all(len(corpus.combined(faults).lines) == len(faults) for faults in found)
    assert list(islice(versions(program, 1), 10)) == found != list(islice(versions(program, 2), 10))


def coverage_of(rows: list[list[int]], failing: int) -> Coverage:
    """Of cases that execute these lines each, the first ``failing`` of which fail."""
    counts = np.array([[line.line in row for line in LINES] for row in rows], np.uint32)
    failed = np.arange(len(rows)) < failing
    return Coverage(counts, failed, [Site((line,)) for line in LINES], [str(n) for n in range(len(rows))])


def test_suite_has_a_failing_case_for_each_fault_and_all_statements():
    rows = [[1, 2], [1, 3], *[[1]] * 20, *[[1, 4]] * 20, [1, 5], [1, 6, 7, 8]]
    for seed in range(20):
        chosen = suite(coverage_of(rows, 22), [frozenset(LINES[1:2]), frozenset(LINES[2:3])], random.Random(seed))
        assert {0, 1, 42, 43} <= set(chosen) and len(chosen) <= 30
        assert sum(row < 22 for row in chosen) == 5 and sum(row >= 22 for row in chosen) >= 5


def test_no_suite_where_no_failing_case_executes_a_fault():
    assert suite(coverage_of([[1, 2], [1], [1, 3]], 2), [frozenset(LINES[2:3])], random.Random(1)) is None


def test_one_version():
    scores = measure("gatekeeper", Path(whence_home()) / "bench-several", 1, 7, False)
    ((failing, passing),) = scores.cases
    assert (scores.versions, len(scores.found["ideal"])) == (1, scores.faults)
    assert failing >= 2 and passing >= 5 and failing + passing <= 30
    assert all(0 <= score <= 100 for found in scores.found.values() for score in found)
    assert all(1 <= len(scores.found[name]) <= scores.faults for name in ("minimal", "partial", "full"))
    assert scores.found["minimal"][0] == scores.found["full"][0]
    assert scores.searched["minimal"] == failing <= scores.searched["partial"] <= scores.searched["full"]
    table = technique_table({"gatekeeper": scores}).splitlines()
    assert len(table) == 4 and table[2].startswith(
        f"| gatekeeper | 1 | {scores.faults} | {failing:.1f} / {passing:.1f} |"
    )
    assert len(cluster_table({"gatekeeper": scores}).splitlines()[0].split("|")) == len(THRESHOLDS) + 3
