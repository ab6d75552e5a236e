"""Trace files: what ends a run is in them, what is no trace or a damaged one is refused, limits and windows hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np
import pytest
from snippets import Snippet, backward, program, programs, snippet

from whence.errors import TraceError
from whence.probe.layout import Kind
from whence.trace.columns import CHUNK_UNITS, HEADER_UNITS, N_FRAME, FrameKind
from whence.trace.trace import LIMIT_REACHED, RING

SUBJECT = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int work(int n) {
    char text[40];
    snprintf(text, sizeof text, "%d", n);
    return n > 0 ? work(n - 1) + (int)strlen(text) : 1;
}
int main(int count, char **arguments) {
    int total = 0;
    for (int i = 0; i < count * 3; i++)
        total += work(i);
    printf("%d %s\\n", total, arguments[0]);
    return 3;
}
"""
LOOP = """
#include <stdlib.h>
static unsigned table[64];
static unsigned step(unsigned n) { return n * 5 + 1; }
int main(int count, char **arguments) {
    unsigned n = 1, rounds = count > 1 ? (unsigned)atoi(arguments[1]) : 10;
    for (unsigned i = 0; i < rounds; i++) {
        n = step(n);
        table[n & 63] += i;
    }
    return (int)(table[n & 63] & 7); //?
}
"""
CHUNK_BYTES = 4 * CHUNK_UNITS
ODD = (0, 1, 2, 0x3FFFFFFF, 0x40000000, 0x40000002, 0x7FFFFFFF, 0x80000000, 0xC0000000, 0xFFFFFFFF)


@dataclass
class Recorded:
    """A program and the bytes of one of its traces."""

    made: Snippet
    content: bytes = field(repr=False)


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    made = snippet(SUBJECT)
    _, path = made.record(limit=2 * CHUNK_BYTES)
    return Recorded(made, path.read_bytes())


