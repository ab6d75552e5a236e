"""Runs that the C library ended: its message, the program's call that it was in, and the block of memory concerned.

``free``, ``realloc`` and ``malloc`` abort when the heap's own numbers are no good, also where another function of the
library calls them (``printf``, ``fopen``). What spoiled them ran before: where a recorded write went beyond the end of
a block, the slice starts there as well.
"""

from __future__ import annotations

import re

from whence.run.evidence import Evidence
from whence.run.point import Point, pointer_text
from whence.trace.blocks import Block, Blocks, Overrun

MESSAGE = re.compile(
    rb"\*\*\* (?P<fortified>.+?) \*\*\*|(?:[a-z_]+\(\): |double free or corruption|corrupted (?:size|double)|"
    rb"Fatal glibc error: |Unexpected error )[^\n]*"
)
HEAP_MESSAGE = re.compile(
    r"(?:[a-z_]*alloc[a-z_]*|free|[a-z]+_chunk)\(\): |double free or corruption|corrupted (?:size|double)"
)
GIVING_BACK = frozenset({"free", "cfree", "realloc", "reallocarray"})
HEAP = frozenset({*GIVING_BACK, "malloc", "calloc", "memalign", "aligned_alloc", "posix_memalign", "strdup", "strndup"})
ABORT = "abort"


def library_message(stderr: bytes) -> str:
    """What the C library said when it ended the program; empty where it said nothing."""
    last = stderr.rstrip(b"\n").rpartition(b"\n")[2]
    found = list(MESSAGE.finditer(last))
    return (found[-1]["fortified"] or found[-1][0]).decode(errors="replace") if found else ""


def is_of_heap(message: str) -> bool:
    """Whether a message of the C library says that the heap's own numbers are no good."""
    return HEAP_MESSAGE.search(message) is not None


def find_abort(evidence: Evidence, stderr: bytes) -> Point | None:
    """The call in which the C library, or the program itself, ended the run; None: the run did not end in a call."""
    call = evidence.last_call()
    return _Aborted(evidence, call).point(library_message(stderr)) if call >= 0 else None


class _Aborted:
    def __init__(self, evidence: Evidence, call: int) -> None:
        self.evidence, self.trace, self.call = evidence, evidence.trace, call
        self.name = evidence.callee_name(call)
        self.blocks = Blocks(evidence.trace)

    def point(self, message: str) -> Point:
        arguments = [a + 1 for a in self.evidence.arguments(self.call)]
        if self.name == ABORT:
            return Point(self.call, [self.call + 1], label="the program called abort")
        label, more = f"in the call of {self.name}", list[str]()
        if message:
            label = f"`{self.evidence.expression(self.call)}` was ended by the C library: {message}"
        criteria = [self.call + 1, *arguments]
        if self.name in GIVING_BACK and arguments:
            more += self._given_back(arguments[0] - 1)
        if (self.name in HEAP or is_of_heap(message)) and (overrun := self.blocks.first_overrun):
            more.append(self._overrun(overrun))
            criteria.append(overrun.event + 1)
        return Point(self.call, criteria, label=label, more="".join(f"; {part}" for part in more))

    # ---- Words ---------------------------------------------------------------------------------------------

    def _given_back(self, argument: int) -> list[str]:
        """What the pointer given to ``free`` or ``realloc`` points to, as far as the trace tells."""
        address = self.trace.value(argument)
        if not address:
            return []
        name = self.evidence.operand_text(self.call, self.trace.instruction(self.call).operands[0])
        block = self.blocks.at(address)
        if block is None:
            return [f"`{name}` is {pointer_text(address)}, where no block of the heap is"]
        if address != block.start:
            return [f"`{name}` points {_bytes(address - block.start)} into {self._block(block)}"]
        freed = f", which {self._line(block.freed)} gave back already" if 0 <= block.freed < self.call else ""
        return [f"`{name}` is {self._block(block)}{freed}"]

    def _overrun(self, overrun: Overrun) -> str:
        block, write = overrun.block, overrun.write
        text = self.evidence.expression(overrun.event)
        where = "behind" if write.start >= block.end else "into"
        length = _bytes(write.end - write.start)
        return f"`{text}` on {self._line(overrun.event)} had written {length} {where} {self._block(block)}"

    def _block(self, block: Block) -> str:
        return f"the block of {_bytes(block.length)} that {self._line(block.taken)} took"

    def _line(self, event: int) -> str:
        at, here = self.trace.location(event), self.trace.location(self.call)
        if at is None:
            return "an unknown line"
        return f"line {at.line}" if here and here.file == at.file else f"{at.file.rpartition('/')[2]}:{at.line}"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"
