"""Which long runs are read in windows, where little memory is free."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from trace_readers import subject_of

from whence.errors import TooLong
from whence.run.cases import Case
from whence.run.compare import Comparison
from whence.run.outcome import Expected
from whence.subject import recorder as module
from whence.subject.recorder import AN_EVENT, BOLD, MOST_READ, Recorder
from whence.subject.subject import Subject
from whence.trace.long_trace import LongTrace
from whence.trace.trace import COMPACT

LOOP = """\
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rounds = atoi(argv[1]), sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += i ^ (sum >> 3);
    return sum == 7;
}
"""
FREE = 1 << 20
SHORT, LONG, LONGEST = (Case(name, (name,), expected=Expected()) for name in ("300", "150000", "2000000"))


@pytest.fixture
def subject(monkeypatch: pytest.MonkeyPatch) -> Subject:
    """A program on a machine where recordings of one MiB can be analysed as a whole."""
    monkeypatch.setattr(module, "affordable", lambda: FREE)
    monkeypatch.setattr(module, "LongTrace", partial(LongTrace, window=1))
    return subject_of(LOOP, time=5.0)


def test_a_run_that_is_too_long_for_memory_is_read_in_windows(subject: Subject) -> None:
    told: list[tuple[int, int]] = []
    with Recorder(subject) as recorder:
        short = recorder.record(SHORT, watch=lambda *window: told.append(window))
        assert not isinstance(short.trace, LongTrace) and not told
        trace = recorder.record(LONG, watch=lambda *window: told.append(window)).trace
    assert isinstance(trace, LongTrace) and FREE < trace.bytes_used <= MOST_READ * FREE
    assert told == [(number, trace.windows) for number in range(trace.windows)] and trace.windows > 2


def test_a_compact_one_too(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHORT", 1 << 18)
    with Recorder(subject) as recorder:
        trace = recorder.record(LONG, watch=lambda *_: None).trace
    assert isinstance(trace, LongTrace) and trace.header.flags & COMPACT


def test_one_of_a_program_with_a_handler_of_signals_too(subject: Subject) -> None:
    handled = subject_of("#include <signal.h>\n" + LOOP.replace("sum = 0;", "sum = 0;\n    signal(SIGINT, SIG_IGN);"))
    with Recorder(handled) as recorder:
        assert isinstance(recorder.record(LONG, watch=lambda *_: None).trace, LongTrace)


def test_not_that_of_a_program_with_threads(subject: Subject) -> None:
    threads = (
        "#include <pthread.h>\nvoid *work(void *a) { pthread_t t; return pthread_create(&t, 0, work, a) ? a : 0; }\n"
    )
    with Recorder(subject_of(threads + LOOP)) as recorder, pytest.raises(TooLong, match="its limit of 1 MiB"):
        recorder.record(LONG, watch=lambda *_: None)


def test_not_unless_it_is_asked_for(subject: Subject) -> None:
    with Recorder(subject) as recorder, pytest.raises(TooLong, match="its limit of 1 MiB"):
        recorder.record(LONG)


def test_not_where_more_is_looked_at_than_a_slice(subject: Subject) -> None:
    memory = replace(LONG, comparison=Comparison(memory=True))
    with Recorder(subject) as recorder, pytest.raises(TooLong):
        recorder.record(memory, watch=lambda *_: None)


def test_not_what_is_longer_than_all_that_may_be_read(subject: Subject) -> None:
    with Recorder(subject) as recorder, pytest.raises(TooLong, match=f"its limit of {MOST_READ} MiB"):
        recorder.record(LONGEST, watch=lambda *_: None)


def test_a_limit_that_is_asked_for_is_kept_within_what_memory_may_bear(subject: Subject) -> None:
    with Recorder(subject, limit=1 << 40) as recorder, pytest.raises(TooLong, match=f"its limit of {BOLD} MiB"):
        recorder.record(LONGEST)


def test_a_compact_one_that_is_far_longer_when_it_is_made_whole(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a loop does follows from a fifth of its recording: of that memory would be enough, for all of it not."""
    monkeypatch.setattr(module, "affordable", lambda: 9 * FREE)
    monkeypatch.setattr(module, "SHORT", 1 << 18)
    loop = Case("loop", ("600000",), expected=Expected())
    with Recorder(subject) as recorder:
        with pytest.raises(TooLong, match="MiB when it is made whole, of at most 9 MiB that memory allows"):
            recorder.record(loop)
        trace = recorder.record(loop, watch=lambda *_: None).trace
        shorter = recorder.record(replace(loop, arguments=("300000",)), watch=lambda *_: None).trace
    assert isinstance(trace, LongTrace) and trace.bytes_used < 3 * FREE
    assert not isinstance(shorter, LongTrace) and shorter.header.flags & COMPACT


def test_one_whose_events_take_more_memory_than_its_recording_says(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recorder(subject) as recorder:
        events = recorder.record(SHORT).trace.events
        monkeypatch.setattr(module, "free_memory", lambda: events * AN_EVENT - 1)
        with pytest.raises(TooLong, match=f"analysing {events:,} events takes more memory than is free"):
            recorder.record(SHORT)
        assert isinstance(recorder.record(SHORT, watch=lambda *_: None).trace, LongTrace)
