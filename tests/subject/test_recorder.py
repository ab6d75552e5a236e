from __future__ import annotations

import os
import time

import pytest
from trace_readers import record, subject_of

from whence.errors import SubjectError, TraceError
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.outcome import PASSED, Expected, Kind, Outcome
from whence.subject.recorder import ChangedOutcome, Recorder, affordable, free_memory
from whence.subject.symptoms import symptom_of
from whence.trace.trace import COMPACT, Trace

LOOP = """\
#include <stdlib.h>
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < atoi(argv[1]); i++)
        sum += i;
    while (atoi(argv[1]) < 0)
        sum++;
    return sum < 0;
}
"""
DEEP = """\
#include <stdlib.h>
static int sum;
static void down(int depth)
{
    if (depth)
        down(depth - 1), sum += depth, sum ^= 5, sum += depth, sum ^= 9, sum += depth, sum ^= 17;
}
int main(int argc, char **argv)
{
    down(atoi(argv[1]));
    return sum == 3;
}
"""
SHORT, LONG, ENDLESS = (Case(name, (name,), expected=Expected()) for name in ("3", "90000", "-1"))


@pytest.fixture(scope="module")
def subject():
    return subject_of(LOOP, time=0.2)


def test_recording(subject):
    recording = record(subject, "3")
    assert recording.outcome.passed and not recording.is_cut
    assert recording.trace.header.end == "exit"


def test_trace_at_its_limit(subject):
    with pytest.raises(TraceError, match="reached its limit of 1 MiB") as error:
        record(subject, "90000", limit=1 << 20)
    assert "--trace-limit" in error.value.hint and "--window" in error.value.hint


def test_window_keeps_the_end(subject):
    whole, window = record(subject, "90000"), record(subject, "90000", window=1 << 20)
    assert window.trace.header.end == "exit" and window.trace.events < whole.trace.events


def test_no_block_of_a_window_has_a_clock_before_its_start():
    """Calls return one after the other, so that the window begins within blocks that began long before."""
    deep = subject_of(DEEP, time=5.0)
    with Recorder(deep, window=1 << 19) as recorder:
        trace = recorder.record(Case("deep", ("61111",))).trace
    assert trace.is_end
    assert min(trace.clock(event) for event in range(0, 200)) == 0 == trace.segment_clock.min()


def test_endless_run_is_cut(subject):
    with Recorder(subject, limit=1 << 20) as recorder:
        recording = recorder.record(ENDLESS, Outcome(Kind.TIMEOUT))
    assert recording.is_cut and recording.trace.bytes_used <= (1 << 20) + 4096


def test_of_a_run_that_ends_all_is_recorded_however_long_it_is(subject, monkeypatch):
    monkeypatch.setattr("whence.subject.recorder.ENDLESS", 1 << 20)
    with Recorder(subject) as recorder:
        long, endless = recorder.record_or_beginning(LONG), recorder.record_or_beginning(ENDLESS)
    assert long.trace.header.end == "exit" and not long.is_cut and long.trace.bytes_used > 1 << 20
    assert endless.outcome.kind is Kind.TIMEOUT and endless.trace.bytes_used <= (1 << 20) + 4096
    with Recorder(subject, limit=1 << 20) as recorder:
        assert recorder.record_or_beginning(LONG).is_cut


PHASES = """\
#include <stdlib.h>
int main(int argc, char **argv)
{
    long sum = 0;
    for (int i = 0; i < atoi(argv[1]); i++) /* first */
        sum += i;
    while (sum >= 0) /* second */
        sum &= 1023;
    return 0;
}
"""


@pytest.mark.parametrize("rounds", [10, 100_000])
def test_endless_run_is_recorded_until_its_loop_is_seen(rounds):
    """It is not waited for, however long its time limit; and a long loop before the endless one is not taken for it."""
    subject = subject_of(PHASES, time=60.0)
    case = Case("endless", (str(rounds),), expected=Expected())
    began = time.monotonic()
    with Recorder(subject) as recorder:
        recording = recorder.record(case, Outcome(Kind.TIMEOUT, "still running after 60.0 s"))
    assert time.monotonic() - began < 50 and recording.result.wall < 10
    assert recording.is_cut and recording.outcome.text == "still running after 60.0 s"
    symptom = symptom_of(recording, subject.folder)
    assert symptom.statement.line == next(n for n, x in enumerate(PHASES.splitlines(), 1) if "/* second */" in x)


