"""Compiling the analysis at its first use takes of the time of the command that does it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import whence
from whence.investigation.clock import Clock
from whence.subject.memory_check import Checker
from whence.techniques.races.check import Checker as Races


@pytest.mark.parametrize("technique, part", [(whence.MemoryErrors, Checker), (whence.DataRaces, Races)])
def test_the_clock_goes_on_while_the_check_is_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, technique: type, part: type
) -> None:
    stands: list[bool] = []
    compiled: list[bool] = []
    real, compile_ = Clock.standing, part.compile  # type: ignore[attr-defined]

    @contextmanager
    def standing(clock: Clock) -> Iterator[None]:
        stands.append(True)
        with real(clock):
            yield
        stands.pop()

    def compiling(checker: object) -> None:
        compiled.append(not stands)
        compile_(checker)

    monkeypatch.setattr(Clock, "standing", standing)
    monkeypatch.setattr(part, "compile", compiling)
    (tmp_path / "one.c").write_text("int main(int argc, char **argv)\n{\n    return argc > 1 && *argv[1];\n}\n")
    with whence.open_sources([tmp_path / "one.c"], fails=[("1", None)]) as project:
        project.find(technique())
    assert compiled == [True]
