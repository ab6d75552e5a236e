"""Cause trees on an investigation: why its failing run had to fail."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from whence.dependence.criteria import known_statement, parse_criterion
from whence.errors import UsageError
from whence.findings import Findings, Statement
from whence.investigation.account import summary
from whence.investigation.investigation import Investigation
from whence.subject.subject import Subject
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.cause_tree.findings import Options, causes


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseTree:
    """Tells why a run had to fail, as a tree: each cause with the conditions that led to it.

    ``depth``: levels that are opened. ``fine``: lines (``FILE:LINE``) that are right, left out with their causes.
    ``correct``: functions that are right, whose conditions are passed over.
    """

    depth: int = 8
    fine: tuple[str, ...] = ()
    correct: tuple[str, ...] = ()

    def run(self, investigation: Investigation) -> Findings:
        """The tree, and the ranking by its levels. Raises UsageError for places that the program does not have."""
        subject = investigation.subject
        fine, correct = frozenset(_statement(subject, text) for text in self.fine), _functions(subject, self.correct)
        row, recording = investigation.record_failing_or_end(investigation.failing_rows())
        investigation.depart(row, recording)
        options = Options(depth=self.depth, correct=correct, fine=fine, budget=investigation.clock.left)
        investigation.watcher.busy("looking for causes")
        with investigation.watcher.first_use():
            symptom = symptom_of(recording, subject.folder)
            findings = causes(TraceReader(subject, recording.trace), symptom, recording, options)
        findings.summary[:0] = summary(subject, investigation.runs, recording)
        return findings


def _statement(subject: Subject, text: str) -> Statement:
    """The statement that FILE:LINE names; raises UsageError where there is none."""
    criterion = parse_criterion(text)
    if criterion.variable or criterion.occurrence > 0:
        raise UsageError(f"'{text}': --fine takes a line", "write FILE:LINE")
    return known_statement(subject.places.statements, criterion.statement)


def _functions(subject: Subject, names: tuple[str, ...]) -> frozenset[str]:
    """The names, each of a function of the program; raises UsageError for another."""
    known = {ref.name for ref in subject.program.functions}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 3)
            hint = f"did you mean {' or '.join(near)}?" if near else "library functions are correct by default"
            raise UsageError(f"the program has no function '{name}'", hint)
    return frozenset(names)
