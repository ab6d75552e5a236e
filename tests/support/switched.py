"""Small faulty programs whose failing runs are switched and sliced, for the tests of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from trace_readers import subject_of

from whence.dependence.slices import Start, symptom_start
from whence.findings import Symptom
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.recorder import Recorder, Recording
from whence.subject.subject import Subject, with_cases
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"


@dataclass(frozen=True)
class Failed:
    """A recorded failing run of a program."""

    text: str
    subject: Subject
    recording: Recording
    reader: TraceReader
    symptom: Symptom
    start: Start

    @property
    def case(self) -> Case:
        return self.recording.case

    def line(self, part: str) -> int:
        """The first line of the program that holds some text."""
        return next(n for n, source in enumerate(self.text.splitlines(), 1) if part in source)


@cache
def failed(text: str, arguments: str, right: str) -> Failed:
    """The run with these arguments, of which another output would be right."""
    case = Case(arguments or "none", tuple(arguments.split()), expected=Expected(right.encode()))
    subject = with_cases(subject_of(text), [case])
    with Recorder(subject) as recorder:
        recording = recorder.record(case)
    assert recording.outcome.failed
    symptom = symptom_of(recording, subject.folder)
    return Failed(text, subject, recording, TraceReader(subject, recording.trace), symptom, symptom_start(symptom))


def all_failed(text: str, right: Mapping[str, str]) -> list[Failed]:
    """The runs of one program with several arguments."""
    return [failed(text, arguments, output) for arguments, output in right.items()]


def values(predicate: Any) -> dict[str, str]:
    """The values of a predicate of the findings, by name."""
    return {value["name"]: value["value"] for value in predicate["values"]}
