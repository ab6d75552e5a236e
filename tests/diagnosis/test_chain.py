"""The run that a failing run is compared with: what is looked for, and for how long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from whence.diagnosis.chain import PATCHES, SEARCHING, SHARE, first_reference, patched_chain, telling_chain
from whence.errors import SubjectError
from whence.findings import Findings
from whence.investigation.clock import Clock
from whence.techniques.chains.reference import Kind, Reference


def test_the_search_leaves_time_for_comparing() -> None:
    clock, left = Clock(), []
    clock.start(100.0)
    whole = clock.left

    def in_vain(investigation: Any, row: int, recording: object) -> str:
        left.append(investigation.clock.left)
        if len(left) == 1:
            raise SubjectError("it cannot be looked for")
        return "there is none"

    def found(investigation: Any, row: int, recording: object) -> Reference:
        with investigation.clock.part(SHARE):
            left.append(investigation.clock.left)
        return Reference(Kind.SWITCH, "itself")

    remarks: list[str] = []
    investigation = cast(Any, SimpleNamespace(clock=clock))
    order = [(Kind.RULE, in_vain), (Kind.PAIR, in_vain), (Kind.SWITCH, found), (Kind.CASE, in_vain)]
    reference, behind = first_reference(investigation, 0, cast(Any, None), order, remarks)
    assert reference is not None and reference.kind is Kind.SWITCH and behind == order[3:]
    assert left == [pytest.approx(share * whole, abs=1.0) for share in (SEARCHING, SEARCHING, SEARCHING * SHARE)]
    assert clock.left == pytest.approx(whole, abs=1.0)
    assert remarks == ["compared with no rule: it cannot be looked for", "compared with no pair: there is none"]


RULE, SWITCH, PAIR, CASE = Kind.RULE, Kind.SWITCH, Kind.PAIR, Kind.CASE


@pytest.mark.parametrize(
    ("steps", "taken"),
    [
        ({RULE: 1, SWITCH: 3}, RULE),  # a repair may well lie where the failure shows
        ({SWITCH: 3, PAIR: 5}, SWITCH),
        ({SWITCH: 1, PAIR: 5}, PAIR),
        ({SWITCH: 1, PAIR: 1, CASE: 5}, SWITCH),  # what differs for another input is no better
        ({SWITCH: 1, PAIR: -1}, SWITCH),  # its run cannot be compared
        ({CASE: 0}, CASE),
        ({}, None),
    ],
)
def test_a_switch_that_is_all_of_its_chain_is_not_the_last_that_is_tried(monkeypatch, steps, taken) -> None:
    def finder(kind: Kind) -> Any:
        return lambda *_: Reference(kind, kind) if kind in steps else "there is none"

    def chain(investigation: object, row: int, recording: object, reference: Reference, algorithm: str) -> Findings:
        if steps[reference.kind] < 0:
            raise SubjectError("its run is too long")
        part = {"steps": [{}] * steps[reference.kind], "incomplete": ""}
        return Findings("chain", reference.kind, parts={"chain": part})

    monkeypatch.setattr("whence.diagnosis.chain.chain_findings", chain)
    order = [(kind, finder(kind)) for kind in (RULE, SWITCH, PAIR, CASE)]
    investigation = cast(Any, SimpleNamespace(clock=Clock()))
    found = telling_chain(investigation, 0, cast(Any, None), order, "dependence", [])
    assert (found.subject if found else None) == taken


@pytest.mark.parametrize(
    ("score", "doubt", "order"),
    [(1.0, "", PATCHES), (0.5, "", PATCHES[1:]), (1.0, "it breaks 2 passing cases", PATCHES[1:]), (None, "", PATCHES)],
)
def test_no_repair_is_looked_for_again_where_there_was_none(monkeypatch, score, doubt, order) -> None:
    asked = []
    monkeypatch.setattr("whence.diagnosis.chain.refuse_early", lambda _: None)
    monkeypatch.setattr("whence.diagnosis.chain.telling_chain", lambda *words: asked.append(words[3]))
    rules = Findings("rules", "program", parts={"rules": [{"score": score, "doubt": doubt}]})
    investigation = cast(Any, SimpleNamespace(subject=SimpleNamespace(name="program")))
    found = patched_chain(investigation, 0, cast(Any, None), [rules] if score is not None else [])
    assert asked == [order] and "no chain of values" in found.summary[0]
