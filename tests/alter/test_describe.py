"""Sites of altered runs in C: what their values are called, and how values are printed."""

from __future__ import annotations

import struct
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from snippets import snippet

from whence.alter.describe import Describer
from whence.findings import Statement
from whence.probe.sites import Form, Role

CODE = """\
enum color { RED, GREEN = 5 };
struct point { int x; double y; };
struct pair { struct point first, second; long extra; };
static unsigned char limit = 200;
static int scale(int n, double f, char c)
{
    if (n > 3 && c != 'x')
        return -1;
    return (int)(n * f);
}
static struct pair swapped(struct pair p, int by)
{
    struct pair q = {p.second, p.first, by};
    return q;
}
int main(int argc, char **argv)
{
    int a[4] = {0}, i = argc;
    enum color c = i > 1 ? GREEN : RED;
    struct point p = {1, 2.5}, *q = &p;
    struct pair pair = {p, p, 0};
    a[i] = scale(q->x, p.y, *argv[0]);
    pair = swapped(pair, 7);
    switch (c) {
    case RED: limit++; break;
    default: break;
    }
    for (unsigned u = 3; u < limit; u += 90)
        a[0] += u * 2;
    return a[i] + argv[0][1];
}
"""
ROLES = {"load": [Role.LOAD], "store": [Role.STORE], "icmp": [Role.COMPARE], "ret": [Role.RETURN],
         "switch": [Role.SWITCH], "add": [Role.BINARY], "mul": [Role.BINARY]}  # fmt: skip
SITE = [("instruction", "i8"), ("role", "u1"), ("form", "u1"), ("operand", "i2")]


def rows_of(number: int, instruction: Any) -> list[tuple[int, int, int, int]]:
    """The sites of one instruction."""
    if instruction.opcode == "br" and instruction.operands:
        return [(number, Role.BRANCH, Form.INTEGER, -1)]
    if instruction.opcode == "call":
        arguments = enumerate(instruction.operands)
        rows = [(number, Role.ARGUMENT, form_of(o.type), n) for n, o in arguments]
        return [*rows, (number, Role.CALL, 0, -1), (number, Role.RESULT, form_of(instruction.type), -1)]
    type_ = instruction.operands[0].type if instruction.opcode == "store" else instruction.type
    return [(number, role, form_of(type_), -1) for role in ROLES.get(instruction.opcode, [])]


def form_of(llvm_type: str) -> Form:
    return {"ptr": Form.POINTER, "double": Form.FLOAT}.get(llvm_type, Form.INTEGER)


@cache
def describer() -> Describer:
    subject = snippet(CODE).subject
    program = subject.program
    numbers = range(program.instruction_count)
    rows = [row for n in numbers for row in rows_of(n, program.instruction(n))]
    plan = SimpleNamespace(sites=np.array(rows, SITE))
    parts = {"program": program, "places": subject.places, "expressions": subject.expressions}
    return Describer(SimpleNamespace(alter_plan=plan, **parts))  # type: ignore[arg-type]


def sites(line: int, role: Role) -> list[int]:
    """The sites of a line, in order."""
    found = describer()
    here = [s for s in range(len(found.sites)) if found.statement(s) == Statement("snippet.c", line)]
    return [s for s in here if found.sites[s]["role"] == role]


def line_of(part: str) -> int:
    return next(n for n, text in enumerate(CODE.splitlines(), 1) if part in text)


def whats(part: str, role: Role) -> list[str]:
    return [describer().what(site) for site in sites(line_of(part), role)]


def shown(part: str, role: Role, bits: int, index: int = 0) -> str:
    return describer().value(sites(line_of(part), role)[index], bits)


def bits_of(number: float) -> int:
    return int.from_bytes(struct.pack("<d", number), "little")


