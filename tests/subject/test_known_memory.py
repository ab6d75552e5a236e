"""Bytes by address: what is read back is what was written last, or that it is not known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from whence.subject.known_memory import PAGE, KnownMemory

WRITES = st.lists(st.tuples(st.integers(PAGE - 40, PAGE + 40), st.binary(max_size=60)), max_size=8)


@given(WRITES, st.integers(PAGE - 50, PAGE + 50), st.integers(0, 70))
def test_reads_are_those_of_a_table_of_bytes(writes: list[tuple[int, bytes]], start: int, length: int) -> None:
    twin: dict[int, int] = {}
    for address, data in writes:
        twin |= {address + n: byte for n, byte in enumerate(data)}
    wanted = [twin.get(address) for address in range(start, start + length)]
    found = KnownMemory(writes).read(start, length)
    assert found == (None if None in wanted else bytes(byte for byte in wanted if byte is not None))
