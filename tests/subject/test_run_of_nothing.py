"""What is compiled ahead, by going over a run of nothing, is what the run of a program takes."""

from __future__ import annotations

import numpy as np
from trace_readers import record, subject_of

from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.memory_check import Checker
from whence.subject.recorder import Recorder
from whence.subject.run_of_nothing import what_reads_runs
from whence.trace import slicing
from whence.trace.decode import decode
from whence.trace.dependence import gather_event
from whence.trace.expand import expand
from whence.trace.provenance import follow
from whence.trace.trace import COMPACT

PROGRAM = "int main(int argc, char **argv) { int sum = 0; while (argc--) sum += *argv[argc]; return sum == 3; }\n"


def test_a_run_takes_nothing_else() -> None:
    for part in what_reads_runs():
        part.compile()
        assert part.is_compiled()
    subject = subject_of(PROGRAM)
    trace = record(subject).trace
    Checker(subject).check(trace)
    slicing.backward_slice(trace.plan, trace.columns, np.array([trace.events], np.int64))
    assert slicing.dependences(trace.plan, trace.columns, trace.events)
    with Recorder(subject, variant=Variant.COMPACT) as recorder:
        compact = recorder.record(Case("case", (), expected=Expected())).trace
    assert compact.header.flags & COMPACT and compact.events == trace.events
    for kernel in (decode, follow, slicing._backward, gather_event, expand):
        assert len(kernel.called.signatures) == 1  # a second one would have been compiled for the run
