"""Merged encodings against reality: all sides have their recorded values, and ways that nobody recorded come true."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from cause_trees import failing
from merged_runs import branching, expanded, values_with

from whence.alter.session import Session
from whence.dependence.predicates import Predicates
from whence.formula.encoder import Encoder
from whence.formula.encoding import Instance
from whence.formula.memory import UNKNOWN, Memory
from whence.formula.merging import Merged, Side
from whence.formula.terms import Terms
from whence.probe.layout import Kind
from whence.subject.subject import Subject
from whence.subject.trace_reader import TraceReader
from whence.techniques.formula_based.merged_formula import MergedRun

SEEDS = (1, 4, 7)

# An early return on one side, a call on the other, a loop whose number of rounds a branch decides.
SHAPES = """\
#include <stdio.h>
#include <stdlib.h>
static int seen[4];
static int weigh(int x)
{
    if (x < 0)
        return -x; /* EARLY */
    seen[x & 3] += 2;
    return x * 2;
}
int main(int argc, char **argv)
{
    int x = atoi(argv[1]), total = 0;
    for (int k = 0; k < x && k < 5; k++) {
        if (k == 2)
            continue;
        total += weigh(k - 1);
    }
    total += x > 1 ? weigh(x) : 5;
    printf("%d\\n", total + seen[1]);
    return 0;
}
"""


def shapes():
    return failing(SHAPES, "3", stdout="1\n")


def merged_of(case) -> Merged:
    run = expanded(case, everything=True, size=1, sides=60).formula.run
    assert isinstance(run, MergedRun)
    return run.merged


# ---- Recorded values -------------------------------------------------------------------------------------------------


def wrong(merged: Merged) -> list[tuple[Side, int]]:
    """The instances whose term has another value than their own run recorded."""
    found, terms = [], merged.encoding.terms
    for instance in merged.encoding.instances:
        side = next(s for s in merged.sides if s.base <= instance.event < s.base + s.trace.events)
        if instance.term < 0 or instance.kind is Kind.BRANCH:
            continue
        recorded = side.trace.value(instance.event - side.base)
        value = merged.encoding.evaluation.value(instance.term)
        if recorded is not None and recorded & (1 << terms.widths[instance.term]) - 1 != value:
            found.append((side, instance.event - side.base))
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_every_side_of_a_random_program_has_the_values_of_its_run(seed: int) -> None:
    merged = merged_of(branching(seed))
    assert len(merged.sides) > 3
    assert merged.encoding.unexplained == []
    assert wrong(merged) == []


def test_calls_early_returns_and_loops_have_the_values_of_their_runs() -> None:
    merged = merged_of(shapes())
    assert any(side.parent is not None and side.parent.parent is not None for side in merged.sides)
    assert merged.encoding.unexplained == []
    assert wrong(merged) == []


def test_the_main_run_alone_is_as_the_encoder_has_it() -> None:
    case = branching(SEEDS[0])
    merged = merged_of(case)
    alone = Encoder(case.subject.program, case.subject.replay_plan).encode(merged.sides[0].trace)
    main = merged.sides[0]
    own = {i.event for i in merged.encoding.instances if i.event < main.trace.events}
    assert own == {i.event for i in alone.instances if i.event <= max(own)}


# ---- Ways that were not recorded -------------------------------------------------------------------------------------


def printed(trace) -> int:
    """What the last call's second argument was."""
    arguments = [e for e in range(trace.events) if trace.kind(e) is Kind.ARG and trace.plan.sites[trace.site(e)]["aux"]]
    return int(trace.value(arguments[-1]))


def branches_of(merged: Merged) -> list[Instance]:
    """The two-way branches of the main run that are merged."""
    main = merged.sides[0]
    found = [i for i in merged.encoding.instances if i.kind is Kind.BRANCH and i.event in main.forks]
    return [i for i in found if main.trace.instruction(i.event).opcode == "br"]


def switched(subject: Subject, case, trace, events: list[int]):
    """The recorded run with branches of the main run sent the other way, whatever ways it takes in between."""
    with Session(subject, case) as session:
        changes = None
        for event in events:
            instruction = trace[0].plan.sites[trace[0].site(event)]["instruction"]
            now = trace[-1]
            here = [e for e in range(now.events) if now.plan.sites[now.site(e)]["instruction"] == instruction]
            if len(here) != 1:
                return None
            predicates = Predicates(TraceReader(subject, now))
            rows = predicates.rows[predicates.rows["event"] == here[0]]
            change = predicates.changes(rows[:1])
            first = Predicates(TraceReader(subject, trace[0]))
            change["value"] = first.changes(first.rows[first.rows["event"] == event][:1])["value"]
            changes = change if changes is None else np.concatenate([changes, change])
            trace = [*trace, session.trace(changes).trace]
        return trace[-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_two_branches_sent_the_other_way_at_once_print_what_the_encoding_says(seed: int) -> None:
    case = branching(seed)
    merged = merged_of(case)
    main, compared = merged.sides[0], 0
    shown = next(i for i in merged.encoding.instances if i.event == _last_argument(main))
    for pair in itertools.islice(itertools.combinations(branches_of(merged), 2), 12):
        run = switched(case.subject, case.case, [main.trace], [branch.event for branch in pair])
        if run is None:
            continue
        values = values_with(merged, {branch.term: 1 - int(branch.value or 0) for branch in pair})
        mask = (1 << merged.encoding.terms.widths[shown.term]) - 1
        assert values.value(shown.term) == printed(run) & mask
        compared += 1
    assert compared


def _last_argument(side: Side) -> int:
    trace = side.trace
    return max(e for e in range(trace.events) if trace.kind(e) is Kind.ARG and trace.plan.sites[trace.site(e)]["aux"])


# ---- Memory ----------------------------------------------------------------------------------------------------------


def test_memory_goes_back_to_its_marks_and_tells_what_changed() -> None:
    terms = Terms()
    memory, (x, y) = Memory(terms, lambda address: None), (terms.symbol(32), terms.symbol(32))
    memory.write(100, x)
    memory.mark()
    memory.write(102, y)
    memory.mark()
    memory.fill(100, terms.constant(0, 8), 2)
    memory.copy(200, 100, 4)
    inner = memory.undo()
    assert sorted(inner) == [100, 101, 200, 201, 202, 203]
    assert memory.read(102, 4) == y and memory.byte(200) is None
    outer = memory.undo()
    assert sorted(outer) == [102, 103, 104, 105] and memory.read(100, 4) == x and memory.byte(104) is None
    memory.put(outer)
    assert memory.read(102, 4) == y
    memory.mark()
    memory.forget(100, 2)
    assert memory.undo() == {100: UNKNOWN, 101: UNKNOWN}
