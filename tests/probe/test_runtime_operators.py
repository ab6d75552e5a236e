"""Operations that altered runs compute again (``runtime/alter/operators.c``), against a twin in Python."""

from __future__ import annotations

import ctypes
import math
import operator
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from whence.build.toolchain import find_toolchain
from whence.build.variant import RUNTIME
from whence.probe.sites import Operation

WIDTHS = (1, 8, 16, 32, 64)
Compute = Callable[[int, int, int, int], int]


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Compute:
    """``whence_computed`` of operation, operands and width."""
    toolchain, out = find_toolchain("bundled"), tmp_path_factory.mktemp("operators") / "operators.so"
    words = ["-O2", "-std=gnu17", "-fPIC", "-shared", "-ffp-contract=off", f"-I{RUNTIME}", "-o", str(out)]
    command = toolchain.call([*words, str(RUNTIME / "alter/operators.c"), "-lm"])
    subprocess.run(command, env=toolchain.environment(), check=True, cwd=Path(out).parent)
    function = ctypes.CDLL(str(out)).whence_computed
    function.argtypes = [ctypes.c_uint, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint]
    function.restype = ctypes.c_uint64
    return function  # type: ignore[no-any-return]


def signed(bits: int, width: int) -> int:
    """The number that the bits mean with a sign."""
    return bits - (1 << width) if bits >> (width - 1) & 1 else bits


def quotient(a: int, b: int) -> int:
    """Division as C has it: towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIGNED = {
    Operation.SDIV: quotient,
    Operation.SREM: lambda a, b: a - b * quotient(a, b),
    Operation.SLT: operator.lt,
    Operation.SLE: operator.le,
    Operation.SGT: operator.gt,
    Operation.SGE: operator.ge,
}
UNSIGNED = {
    Operation.ADD: operator.add,
    Operation.SUB: operator.sub,
    Operation.MUL: operator.mul,
    Operation.UDIV: operator.floordiv,
    Operation.UREM: operator.mod,
    Operation.AND: operator.and_,
    Operation.OR: operator.or_,
    Operation.XOR: operator.xor,
    Operation.EQ: operator.eq,
    Operation.NE: operator.ne,
    Operation.ULT: operator.lt,
    Operation.ULE: operator.le,
    Operation.UGT: operator.gt,
    Operation.UGE: operator.ge,
}
SHIFTS = {Operation.SHL: operator.lshift, Operation.LSHR: operator.rshift, Operation.ASHR: operator.rshift}
DIVISIONS = {Operation.SDIV, Operation.SREM, Operation.UDIV, Operation.UREM}
FLOATS = {
    Operation.FADD: operator.add,
    Operation.FSUB: operator.sub,
    Operation.FMUL: operator.mul,
    Operation.FDIV: operator.truediv,
    Operation.FREM: math.fmod,
}
ORDERED = {
    Operation.OEQ: operator.eq,
    Operation.OLT: operator.lt,
    Operation.OLE: operator.le,
    Operation.OGT: operator.gt,
    Operation.OGE: operator.ge,
    Operation.ONE: operator.ne,
    Operation.ORD: lambda a, b: True,
}
UNORDERED = {
    Operation.UEQ: operator.eq,
    Operation.UNE: operator.ne,
    Operation.FULT: operator.lt,
    Operation.FULE: operator.le,
    Operation.FUGT: operator.gt,
    Operation.FUGE: operator.ge,
    Operation.UNO: lambda a, b: False,
}


def test_the_twin_knows_every_operation() -> None:
    assert {*SIGNED, *UNSIGNED, *SHIFTS, *FLOATS, *ORDERED, *UNORDERED} == set(Operation)


@st.composite
def operands(draw: st.DrawFn) -> tuple[int, int, int]:
    """A width and two numbers of it, which often lie at a bound."""
    width = draw(st.sampled_from(WIDTHS))
    top = (1 << width) - 1
    number = st.one_of(st.integers(0, top), st.sampled_from([0, 1, top, top >> 1, (top >> 1) + 1]))
    return width, draw(number), draw(number)


@pytest.mark.parametrize("operation", [*SIGNED, *UNSIGNED])
@given(drawn=operands())
def test_integers(computed: Compute, operation: Operation, drawn: tuple[int, int, int]) -> None:
    width, a, b = drawn
    x, y = (signed(a, width), signed(b, width)) if operation in SIGNED else (a, b)
    traps = operation in DIVISIONS and (y == 0 or (width >= 32 and y == -1 and x == signed(1 << (width - 1), width)))
    assume(not traps)
    assert computed(operation, a, b, width) == int({**SIGNED, **UNSIGNED}[operation](x, y)) & ((1 << width) - 1)


@pytest.mark.parametrize("operation", SHIFTS)
@given(drawn=operands())
def test_shifts_take_as_many_bits_as_the_processor(
    computed: Compute, operation: Operation, drawn: tuple[int, int, int]
) -> None:
    width, a, b = drawn
    x = signed(a, width) if operation is Operation.ASHR else a
    assert computed(operation, a, b, width) == SHIFTS[operation](x, b % width) & ((1 << width) - 1)


def bits(value: float, width: int) -> int:
    found: int = struct.unpack("<I" if width == 32 else "<Q", struct.pack("<f" if width == 32 else "<d", value))[0]
    return found


def number(width: int) -> st.SearchStrategy[float]:
    """Floats of a width, no numbers and infinities among them."""
    return st.one_of(st.floats(width=width), st.sampled_from([0.0, -0.0, 1.0, 0.1 if width == 64 else 0.5]))


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("operation", [*ORDERED, *UNORDERED])
@given(data=st.data())
def test_comparisons_of_floats(computed: Compute, operation: Operation, width: int, data: st.DataObject) -> None:
    a, b = data.draw(number(width)), data.draw(number(width))
    is_ordered = not (math.isnan(a) or math.isnan(b))
    expected = {**ORDERED, **UNORDERED}[operation](a, b) if is_ordered else operation in UNORDERED
    assert computed(operation, bits(a, width), bits(b, width), width) == expected


@pytest.mark.parametrize("operation", FLOATS)
@given(a=st.floats(allow_nan=False, allow_infinity=False), b=st.floats(allow_nan=False, allow_infinity=False))
def test_arithmetic_of_floats(computed: Compute, operation: Operation, a: float, b: float) -> None:
    assume(b != 0)
    assert computed(operation, bits(a, 64), bits(b, 64), 64) == bits(FLOATS[operation](a, b), 64)
