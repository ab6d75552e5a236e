"""Whole corpus programs altered everywhere: snapshots, forks and runs from the start find the same; runs repeat."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus import corpus
from whence.alter.changes import CHANGE, Batch, Flag, Op, Results, Verdict, Way
from whence.alter.session import Session
from whence.build.quick import build_sources
from whence.build.toolchain import whence_home
from whence.probe.sites import Form, Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.subject import Subject

ALTERED = (Role.LOAD, Role.STORE, Role.BRANCH, Role.ARGUMENT, Role.RESULT, Role.RETURN)
SAMPLE = 60  # continuations of a program that are compared with runs from the start
FORKED = 500  # ... and with forks


@cache
def subject_of(program: str) -> Subject:
    """A corpus program with its first fault."""
    fault = corpus.faults(program)[0]
    folder = Path(whence_home()) / "tests" / f"ways-{fault.program}-{fault.id}"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{program}.c"
    text = corpus.faulty_source(fault)
    if not source.exists() or source.read_text() != text:
        source.write_text(text)
    return Subject(folder, build_sources([source], ["-lm"], folder / "built"), [])


def case_of(program: str, number: int) -> Case:
    """A case of the corpus; what is expected is what the faulty program writes, so that changes show."""
    given = corpus.cases(program)[number]
    case = Case(str(number), given.arguments, given.stdin or b"")
    with subject_of(program).runner() as runner:
        result = runner.run_case(case)
    return Case(case.name, case.arguments, case.stdin, expected=Expected(result.stdout, None, result.code))


def everywhere(subject: Subject, session: Session) -> NDArray[np.void]:
    """A change at every instance: branches go the other way, numbers are one more, pointers null."""
    plan = subject.alter_plan.sites
    events = session.observe().events
    events = events[np.isin(plan["role"][events["site"]], ALTERED)]
    sites = plan[events["site"]]
    changes = np.zeros(len(events), CHANGE)
    for name in ("clock", "site"):
        changes[name] = events[name]
    for name in ("block", "width", "form"):
        changes[name] = sites[name]
    pointer, is_branch = sites["form"] == Form.POINTER, sites["role"] == Role.BRANCH
    one = np.where(sites["form"] == Form.FLOAT, np.float64(1.0).view(np.uint64), np.uint64(1))
    changes["op"] = np.where(is_branch, Op.NOT, np.where(pointer, Op.SET, Op.ADD))
    changes["value"] = np.where(is_branch | pointer, np.uint64(0), one)
    changes["flags"] = np.where(sites["role"] == Role.LOAD, Flag.MEMORY, 0)
    return changes


def run(program: str, case: Case, changes: NDArray[np.void], way: Way) -> Results:
    with Session(subject_of(program), case, way) as session:
        return session.run(Batch.single(changes))


def differences(changes: NDArray[np.void], one: Results, other: Results) -> list[str]:
    """Where two ways differ in verdict, first wrong byte, or status (of what is cut at a wrong byte there is none)."""
    differs = one.records["verdict"] != other.records["verdict"]
    differs |= one.records["first_wrong"] != other.records["first_wrong"]
    is_whole = one.records["verdict"] != Verdict.WRONG_OUTPUT
    for name in ("status", "signal"):
        differs |= is_whole & (one.records[name] != other.records[name])
    done = (one.records["verdict"] != Verdict.REFUSED) & (other.records["verdict"] != Verdict.REFUSED)
    return [f"{changes[n]}: {one.records[n]}, {other.records[n]}" for n in np.flatnonzero(differs & done).tolist()]


@pytest.mark.parametrize("program", ["gatekeeper", "stats"])
def test_every_alteration_comes_to_the_same_by_snapshots_and_by_forks(program):
    case = case_of(program, 5)
    with Session(subject_of(program), case) as session:
        changes = everywhere(subject_of(program), session)
    assert len(changes) > 100
    snapshots, forks = (run(program, case, changes, way) for way in (Way.SNAPSHOT, Way.FORK))
    assert (snapshots.records["way"] == Way.SNAPSHOT).all() and (forks.records["way"] == Way.FORK).all()
    assert len(set(snapshots.records["verdict"].tolist())) > 1
    assert differences(changes, snapshots, forks) == []


@pytest.mark.parametrize("program", corpus.programs())
def test_alterations_come_to_the_same_by_every_way(program):
    case = case_of(program, 3)
    with Session(subject_of(program), case) as session:
        changes = everywhere(subject_of(program), session)
    chosen = changes[np.random.default_rng(7).permutation(len(changes))[:FORKED]]
    snapshots, forks = (run(program, case, chosen, way) for way in (Way.SNAPSHOT, Way.FORK))
    restarts = run(program, case, chosen[:SAMPLE], Way.RESTART)
    assert differences(chosen, snapshots, forks) == []
    assert differences(chosen[:SAMPLE], Results(snapshots.records[:SAMPLE]), restarts) == []


@pytest.mark.parametrize("program", corpus.programs())
def test_a_case_has_the_same_clock_at_the_same_point_ten_times(program):
    case = case_of(program, 4)
    with Session(subject_of(program), case) as session:
        first = session.observe()
        assert first.length > 0 and len(first.events) and not first.refusal
        pointer = subject_of(program).alter_plan.sites["form"][first.events["site"]] == Form.POINTER
        for _ in range(9):
            again = session.observe()
            assert again.length == first.length
            assert (again.events["clock"] == first.events["clock"]).all()
            assert (again.events["site"] == first.events["site"]).all()
            assert (again.events["value"] == first.events["value"])[~pointer].all()
