"""Results of altered runs on disk, so that a search that was stopped goes on where it ended.

One append-only file holds what is known of one case of one program. Its name is a hash of all that decides what an
altered run does: the program's alter variant, the code that judges, and the content of the case. So nothing of another
program is ever found, and nothing has to be marked as stale. A file is a sequence of blocks with checksums; whatever
follows the last whole block was torn by a crash and is cut off.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, RESULT, Batch, Verdict
from whence.build.toolchain import whence_home
from whence.run.case_key import add_content

MOST = 256 << 20  # bytes kept in all; the files used least lately go first
MOST_TEXT = 4 << 20  # bytes of kept output in one block; a part that wrote more is not kept
ENTRY = np.dtype([("digest", "<u8", (2,)), ("result", RESULT)])
HEADER = struct.Struct("<4sIQ8s")  # magic, entries, bytes behind the entries, checksum
MAGIC = b"WKP1"
TELLS_NOTHING = (Verdict.NOT_RUN, Verdict.RUNNING, Verdict.LOST, Verdict.UNJUDGED)  # these are run again

Digests = NDArray[np.uint64]
Texts = list[tuple[bytes, bytes]]


# ---- What names a result ---------------------------------------------------------------------------------------------


@cache
def code_version() -> str:
    """A hash of the code that runs and judges: results of other code are not taken."""
    digest = hashlib.sha256()
    for folder in ("alter", "run"):
        for path in sorted((Path(__file__).parents[1] / folder).glob("*.py")):
            add_content(digest, path.read_bytes())
    return digest.hexdigest()


def digests(batch: Batch, options: str) -> Digests:
    """128 bits for each continuation (n by 2), equal for equal changes in equal order under equal ``options``.

    Each half is a chain of splitmix64 steps (Steele, Lea and Flood, OOPSLA 2014) over the words of a change, from a
    seed of its own, summed over the changes with their places; two among a million agree by chance once in 2**89.
    """
    words = np.ascontiguousarray(batch.changes).view("<u8").reshape(-1, CHANGE.itemsize // 8)
    lengths = np.diff(batch.offsets)
    places = (np.arange(len(words)) - np.repeat(batch.offsets[:-1], lengths)).astype(np.uint64)
    seeds = np.frombuffer(hashlib.blake2b(options.encode(), digest_size=16).digest(), "<u8")
    found = np.empty((len(batch), 2), np.uint64)
    for half, seed in enumerate(seeds):
        mixed = _mix(places + seed)
        for word in words.T:
            mixed = _mix(mixed ^ word)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        found[:, half] = _mix((sums[batch.offsets[1:]] - sums[batch.offsets[:-1]]) ^ (lengths.astype(np.uint64) + seed))
    return found


def _mix(words: Digests) -> Digests:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


# ---- The results of one case -----------------------------------------------------------------------------------------


class RunCache:
    """What is known of one case, on disk at ``path`` and in memory; a ``path`` of None keeps it in memory alone.

    ``trouble`` says why nothing more is written to disk, if that is so.
    """

    def __init__(self, path: Path | None) -> None:
        self.trouble = ""
        self._path = path
        self._entries = np.zeros(0, ENTRY)
        self._count = 0
        self._bytes = 0
        self._texts: dict[int, tuple[bytes, bytes]] = {}
        self._index = _Index()
        if path is not None and path.exists():
            with self._troubled():
                self._load(path)

    def __len__(self) -> int:
        return self._count

    def find(self, wanted: Digests) -> NDArray[np.int64]:
        """For each digest the number of its result; -1 where there is none."""
        found = self._index.find(wanted[:, 0])
        found[found >= 0] = np.where(
            self._entries["digest"][found[found >= 0], 1] == wanted[found >= 0, 1], found[found >= 0], -1
        )
        return found

    def records(self, numbers: NDArray[np.int64]) -> NDArray[np.void]:
        """The results (RESULT) with these numbers."""
        return np.asarray(self._entries["result"][numbers])

    def texts(self, numbers: NDArray[np.int64]) -> Texts:
        """Their outputs, where these were asked for."""
        return [self._texts[number] for number in numbers.tolist()]

    def add(self, names: Digests, records: NDArray[np.void], texts: Texts | None = None) -> None:
        """Keep results that tell something (not NOT_RUN and the like), with the outputs that were asked for."""
        chosen = np.flatnonzero(~np.isin(records["verdict"], TELLS_NOTHING))
        entries = np.zeros(len(chosen), ENTRY)
        entries["digest"], entries["result"] = names[chosen], records[chosen]
        behind = b"" if texts is None else _pack([texts[n] for n in chosen.tolist()])
        block = _block(entries, behind)
        if not len(chosen) or len(behind) > MOST_TEXT or self._bytes + len(block) > MOST:
            return
        self._remember(entries, behind)
        self._bytes += len(block)
        if self._path is not None and not self.trouble:
            with self._troubled():
                self._append(self._path, block)

    def _remember(self, entries: NDArray[np.void], behind: bytes) -> None:
        first = self._count
        self._count += len(entries)
        if self._count > len(self._entries):
            larger = np.zeros(max(self._count, 2 * len(self._entries)), ENTRY)
            larger[:first] = self._entries[:first]
            self._entries = larger
        self._entries[first : self._count] = entries
        self._index.add(entries["digest"][:, 0], first)
        if behind:
            self._texts.update(enumerate(_unpack(behind, len(entries)), first))

    # ---- The file ----------------------------------------------------------------------------------------------------

    def _load(self, path: Path) -> None:
        """Read all whole blocks, and cut off what a crash has left behind them."""
        os.utime(path)  # used now: it goes last
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            data = file.read()
            blocks = list(_blocks(data))
            self._bytes = sum(HEADER.size + entries.nbytes + len(behind) for entries, behind in blocks)
            file.truncate(self._bytes)
        if blocks:
            self._remember(np.concatenate([entries for entries, _ in blocks]), b"")
        first = 0
        for entries, behind in blocks:
            if behind:
                self._texts.update(enumerate(_unpack(behind, len(entries)), first))
            first += len(entries)

    def _append(self, path: Path, block: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(block)

    @contextmanager
    def _troubled(self) -> Iterator[None]:
        """Without room or permission the search goes on, and says so."""
        try:
            yield
        except OSError as error:
            self.trouble = f"{error.strerror or error}: {self._path}"


def _block(entries: NDArray[np.void], behind: bytes) -> bytes:
    content = entries.tobytes() + behind
    return HEADER.pack(MAGIC, len(entries), len(behind), _checksum(content)) + content


def _blocks(data: bytes) -> Iterator[tuple[NDArray[np.void], bytes]]:
    """The whole blocks at the beginning of a file."""
    at = 0
    while at + HEADER.size <= len(data):
        magic, count, size, checksum = HEADER.unpack_from(data, at)
        at += HEADER.size
        middle = at + count * ENTRY.itemsize
        if magic != MAGIC or middle + size > len(data) or _checksum(data[at : middle + size]) != checksum:
            return
        yield np.frombuffer(data, ENTRY, count, at), data[middle : middle + size]
        at = middle + size


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).digest()


def _pack(texts: Texts) -> bytes:
    """Outputs behind their lengths."""
    lengths = np.array([(len(out), len(error)) for out, error in texts], "<u4")
    return lengths.tobytes() + b"".join(out + error for out, error in texts)


def _unpack(packed: bytes, count: int) -> Texts:
    lengths = np.frombuffer(packed, "<u4", 2 * count)
    ends = (lengths.nbytes + np.cumsum(lengths, dtype=np.int64)).tolist()
    starts = [lengths.nbytes, *ends]
    pieces = [packed[a:b] for a, b in zip(starts, ends, strict=False)]
    return list(zip(pieces[::2], pieces[1::2], strict=True))


class _Index:
    """Finds numbers by 64-bit words: one large sorted run, and a small one of what came lately."""

    def __init__(self) -> None:
        nothing = (np.zeros(0, np.uint64), np.zeros(0, np.int64))
        self._large, self._small = nothing, nothing

    def add(self, words: Digests, first: int) -> None:
        """Words that stand for the numbers from ``first`` on."""
        self._small = _merged(self._small, (words, np.arange(first, first + len(words))))
        if 8 * len(self._small[0]) > len(self._large[0]):
            self._large = _merged(self._large, self._small)
            self._small = (words[:0], np.zeros(0, np.int64))

    def find(self, words: Digests) -> NDArray[np.int64]:
        """The number of each word; -1: none."""
        found = np.full(len(words), -1, np.int64)
        for known, numbers in (self._large, self._small):
            if len(known):
                places = np.minimum(np.searchsorted(known, words), len(known) - 1)
                found = np.where(known[places] == words, numbers[places], found)
        return found


_Run = tuple[Digests, NDArray[np.int64]]


def _merged(one: _Run, other: _Run) -> _Run:
    words, numbers = np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
    order = np.argsort(words, kind="stable")
    return words[order], numbers[order]


# ---- The folder ------------------------------------------------------------------------------------------------------


def found_folder() -> Path:
    """Where results are kept."""
    return Path(whence_home()) / "found"


def prune(most: int = MOST) -> None:
    """Remove the files used least lately until all take at most ``most`` bytes."""
    known = []
    for path in found_folder().glob("*"):
        try:
            status = path.stat()
        except FileNotFoundError:  # another search has just pruned as well
            continue
        known.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in known)
    for _, size, path in sorted(known):
        if total <= most:
            return
        path.unlink(missing_ok=True)
        total -= size
