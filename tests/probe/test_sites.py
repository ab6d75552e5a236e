"""The plan of sites: every role, constants, operations, frame variables with their names in C."""

from __future__ import annotations

import struct
import subprocess
from collections import Counter
from functools import cache

import numpy as np
import pytest
from snippets import Snippet, program, programs, snippet

from corpus import corpus
from whence.build.flags import IR_FLAGS
from whence.build.ir import canonical_text, parse
from whence.build.toolchain import find_toolchain
from whence.probe.sites import (
    LEFT_CONSTANT,
    NO_SLOT,
    RIGHT_CONSTANT,
    TYPES,
    AlterPlan,
    Form,
    Operation,
    Role,
    constant_bits,
    make_alter_plan,
)
from whence.program.model import Operand
from whence.program.program import Program
from whence.program.reader import read_module


def read(ir: str) -> Program:
    """A program of one module, from its IR."""
    return Program([read_module(str(parse(ir)))])


@cache
def plan(code: str) -> AlterPlan:
    """The plan of a C text, whose first function is the one to look at."""
    toolchain = find_toolchain("bundled")
    command = toolchain.call([*IR_FLAGS, "-x", "c", "-", "-o", "-"])
    done = subprocess.run(command, env=toolchain.environment(), input=code.encode(), capture_output=True, check=True)
    return make_alter_plan(Program([read_module(canonical_text(done.stdout))]))


def first(found: AlterPlan) -> np.ndarray:
    """The sites of the first function."""
    return found.sites[found.sites["function"] == 0]


def roles(found: AlterPlan) -> list[str]:
    return [Role(r).name for r in first(found)["role"]]


def of_role(found: AlterPlan, role: Role) -> np.ndarray:
    rows = first(found)
    return rows[rows["role"] == role]


def slot_name(found: AlterPlan, row: np.void) -> str | None:
    """The variable that a site of the first function loads or stores."""
    return None if row["slot"] == NO_SLOT else found.variable_names[int(found.functions[0] + row["slot"])]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("int f(int n) { return n; }", "STORE LOAD RETURN"),
        ("void f(int *p) { *p = 5; }", "STORE LOAD STORE"),
        ("void f(int n) { if (n) n = 1; }", "STORE LOAD COMPARE BRANCH STORE"),
        ("void f(int n) { switch (n) { case 1: n = 2; } }", "STORE LOAD SWITCH STORE"),
        ("void g(int); void f(int n) { g(n); }", "STORE LOAD ARGUMENT CALL"),
        ("int g(int, char *); void f(int n) { g(n, 0); }", "STORE LOAD ARGUMENT ARGUMENT CALL RESULT"),
        ("double f(double d) { return d / 2; }", "STORE LOAD BINARY RETURN"),
        ("void g(void); void f(void (*p)(void)) { p(); }", "STORE LOAD CALL"),
        ("void f(void) { for (;;) ; }", ""),
        ("void f(char *p) { __builtin_memset(p, 0, 9); }", "STORE LOAD"),  # an intrinsic
        ('void f(int n) { __asm__("" : : "r"(n)); }', "STORE LOAD"),
        ("struct s { long a[5]; }; void g(struct s); void f(struct s *p) { g(*p); }", "STORE LOAD CALL"),
        ("struct s { long a[5]; }; struct s g(int); void f(void) { struct s x = g(1); }", "ARGUMENT CALL"),
        ("struct s { long a, b; }; struct s g(int); void f(void) { struct s x = g(1); }", "ARGUMENT STORE STORE"),
        ("long double g(float); void f(float x) { g(x); }", "STORE LOAD ARGUMENT"),
        ("void exit(int); void f(int n) { exit(n); }", "STORE LOAD ARGUMENT"),  # nothing to go on with
        ("int f(__int128 *p) { return *p + 1; }", "STORE LOAD RETURN"),
        ("typedef int v __attribute__((vector_size(16))); void f(v *p) { *p = *p + *p; }", "STORE LOAD LOAD LOAD"),
    ],
)
def test_sites_of_a_function_in_order_of_execution(code: str, expected: str):
    assert " ".join(roles(plan(code))) == expected


@pytest.mark.parametrize("name", ["setjmp", "vfork"])
def test_calls_that_return_twice_are_not_skipped(name: str):
    found = plan(f"int {name}(void *); int f(void) {{ static char b[400]; return {name}(b); }}")
    assert [r for r in roles(found) if r != "STORE"] == ["ARGUMENT", "RESULT", "RETURN"]


def test_what_is_said_to_return_twice_is_not_skipped_whatever_its_name():
    found = plan("int again(void) __attribute__((returns_twice)); int f(void) { return again(); }")
    assert roles(found) == ["RESULT", "RETURN"]


