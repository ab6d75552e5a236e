"""How functions are cut into segments and sites: private locals, calls, long blocks, the ways of arguments."""

from __future__ import annotations

import pytest
from snippets import snippet

from whence.probe.layout import (
    CONDITIONAL,
    MAX_SEGMENT_SITES,
    WAY_BITS,
    Kind,
    Layout,
    Leaves,
    Way,
    is_probed_call,
    private_locals,
    value_units,
)
from whence.program.model import Function, Module


def function(code: str, name: str = "f", *flags: str) -> Function:
    program = snippet(code + "\nint main(void) { return 0; }", "-w", *flags).subject.program
    return next(ref.function for ref in program.functions if ref.name == name)


def layout(code: str, name: str = "f", *flags: str) -> Layout:
    subject = snippet(code + "\nint main(void) { return 0; }", "-w", *flags).subject
    number = next(ref.id for ref in subject.program.functions if ref.name == name)
    return subject.numbering.layouts[number]


def kinds(layout: Layout) -> list[list[str]]:
    """The kinds of the sites of each segment."""
    return [[site.kind.name for site in segment.sites] for segment in layout.segments]


@pytest.mark.parametrize(
    ("body", "private"),
    [
        ("int x = 1; x += 2; return x;", {"x"}),
        ("int x = 1; int *p = &x; return *p;", {"p"}),
        ("volatile int x = 1; return x;", set()),
        ("int a[3]; a[0] = 1; return a[0];", set()),
        ("struct { int n; } s = {1}; return s.n;", set()),
        ("union { int n; char c; } u; u.n = 1; return u.c;", set()),
        ("int x = 1; use(&x); return 0;", set()),
        ("double d = 1; long double l = d; return l > 0;", {"d", "l"}),
        ("char *p = 0; return p == 0;", {"p"}),
        ("int x; if (n) { int y = n; x = y; } return x;", {"x", "y"}),
        ("_Bool b = n; return b;", {"b"}),
    ],
)
def test_private_locals_are_only_loaded_and_stored_whole(body: str, private: set[str]):
    found = private_locals(function(f"void use(int *p) {{}} int f(int n) {{ {body} }}"))
    assert {name for name in found if not name.startswith(("%retval", "%n.addr"))} == {f"%{n}" for n in private}
    assert "%n.addr" in found


def test_a_function_that_sets_a_jump_keeps_its_locals_in_memory():
    assert layout("#include <setjmp.h>\njmp_buf b; int f(int n) { int x = n; return setjmp(b) + x; }").slots == {}


def test_a_block_is_cut_behind_each_call():
    cut = layout("int g(int a) { return a; } int f(int n) { return g(n) + g(n + 1); }")
    assert kinds(cut) == [
        ["STORE", "LOAD", "ARG", "CALL"],
        ["RESULT", "LOAD", "ARG", "CALL"],
        ["RESULT", "RET"],
    ]
    assert [segment.first for segment in cut.segments] == [True, False, False]
    assert cut.segments[0].entry
    assert cut.segments[1].after is not None
    assert [segment.units for segment in cut.segments] == [2, 2, 2]


def test_intrinsics_and_assembly_do_not_cut():
    cut = layout('struct s { int a[9]; }; void f(struct s *p) { *p = (struct s){{1}}; __asm__("" ::: "memory"); }')
    assert len(cut.segments) == 1
    assert {"COPY", "SET"} & set(kinds(cut)[0])
    assert not any(is_probed_call(site.instruction) for site in cut.segments[0].sites)


def test_a_long_block_is_cut_without_a_call():
    body = " ".join(f"g[{n % 9}] = {n};" for n in range(2 * MAX_SEGMENT_SITES + 50))
    cut = layout(f"int g[9]; void f(void) {{ {body} }}")
    assert [len(segment.sites) for segment in cut.segments] == [MAX_SEGMENT_SITES, MAX_SEGMENT_SITES, 51]
    assert [segment.after for segment in cut.segments] == [None] * 3
    made = snippet(f"int g[9]; static void f(void) {{ {body} }}\nint main(void) {{ f(); f(); return g[8] & 1; }}")
    trace = made.trace()
    assert trace.blocks == 3
    assert trace.events == 2 * (2 * MAX_SEGMENT_SITES + 51) + 8 - 1


