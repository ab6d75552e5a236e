"""Shadow memory: for every byte of the subject's memory, what wrote it last and what the byte was.

A writer is a *reference*: 0 nothing recorded, ``event + 1``, or ``-(cell + 1)``. Pages are found through a hash table
with a small direct-mapped cache in front of it, since accesses stay within few pages for long.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.trace.kernels import lean
from whence.trace.lazy import lazy_zeros

Int = Any  # an integer inside a kernel: int64 there, whatever Python passes outside

PAGE = 4096
MAX_PAGES = 1 << 22  # 16 GiB of touched memory
TABLE = 1 << 23
CACHE = 256
MOST_FILLED = np.int64(1) << 27  # bytes; of a longer range only the pages that something else touched are noted
HIGHEST = np.int64(1) << 48  # no address lies above, so a longer range is nonsense
MAX_CELLS = 1 << 30  # definitions below -MAX_CELLS name a list of several definers


Paged = Any  # Shadow, or what else has the fields of its pages


class Shadow(NamedTuple):
    """The pages (``writer``, ``content``) and how they are found.

    ``pages[0]`` is the number of pages in use, ``numbers`` their page numbers (addresses // PAGE).
    """

    keys: NDArray[np.int64]
    places: NDArray[np.int32]
    cache_keys: NDArray[np.int64]
    cache_places: NDArray[np.int64]
    pages: NDArray[np.int64]
    numbers: NDArray[np.int64]
    writer: NDArray[np.int32]
    content: NDArray[np.uint8]


def new_shadow() -> Shadow:
    """An empty shadow memory."""
    return Shadow(*no_pages(), lazy_zeros(MAX_PAGES * PAGE, np.int32), lazy_zeros(MAX_PAGES * PAGE, np.uint8))


def no_pages() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """How pages are found while there are none: ``keys`` to ``numbers`` of a shadow."""
    return (
        lazy_zeros(TABLE, np.int64),
        lazy_zeros(TABLE, np.int32),
        np.zeros(CACHE, np.int64),
        np.zeros(CACHE, np.int64),
        np.zeros(1, np.int64),
        lazy_zeros(MAX_PAGES, np.int64),
    )


@lean
def page_base(shadow: Paged, page: Int) -> Int:
    """Index of the page's first byte in ``writer`` and ``content``; a new page is made where there is none."""
    key = page + 1
    slot = page & (CACHE - 1)
    if shadow.cache_keys[slot] == key:
        return int(shadow.cache_places[slot])
    place = (page * 0x9E3779B1) & (TABLE - 1)
    while shadow.keys[place] != key:
        if shadow.keys[place] == 0:
            if shadow.pages[0] >= MAX_PAGES:
                raise MemoryError
            shadow.keys[place] = key
            shadow.places[place] = shadow.pages[0]
            shadow.numbers[shadow.pages[0]] = page
            shadow.pages[0] += 1
            break
        place = (place + 1) & (TABLE - 1)
    base = np.int64(shadow.places[place]) * PAGE
    shadow.cache_keys[slot] = key
    shadow.cache_places[slot] = base
    return base


@lean
def known_base(shadow: Paged, page: Int) -> Int:
    """As ``page_base``, but -1 for a page that was never touched."""
    place = (page * 0x9E3779B1) & (TABLE - 1)
    while shadow.keys[place]:
        if shadow.keys[place] == page + 1:
            return np.int64(shadow.places[place]) * PAGE
        place = (place + 1) & (TABLE - 1)
    return np.int64(-1)


@lean
def byte_place(shadow: Shadow, address: Int) -> Int:
    """Index of one byte of the subject's memory."""
    return page_base(shadow, address >> 12) + (address & (PAGE - 1))


@lean
def write_word(shadow: Shadow, address: Int, size: Int, value: Int, writer: Int) -> None:
    """Note a write of up to 8 bytes with the bits of ``value``."""
    offset = address & (PAGE - 1)
    if offset + size <= PAGE:
        base = page_base(shadow, address >> 12) + offset
        for k in range(size):
            shadow.writer[base + k] = writer
            shadow.content[base + k] = (value >> (8 * k)) & 255
        return
    for k in range(size):
        place = byte_place(shadow, address + k)
        shadow.writer[place] = writer
        shadow.content[place] = (value >> (8 * k)) & 255


@lean
def fill(shadow: Shadow, address: Int, length: Int, writer: Int) -> None:
    """Note that ``length`` bytes were written by ``writer`` with contents that are not recorded."""
    if length > MOST_FILLED:
        fill_known(shadow, address, length, writer)
        return
    done = np.int64(0)
    while done < length:
        offset = (address + done) & (PAGE - 1)
        take = min(PAGE - offset, length - done)
        base = page_base(shadow, (address + done) >> 12) + offset
        shadow.writer[base : base + take] = writer
        done += take


@lean
def fill_known(shadow: Shadow, address: Int, length: Int, writer: Int) -> None:
    """As ``fill``, but pages that were never touched stay so."""
    for place in range(shadow.pages[0] if length < HIGHEST else 0):
        start = address - (shadow.numbers[place] << 12)
        if start < PAGE and start + length > 0:
            base = np.int64(place) * PAGE
            shadow.writer[base + max(start, 0) : base + min(start + length, PAGE)] = writer


@lean
def sole_writer(shadow: Shadow, address: Int, size: Int, mixed: Int) -> Int:
    """The writer of all ``size`` bytes (at most 8), or ``mixed`` where they have several."""
    offset = address & (PAGE - 1)
    if offset + size <= PAGE:
        base = page_base(shadow, address >> 12) + offset
        writer = shadow.writer[base]
        for k in range(1, size):
            if shadow.writer[base + k] != writer:
                return mixed
        return np.int64(writer)
    writer = shadow.writer[byte_place(shadow, address)]
    for k in range(1, size):
        if shadow.writer[byte_place(shadow, address + k)] != writer:
            return mixed
    return np.int64(writer)


@lean
def holds(shadow: Shadow, address: Int, size: Int, value: Int) -> bool:
    """Whether the bytes as last recorded equal those of ``value`` (at most 8); what nothing wrote can be anything."""
    same = True
    for k in range(size):
        place = byte_place(shadow, address + k)
        same = same and (shadow.writer[place] == 0 or shadow.content[place] == (value >> (8 * k)) & 255)
    return same


def writers_at(shadow: Shadow, address: int, length: int) -> list[int]:
    """What wrote some bytes last, each reference once; nothing for bytes that nothing recorded wrote."""
    pages = shadow.numbers[: shadow.pages[0]]
    found: dict[int, None] = {}
    for byte in range(address, address + length):
        places = np.flatnonzero(pages == byte // PAGE)
        if len(places) and (writer := int(shadow.writer[places[0] * PAGE + byte % PAGE])):
            found[writer] = None
    return list(found)
