"""The budget is for the diagnosis: whatever is built, and asked for it, is built while the clock stands still."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from snippets import snippet

from whence.investigation.clock import Clock
from whence.investigation.investigation import Investigation, Setup
from whence.probe.instrument import Variant
from whence.subject.subject import Subject

PROGRAM = "int main(void) { return 0; }\n"


def test_asking_whether_a_variant_is_built_takes_no_time_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a new machine asking compiles the runtime, which takes seconds."""
    standing, asked = [False], []
    stands, has_variant = Clock.standing, Subject.has_variant

    @contextlib.contextmanager
    def noted(self: Clock) -> Iterator[None]:
        with stands(self):
            standing.append(True)
            yield
            standing.pop()

    def asking(self: Subject, kind: Variant) -> bool:
        asked.append(standing[-1])
        return has_variant(self, kind)

    monkeypatch.setattr(Clock, "standing", noted)
    monkeypatch.setattr(Subject, "has_variant", asking)
    Investigation(snippet(PROGRAM).subject, Setup()).build(Variant.RECORD)
    assert asked and all(asked)
