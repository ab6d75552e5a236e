"""The likeliest edits: what was told and all others in turn, each once, with its place among its own kind."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from whence.diagnosis import likely_edits as module
from whence.diagnosis.likely_edits import alternately, likely_edits
from whence.program.c_source import CSource
from whence.program.source_edits import Kind, Part, SourceEdit
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.observed_conditions import Observed
from whence.techniques.bugfix.suspects import Suspects

EDITS = [SourceEdit("a.c", n, (Part(Kind.DELETE, n, n + 1),)) for n in range(6)]


def test_edits_are_told_and_others_in_turn_each_once() -> None:
    found = list(alternately(EDITS[:2], iter(EDITS[1:])))
    assert found == [EDITS[0], EDITS[2], EDITS[1], EDITS[3], EDITS[4], EDITS[5]]
    assert list(alternately([], iter(EDITS))) == EDITS


def test_places_count_those_that_were_told_and_the_others_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    at = "a.c", 0, 1, False
    monkeypatch.setattr(module, "observed_conditions", lambda *_: Observed([EDITS[4], EDITS[1]], {at: ["n > 0"]}))
    monkeypatch.setattr(Suspects, "asked_for", lambda _: iter(EDITS[:1]))
    monkeypatch.setattr(Suspects, "edits", lambda _: iter(EDITS[:4]))
    monkeypatch.setattr(Suspects, "naming_unused", lambda *_: iter(EDITS[2:3]))
    nothing: Any = SimpleNamespace()
    with likely_edits(nothing, nothing, Suspects({}, [], {}), [], time.monotonic() + 60) as likely:
        assert likely.conditions == {at: ["n > 0"]} and likely.places == {EDITS[4]: 0, EDITS[1]: 1}
        assert list(likely.edits) == [EDITS[4], EDITS[0], EDITS[1], EDITS[2], EDITS[3]]
    assert likely.places == {EDITS[4]: 0, EDITS[1]: 1, EDITS[0]: 0, EDITS[2]: 1, EDITS[3]: 3}


def test_in_a_long_file_the_first_edits_wait_for_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "observed_conditions", lambda *_: Observed([], {}))
    monkeypatch.setattr(module, "LONG", 10)
    monkeypatch.setattr(module, "AT_ONCE", 2)
    monkeypatch.setattr(Suspects, "asked_for", lambda _: iter(()))
    monkeypatch.setattr(Suspects, "edits", lambda _: iter(EDITS[:4]))
    monkeypatch.setattr(Suspects, "naming_unused", lambda *_: iter(EDITS[5:]))
    nothing: Any = SimpleNamespace()
    for text, order in ((b"int n;", (5, 0, 1, 2, 3)), (b"int number;", (0, 1, 5, 2, 3))):
        suspects = Suspects({"a.c": FileCandidates(CSource(text), "a.c")}, [], {})
        with likely_edits(nothing, nothing, suspects, [], time.monotonic() + 60) as likely:
            assert list(likely.edits) == [EDITS[k] for k in order]
