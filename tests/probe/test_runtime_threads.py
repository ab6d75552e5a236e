"""Threads of recorded programs: every use of them ends as in the plain program, and is the same in every run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from snippets import Snippet

from whence.probe.instrument import Variant
from whence.run.sandbox import Limits
from whence.trace.columns import N_FRAME, FrameKind
from whence.trace.trace import CHUNK_UNITS, HEADER_UNITS, LIMIT_REACHED, RING, THREADS, Trace, open_units, read_header

SOURCE = Path(__file__).parent / "runtime/threads.c"
MODES = re.findall(r"MODE\((\w+)\)", SOURCE.read_text())[1:]
ENDLESS = {"deadlock"}
VARYING = {"timed", "pipe", "fork"}  # see times, or numbers of files or processes
EXTERNAL = {"unknown_call", "foreign"}  # wait in calls that the schedule does not know
NO_RESULT = {"race"}


@pytest.fixture(scope="module")
def uses() -> Snippet:
    return Snippet({"threads.c": SOURCE.read_text()}, ("-pthread",), Limits(time=10, trace=1 << 30))


def recorded(uses: Snippet, mode: str, **how: object) -> tuple[object, NDArray[np.uint32], Trace]:
    """Outcome, units and decoded trace of a recorded run."""
    result, path = uses.record(mode, **how)  # type: ignore[arg-type]
    units = open_units(path)
    header = read_header(units)
    copy = np.array(units[: HEADER_UNITS + CHUNK_UNITS * min(header.chunks, header.limit)])
    return result.observed, copy, uses.open(path)


def segments(trace: Trace) -> list[int]:
    """What was executed, in order."""
    found: list[int] = trace.columns.segments["id"][: trace.segments].tolist()
    return found


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in ENDLESS])
def test_same_outcome_and_same_trace_in_every_run(uses: Snippet, mode: str) -> None:
    first, units, trace = recorded(uses, mode)
    second, again, other = recorded(uses, mode)
    assert first == second
    assert trace.header.flags & THREADS and trace.header.threads > 1
    if mode not in EXTERNAL:
        assert segments(trace) == segments(other)
    if mode not in EXTERNAL | VARYING:
        assert np.array_equal(units, again)
    if mode not in NO_RESULT:
        assert first == uses.run(mode).observed == uses.run(mode, variant=Variant.COVER).observed


def test_sleepers_wake_in_order_of_time(uses: Snippet) -> None:
    assert uses.record("sleepers")[0].stdout == b"3\n2\n1\n0\n"


def test_deadlock_hangs_and_leaves_a_trace() -> None:
    with_limit = Snippet({"threads.c": SOURCE.read_text()}, ("-pthread",), Limits(time=0.7, trace=1 << 30))
    result, path = with_limit.record("deadlock")
    assert result.timed_out and result.stdout == b"waits\n"
    trace = with_limit.open(path)
    assert (trace.header.end, trace.header.threads) == ("killed", 3)
    line = next(n for n, text in enumerate(SOURCE.read_text().splitlines(), 1) if "number ? &other : &lock" in text)
    assert len(with_limit.events_at(trace, line)) > 0


def test_turns_go_on_when_the_trace_is_full(uses: Snippet) -> None:
    observed, _, trace = recorded(uses, "flag", limit=CHUNK_UNITS * 4)
    assert trace.header.flags & LIMIT_REACHED
    assert observed == uses.run("flag").observed


def test_ring_of_several_threads(uses: Snippet) -> None:
    observed, _, trace = recorded(uses, "flag", limit=CHUNK_UNITS * 8, ring=True)
    assert trace.header.flags & RING and trace.header.end == "exit"
    assert observed == uses.run("flag").observed


def test_program_with_one_thread_has_no_schedule(uses: Snippet) -> None:
    _, _, trace = recorded(uses, "none")
    assert not trace.header.flags & THREADS
    assert trace.header.threads == 1


# ---- Dependence ------------------------------------------------------------------------------------------------------

ACROSS = {
    "parameter_and_memory": """
        static int shared;
        static void *work(void *p)
        {
            int *n = p; //+
            int unrelated = *n + 3;
            shared = *n * 2; //+
            return (void *)(long)unrelated;
        }
        int main(void)
        {
            pthread_t a;
            int x = 4; //+
            int y = 5;
            pthread_create(&a, NULL, work, &x); //+
            pthread_join(a, NULL);
            int z = shared + 1; //?
            return z + y;
        }""",
    "result": """
        static void *work(void *p)
        {
            long n = (long)p; //+
            long unrelated = n * 7;
            shared = unrelated;
            return (void *)(n + 1); //+
        }
        int main(void)
        {
            pthread_t a, b;
            void *r, *s;
            long x = 3; //+
            long y = 4;
            pthread_create(&a, NULL, work, (void *)x); //+
            pthread_create(&b, NULL, work, (void *)y);
            pthread_join(b, &s);
            pthread_join(a, &r); //+
            long z = (long)r; //?
            return (int)(z + (long)s);
        }""",
    "pthread_exit": """
        static void *work(void *p)
        {
            long n = (long)p + 5; //+
            if (n)
                pthread_exit((void *)n); //+
            return NULL;
        }
        int main(void)
        {
            pthread_t a;
            void *r;
            pthread_create(&a, NULL, work, (void *)1); //+
            pthread_join(a, &r); //+
            long z = (long)r; //?
            return (int)z;
        }""",
    "value_of_a_key": """
        static pthread_key_t key;
        static int number(void)
        {
            int *n = pthread_getspecific(key); //+
            return *n; //+
        }
        static void *work(void *p)
        {
            int mine = shared; //+
            pthread_setspecific(key, &mine); //+
            shared = number(); //+
            return p;
        }
        int main(void)
        {
            pthread_t a;
            int other = 2;
            pthread_key_create(&key, NULL); //+
            pthread_setspecific(key, &other);
            shared = 6; //+
            pthread_create(&a, NULL, work, NULL);
            pthread_join(a, NULL);
            int z = shared; //?
            return z;
        }""",
    "c11": """
        static int work(void *p)
        {
            return *(int *)p + 1; //+
        }
        int main(void)
        {
            thrd_t a;
            int r, x = 4; //+
            thrd_create(&a, work, &x); //+
            thrd_join(a, &r); //+
            int z = r; //?
            return z;
        }""",
}


@pytest.mark.parametrize("name", ACROSS)
def test_slices_cross_threads(name: str) -> None:
    text = "#include <pthread.h>\n#include <threads.h>\nstatic long shared;\n" + ACROSS[name]
    text = text if name != "parameter_and_memory" else text.replace("static long shared;\n", "")
    snippet = Snippet({f"{name}.c": text}, ("-pthread",))
    trace = snippet.trace()
    assert FrameKind.THREAD in trace.columns.frames["kind"][: trace.columns.counts[N_FRAME]]
    lines = text.splitlines()
    shown = [lines[n - 1].strip() for n in snippet.sliced(trace, control=False)]
    assert shown == [lines[n - 1].strip() for n in snippet.expected]
