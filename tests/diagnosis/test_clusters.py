from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.diagnosis.test_minimal_full_partial import lines, searched, told, version
from whence.diagnosis.multiple_faults.clusters import clusters, most_suspicious, similarity
from whence.diagnosis.multiple_faults.minimal_full_partial import Run, ranked

EXECUTED = lines(*range(1, 9))


def runs_with(**pairs: frozenset) -> dict[str, Run]:
    return {case: Run(EXECUTED, told(found)) for case, found in pairs.items()}


def groups(runs: dict[str, Run], threshold: float) -> list[list[str]]:
    of = version({case: run.executed for case, run in runs.items()})
    return [list(group) for group in clusters(runs, of, threshold)]


def test_similarity_is_jaccards():
    assert similarity(frozenset("abc"), frozenset("bcd")) == 0.5
    assert similarity(frozenset("a"), frozenset("a")) == 1
    assert similarity(frozenset("a"), frozenset()) == similarity(frozenset(), frozenset()) == 0


def test_two_causes_are_two_groups():
    runs = runs_with(a=lines(1, 2), b=lines(7, 8), c=lines(1, 2, 3), d=lines(8), e=lines(1, 2))
    assert groups(runs, 0.5) == [["a", "c", "e"], ["b", "d"]]
    assert groups(runs, 0.9) == [["a", "e"], ["b"], ["c"], ["d"]]


def test_a_similarity_that_is_the_threshold_is_enough():
    assert groups(runs_with(a=lines(1, 2), b=lines(2)), 0.5) == [["a", "b"]]


def test_similar_to_a_member_is_enough():
    assert groups(runs_with(a=lines(1, 2), b=lines(2, 3), c=lines(3, 4)), 0.3) == [["a", "b", "c"]]


def test_without_pairs_tarantula_tells_what_is_most_suspicious():
    run = Run(lines(1, 2, 3), {})
    of = version({"a": run.executed}, 2, s1=2, s2=1, s3=1)
    assert most_suspicious(ranked({"a": run}, of)) == lines(2, 3)
    assert most_suspicious(ranked({"a": Run(run.executed, told(lines(1)))}, of)) == lines(1)


@given(searched(), st.floats(0, 1))
def test_groups_are_what_is_connected(drawn, threshold):
    runs, of = drawn
    found = clusters(runs, of, threshold)
    assert sorted(case for group in found for case in group) == sorted(runs)
    leading = {case: most_suspicious(ranked({case: run}, of)) for case, run in runs.items()}
    for group in found:
        reached = {next(iter(group))}
        for _ in group:
            reached |= {c for c in group if any(similarity(leading[c], leading[r]) >= threshold for r in reached)}
        assert reached == set(group)
        others = set(runs) - set(group)
        assert all(similarity(leading[c], leading[o]) < threshold for c in group for o in others)


@given(searched())
def test_threshold_0_is_one_group(drawn):
    runs, of = drawn
    assert [set(group) for group in clusters(runs, of, 0.0)] == [set(runs)]
