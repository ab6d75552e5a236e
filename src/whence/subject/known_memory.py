"""Bytes of a run's memory that are known at a point, as they come from a dump or from what was written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

PAGE = 4096


class KnownMemory:
    """Bytes by address: ``read`` gives them back where all that is asked for are known."""

    def __init__(self, ranges: Iterable[tuple[int, bytes]] = ()) -> None:
        self._pages: dict[int, tuple[bytearray, bytearray]] = {}  # of each page its bytes, and which of them are known
        for address, data in ranges:
            self.write(address, data)

    def write(self, address: int, data: bytes) -> None:
        """From now on these bytes lie at an address."""
        for page, start, first, count in _pieces(address, len(data)):
            held, known = self._pages.setdefault(page, (bytearray(PAGE), bytearray(PAGE)))
            held[start : start + count] = data[first : first + count]
            known[start : start + count] = b"\1" * count

    def read(self, address: int, length: int) -> bytes | None:
        """The bytes at an address; None where some of them are not known."""
        found = bytearray()
        for page, start, _, count in _pieces(address, length):
            held, known = self._pages.get(page, (b"", b""))
            if known[start : start + count] != b"\1" * count:
                return None
            found += held[start : start + count]
        return bytes(found)


def _pieces(address: int, length: int) -> Iterator[tuple[int, int, int, int]]:
    """The pages of a range: number, first byte in the page, bytes of the range before it, how many of it lie there."""
    first = 0
    while first < length:
        page, start = divmod(address + first, PAGE)
        count = min(PAGE - start, length - first)
        yield page, start, first, count
        first += count
