import math
import struct
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from whence.program import read_module
from whence.program.constants import floating_constant, integer_constant
from whence.program.debug import CType, DebugInfo
from whence.program.values import (
    format_char,
    format_float,
    format_quad,
    format_string,
    format_untyped,
    format_value,
)

METADATA = """
!0 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!1 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!2 = !DIBasicType(name: "char", size: 8, encoding: DW_ATE_signed_char)
!3 = !DIBasicType(name: "_Bool", size: 8, encoding: DW_ATE_boolean)
!4 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
!5 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!6 = !DIBasicType(name: "long double", size: 128, encoding: DW_ATE_float)
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: null, size: 64)
!8 = !DICompositeType(tag: DW_TAG_enumeration_type, name: "f", baseType: !1, size: 32, elements: !9)
!9 = !{!10, !11, !12}
!10 = !DIEnumerator(name: "READ", value: 1)
!11 = !DIEnumerator(name: "WRITE", value: 2)
!12 = !DIEnumerator(name: "BOTH", value: 3)
!13 = !DIDerivedType(tag: DW_TAG_typedef, name: "count_t", baseType: !14)
!14 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !0)
!15 = !DICompositeType(tag: DW_TAG_enumeration_type, name: "s", baseType: !0, size: 32, elements: !16)
!16 = !{!17, !18, !19}
!17 = !DIEnumerator(name: "LOST", value: -1)
!18 = !DIEnumerator(name: "A", value: 1)
!19 = !DIEnumerator(name: "C", value: 4)
"""
INFO = DebugInfo(read_module('target triple = "x86_64-unknown-linux-gnu"\n' + METADATA))
TYPES = {
    "int": 0,
    "unsigned": 1,
    "char": 2,
    "bool": 3,
    "double": 4,
    "float": 5,
    "long double": 6,
    "pointer": 7,
}
TYPES |= {"flags": 8, "typedef": 13, "enum": 15}


def ctype(name: str) -> CType:
    found = INFO.type(f"!{TYPES[name]}")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("raw", "name", "text"),
    [
        (0xFFFFFFFF, "int", "-1"), (0xFFFFFFFF, "unsigned", "4294967295"), (7, "typedef", "7"),
        (97, "char", "'a' (97)"), (0, "char", r"'\0' (0)"), (10, "char", r"'\n' (10)"),
        (0xFF, "char", r"'\xff' (-1)"),
        (39, "char", r"'\'' (39)"), (1, "bool", "true"), (0, "bool", "false"),
        (0, "pointer", "NULL"), (0x7FFE10, "pointer", "0x7ffe10"),
        (2, "flags", "WRITE"), (3, "flags", "BOTH"), (5, "flags", "5"), (0, "flags", "0"),
        (5, "enum", "A | C"), (0xFFFFFFFF, "enum", "LOST"), (8, "enum", "8"),
        (0x3FF8000000000000, "double", "1.5"), (0x3DCCCCCD, "float", "0.1"), (0x7F800000, "float", "inf"),
        (0xFFF8000000000000, "double", "-nan"), (0x3FFFA000000000000000, "long double", "1.25"),
        (0xBFFF8000000000000000, "long double", "-1.0"), (0x7FFF8000000000000000, "long double", "inf"),
        (0, "long double", "0.0"), (0x3FFBCCCCCCCCCCCCCCCD, "long double", "0.100000000000000000001"),
    ],
)  # fmt: skip
def test_values(raw: int, name: str, text: str) -> None:
    assert format_value(raw, ctype(name)) == text


def test_without_a_type_the_bits_are_shown() -> None:
    assert format_value(300, None) == "300"


@given(st.floats(width=32))
def test_floats_read_back_exactly(number: float) -> None:
    raw = struct.unpack("<I", struct.pack("<f", number))[0]
    shown = format_float(raw, 4)
    if math.isnan(number):
        assert shown in ("nan", "-nan")
    else:
        assert struct.pack("<f", float(shown)) == struct.pack("<f", number)
        digits = shown.split("e")[0].replace(".", "").strip("-0")
        assert len(digits) <= 9


@given(st.floats(width=16, allow_nan=False))
def test_half_floats_read_back_exactly(number: float) -> None:
    raw = struct.unpack("<H", struct.pack("<e", number))[0]
    assert struct.pack("<e", float(format_float(raw, 2))) == struct.pack("<e", number)


@given(st.integers(1, 2**64 - 1), st.integers(1, 0x7FFE))
@example(16384, 15358)  # a double, but a denormal one
@example(0xCCCCCCCCCCCCD000, 0x3FFB)  # the double that is nearest to 0.1
def test_long_doubles_read_back_to_the_nearest(significand: int, exponent: int) -> None:
    significand |= 1 << 63
    text = format_value(exponent << 64 | significand, ctype("long double"))
    exact = Fraction(significand) * Fraction(2) ** (exponent - 16383 - 63)
    assert abs(Fraction(text) - exact) <= Fraction(2) ** (exponent - 16383 - 64)


@pytest.mark.parametrize(
    ("raw", "llvm_type", "text"),
    [
        (0xFFFFFFFF, "i32", "-1"), (5, "i8", "5"), (1, "i1", "1"), (0, "ptr", "NULL"), (16, "ptr", "0x10"),
        (0x3FF8000000000000, "double", "1.5"), (0x3FFFA000000000000000, "x86_fp80", "1.25"),
        (0x3FFF8 << 108, "fp128", "1.5"),
    ],
)  # fmt: skip
def test_values_by_the_llvm_type_alone(raw: int, llvm_type: str, text: str) -> None:
    assert format_untyped(raw, llvm_type) == text


def test_other_formats() -> None:
    assert format_float(0x3C00, 2) == "1.0"
    assert format_quad(0x3FFF8 << 108) == "1.5"
    assert floating_constant("2.500000e+00") == "2.5"
    assert floating_constant("0x7FF0000000000000") == "inf"
    assert floating_constant("0xK3FFFA000000000000000") == "1.25"
    assert floating_constant("0xL00000000000000003FFF800000000000") == "1.5"
    assert (floating_constant("0xH3C00"), floating_constant("0xR3F80")) == ("1.0", "1.0")


def test_constants_by_the_type_expected() -> None:
    assert integer_constant(97, "i32", ctype("char")) == "'a'"
    assert integer_constant(2, "i32", ctype("flags")) == "WRITE"
    assert integer_constant(-1, "i32", ctype("unsigned")) == "4294967295"
    assert integer_constant(-294967296, "i32", None, unsigned=True) == "4000000000"
    assert integer_constant(1000, "i32", ctype("char")) == "1000"


def test_text_of_a_subject_is_escaped() -> None:
    assert format_string(b"a\"'\x1b[2J\xff\n") == r'''"a\"'\x1b[2J\xff\n"'''
    assert format_string(b"x" * 50, limit=3) == '"xxx"...'
    assert format_char(0x1B) == r"'\x1b'"
