"""Meanings of single instructions, from their text, with answers worked out by hand."""

from __future__ import annotations

import pytest

from whence.formula.constants import flatten
from whence.formula.floats import bits_of
from whence.formula.instructions import meaning_of
from whence.formula.terms import Terms
from whence.formula.vectors import width_of
from whence.program.instructions import InstructionReader
from whence.program.model import Instruction, Module

MODULE = Module("m", "m.c", types={"%struct.s": "{ i8, i32, [2 x i16] }"})
D, F = (lambda x: bits_of(x, 64)), (lambda x: bits_of(x, 32))


def read(text: str) -> Instruction:
    """The instruction of ``%x = text``."""
    instruction = InstructionReader(MODULE.types).read(f"%x = {text}")
    instruction.text = f"%x = {text}"
    return instruction


def value_of(text: str, *operands: int) -> int:
    """What the instruction computes from operands that are given, as symbols would be, at their types' widths."""
    instruction, terms = read(text), Terms()
    meaning = meaning_of(instruction, MODULE)
    assert meaning is not None
    given = [terms.constant(v, width_of(o.type, MODULE)) for v, o in zip(operands, instruction.operands, strict=True)]
    found = meaning(terms, *given)
    assert terms.widths[found] == width_of(instruction.type, MODULE)
    value = terms.value(found)
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("text", "operands", "expected"),
    [
        ("add nsw i8 %a, %b", (250, 10), 4),
        ("sub i8 %a, %b", (3, 5), 254),
        ("mul i16 %a, %b", (300, 300), 90000 & 0xFFFF),
        ("sdiv i8 %a, %b", (0xF9, 2), 0xFD),
        ("srem i8 %a, %b", (0xF9, 2), 0xFF),
        ("udiv i8 %a, %b", (0xF9, 2), 124),
        ("urem i8 %a, %b", (0xF9, 2), 1),
        ("shl i32 %a, %b", (1, 33), 2),
        ("lshr i64 %a, %b", (8, 65), 4),
        ("ashr i32 %a, %b", (0x80000000, 31), 0xFFFFFFFF),
        ("lshr i16 %a, %b", (0xFFFF, 20), 0),
        ("icmp slt i8 %a, %b", (0xFF, 0), 1),
        ("icmp ugt i8 %a, %b", (0xFF, 0), 1),
        ("icmp sge i8 %a, %b", (0x80, 0x80), 1),
        ("icmp ne ptr %a, %b", (1, 2), 1),
        ("trunc i32 %a to i8", (0x1FF,), 0xFF),
        ("sext i1 %a to i32", (1,), 0xFFFFFFFF),
        ("ptrtoint ptr %a to i32", (0x1_0000_0005,), 5),
        ("inttoptr i32 %a to ptr", (7,), 7),
        ("freeze i32 %a", (9,), 9),
        ("bitcast double %a to i64", (D(-1.5),), D(-1.5)),
        ("select i1 %c, i32 %a, i32 %b", (0, 4, 5), 5),
        ("fneg double %a", (D(0.0),), D(-0.0)),
        ("frem double %a, %b", (D(-7.5), D(2.0)), D(-1.5)),
        ("fdiv float %a, %b", (F(1.0), F(3.0)), F(1 / 3)),
        ("fcmp une double %a, %b", (D(float("nan")), D(1.0)), 1),
        ("fcmp ogt double %a, %b", (D(float("nan")), D(1.0)), 0),
        ("fcmp ult double %a, %b", (D(float("nan")), D(1.0)), 1),
        ("fcmp ord double %a, %b", (D(2.0), D(1.0)), 1),
        ("fcmp ueq double %a, %b", (D(2.0), D(1.0)), 0),
        ("fptosi double %a to i32", (D(-2.9),), 0xFFFFFFFE),
        ("fptosi double %a to i32", (D(1e10),), 0x80000000),
        ("fptoui float %a to i32", (F(3e9),), 3_000_000_000),
        ("sitofp i32 %a to float", (0xFFFFFFFF,), F(-1.0)),
        ("uitofp i64 %a to float", ((1 << 63) + (1 << 39) + 1,), F(float((1 << 63) + (1 << 40)))),
        ("fpext float %a to double", (F(0.1),), D(0.10000000149011612)),
        ("fptrunc double %a to float", (D(1e300),), F(float("inf"))),
        ("getelementptr inbounds %struct.s, ptr %a, i64 %b, i32 2, i64 %c", (1000, 2, 2, 1), 1000 + 24 + 8 + 2),
        ("getelementptr inbounds i32, ptr %a, i32 %b", (1000, 0xFFFFFFFF), 996),
        ("extractvalue { i8, i32 } %a, 1", (0x11223344_000000_55,), 0x11223344),
        ("extractvalue %struct.s %a, 2, 1", (0xBBBB_AAAA_00000000_00000000,), 0xBBBB),
        ("insertvalue { i32, i32 } %a, i32 %b, 1", (5, 6), 6 << 32 | 5),
        ("insertvalue [3 x i16] %a, i16 %b, 1", (0x3333_2222_1111, 9), 0x3333_0009_1111),
        ("extractelement <2 x i32> %a, i64 1", (7 << 32 | 3, 1), 7),
        ("insertelement <2 x float> %a, float %b, i64 0", (7 << 32, 3, 0), 7 << 32 | 3),
        ("call i32 @llvm.smax.i32(i32 %a, i32 %b)", (0xFFFFFFFF, 1), 1),
        ("call i32 @llvm.umin.i32(i32 %a, i32 %b)", (0xFFFFFFFF, 1), 1),
        ("call i32 @llvm.abs.i32(i32 %a, i1 %b)", (0xFFFFFFFB, 0), 5),
        ("call i32 @llvm.bswap.i32(i32 %a)", (0x11223344,), 0x44332211),
        ("call i8 @llvm.ctpop.i8(i8 %a)", (0xF1,), 5),
        ("call i64 @llvm.expect.i64(i64 %a, i64 %b)", (3, 1), 3),
        ("call double @llvm.fabs.f64(double %a)", (D(-2.0),), D(2.0)),
        ("call double @llvm.rint.f64(double %a)", (D(2.5),), D(2.0)),
        ("call double @llvm.round.f64(double %a)", (D(2.5),), D(3.0)),
        ("call double @llvm.floor.f64(double %a)", (D(-0.5),), D(-1.0)),
        ("call double @llvm.fmuladd.f64(double %a, double %b, double %c)", (D(2.0), D(3.0), D(1.0)), D(7.0)),
        ("call { i8, i1 } @llvm.uadd.with.overflow.i8(i8 %a, i8 %b)", (200, 100), 1 << 8 | 44),
        ("call { i8, i1 } @llvm.smul.with.overflow.i8(i8 %a, i8 %b)", (0xFF, 0x80), 1 << 8 | 0x80),
        ("call { i8, i1 } @llvm.ssub.with.overflow.i8(i8 %a, i8 %b)", (5, 6), 0xFF),
        ("call i1 @llvm.is.fpclass.f64(double %a, i32 3)", (D(float("nan")), 3), 1),
        ("call i1 @llvm.is.fpclass.f64(double %a, i32 516)", (D(float("-inf")), 516), 1),
        ("call i1 @llvm.is.fpclass.f64(double %a, i32 144)", (D(5e-324), 144), 1),
    ],
)
def test_what_an_instruction_computes(text: str, operands: tuple[int, ...], expected: int) -> None:
    assert value_of(text, *operands) == expected


@pytest.mark.parametrize(
    "text",
    [
        "fadd x86_fp80 %a, %b",
        "add <4 x i32> %a, %b",
        "shl i32 %a, 40",
        "shufflevector <2 x i32> %a, <2 x i32> %b, <2 x i32> <i32 1, i32 0>",
        "extractelement <2 x i32> %a, i64 %b",
        "call i32 @llvm.ctlz.i32(i32 %a, i1 false)",
        "fpext double %a to x86_fp80",
    ],
)
def test_what_is_not_modelled_says_so(text: str) -> None:
    assert meaning_of(read(text), MODULE) is None


def test_parts_of_a_constant() -> None:
    text = "{ i8 1, i32 -2, [2 x i16] [i16 3, i16 4] }"
    found = [(offset, o.type, o.text) for offset, o in flatten("%struct.s", text, MODULE)]
    assert found == [(0, "i8", "1"), (4, "i32", "-2"), (8, "i16", "3"), (10, "i16", "4")]
    letters = list(flatten("[4 x i8]", r'c"\\5C\00"', MODULE))
    assert [int(o.text) for _, o in letters] == [ord("\\"), ord("5"), ord("C"), 0]
