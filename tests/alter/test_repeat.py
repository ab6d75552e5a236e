"""Runs are the same each time, on every corpus program; and where one is not, the first difference is told."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from altering import case_of, describer, session, site_at
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from snippets import Snippet, snippet

from corpus import corpus
from tests.probe.test_transparency import as_case
from whence.alter.changes import EVENT, RESULT, Observed, Way
from whence.alter.repeat import NONE, first_difference
from whence.alter.session import Session
from whence.probe.instrument import Variant
from whence.probe.plan import FIRST
from whence.probe.sites import Role
from whence.subject.recorder import Recorder
from whence.subject.subject import Subject

RUNS = 10
CASES = 3


def observed(events: list[tuple[int, int, int]], length: int = 9, cut: bool = False, **result: int) -> Observed:
    """An observation with these (clock, value, site)."""
    record = np.zeros((), RESULT)
    record["length"] = length
    for name, value in result.items():
        record[name] = value
    return Observed(np.array([(*event, 0) for event in events], EVENT), record, cut)


@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=6),
    st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_the_first_difference_is_that_of_the_twin(a, b, a_cut, b_cut):
    found = first_difference(observed(a, cut=a_cut), observed(b, cut=b_cut))
    differing = [i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y]
    shorter_is_cut = (a_cut and len(a) <= len(b)) or (b_cut and len(b) <= len(a))
    if differing:
        assert found is not None and found.index == differing[0]
    elif len(a) != len(b) and not shorter_is_cut:
        assert found is not None and found.index == min(len(a), len(b))
        assert NONE in (found.first.site, found.second.site)
    else:
        assert found is None


@pytest.mark.parametrize(
    ("name", "values"),
    [("length", (9, 10)), ("status", (0, 1)), ("signal", (0, 11)), ("verdict", (2, 3)), ("first_wrong", (0, 1))],
)
def test_ends_are_compared_where_the_events_are_equal(name: str, values: tuple[int, int]):
    a, b = (observed([(1, 2, 3)], **{name: value}) for value in values)
    difference = first_difference(a, b)
    assert difference is not None and difference.end
    assert first_difference(a, a) is None


def test_a_difference_is_told_in_the_users_words():
    made = snippet(
        "#include <unistd.h>\nint main(void) {\n    int n = 3; int seven = 4 + n;\n    return n - seven; }\n"
    )
    with session(made, case_of(status=252)) as opened:
        one, other = opened.observe(), opened.observe()
    index = [int(s) for s in other.events["site"]].index(site_at(made, 3, Role.STORE, "seven"))
    other.events["value"][index] = 8
    difference = first_difference(one, other)
    assert difference is not None
    assert difference.text(describer(made)) == "snippet.c:3 at clock 0: `seven` is 7 in one run, 8 in another"
    shorter = observed([tuple(e)[:3] for e in one.events[:2].tolist()], length=1)
    text = first_difference(one, shorter).text(describer(made))  # type: ignore[union-attr]
    assert text.startswith("one run comes to snippet.c:3 at clock 0, another to its end at clock 1")


def test_what_depends_on_time_is_found_to_do_so():
    made = snippet(
        "#include <stdio.h>\n#include <time.h>\nint main(void) {\n    struct timespec t;\n"
        "    clock_gettime(CLOCK_MONOTONIC, &t);\n    long ns = t.tv_nsec;\n    return ns < 0; }\n"
    )
    with session(made, case_of()) as opened:
        difference = first_difference(opened.observe(), opened.observe())
    assert difference is not None
    assert difference.text(describer(made)).startswith("snippet.c:6 at clock 0: `t.tv_nsec` is ")


# ---- The corpus ------------------------------------------------------------------------------------------------------


@cache
def program(name: str) -> Snippet:
    """A corpus program."""
    return snippet(corpus.source_path(name).read_text(), "-lm")


def chosen(name: str) -> list[corpus.Case]:
    """Some of its cases, from the first to the last."""
    cases = corpus.cases(name)
    return cases[:: max(1, len(cases) // CASES)][:CASES]


@pytest.mark.parametrize("name", corpus.programs())
def test_a_case_gives_the_same_events_ten_times_in_a_row(name: str):
    for case in chosen(name):
        with Session(program(name).subject, as_case(case), Way.AUTO) as opened:
            first = opened.observe()
            assert len(first.events) and not first.refusal
            for _ in range(RUNS - 1):
                assert first_difference(first, opened.observe()) is None, case.text


@pytest.mark.parametrize("name", corpus.programs())
def test_a_run_from_the_start_and_the_recorded_trace_agree_with_what_is_observed(name: str):
    subject = program(name).subject
    case = as_case(chosen(name)[1])
    with Session(subject, case, Way.AUTO) as inside, Session(subject, case, Way.RESTART) as whole:
        seen = inside.observe()
        assert first_difference(seen, whole.observe()) is None
    with Recorder(subject, variant=Variant.RECORD) as recorder:
        trace = recorder.record(case).trace
    segments = trace.plan.segments[trace.columns.segments["id"][: trace.segments]]
    blocks = segments["block"][segments["flags"] & FIRST != 0]
    assert len(blocks) == seen.length
    sites = subject.alter_plan.sites[seen.events["site"]]
    assert np.array_equal(blocks[seen.events["clock"].astype(np.int64)], sites["block"])
    assert went_as_observed(subject, seen.events, blocks) > 20


def went_as_observed(subject: Subject, events: NDArray[np.void], blocks: NDArray[np.int64]) -> int:
    """Check that recorded runs went where observed branches go, of blocks without calls; gives how many there were."""
    sites, count = subject.alter_plan.sites, 0
    for event in events[sites["role"][events["site"]] == Role.BRANCH][:5000]:
        row = sites[event["site"]]
        ref = subject.program.function_of_instruction(int(row["instruction"]))
        block = ref.function.blocks[int(row["block"]) - ref.first_block]
        if any(i.opcode == "call" for i in block.instructions):
            continue
        branch = subject.program.instruction(int(row["instruction"]))
        taken = ref.function.blocks[int(blocks[int(event["clock"]) + 1]) - ref.first_block]
        assert taken.label == branch.labels[0 if event["value"] else 1]
        count += 1
    return count
