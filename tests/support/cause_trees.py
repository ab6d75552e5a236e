"""Cause trees of small programs, for the tests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property

from cli_tool import subject_folder
from trace_readers import hash_of

from whence.findings import Symptom
from whence.formula.encoding import Encoding
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.recorder import Recorder, Recording
from whence.subject.subject import Subject, subject_from_sources
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.cause_tree.explanation import Explanation
from whence.techniques.cause_tree.findings import Built, Options, build
from whence.techniques.cause_tree.tree import Node


class Failing:
    """A C program with one failing case, recorded; ``stdout`` or ``status`` say what would have been right."""

    def __init__(self, text: str, *arguments: str, stdout: str | None = None, status: int | None = None) -> None:
        self.text = text
        expected = Expected(stdout=None if stdout is None else stdout.encode(), status=status)
        self.case = Case("case", arguments, expected=expected)

    @cached_property
    def subject(self) -> Subject:
        folder = subject_folder(f"causes-{hash_of(self.text)}", p_c=self.text)
        return subject_from_sources([folder / "p.c"], ["-w"], [self.case], replace(DEFAULT_LIMITS, time=10.0))

    @cached_property
    def recording(self) -> Recording:
        with Recorder(self.subject) as recorder:
            return recorder.record(self.case)

    @cached_property
    def reader(self) -> TraceReader:
        return TraceReader(self.subject, self.recording.trace)

    @cached_property
    def symptom(self) -> Symptom:
        return symptom_of(self.recording, self.subject.folder)

    def built(self, **options: object) -> Tree:
        return Tree(build(self.reader, self.symptom, self.recording, Options(**{"query": 10.0, **options})))

    def line(self, mark: str) -> int:
        """The number of the line that holds a mark."""
        return next(n for n, line in enumerate(self.text.split("\n"), 1) if mark in line)


class Tree:
    """A tree with the lines of its nodes."""

    def __init__(self, built: Built) -> None:
        self.built, self.explanation = built, Explanation(built.tree)
        self.nodes = [node for node in built.tree.nodes if node.children is not None]

    @property
    def root(self) -> Node:
        return self.nodes[0]

    @property
    def encoding(self) -> Encoding:
        return self.built.path.encoding

    def condition(self, node: Node) -> int:
        """The line of a node's condition."""
        place = self.explanation.reader.statement(node.event)
        return place.line if place else 0

    def at(self, line: int) -> Node:
        """The node of the condition on a line."""
        return next(node for node in self.nodes if node.parent is not None and self.condition(node) == line)

    def lines(self, node: Node) -> set[int]:
        return {line.statement.line for line in self.explanation.lines(node)}

    def levels(self) -> dict[int, int]:
        """The lowest level of each condition, by line; without the symptom."""
        found: dict[int, int] = {}
        for node in self.nodes[1:]:
            found.setdefault(self.condition(node), node.level)
        return found


@cache
def failing(text: str, *arguments: str, stdout: str | None = None, status: int | None = None) -> Failing:
    """The same for the same program and case."""
    return Failing(text, *arguments, stdout=stdout, status=status)
