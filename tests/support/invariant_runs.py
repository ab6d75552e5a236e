"""Runs of small programs for the tests of likely invariants: good ones and failing ones, by their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from trace_readers import subject_of

from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.recorder import Recorder
from whence.techniques.likely_invariants.kinds import Invariants, Kind, Settings, allowed_kinds, check, learn
from whence.techniques.likely_invariants.runs import Failing, Observer, Run

WRONG = 99  # a status that no bad run ends with, so that each of them fails


def case_of(line: str, expected: Expected | None = None) -> Case:
    """The case with these arguments; without an expectation a status of 0 is right."""
    return Case(line, tuple(line.split()), expected=expected or Expected())


class Runs:
    """The recorded runs of one C file: those of ``good`` and of ``bad`` lines of arguments."""

    def __init__(self, text: str, good: Iterable[str], bad: Iterable[str]) -> None:
        self.subject = subject_of(text)
        with Recorder(self.subject) as recorder:
            self.observer = Observer(self.subject, recorder)
            self.good: list[Run] = [self.observer.passing(case_of(line)) for line in good]
            self.bad: list[Failing] = [self.observer.failing(case_of(line, Expected(status=WRONG))) for line in bad]

    def learned(self, runs: Sequence[Run] | None = None) -> Invariants:
        """The invariants of the good runs, or of these."""
        chosen = self.good if runs is None else runs
        return learn([run.profile for run in chosen], len(self.observer.static), len(self.observer.pairs))

    def broken(self, kinds: Kind, promote: bool = False, plain: bool = False) -> set[tuple[int, str]]:
        """What the first failing run breaks: lines with the names of the kinds."""
        observer, run = self.observer, self.bad[0]
        allowed = allowed_kinds(observer.static, Settings(kinds, promote, plain))
        verdicts = check(run.readings, observer.static, observer.pairs, self.learned(), allowed)
        found = set()
        for event in np.flatnonzero(verdicts & 255).tolist():
            statement = run.reader.statement(event)
            names = {kind.name for kind in Kind if int(verdicts[event]) & kind and kind.name}
            found |= {(statement.line if statement else 0, name) for name in names}
        return found


def line_of(text: str, part: str) -> int:
    """The number of the only line that has this text."""
    (found,) = [number for number, line in enumerate(text.splitlines(), 1) if part in line]
    return found
