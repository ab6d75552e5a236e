"""What can be computed of a function, what a compact recording keeps, and what the recipes hold."""

from __future__ import annotations

import pytest
from snippets import Snippet, snippet

from whence.probe.compact import can_be_compact, computed_functions, kept_units, variable_numbers
from whence.probe.computed import Computed, address_terms, constant_bits
from whence.probe.layout import Kind
from whence.probe.operations import Op
from whence.probe.recipes import make_recipes
from whence.program.model import Operand

PROGRAM = """
struct pair { int first; long second[4]; };
extern struct pair shared[8];
struct pair shared[8];
static unsigned total;
int given(void);
int sum(int *from, int count) {
    int found, late;
    for (int i = 0; i < count; i++)
        total += from[i];
    if (count > 3)
        late = given();
    found = late;
    shared[count].second[2] = count;
    return found;
}
int given(void) { return 7; }
int main(void) { int values[4] = {1, 2, 3, 4}; for (;;) if (sum(values, 4)) return 0; }
"""


@pytest.fixture(scope="module")
def made() -> Snippet:
    return snippet(PROGRAM, "-w")


def named(made: Snippet, name: str) -> Computed:
    program, numbering = made.subject.program, made.subject.numbering
    number = next(ref.id for ref in program.functions if ref.name == name)
    return list(computed_functions(program, numbering))[number]


@pytest.mark.parametrize(
    ("type_text", "text", "bits"),
    [
        *[
            ("i32", "-1", 0xFFFFFFFF),
            ("i8", "200", 200),
            ("i1", "true", 1),
            ("ptr", "null", 0),
            ("i64", "-2", 2**64 - 2),
        ],
        *[("double", "1.000000e+00", 0x3FF0000000000000), ("float", "0x3FB99999A0000000", 0x3DCCCCCD)],
        *[("i32", "undef", None), ("i32", "poison", None), ("i128", "3", None), ("ptr", "@f", None)],
    ],
)
def test_bits_of_constants(type_text: str, text: str, bits: int | None) -> None:
    assert constant_bits(Operand(type_text, text)) == bits


def test_what_a_getelementptr_adds(made: Snippet) -> None:
    computed = named(made, "sum")
    found = [address_terms(i, computed.module) for i in computed.definitions.values() if i.opcode == "getelementptr"]
    assert [(constant, [scale for _, scale in terms]) for constant, terms in filter(None, found)] == [
        (0, [4]),
        (0, [40]),
        (8, []),
        (16, []),
    ]


def test_what_is_not_surely_assigned_is_recorded(made: Snippet) -> None:
    """`found = late` stores what nothing is known of, and arguments are recorded where they are stored; no more is."""
    computed = named(made, "sum")
    kept = kept_units(computed)
    recorded = {
        site.instruction.operands[1].text
        for number, segment in enumerate(computed.layout.segments)
        for site in segment.sites
        if site.kind is Kind.STORE and kept[number].units and site.unit in kept[number].places
    }
    assert recorded == {"%from.addr", "%count.addr", "%found"} | {"%late"} & computed.values
    addresses = [
        site.unit in kept[number].places
        for number, segment in enumerate(computed.layout.segments)
        for site in segment.sites
        if site.kind in {Kind.LOAD, Kind.STORE} and site.aux < 0
    ]
    assert addresses and not any(addresses)


def test_blocks_that_follow_a_jump_have_no_header_but_each_loop_has_one(made: Snippet) -> None:
    loop = named(made, "sum")
    without = {
        loop.function.blocks[s.block].label
        for s, k in zip(loop.layout.segments, kept_units(loop), strict=True)
        if not k.units
    }
    assert {"for.cond", "for.inc"} <= without and not {"entry", "for.body", "if.then"} & without
    endless = named(made, "main")
    graph = {b.label: b.successors for b in endless.function.blocks}
    bare = {
        endless.function.blocks[s.block].label
        for s, k in zip(endless.layout.segments, kept_units(endless), strict=True)
        if not k.units
    }
    for start in bare:
        block, seen = start, set[str]()
        while block in bare and block not in seen:
            seen.add(block)
            block = graph[block][0]
        assert block not in bare


def test_recipes_make_each_unit_once(made: Snippet) -> None:
    subject = made.subject
    found = make_recipes(subject.program, subject.numbering)
    for number, segment in enumerate(s for layout in subject.numbering.layouts for s in layout.segments):
        rows = found.operations[found.recipes["start"][number] : found.recipes["start"][number + 1]]
        units = [u for r in rows if r["op"] == Op.COPY for u in range(r["out"], r["out"] + r["number"])]
        units += [u for r in rows if r["units"] for u in range(r["out"], r["out"] + r["units"])]
        assert sorted(units) == list(range(1, segment.units))


def test_static_variables_have_their_numbers_in_each_module() -> None:
    other = "extern int shared; static int own; int *place(void) { own++; return &shared; }"
    made = snippet(
        "int shared = 1; static int own; int *place(void); int main(void) { own = *place(); return 0; }", other=other
    )
    first, second = variable_numbers(made.subject.program)
    assert first["shared"] == second["shared"] and first["own"] != second["own"]


@pytest.mark.parametrize(
    "line", ["signal(2, (void (*)(int))1)", "char text[n + 1]; text[n] = 0", "pthread_create(0, 0, 0, 0)"]
)
def test_programs_that_are_recorded_in_full(line: str) -> None:
    text = f"#include <signal.h>\n#include <pthread.h>\nint main(int n, char **v) {{ {line}; return 0; }}"
    assert not can_be_compact(snippet(text, "-w").subject.program)
