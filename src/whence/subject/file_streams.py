"""Files that a case compares as streams of its recorded run, so that whoever asks what wrote a byte finds the call."""

from __future__ import annotations

import numpy as np

from whence.run.outcome import FIRST_FILE
from whence.run.result import RunResult
from whence.trace.columns import N_OUT
from whence.trace.effect_records import operations
from whence.trace.effects import OUT, STATE
from whence.trace.trace import Trace


def name_files(trace: Trace, result: RunResult) -> None:
    """Give what a recorded run wrote to files that its case compares the numbers of these as streams (``Expected``).

    Recordings name files by their identity in the file system, which stays when they are moved. What was written to a
    file that another one was put in place of has no such number.
    """
    expected = result.case.expected
    names = [] if expected is None else [name for name, _ in expected.files]
    keys = {result.files[name].key: FIRST_FILE + i for i, name in enumerate(names) if name in result.files}
    if not keys:
        return
    found = operations(trace)
    outs = np.flatnonzero(found["opcode"] == OUT)
    behind = np.minimum(outs + 1, len(found) - 1)
    told = (found["opcode"][behind] == STATE) & (found["record"][behind] == found["record"][outs])
    streams = trace.columns.outs["stream"][: int(trace.columns.counts[N_OUT])]
    if len(streams) != len(outs):
        return
    for key, stream in keys.items():
        streams[told & (found["x"][behind] == key)] = stream