def test_loads_and_stores_are_called_by_their_place() -> None:
    assert whats("a[i] = scale", Role.STORE) == ["a[i]"]
    assert whats("a[i] = scale", Role.LOAD)[:2] == ["q", "q->x"]
    assert whats("a[0] +=", Role.STORE) == ["a[0]"]


def test_parameters_are_stored_under_their_names() -> None:
    found = describer()
    program = found.subject.program
    stores = [s for s in range(len(found.sites)) if found.sites[s]["role"] == Role.STORE]
    inside = [s for s in stores if program.function_of_instruction(found.sites[s]["instruction"]).name == "scale"]
    assert [found.what(site) for site in inside[:3]] == ["n", "f", "c"]
    assert found.statement(inside[0]) is None  # the compiler gives them no line


def test_calls_arguments_and_results() -> None:
    assert whats("a[i] = scale", Role.ARGUMENT) == [f"argument {n} of scale()" for n in (1, 2, 3)]
    assert whats("a[i] = scale", Role.RESULT) == ["the result of scale()"]
    assert whats("a[i] = scale", Role.CALL) == ["the call of scale()"]


def test_the_hidden_place_of_a_result_is_no_argument() -> None:
    assert whats("pair = swapped", Role.ARGUMENT)[1:3] == ["argument 1 of swapped()", "argument 2 of swapped()"]


def test_conditions_comparisons_and_switches() -> None:
    assert whats("if (n > 3", Role.BRANCH) == ["the condition n > 3", "the condition c != 'x'"]
    assert whats("if (n > 3", Role.COMPARE) == ["n > 3", "c != 'x'"]
    assert whats("switch (c)", Role.SWITCH) == ["the switch on c"]
    assert whats("a[0] +=", Role.BINARY) == ["u * 2", "a[0] + u * 2"]


def test_what_a_function_returns() -> None:
    assert whats("return -1;", Role.STORE) == ["what is returned by scale()"]
    assert shown("return -1;", Role.STORE, 0xFFFFFFFF) == "-1"


def test_quotes_stand_around_the_c_text_only() -> None:
    (site,) = sites(line_of("switch (c)"), Role.SWITCH)
    assert describer().quoted(site) == "the switch on `c`"
    assert describer().quoted(sites(line_of("a[i] = scale"), Role.STORE)[0]) == "`a[i]`"
    assert describer().quoted(sites(line_of("a[i] = scale"), Role.ARGUMENT)[1]) == "argument 2 of `scale()`"


def test_values_have_the_types_of_the_source() -> None:
    assert shown("a[i] = scale", Role.STORE, 0xFFFFFFFD) == "-3"
    assert shown("case RED: limit++", Role.LOAD, 200) == "'\\xc8' (200)"
    assert shown("switch (c)", Role.SWITCH, 5) == "GREEN"
    assert shown("a[i] = scale", Role.ARGUMENT, bits_of(-0.5), 1) == "-0.5"
    assert shown("a[i] = scale", Role.ARGUMENT, 97, 2) == "'a' (97)"
    assert shown("for (unsigned u", Role.LOAD, 0xFFFFFFFF) == "4294967295"


def test_conditions_are_true_or_false_and_pointers_null_or_not() -> None:
    assert [shown("if (n > 3", Role.BRANCH, bit) for bit in (0, 1)] == ["false", "true"]
    assert [shown("a[i] = scale", Role.LOAD, bits) for bits in (0, 0x7FFE10)] == ["null", "not null"]


def test_values_without_a_c_type_are_signed_numbers() -> None:
    assert shown("return a[i] + argv", Role.BINARY, (1 << 32) - 7) == "-7"


def test_every_site_has_words_and_the_numbers_of_statements_agree() -> None:
    found = describer()
    for site in range(len(found.sites)):
        assert found.what(site).replace("`", "") == found.quoted(site).replace("`", "")
        assert found.what(site).strip()
        number = found.statements[site]
        assert found.statement(site) == (found.subject.places.statements[number] if number >= 0 else None)
    assert found.statements.dtype == np.int32
