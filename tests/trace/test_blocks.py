"""Blocks of the heap as a recording tells of them: taken, given back, moved, and resized where they are."""

from __future__ import annotations

from trace_readers import record, subject_of

from whence.subject.trace_reader import TraceReader
from whence.trace.blocks import Blocks

RESIZED = """\
#include <stdlib.h>
int main(int argc, char **argv)
{
    char *kept = malloc(320);              /* TAKEN */
    char *behind = malloc(5000);           /* BEHIND */
    kept = realloc(kept, 46);              /* SHRUNK */
    kept = realloc(kept, 300);             /* GROWN */
    kept = realloc(kept, 20);              /* AGAIN */
    kept[argc + 150] = 1;                  /* BEYOND */
    behind = realloc(behind, 200000);      /* MOVED */
    free(behind);                          /* FREED */
    return 0;
}
"""


def line(mark: str) -> int:
    return RESIZED[: RESIZED.index(mark)].count("\n") + 1


def test_a_block_that_is_resized_in_place_is_another_one_from_then_on() -> None:
    subject = subject_of(RESIZED)
    reader = TraceReader(subject, record(subject).trace)
    blocks = Blocks(reader.trace)

    def line_of(event: int) -> int:
        place = reader.statement(event) if event >= 0 else None
        return place.line if place is not None else -1

    told = [(block.length, line_of(block.taken), line_of(block.freed)) for block in blocks.all]
    assert told == [
        (320, line("TAKEN"), line("SHRUNK")),
        (5000, line("BEHIND"), line("MOVED")),
        (46, line("SHRUNK"), line("GROWN")),
        (300, line("GROWN"), line("AGAIN")),
        (20, line("AGAIN"), -1),
        (200000, line("MOVED"), line("FREED")),
    ]
    kept = blocks.all[-2]
    assert blocks.at(kept.start) == kept and blocks.at(kept.start + 25) != kept
    overrun = blocks.first_overrun
    assert overrun is not None and (overrun.block, line_of(overrun.event)) == (kept, line("BEYOND"))