def test_what_goes_round_within_the_length_of_runs_that_end_is_not_taken_for_endless(monkeypatch):
    """The first loop fills two recordings, and the run is no shorter that ends; then the second one is reached."""
    monkeypatch.setattr("whence.subject.recorder.GROWING", (1 << 20, 2 << 20, 32 << 20))
    subject = subject_of(PHASES, time=60.0)
    case, endless = Case("late", ("300000",), expected=Expected()), Outcome(Kind.TIMEOUT, "still running after 60.0 s")
    first, second = (n for n, x in enumerate(PHASES.splitlines(), 1) if "/* first */" in x or "/* second */" in x)
    found = {}
    for ending in (0, 700_000, 1 << 40):
        with Recorder(subject, ending=ending) as recorder:
            recording = recorder.record(case, endless)
        found[ending] = symptom_of(recording, subject.folder)
        assert recording.is_cut and recording.is_early == (ending == 1 << 40)
    assert [symptom.statement.line for symptom in found.values()] == [first, second, second]
    assert "what does not end may be another loop" in found[1 << 40].details["label"]
    assert "still going round" in found[700_000].details["label"]


def test_run_that_waits_is_recorded_until_its_time_is_over():
    subject = subject_of("#include <unistd.h>\nint main(void) { pause(); return 0; }\n", time=0.5)
    with Recorder(subject) as recorder:
        recording = recorder.record(Case("waits", expected=Expected()), Outcome(Kind.TIMEOUT))
    assert recording.outcome.kind is Kind.TIMEOUT and not recording.is_cut


def test_changed_verdict(subject):
    message = "crash in the program, but pass when recorded"
    with Recorder(subject) as recorder, pytest.raises(ChangedOutcome, match=message) as error:
        recorder.record(SHORT, Outcome(Kind.CRASH))
    assert error.value.seen.passed and error.value.expected.kind is Kind.CRASH


def test_run_that_passes_has_no_symptom(subject):
    with Recorder(subject) as recorder, pytest.raises(SubjectError, match="case 3: the recorded run did not fail"):
        symptom_of(recorder.record(SHORT), subject.folder)


def test_foreign_and_truncated_traces(subject, tmp_path):
    kept = tmp_path / "trace"
    with Recorder(subject) as recorder:
        recorder.record(SHORT, PASSED, keep=kept)
    other = subject_of("int main(void) { return 0; }\n")
    with pytest.raises(TraceError, match="another version of the program"):
        Trace(kept, other.program, other.plan, other.fingerprint)
    os.truncate(kept, 5000)
    with pytest.raises(TraceError, match="cut off"):
        Trace(kept, subject.program, subject.plan, subject.fingerprint)
    os.truncate(kept, 50)
    with pytest.raises(TraceError, match="cut off in its header"):
        Trace(kept, subject.program, subject.plan, subject.fingerprint)


def test_nothing_is_left(subject):
    with Recorder(subject) as recorder:
        recorder.record(SHORT)
        root = recorder._runner.sandbox.root
        inode = root.stat().st_ino
        assert not [path for path in root.iterdir() if path.name.startswith("trace")]
    assert not root.exists() or root.stat().st_ino != inode  # another process's by now


def test_memory_bounds_the_trace():
    assert 0 < affordable() < free_memory()


def test_a_long_run_is_recorded_compactly(subject, monkeypatch, tmp_path):
    whole = record(subject, "90000")
    monkeypatch.setattr("whence.subject.recorder.SHORT", 1 << 20)
    kept = tmp_path / "kept.trace"
    with Recorder(subject) as recorder:
        short, long = recorder.record(SHORT, PASSED), recorder.record(LONG, keep=kept)
    assert not short.trace.header.flags & COMPACT and not whole.trace.header.flags & COMPACT
    assert long.trace.header.flags & COMPACT and not long.is_cut
    assert long.trace.events == whole.trace.events and long.trace.bytes_used < whole.trace.bytes_used
    again = Trace(kept, subject.program, subject.plan, subject.fingerprint)
    assert (again.columns.events[: again.events] == whole.trace.columns.events[: whole.trace.events]).all()


STRAY = """\
static int reach(int *place, int n) { place[n] = 5; return n; }
int main(void)
{
    int one = 1, sum = 0;
    for (int i = 0; i < 90000; i++)
        sum += reach(&one, i == 80000 ? -2 : 0);
    return sum == 0;
}
"""


def test_a_long_run_of_which_a_compact_recording_is_doubtful_is_recorded_in_full(monkeypatch):
    monkeypatch.setattr("whence.subject.recorder.SHORT", 1 << 20)
    subject = subject_of(STRAY)
    with Recorder(subject) as recorder:
        recording = recorder.record(Case("stray", (), expected=Expected()))
    assert recording.trace.header.end == "exit" and not recording.trace.header.flags & COMPACT
    assert subject.has_variant(Variant.COMPACT)
