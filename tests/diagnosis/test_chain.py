"""The run that a failing run is compared with: what is looked for, and for how long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from whence.diagnosis.chain import patched_chain, telling_chain
from whence.diagnosis.reference_search import PATCHES, Choice
from whence.diagnosis.suggested import Suggested
from whence.errors import SubjectError
from whence.findings import Findings, Statement, rank
from whence.techniques.chains.reference import Kind, Reference, ReferenceFails

RULE, EDIT, SWITCH, PAIR, CASE = Kind.RULE, Kind.EDIT, Kind.SWITCH, Kind.PAIR, Kind.CASE


@pytest.mark.parametrize(
    ("steps", "taken"),
    [
        ({RULE: 1, SWITCH: 3}, RULE),  # a repair may well lie where the failure shows
        ({SWITCH: 3, PAIR: 5}, SWITCH),
        ({SWITCH: 1, PAIR: 5}, PAIR),
        ({SWITCH: 1, PAIR: 1, CASE: 5}, SWITCH),  # what differs for another input is no better
        ({SWITCH: 1, PAIR: -1}, SWITCH),  # its run cannot be compared
        ({EDIT: 0, PAIR: 3}, PAIR),  # what was put in does has no counterpart
        ({EDIT: 0, SWITCH: 1, PAIR: 1}, SWITCH),
        ({EDIT: 0, CASE: 5}, EDIT),
        ({EDIT: 1, SWITCH: 3}, EDIT),
        ({CASE: 0}, CASE),
        ({EDIT: -2, SWITCH: 3}, SWITCH),  # the case fails with it, too
        ({EDIT: -2, SWITCH: 1}, SWITCH),
        ({}, None),
    ],
)
def test_a_switch_or_edit_whose_chain_tells_little_is_not_the_last_that_is_tried(monkeypatch, steps, taken) -> None:
    class Search:
        def __init__(self) -> None:
            self.remarks: list[str] = []

        def best(self, behind: int) -> tuple[Choice, Reference] | None:
            choices = (choice for choice in Choice if choice > behind and choice is not Choice.RULE)
            choice = next((choice for choice in choices if choice.kind in steps), None)
            return None if choice is None else (choice, Reference(choice.kind, choice.kind))

    def chain(investigation: object, row: int, recording: object, reference: Reference, algorithm: str) -> Findings:
        if steps[reference.kind] == -2:
            raise ReferenceFails("it fails, too")
        if steps[reference.kind] < 0:
            raise SubjectError("its run is too long")
        part = {"steps": [{}] * steps[reference.kind], "incomplete": ""}
        return Findings("chain", reference.kind, parts={"chain": part})

    monkeypatch.setattr("whence.diagnosis.chain.chain_findings", chain)
    nothing = cast(Any, None)
    found = telling_chain(nothing, 0, nothing, cast(Any, Search()), "dependence")
    assert (found.subject if found else None) == taken


def test_that_a_case_fails_with_all_that_it_is_compared_with_is_an_error(monkeypatch) -> None:
    def chain(*_: object) -> Findings:
        raise ReferenceFails("it fails, too")

    choices = iter([(Choice.EDIT, Reference(EDIT, "an edit")), (Choice.SWITCH, Reference(SWITCH, "a switch")), None])
    search = SimpleNamespace(best=lambda behind: next(choices), remarks=[])
    monkeypatch.setattr("whence.diagnosis.chain.chain_findings", chain)
    nothing = cast(Any, None)
    with pytest.raises(ReferenceFails):
        telling_chain(nothing, 0, nothing, cast(Any, search), "dependence")
    assert len(search.remarks) == 2


@pytest.mark.parametrize(
    ("score", "doubt", "family", "choices"),
    [
        (1.0, "", "value", PATCHES),
        (0.5, "", "value", PATCHES[1:]),
        (1.0, "it breaks 2 passing cases", "value", PATCHES[1:]),
        (1.0, "", "edit", PATCHES[1:]),  # no altered run shows it
        (None, "", "", PATCHES),
    ],
)
def test_no_repair_is_looked_for_again_where_there_was_none(monkeypatch, score, doubt, family, choices) -> None:
    asked = []
    monkeypatch.setattr("whence.diagnosis.chain.refuse_early", lambda _: None)
    monkeypatch.setattr(
        "whence.diagnosis.chain.ReferenceSearch.of",
        lambda *words: asked.append(words[3]) or SimpleNamespace(is_over=True),
    )
    monkeypatch.setattr("whence.diagnosis.chain.telling_chain", lambda *_: None)
    rules = Findings("rules", "program", parts={"rules": [{"score": score, "doubt": doubt, "family": family}]})
    investigation = cast(Any, SimpleNamespace(subject=SimpleNamespace(name="program")))
    found = patched_chain(investigation, 0, cast(Any, None), [rules] if score is not None else [])
    assert asked == [choices] and "no chain of values" in found.summary[0]


def suggested(**evidence: object) -> Suggested:
    """A ranking whose first statement has an edit that all cases pass with, but for some of what is known of it."""
    edit = {"file": "a.c", "line": 3, "rule": "`b` instead of `a`", "family": "edit", "before": "a;", "after": "b;"}
    edit |= {"f2p": 2, "failing": 2, "p2f": 0, "doubt": "", "confirmed": True} | evidence
    first, second = Statement("a.c", 3), Statement("a.c", 4)
    parts = {"rules": [{**edit, "line": 4}, edit], "refuted": [{**edit, "line": 4, "rule": "`c`"}]}
    return Suggested.of(Findings("locate", "program", rank({first: 1.0, second: 0.5}), parts=parts), [7])


def test_what_is_suggested_is_the_change_of_the_first_statement() -> None:
    found = suggested()
    assert found.statement == Statement("a.c", 3) and found.rows == [7]
    assert found.told == (Statement("a.c", 3), "`b` instead of `a`")
    assert found.edit is not None and found.edit["line"] == 3
    assert found.refuted == {(Statement("a.c", 4), "`c`")}


@pytest.mark.parametrize(
    "evidence",
    [{"family": "value"}, {"confirmed": None}, {"p2f": 1}, {"f2p": 1}, {"doubt": "misuses memory"}, {"after": None}],
)
def test_only_an_edit_that_holds_in_the_source_is_compared_with(evidence: dict[str, object]) -> None:
    assert suggested(**evidence).edit is None


@pytest.mark.parametrize("fails", [False, True])
def test_the_chain_is_told_against_the_edit_that_is_suggested(monkeypatch, tmp_path, fails) -> None:
    (tmp_path / "a.c").write_text("1\n2\n  a;\n")
    built: list[bytes] = []

    def edited(subject: object, at: Statement, text: bytes, words: str) -> Reference:
        built.append(text)
        if fails:
            raise SubjectError("it cannot be built")
        return Reference(Kind.EDIT, words, statement=at)

    def chain(investigation: object, row: int, recording: object, reference: Reference, algorithm: str) -> Findings:
        return Findings("chain", reference.text)

    monkeypatch.setattr("whence.diagnosis.chain.refuse_early", lambda _: None)
    monkeypatch.setattr("whence.diagnosis.chain.edited_program", edited)
    monkeypatch.setattr("whence.diagnosis.chain.chain_findings", chain)
    monkeypatch.setattr("whence.diagnosis.chain.ReferenceSearch.of", lambda *_: SimpleNamespace(is_over=False))
    monkeypatch.setattr("whence.diagnosis.chain.telling_chain", lambda *_: None)
    subject = SimpleNamespace(name="program", folder=tmp_path)
    investigation = cast(Any, SimpleNamespace(subject=subject, clock=SimpleNamespace(left=9.0)))
    found = patched_chain(investigation, 0, cast(Any, None), [], suggested())
    assert built == [b"1\n2\n  b;\n"]
    if fails:
        assert "it cannot be built" in found.summary[0] and "in the time that there was" in found.summary[1]
        assert "nothing else that was tried" in found.summary[1]  # the edit does make it pass
    else:
        assert found.subject == "`b` instead of `a`"
