"""What is compiled ahead, by going over a run of nothing, is what the run of a program takes."""

from __future__ import annotations

import numpy as np
from trace_readers import record, subject_of

from whence.subject.memory_check import Checker
from whence.subject.run_of_nothing import what_reads_runs
from whence.trace import slicing
from whence.trace.decode import decode
from whence.trace.dependence import gather_event
from whence.trace.provenance import follow

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
    for kernel in (decode, follow, slicing._backward, gather_event):
        assert len(kernel.called.signatures) == 1  # a second one would have been compiled for the run