def test_units_do_not_overlap_and_fill_their_segment():
    code = """
    #include <string.h>
    struct big { long a[5]; };
    long f(char c, long double l, __int128 w, struct big b, double d, void *p, ...) {
        char t[9]; long double m = l; w += c; t[2] = c; memcpy(t, p, 5); return (long)(m + w + b.a[1] + d + t[2]);
    }
    """
    for segment in layout(code).segments:
        own = 1 + 2 * (segment.address + segment.frame)
        taken = sorted((site.unit, site.units) for site in segment.sites if site.units)
        taken += [(unit, 4 if local.operands else 2) for local, unit in segment.places]
        for unit, units in taken:
            assert unit == own
            own += units
        assert own == segment.units


def test_what_own_functions_are_given_is_recorded_there_alone():
    code = "#include <stdlib.h>\nint g(int a) { return a; } int f(int n) { return g(n) + abs(n); }"
    cut = layout(code, "f", "-fno-builtin")
    units = [site.units for segment in cut.segments for site in segment.sites if site.kind is Kind.ARG]
    assert units == [0, 1]


def test_the_ways_of_arguments():
    code = """
    #include <stdio.h>
    struct big { long a[5]; };
    int v(const char *format, ...) { return 0; }
    int f(float x, long double l, __int128 w, struct big b) { return v("", 1, 2L, x, l, w, b, "s"); }
    """
    passed = [site.size for segment in layout(code).segments for site in segment.sites if site.kind is Kind.ARG]
    assert [(size >> WAY_BITS, Way(size & (1 << WAY_BITS) - 1)) for size in passed] == [
        (8, Way.GENERAL),
        (4, Way.GENERAL),
        (8, Way.GENERAL),
        (8, Way.VECTOR),
        (16, Way.STACK),
        (16, Way.GENERAL),
        (40, Way.COPY),
        (8, Way.GENERAL),
    ]


def test_a_compare_and_exchange_tells_whether_it_stored():
    code = """
    #include <stdatomic.h>
    _Atomic long g;
    int f(long o) { g += 1; return atomic_compare_exchange_strong(&g, &o, 3); }
    """
    cut = layout(code)
    sites = [site for segment in cut.segments for site in segment.sites if site.kind is Kind.RMW]
    assert {site.aux for site in sites} == {-1, CONDITIONAL}
    assert [site.units for site in sites if site.aux == CONDITIONAL] == [5]


@pytest.mark.parametrize(
    ("type_text", "units"),
    [
        ("i1", 1),
        ("i8", 1),
        ("i32", 1),
        ("float", 1),
        ("i40", 2),
        ("i64", 2),
        ("ptr", 2),
        ("double", 2),
        ("x86_fp80", 4),
        ("i128", 4),
        ("void", 0),
        ("{ i64, i64 }", 0),
        ("[2 x i32]", 0),
        ("<2 x float>", 0),
        ("%struct.s", 0),
    ],
)
def test_units_of_a_value(type_text: str, units: int):
    module = Module("m", "m.c", types={"%struct.s": "{ i32 }"})
    assert value_units(type_text, module) == units


def test_leaves_are_where_pure_expressions_bottom_out():
    body = function("int f(int n, int *p) { return (n + 3) * p[n] + (int)sizeof n; }")
    leaves = Leaves(body)
    returned = next(i for i in body.instructions() if i.opcode == "ret").operands[0].text
    found = leaves.of(returned)
    assert [leaf.instruction.opcode for leaf in found if leaf.instruction] == ["load", "load"]
    store = next(i for i in body.instructions() if i.opcode == "store")
    (leaf,) = leaves.of(store.operands[0].text)
    assert (leaf.parameter, leaf.instruction) == (0, None)
