"""Recorded runs of small programs, for the tests of what is told about them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from cli_tool import subject_folder

from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.recorder import Recorder, Recording
from whence.subject.subject import Subject, subject_from_sources
from whence.subject.trace_reader import TraceReader


@cache
def subject_of(text: str, *cases: str, time: float = 5.0) -> Subject:
    """The subject of one C file ``p.c``; each case is the text of one argument, right if it ends with status 0."""
    folder = subject_folder(f"reader-{abs(hash_of(text))}", p_c=text)
    made = [Case(case, (case,), expected=Expected()) for case in cases]
    return subject_from_sources([folder / "p.c"], ["-w"], made, replace(DEFAULT_LIMITS, time=time))


def hash_of(text: str) -> int:
    """The same number for the same text, in every session."""
    import zlib

    return zlib.crc32(text.encode())


def record(subject: Subject, *arguments: str, **options: int) -> Recording:
    """Record a run with these arguments."""
    with Recorder(subject, **options) as recorder:
        return recorder.record(Case("case", arguments, expected=Expected()))


def reader_of(text: str, *arguments: str) -> TraceReader:
    """The reader of a run of one C file."""
    subject = subject_of(text)
    return TraceReader(subject, record(subject, *arguments).trace)


def source_of(subject: Subject) -> Path:
    """Its C file."""
    return subject.folder / "p.c"
