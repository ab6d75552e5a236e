"""The run that a failing run is compared with: what is looked for, and for how long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from whence.diagnosis.chain import patched_chain, telling_chain
from whence.diagnosis.reference_search import PATCHES, Choice
from whence.errors import SubjectError
from whence.findings import Findings
from whence.techniques.chains.reference import Kind, Reference

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
    class Search:
        def __init__(self) -> None:
            self.remarks: list[str] = []

        def best(self, behind: int) -> tuple[Choice, Reference] | None:
            choices = (choice for choice in Choice if choice > behind and choice is not Choice.RULE)
            choice = next((choice for choice in choices if choice.kind in steps), None)
            return None if choice is None else (choice, Reference(choice.kind, choice.kind))

    def chain(investigation: object, row: int, recording: object, reference: Reference, algorithm: str) -> Findings:
        if steps[reference.kind] < 0:
            raise SubjectError("its run is too long")
        part = {"steps": [{}] * steps[reference.kind], "incomplete": ""}
        return Findings("chain", reference.kind, parts={"chain": part})

    monkeypatch.setattr("whence.diagnosis.chain.chain_findings", chain)
    nothing = cast(Any, None)
    found = telling_chain(nothing, 0, nothing, cast(Any, Search()), "dependence")
    assert (found.subject if found else None) == taken


@pytest.mark.parametrize(
    ("score", "doubt", "choices"),
    [(1.0, "", PATCHES), (0.5, "", PATCHES[1:]), (1.0, "it breaks 2 passing cases", PATCHES[1:]), (None, "", PATCHES)],
)
def test_no_repair_is_looked_for_again_where_there_was_none(monkeypatch, score, doubt, choices) -> None:
    asked = []
    monkeypatch.setattr("whence.diagnosis.chain.refuse_early", lambda _: None)
    monkeypatch.setattr("whence.diagnosis.chain.ReferenceSearch.of", lambda *words: asked.append(words[3]))
    monkeypatch.setattr("whence.diagnosis.chain.telling_chain", lambda *_: None)
    rules = Findings("rules", "program", parts={"rules": [{"score": score, "doubt": doubt}]})
    investigation = cast(Any, SimpleNamespace(subject=SimpleNamespace(name="program")))
    found = patched_chain(investigation, 0, cast(Any, None), [rules] if score is not None else [])
    assert asked == [choices] and "no chain of values" in found.summary[0]