def refused(made: Snippet, path: Path, content: bytes) -> str:
    """The message with which a trace is refused: one line."""
    path.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        made.open(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


def test_a_good_trace_is_read(recorded: Recorded, tmp_path: Path):
    made, content = recorded.made, recorded.content
    (tmp_path / "trace").write_bytes(content)
    trace = made.open(tmp_path / "trace")
    assert (trace.header.end, trace.header.code, trace.header.flags) == ("exit", 3, 0)
    assert trace.events > 50


@pytest.mark.parametrize("length", [0, 1, 100, 4095])
def test_a_file_too_short_for_a_header(recorded: Recorded, tmp_path: Path, length: int):
    made, content = recorded.made, recorded.content
    assert "cut off in its header" in refused(made, tmp_path / "trace", content[:length])


@pytest.mark.parametrize("length", [4096, 4097, 5000, 4096 + CHUNK_BYTES - 4])
def test_a_file_that_lacks_chunks(recorded: Recorded, tmp_path: Path, length: int):
    made, content = recorded.made, recorded.content
    assert "cut off" in refused(made, tmp_path / "trace", content[:length])


def test_a_foreign_file(recorded: Recorded, tmp_path: Path):
    made = recorded.made
    for foreign in (b"\x7fELF" + bytes(8000), bytes(8192), b"text\n" * 2000):
        assert "not a trace file" in refused(made, tmp_path / "trace", foreign)


def test_a_missing_file_and_a_folder(recorded: Recorded, tmp_path: Path):
    made = recorded.made
    with pytest.raises(TraceError, match="cannot be read"):
        made.open(tmp_path / "none")
    with pytest.raises(TraceError, match="cannot be read"):
        made.open(tmp_path)


def test_another_version(recorded: Recorded, tmp_path: Path):
    made, content = recorded.made, recorded.content
    changed = content[:8] + (99).to_bytes(4, "little") + content[12:]
    assert "version 99" in refused(made, tmp_path / "trace", changed)


def test_another_program(recorded: Recorded, tmp_path: Path):
    content = recorded.content
    other = snippet(SUBJECT.replace("return 3", "return 4"))
    assert "another version of the program" in refused(other, tmp_path / "trace", content)


def test_a_trace_with_only_a_header_is_empty(recorded: Recorded, tmp_path: Path):
    made, content = recorded.made, recorded.content
    (tmp_path / "trace").write_bytes(content[:16] + bytes(8) + content[24:4096])
    trace = made.open(tmp_path / "trace")
    assert (trace.events, trace.segments, trace.blocks) == (0, 0, 0)


def words(content: bytes) -> np.ndarray:
    return np.frombuffer(bytearray(content), np.uint32)


@pytest.mark.parametrize(
    ("unit", "value"),
    [
        (8, 0x3FFFFFFF),  # the first record: a segment that no program has
        (8, 999999),
        (8, 0x7FFFFFFF),  # an effect record longer than the chunk
        (8, 0x40000000),  # of no length
        (8, 0x80000005),  # a thread that never was
        (8, 0xC0000005),
        (2, 77),  # the chunk of such a thread
        (4, CHUNK_UNITS + 1),  # more units used than there are
        (5, 1),
    ],
)
def test_a_damaged_chunk(recorded: Recorded, tmp_path: Path, unit: int, value: int):
    made, content = recorded.made, recorded.content
    units = words(content)
    units[HEADER_UNITS + unit] = value
    assert "damaged" in refused(made, tmp_path / "trace", units.tobytes())


def test_damaged_headers(recorded: Recorded, tmp_path: Path):
    made, content = recorded.made, recorded.content
    chunks, limit, threads = 2, 3, 10
    cut_off, too_many = {chunks: 3, limit: 3}, {chunks: 1 << 60, limit: 1 << 60}
    for changes, problem in ((too_many, "cut off"), ({threads: 1 << 40}, "damaged"), (cut_off, "cut off")):
        units = words(content).view(np.uint64)
        for word, value in changes.items():
            units[word] = value
        assert problem in refused(made, tmp_path / "trace", units.tobytes())


@pytest.mark.parametrize("seed", range(60))
def test_random_damage_is_refused_or_read(recorded: Recorded, tmp_path: Path, seed: int):
    """Whatever the units hold, reading ends, and with no other error."""
    random = Random(seed)
    units = words(recorded.content)
    for _ in range(random.randint(1, 6)):
        value = random.choice(ODD) if random.random() < 0.5 else random.getrandbits(32)
        units[HEADER_UNITS + random.randrange(1200)] = value
    (tmp_path / "trace").write_bytes(units.tobytes())
    try:
        trace = recorded.made.open(tmp_path / "trace")
    except TraceError as error:
        assert "damaged" in str(error) or "touched more memory" in str(error)
        return
    if trace.events:
        assert backward(trace, [trace.events - 1]).events.max() == trace.events - 1


# ---- How runs end ----------------------------------------------------------------------------------------------------


DEATHS = [name for name in programs() if program(name).snippet.marked("!")]


@pytest.mark.parametrize("name", DEATHS)
def test_the_trace_goes_up_to_the_point_of_death(name: str):
    case = program(name)
    trace = case.trace()
    last = int(trace.columns.segments[trace.segments - 1]["event"])
    lines = case.snippet.lines(trace, np.arange(last, trace.events))
    assert case.snippet.marked("!")[0] in lines


@pytest.mark.parametrize("name", ["crash_null", "crash_wild"])
def test_the_faulting_address_is_that_of_an_access_on_the_line(name: str):
    case = program(name)
    trace = case.trace()
    (line,) = case.snippet.marked("!")
    accesses = case.snippet.events_at(trace, line, Kind.LOAD, Kind.STORE)
    assert trace.header.address in [trace.address(e) for e in accesses]


def test_a_run_killed_by_the_time_limit_leaves_what_it_did():
    case = program("endless")
    trace = case.trace()
    assert trace.header.end == "killed"
    assert trace.events > 1000
    assert len(case.snippet.lines(trace, np.arange(trace.events))) == 2


def test_a_deep_recursion_is_read_to_its_end():
    trace = program("stack_overflow").trace()
    frames = trace.columns.frames[: int(trace.columns.counts[N_FRAME])]
    assert len(frames) > 5000
    assert set(frames["kind"].tolist()) == {FrameKind.ROOT, FrameKind.DIRECT}


# ---- Limits and windows ----------------------------------------------------------------------------------------------


def test_a_trace_that_reaches_its_limit_says_so():
    trace = snippet(LOOP).trace("200000", limit=2 * CHUNK_BYTES)
    assert trace.header.flags == LIMIT_REACHED
    assert trace.bytes_used == 4096 + 2 * CHUNK_BYTES
    assert trace.events > 10_000


def test_a_window_keeps_the_end():
    made = snippet(LOOP)
    whole, window = made.trace("200000"), made.trace("200000", limit=3 * CHUNK_BYTES, ring=True)
    assert window.header.flags == RING
    assert window.header.end == whole.header.end == "exit"
    assert window.header.code == whole.header.code
    assert window.bytes_used == 4096 + (3 + 1) * CHUNK_BYTES
    assert 1000 < window.events < whole.events / 5
    count = window.segments
    assert (window.columns.segments["id"][:count] == whole.columns.segments["id"][: whole.segments][-count:]).all()
    pairs = [(whole.value(whole.events - k), window.value(window.events - k)) for k in range(1, 500)]
    assert all(there in (seen, None) for seen, there in pairs)  # a local stored before the window has no value there
    assert sum(there is not None for _, there in pairs) > 200


def test_a_window_holds_its_bytes_wherever_the_run_ends():
    made = snippet(LOOP)
    whole = made.trace("200000")
    for rounds in range(100_000, 100_000 + 12 * 1500, 1500):  # a chunk holds several thousand rounds: ends all over it
        window = made.trace(str(rounds), limit=CHUNK_BYTES, ring=True)
        assert window.events > CHUNK_BYTES / (whole.bytes_used / whole.events) * 0.95, rounds


def test_a_window_is_sliced_as_far_as_it_goes():
    made = snippet(LOOP)
    window = made.trace("200000", limit=3 * CHUNK_BYTES, ring=True)
    events = made.events_at(window, 11, Kind.LOAD)
    assert {8, 9, 11} <= set(made.sliced(window, events))
    assert 6 not in made.sliced(window, events, control=False)


@pytest.mark.parametrize("rounds", ["8000", "8192", "9000", "30000"])
def test_a_window_that_is_larger_than_the_run_holds_all_of_it(rounds: str):
    made = snippet(LOOP)
    whole, window = made.trace(rounds), made.trace(rounds, ring=True)
    assert whole.events == window.events
    assert (whole.columns.segments["id"][: whole.segments] == window.columns.segments["id"][: whole.segments]).all()


def test_a_file_that_is_recorded_into_again_holds_only_the_last_run(tmp_path: Path):
    from whence.probe.instrument import Variant
    from whence.run.cases import Case
    from whence.run.runner import TraceRequest

    made = snippet(LOOP)
    runner = made.runner(Variant.RECORD)
    path = runner.sandbox.new_path("again")
    lengths = []
    for rounds in ("100000", "10", "30000", "10"):
        runner.run_case(Case("case", (rounds,)), TraceRequest(path, 1 << 27))
        lengths.append(made.open(path).events)
    path.unlink()
    assert lengths[1] == lengths[3]
    assert lengths == [made.trace(rounds).events for rounds in ("100000", "10", "30000", "10")]


def test_a_large_block_does_not_fill_the_shadow_memory():
    """An allocation of a gigabyte costs the reader no more than what of it was touched."""
    code = """
    #include <stdlib.h>
    #include <string.h>
    int main(void) {
        char *block = malloc(1ul << 30), *other = calloc(1ul << 29, 1);
        block[5] = 3; //+
        block[1 << 29] = 4;
        int value = block[5] + other[7];
        free(block);
        return value - 3;
    }
    """
    made = snippet(code)
    trace = made.trace()
    assert trace.header.code == 0
    (load,) = [e for e in made.events_at(trace, 8, Kind.LOAD) if trace.value(e) == 3 and trace.address(e)]
    assert trace.columns.events[load]["definition"] - 1 in made.events_at(trace, 6, Kind.STORE)


def test_a_copy_of_an_impossible_length_is_read():
    code = """
    #include <string.h>
    int main(int count, char **arguments) {
        char from[16] = "abc", to[16];
        (void)arguments;
        memmove(to, from, (size_t)(unsigned)(count - 2));
        return to[0];
    }
    """
    made = snippet(code, "-w")
    trace = made.trace()
    assert trace.header.end == "signal"
    assert trace.cells < 100
