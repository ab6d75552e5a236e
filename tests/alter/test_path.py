"""The hash of a way: against a plain loop, and as the runtime has it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from routes import routes

from whence.alter.changes import Batch, Op, Verdict
from whence.alter.path import FACTOR, Path
from whence.probe.plan import FIRST

SEGMENTS = 12


def path_of(ids: list[int], blocks: list[int], firsts: list[bool]) -> Path:
    """The path of a run of these segments of a program whose segments stand in these blocks."""
    plan = np.zeros(SEGMENTS, [("flags", "u1"), ("block", "u4")])
    plan["block"], plan["flags"] = blocks, np.where(firsts, FIRST, 0)
    rows = np.array([(number,) for number in ids], [("id", "u4")])
    columns = SimpleNamespace(segments=rows)
    return Path(SimpleNamespace(columns=columns, segments=len(ids), plan=SimpleNamespace(segments=plan)))


def by_loop(blocks: list[int], first: int, last: int) -> int:
    found = 0
    for block in blocks[first + 1 : last + 1]:
        found = (found * FACTOR + block + 1) % (1 << 64)
    return found


@given(
    st.lists(st.integers(0, SEGMENTS - 1), max_size=60),
    st.lists(st.integers(0, (1 << 32) - 1), min_size=SEGMENTS, max_size=SEGMENTS),
    st.lists(st.booleans(), min_size=SEGMENTS, max_size=SEGMENTS),
    st.data(),
)
def test_twin(ids, blocks, firsts, data):
    path = path_of(ids, blocks, firsts)
    ways = [blocks[number] for number in ids if firsts[number]]  # a block has a tick where it begins
    assert len(path) == len(ways)
    if ways:
        first = data.draw(st.integers(0, len(ways) - 1))
        last = data.draw(st.integers(first, len(ways) - 1))
        assert path.hash(first, last) == by_loop(ways, first, last)


def test_the_runtime_has_the_same_hash_of_every_way():
    run = routes().failing
    moments = sorted({run.moment_of(e) for e in np.flatnonzero(run.sites >= 0).tolist()}, key=lambda m: m.now)
    pairs = [(begin, end) for begin in moments[::7] for end in moments[::3] if begin.now < end.now]
    assert len(pairs) > 20
    batch = [np.concatenate([run.change(begin, Op.READ_VALUE), run.change(end, Op.STOP)]) for begin, end in pairs]
    records, _ = run.session.read(Batch.of(batch), moments[-1].now + 1)
    assert (records["verdict"] == Verdict.REACHED).all()
    assert records["first_wrong"].tolist() == [run.path.hash(begin.now, end.now) for begin, end in pairs]
