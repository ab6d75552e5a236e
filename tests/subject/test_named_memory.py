"""Memory told in C at a point of a run: every path, evaluated by the program itself, is the address asked for."""

from __future__ import annotations

import re
from functools import cache

import pytest
from declared_types import program
from dumped import DECLARATIONS, named
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from whence.subject.named_memory import NamedMemory, Place
from whence.subject.shown_memory import Values


@settings(max_examples=5, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.integers(0, 1 << 32))
def test_paths_are_what_the_program_says(number: int) -> None:
    memory, output = named(program(number))
    rows = [line.split() for line in output.splitlines()]
    told = {place.text: place for place in memory.scalars()}
    values, addresses = Values(memory), {path: (int(at, 16), int(size)) for path, at, size, _ in rows if at != "(nil)"}
    assert len(rows) > 20
    for path, at, size, value in rows:
        if at != "(nil)":
            place = memory.path(int(at, 16), int(size))
            assert place is not None, path
            assert addresses.get(place.text) == (place.address, place.size), (path, place)
            assert addresses[path] == (place.address, place.size)
        if value != "-" and path in told:
            assert values.of(told[path]) == value
    ours = {path: place for path, place in told.items() if re.match(r"v\d|p\d+(->|\[)|list->.*data", path)}
    whole = [place for place in ours.values() if place.path is not None and place.path.bits is None]
    assert all(addresses[place.text] == (place.address, place.size) for place in whole)
    for start, size in list(addresses.values())[::3]:
        parts = {place.text for place in memory.parts(start + size // 2, 9)}
        overlap = [
            p for p in told.values() if p.address < start + size // 2 + 9 and start + size // 2 < p.address + p.size
        ]
        assert parts == {place.text for place in overlap}
    covered = {byte for p in ours.values() for byte in range(p.address, p.address + p.size)}
    assert all(byte in covered for at, size in addresses.values() for byte in range(at, at + size))


@cache
def memory_of(text: str, *arguments: str) -> NamedMemory:
    return named(text, *arguments)[0]


def told(memory: NamedMemory) -> dict[str, str | None]:
    """All scalars with their values."""
    values = Values(memory)
    return {place.text: values.of(place) for place in memory.scalars(texts=True)}


def at(text: str, mark: str) -> str:
    """The place of the line that ends in a comment."""
    lines = (DECLARATIONS + text).splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
    return f"snippet.c:{number}"


def place_of(memory: NamedMemory, path: str) -> Place:
    return next(place for place in memory.scalars() if place.text == path)


CALLS = """
int total = 7, n = 1;
static int fact(int n)
{
    static int calls;
    calls++;
    { int total = 10 * n; if (n > 1) return n * fact(n - 1); } // again
    int left = 5;
    for (int i = 0; i < 2; i++) left += i;
    dump();
    int later = left;
    return later;
}
int main(void)
{
    int left = 3, last = 4;
    return fact(left) > last;
}
"""


def test_the_innermost_calls_names_stand_alone_and_others_say_whose_they_are() -> None:
    values = told(memory_of(CALLS))
    assert values["n"] == "1" and values["fact#2.n"] == "2" and values["fact#1.n"] == "3"
    assert values["::n"] == "1" and values["total"] == "7" and values["calls"] == "3"
    assert values["left"] == "6" and values["main.left"] == "3" and values["last"] == "4"


def test_what_is_outside_of_its_braces_or_not_declared_yet_is_no_variable() -> None:
    memory = memory_of(CALLS)
    assert {"i", "later", "fact#3.total"}.isdisjoint(told(memory))
    outside = [found.name for found in memory.objects() if found.name and not found.in_scope]
    assert {"i", "later", "total"} <= set(outside)


def test_the_frame_of_a_path_is_told() -> None:
    memory = memory_of(CALLS)
    frame = place_of(memory, "fact#2.n").frame
    assert frame is not None and (frame.function, frame.depth, frame.activation) == ("fact", 2, 2)
    place = memory.run.location(frame.call)
    assert place is not None and f"{place.file}:{place.line}" == at(CALLS, "again")
    assert place_of(memory, "total").frame is None


POINTERS = """
struct item { int id; struct item *next; };
struct wide { char c; double d; };
struct tail { int n; short more[]; };
struct part { struct { int x; }; union { int i; float f; }; unsigned low : 3, high : 5; };
struct object { struct part part; struct object *self; void *data; };
static int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
static struct item *xnew(int id)
{
    struct item *made = malloc(sizeof *made); // item
    made->id = id, made->next = 0;
    return made;
}
static void *xalloc(size_t size) { return malloc(size); } // any
static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int (*compare)(const void *, const void *) = less;
int main(void)
{
    struct item *ring = xnew(1);
    ring->next = xnew(2);
    ring->next->next = ring;
    struct item *gone = xnew(3);
    int *wild = (int *)0x1234567, *null = NULL, *row = grid[1], *end = &grid[1][3];
    int *numbers = malloc(4 * sizeof *numbers); // numbers
    for (int i = 0; i < 4; i++) numbers[i] = 10 * i;
    int *past = numbers + 4, **indirect = &numbers;
    struct wide wide = {'w', 2.5};
    struct tail *tail = malloc(sizeof *tail + 3 * sizeof(short));
    tail->n = 3; tail->more[0] = 8; tail->more[1] = 9; tail->more[2] = 10;
    struct object *object = xalloc(sizeof *object);
    memset(object, 0, sizeof *object);
    object->part.x = 4; object->part.i = 5; object->part.low = 6; object->part.high = 17; object->self = object;
    void *hidden = malloc(sizeof(struct wide)); // hidden
    struct wide *typed = hidden;
    typed->c = 'h'; typed->d = 0.5;
    typed = 0;
    object->data = hidden;
    char *text = malloc(8), *middle = text + 2, **words = malloc(2 * sizeof *words);
    strcpy(text, "abcdef");
    words[0] = text; words[1] = "other";
    int (*matrix)[3] = malloc(2 * sizeof *matrix);
    memcpy(matrix, grid, sizeof grid);
    int length = 3, sized[length];
    for (int i = 0; i < length; i++) sized[i] = i + 5;
    qsort(numbers, 4, sizeof *numbers, compare);
    struct item *inside = &(struct item){77, NULL};
    free(gone); // given back
    dump();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("ring->next->id", "2"),
        ("ring->id", "1"),
        ("null", "NULL"),
        ("wild", "0x1234567"),
        ("row", "&grid[1][0]"),
        ("end", "&grid[2]"),
        ("numbers[3]", "30"),
        ("past", f"the end of the block of 16 bytes that {at(POINTERS, 'numbers')} allocated"),
        ("indirect", "&numbers"),
        ("wide.d", "2.5"),
        ("tail->more[2]", "10"),
        ("object->part.x", "4"),
        ("object->part.i", "5"),
        ("object->part.high", "17"),
        ("object->self", f"the block of 32 bytes that {at(POINTERS, 'any')} allocated"),
        ("text", '"abcdef"'),
        ("middle", '"cdef"'),
        ("words[1]", '"other"'),
        ("matrix[1][2]", "6"),
        ("sized[2]", "7"),
        ("compare", "less"),
        ("inside->id", "77"),
        ("((struct wide *)hidden)->d", None),
    ],
)
def test_pointers_of_all_kinds(path: str, value: str | None) -> None:
    found = told(memory_of(POINTERS))
    if value is None:
        assert path not in found  # nothing says what the block was made as
    else:
        assert found.get(path) == value


MADE_AS = """
struct base { int kind; };
struct derived { struct base base; double extra; };
struct link { struct link *next; };
struct entry { int id; struct link link; };
struct tagged { int kind; union { struct derived *derived; char *text; long number; } u; };
struct pair { struct tagged *one, *other; };
static void *hidden;
static struct base *shape;
static struct link *links;
static struct pair pair;
static struct derived *make(void) { struct derived *made = calloc(1, sizeof *made); made->extra = 0.25; return made; }
int main(void)
{
    hidden = make();
    shape = &make()->base;
    struct entry *entry = malloc(sizeof *entry);
    entry->id = 9, entry->link.next = NULL, links = &entry->link;
    struct entry *ended = malloc(3 * sizeof *ended), *last = ended + 2;
    for (int i = 0; i < 3; i++) ended[i].id = i;
    entry = ended = NULL;
    pair.one = malloc(sizeof *pair.one), pair.other = malloc(sizeof *pair.other);
    pair.one->kind = 1, pair.one->u.derived = make();
    pair.other->kind = 2, pair.other->u.text = strdup("union");
    int **rows = malloc(2 * sizeof *rows);
    rows[0] = malloc(3 * sizeof(int)), rows[1] = malloc(sizeof(int));
    rows[0][2] = 12, *rows[1] = 13;
    dump();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("((struct derived *)hidden)->extra", "0.25"),
        ("((struct derived *)shape)->extra", "0.25"),
        ("last[-2].id", "0"),
        ("last[0].id", "2"),
        ("pair.one->u.derived->extra", "0.25"),
        ("pair.other->u.text[4]", "'n' (110)"),
        ("rows[0][2]", "12"),
        ("*rows[1]", "13"),
        ("links->next", "NULL"),
    ],
)
def test_blocks_are_told_as_what_they_were_made_as(path: str, value: str) -> None:
    memory = memory_of(MADE_AS)
    values = Values(memory)
    assert values.of(place_of(memory, path)) == value


def test_what_an_inner_pointer_does_not_reach_has_no_path() -> None:
    memory = memory_of(MADE_AS)
    start = place_of(memory, "links->next").address
    before = memory.path(start - 8, 4)
    assert (
        before is not None and before.path is None and before.text.startswith("bytes 0 to 3 of the block of 16 bytes")
    )


def test_a_dangling_pointer_says_what_it_was() -> None:
    value = told(memory_of(POINTERS))["gone"]
    made, freed = at(POINTERS, "item"), at(POINTERS, "given back")
    assert value == f"the block of 16 bytes that {made} allocated, given back on {freed}"


def test_padding_is_called_that() -> None:
    memory = memory_of(POINTERS)
    start = place_of(memory, "wide.c").address
    found = memory.path(start + 3)
    assert found is not None and found.is_padding and found.text == "padding of `wide`"
    assert Values(memory).of(found) is None
    assert [place.text for place in memory.parts(start, 16)] == ["wide.c", "wide.d"]


def test_a_range_is_told_by_what_holds_it() -> None:
    memory = memory_of(POINTERS)
    start = place_of(memory, "numbers[0]").address
    texts = [place.text for place in (memory.path(start + 4, 8), memory.path(start + 5, 2)) if place]
    assert texts == ["numbers[1..2]", "numbers[1]"]
    assert Values(memory).at(place_of(memory, "wide.c").address, 16) == "{.c = 'w' (119), .d = 2.5}"
    assert [place.text for place in memory.parts(start + 6, 4)] == ["numbers[1]", "numbers[2]"]


def test_a_block_without_a_type_is_told_by_the_line_that_made_it() -> None:
    memory = memory_of(POINTERS)
    words = f"the block of 16 bytes that {at(POINTERS, 'hidden')} allocated"
    block = next(found for found in memory.objects() if memory.described(found) == words)
    found = memory.path(block.base + 8, 2)
    assert found is not None and found.path is None and found.text == f"bytes 8 to 9 of {words}"


def test_arguments_of_main() -> None:
    values = told(
        memory_of(
            'int main(int argc, char **argv) { argv[2] = strdup("own"); dumped_too = argv[1]; dump(); return 0; }',
            "one",
            "two",
        )
    )
    assert values["argc"] == "3" and values["argv"] == "the arguments of `main`"
    assert values["argv[1]"] == '"one"' and values["argv[2]"] == '"own"' and values["argv[3]"] == "NULL"


LONG = """
struct node { long number; struct node *next; };
int main(void)
{
    struct node *head = NULL;
    for (long i = 0; i < 20000; i++) {
        struct node *made = malloc(sizeof *made); // node
        made->number = i, made->next = head, head = made;
    }
    dump();
    return 0;
}
"""


def test_a_long_list_is_told_as_far_as_it_costs_little() -> None:
    memory = memory_of(LONG)
    texts = [place.text for place in memory.scalars()]
    assert "head->next->next->number" in texts
    assert sum(text.startswith("head->") for text in texts) < 100
    blocks = [found for found in memory.objects() if found.kind == "block"]
    first = memory.path(blocks[0].base)
    assert len(blocks) == 20000 and first is not None
    assert first.text == f"byte 0 of the block of 16 bytes that {at(LONG, 'node')} allocated"


def test_every_block_that_a_large_table_points_to_is_told() -> None:
    text = "struct node { int number; } *table[6000];\n"
    text += "int main(void) { for (int i = 0; i < 6000; i++) table[i] = calloc(1, 4); dump(); return 0; }"
    memory = memory_of(text)
    blocks = [found for found in memory.objects() if found.kind == "block"]
    found = [memory.path(blocks[number].base) for number in (0, 5999)]
    assert [place.text for place in found if place] == ["table[0]->number", "table[5999]->number"]


def test_a_structure_that_another_module_describes() -> None:
    text = "struct box; struct box *make(void); int main(void) { struct box *box = make(); dump(); return 0; }"
    other = "#include <stdlib.h>\nstruct box { int a, b; };\n"
    other += "struct box *make(void) { struct box *made = malloc(8); made->a = 3; made->b = 4; return made; }"
    values = told(named(text, other=other)[0])
    assert values["box->a"] == "3" and values["box->b"] == "4"