def test_nothing_is_put_between_a_musttail_call_and_its_return():
    ir = """
    declare i32 @g(i32)
    define i32 @f(i32 %n) {
      %r = musttail call i32 @g(i32 %n)
      ret i32 %r
    }"""
    assert roles(make_alter_plan(read(ir))) == ["ARGUMENT"]


def test_forms_and_widths():
    code = "void f(_Bool b, char c, short s, int n, long l, float x, double d, char *p) {}"
    found = first(plan(code))
    assert [(Form(f), w) for f, w in zip(found["form"], found["width"].tolist(), strict=True)] == [
        (Form.INTEGER, 8),
        (Form.INTEGER, 8),
        (Form.INTEGER, 16),
        (Form.INTEGER, 32),
        (Form.INTEGER, 64),
        (Form.FLOAT, 32),
        (Form.FLOAT, 64),
        (Form.POINTER, 64),
    ]


def test_a_calls_form_is_that_of_its_result_and_a_comparisons_that_of_its_operands():
    found = plan("double g(void); void h(void); int f(void) { h(); return g() > 1; }")
    assert of_role(found, Role.CALL)[["form", "width"]].tolist() == [(Form.INTEGER, 0), (Form.FLOAT, 64)]
    assert of_role(found, Role.COMPARE)[["form", "width"]].tolist() == [(Form.FLOAT, 64)]


def test_arguments_have_their_number_and_other_roles_none():
    found = plan("void g(int, char *, double); void f(int n) { g(n, 0, 1.5); }")
    assert of_role(found, Role.ARGUMENT)["operand"].tolist() == [0, 1, 2]
    others = first(found)
    assert set(others[others["role"] != Role.ARGUMENT]["operand"].tolist()) == {-1}


def bits(number: float, code: str = "d") -> int:
    return int.from_bytes(struct.pack(f"<{code}", number), "little")


def test_constants_of_used_values():
    found = plan("void g(int, double, float, int *, char *); int f(int n) { g(-2, 0.1, 0.5f, &n, 0); return 7; }")
    arguments = of_role(found, Role.ARGUMENT)
    constant = [(LEFT_CONSTANT, (1 << 32) - 2), (1, bits(0.1)), (1, bits(0.5, "f")), (0, 0), (1, 0)]
    assert arguments[["constant", "left"]].tolist() == constant
    assert of_role(found, Role.RETURN)[["constant", "left"]].tolist() == [(LEFT_CONSTANT, 7)]


def test_constants_of_operations():
    found = plan("long f(long n, double d) { n = 8 - n; n = n & -1; d = 2 * d; return n < 3; }")
    computed = of_role(found, Role.BINARY)[["operation", "constant", "left", "right"]].tolist()
    assert computed == [
        (Operation.SUB, LEFT_CONSTANT, 8, 0),
        (Operation.AND, RIGHT_CONSTANT, 0, (1 << 64) - 1),
        (Operation.FMUL, LEFT_CONSTANT, bits(2.0), 0),
    ]
    compared = of_role(found, Role.COMPARE)[["operation", "constant", "left", "right"]].tolist()
    assert compared == [(Operation.SLT, RIGHT_CONSTANT, 0, 3)]


@pytest.mark.parametrize("type_text", ["i32", "float"])
def test_operations_of_the_instruction_set(type_text: str):
    """Every operation and predicate of LLVM has its number, but comparisons that look at nothing."""
    integer = type_text == "i32"
    words = "add sub mul udiv sdiv urem srem shl lshr ashr and or xor" if integer else "fadd fsub fmul fdiv frem"
    predicates = (
        "eq ne slt sle sgt sge ult ule ugt uge"
        if integer
        else "oeq une olt ole ogt oge ueq one ult ule ugt uge ord uno true false"
    )
    compare = "icmp" if integer else "fcmp"
    lines = [f"%a.{w} = {w} {type_text} %x, %y" for w in words.split()]
    lines += [f"%c.{p} = {compare} {p} {type_text} %x, %y" for p in predicates.split()]
    found = make_alter_plan(
        read("\n".join([f"define void @f({type_text} %x, {type_text} %y) {{", *lines, "ret void", "}"]))
    )
    names = [Operation(o).name.lower() for o in found.sites["operation"]]
    unsigned = {p: p if integer else f"f{p}" for p in ("ult", "ule", "ugt", "uge")}
    expected = [unsigned.get(p, p) for p in predicates.split() if p not in ("true", "false")]
    assert names == [*words.split(), *expected]
    assert set(found.sites["width"].tolist()) == {32}


