"""The objects that live at a point of a run: frames, variables, blocks with the types that they were made as."""

from __future__ import annotations

from dumped import run_to_dump
from trace_readers import reader_of

from whence.probe.instrument import Variant
from whence.subject.live_objects import Kind, RunObjects

BLOCKS = """
#include <stdlib.h>
void dump(void);
struct item { int id; };
static void *checked(size_t size) { void *made = malloc(size); if (!made) abort(); return made; }
static void *twice(size_t size) { return checked(size); }
int main(void)
{
    struct item *direct = malloc(sizeof *direct);
    struct item *passed_on = twice(2 * sizeof *passed_on);
    void *unknown = malloc(7);
    char *text = malloc(9);
    double *gone = malloc(11), *grown = malloc(16);
    free(gone);
    grown = realloc(grown, 4000);
    dump();
    free(direct);
    return 0;
}
"""


def objects_of(text: str) -> tuple[RunObjects, int]:
    made, trace, event, _ = run_to_dump(text)
    return RunObjects(made.subject, trace), event


def test_blocks_that_live_and_the_types_that_they_were_made_as() -> None:
    run, event = objects_of(BLOCKS)
    found = {made.size: made for made in map(run.block, run.blocks(event).tolist())}
    assert {size: made.type.spelling if made.type else None for size, made in found.items()} == {
        4: "struct item",
        8: "struct item",
        7: None,
        9: None,
        4000: "double",
    }
    assert {size: _line(run, made.birth) for size, made in found.items()} == {4: 9, 8: 5, 7: 11, 9: 12, 4000: 15}


def _line(run: RunObjects, event: int) -> int:
    place = run.location(event)
    assert place is not None
    return place.line


def test_the_frames_of_a_callback() -> None:
    run, event = objects_of(
        """
        #include <stdlib.h>
        void dump(void);
        static int less(const void *a, const void *b) { int result = *(int *)a - *(int *)b; dump(); return result; }
        static void sort(int *numbers, size_t count) { qsort(numbers, count, sizeof *numbers, less); }
        int main(void) { int numbers[] = {2, 1}; sort(numbers, 2); return 0; }
        """
    )
    frames = run.frames(event)
    assert [(frame.function, frame.depth) for frame in frames] == [("main", 0), ("sort", 1), ("less", 2)]
    names = [(made.frame.function, made.name) for made in run.locals(event) if made.frame and made.name]
    assert {("main", "numbers"), ("sort", "count"), ("less", "a"), ("less", "result")} <= set(names)


def test_locals_have_the_addresses_of_their_accesses() -> None:
    run, event = objects_of(
        """
        void dump(void);
        int main(void) { int plain = 4, untouched; long other = plain; dump(); return (int)other; }
        """
    )
    found = {made.name: made for made in run.locals(event)}
    assert "untouched" not in found
    assert {name: found[name].size for name in ("plain", "other")} == {"plain": 4, "other": 8}
    trace = run.trace
    addresses = [trace.address(event) for event in range(trace.events)]
    assert found["plain"].base in addresses and found["other"].base in addresses


def test_recordings_without_addresses_of_plain_locals_tell_the_rest() -> None:
    reader = reader_of(
        "int total; static void add(int *n) { total += *n; }\n"
        "int main(int argc, char **argv) { int shared = 3, plain = 4; add(&shared); return plain > 9; }"
    )
    run = RunObjects(reader.subject, reader.trace, Variant.RECORD)
    last = reader.trace.events - 1
    assert [made.name for made in run.locals(last) if made.name] == ["shared"]
    assert [made.name for made in run.statics if made.kind is Kind.STATIC] == ["total"]