@pytest.mark.parametrize(
    ("type_text", "text", "expected"),
    [
        ("i1", "true", 1),
        ("i8", "-1", 255),
        ("i64", "-9223372036854775808", 1 << 63),
        ("ptr", "null", 0),
        ("double", "-1.250000e+00", bits(-1.25)),
        ("double", "0x7FF8000000000000", 0x7FF8 << 48),
        ("float", "0x3FB99999A0000000", bits(0.1, "f")),
        ("float", "0x7FF0000000000000", 0x7F800000),
        ("float", "0xFFF8000000000000", 0xFFC00000),
        ("float", "0x36A0000000000000", 1),  # the least of all floats
        ("i32", "undef", None),
        ("double", "poison", None),
        ("ptr", "@g", None),
        ("i64", "ptrtoint (ptr @g to i64)", None),
        ("i32", "%x", None),
        ("i128", "5", None),
    ],
)
def test_bits_of_constants(type_text: str, text: str, expected: int | None):
    assert constant_bits(Operand(type_text, text)) == expected


FRAME = """
struct pair { int a, b; };
int zeta; static long alpha = 4; extern double beyond; const int fixed = 3; _Thread_local int own; int table[4];
int f(int n, struct pair *p) {
    static short calls;
    char letter = 'a';
    int numbers[3];
    struct pair both;
    { float letter = zeta + beyond; n += letter; }
    calls++;
    own++;
    return n + alpha + fixed + table[0];
}
"""


def test_frame_variables_are_the_scalar_locals_and_the_globals_mentioned():
    found = plan(FRAME)
    start, end = found.functions[:2].tolist()
    rows = found.variables[start:end]
    assert rows["slot"].tolist() == list(range(end - start))
    names = found.variable_names[start:end]
    assert names == ["n", "p", "letter", "letter", "alpha", "beyond", "calls", "zeta"]
    forms = [(Form(f).name, w) for f, w in zip(rows["form"], rows["width"].tolist(), strict=True)]
    assert forms == [
        ("INTEGER", 32),
        ("POINTER", 64),
        ("INTEGER", 8),
        ("FLOAT", 32),
        ("INTEGER", 64),
        ("FLOAT", 64),
        ("INTEGER", 16),
        ("INTEGER", 32),
    ]


def test_loads_and_stores_tell_the_variable():
    found = plan(FRAME)
    assert [slot_name(found, row) for row in of_role(found, Role.LOAD)] == [
        "zeta", "beyond", "letter", "n", "calls", None, "n", "alpha", None,
    ]  # fmt: skip
    assert [slot_name(found, row) for row in of_role(found, Role.STORE)] == [
        "n", "p", "letter", "letter", "n", "calls", None,
    ]  # fmt: skip


def test_what_the_compiler_made_up_has_no_name():
    found = plan("int f(int n) { if (n) return 1; return 2; }")
    assert found.variable_names[: int(found.functions[1])] == ["", "n"]


def test_functions_have_their_own_variables_in_every_module():
    made = snippet(
        "static int seen = 1; int other(int); int main(void) { seen++; return other(1); }",
        other="static long seen = 2; int other(int n) { seen += n; return 0; }",
    )
    subject = made.subject
    found = subject.alter_plan
    names = {
        ref.name: found.variable_names[found.functions[ref.id] : found.functions[ref.id + 1]]
        for ref in subject.program.functions
    }
    assert names == {"main": ["", "seen"], "other": ["n", "seen"]}
    assert found.functions[-1] == len(found.variables) == len(found.variable_names)
    assert found.variables["function"].tolist() == [0, 0, 1, 1]


def assert_consistent(made: Snippet) -> None:
    """Numbers go up with functions, blocks, instructions; each instruction has the sites that its text asks for."""
    subject = made.subject
    program, found = subject.program, subject.alter_plan
    rows = found.sites
    for name in ("function", "block", "instruction"):
        assert (np.diff(rows[name]) >= 0).all()
    starts = np.asarray(program.block_starts)
    assert (starts[rows["block"]] <= rows["instruction"]).all()
    assert (rows["instruction"] < starts[rows["block"] + 1]).all()
    loads = [i for ref in program.functions for i in ref.function.instructions() if i.opcode in ("load", "store")]
    expected = Counter(i.opcode for i in loads if i.type in TYPES)
    assert Counter(rows["role"].tolist())[Role.LOAD] == expected["load"]
    assert Counter(rows["role"].tolist())[Role.STORE] == expected["store"]


def test_plans_of_programs_are_consistent():
    for name in ("structures", "floating", "switch_cases", "equal_statics", "variadic", "callbacks"):
        assert_consistent(program(name).snippet)
    assert_consistent(snippet(corpus.source_path("cache").read_text()))


def test_every_program_of_the_tests_has_a_plan():
    for name in programs():
        assert len(program(name).snippet.subject.alter_plan.sites)
