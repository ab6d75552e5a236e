"""Operations of recipes whose result the processor may decide: divisions, and floating point."""

from __future__ import annotations

from typing import Any

import numpy as np

from whence.probe.operations import Op
from whence.trace.kernels import lean
from whence.trace.machine import ODD, Machine
from whence.trace.shadow import Int

SMALLEST = 2.2250738585072014e-308  # of doubles, where nothing is lost
SMALLEST_FLOAT = 1.1754943508222875e-38
UDIV, SDIV, UREM = int(Op.UDIV), int(Op.SDIV), int(Op.UREM)
FADD, FSUB, FMUL, FDIV, FCMP, FPEXT, FPTRUNC, SITOFP, UITOFP, FPTOSI = (
    int(o) for o in (Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FCMP, Op.FPEXT, Op.FPTRUNC, Op.SITOFP, Op.UITOFP, Op.FPTOSI)
)


@lean
def quotient(op: Int, x: Int, y: Int, bits: Int, machine: Machine) -> Int:
    """An integer division; one that the processor refuses gives 0, and is odd."""
    shift = 64 - bits
    if op in (UDIV, UREM):
        if y == 0:
            machine.counts[ODD] = 1
            return np.int64(0)
        if op == UDIV:
            return np.int64(np.uint64(x) // np.uint64(y))
        return np.int64(np.uint64(x) % np.uint64(y))
    x, y = (x << shift) >> shift, (y << shift) >> shift
    if y == 0 or (y == -1 and x == (np.int64(-1) << (bits - 1))):
        machine.counts[ODD] = 1
        return np.int64(0)
    quotient = x // y
    if quotient * y != x and (x < 0) != (y < 0):
        quotient += 1
    return quotient if op == SDIV else x - quotient * y


@lean
def is_odd(value: Any, smallest: float) -> bool:
    """Whether a number's bits depend on more than its operands: not a number, or so small that it may count as 0."""
    return bool(value != value or (value != 0 and abs(value) < smallest))


@lean
def floating(op: Int, a: Int, b: Int, dst: Int, bits: Int, wanted: Int, machine: Machine) -> Int:
    """An operation on floating-point numbers in registers ``a`` and ``b`` (absolute); returns the result's bits."""
    registers: Any = machine.registers
    doubles: Any = machine.doubles
    floats: Any = machine.floats
    if op in (SITOFP, UITOFP):
        x = registers[a]
        if op == SITOFP:
            x = (x << (64 - bits)) >> (64 - bits)
        elif x < 0:
            machine.counts[ODD] = 1
        registers[dst] = 0
        if wanted == 64:
            doubles[dst] = np.float64(x)
        else:
            floats[2 * dst] = np.float32(x)
        return registers[dst]
    if bits == 64:
        left, right = doubles[a], doubles[b]
        odd = is_odd(left, SMALLEST) or is_odd(right, SMALLEST)
    else:
        left, right = np.float64(floats[2 * a]), np.float64(floats[2 * b])
        odd = is_odd(left, SMALLEST_FLOAT) or is_odd(right, SMALLEST_FLOAT)
    if op == FCMP:
        found = 1 if left == right else 2 if left > right else 4 if left < right else 8
        machine.counts[ODD] |= odd and found != 8
        return np.int64(1) if found & wanted else np.int64(0)
    if op == FPTOSI:
        bound = 2.0 ** (wanted - 1)
        if odd or not -bound - 1 < left < bound or (wanted > 32 and left < -bound):
            machine.counts[ODD] = 1
            return np.int64(0)
        return np.int64(left)
    if op == FADD:
        result = left + right
    elif op == FSUB:
        result = left - right
    elif op == FMUL:
        result = left * right
    elif op == FDIV:
        result = left / right if right != 0 else np.nan
    else:
        result = left
    # The sum, product or quotient of two floats, rounded to a double and then to a float, is rounded as if once.
    to_float = op == FPTRUNC or (bits == 32 and op != FPEXT)
    registers[dst] = 0
    if to_float:
        floats[2 * dst] = np.float32(result)
        odd = odd or is_odd(np.float64(floats[2 * dst]), SMALLEST_FLOAT)
    else:
        doubles[dst] = result
        odd = odd or is_odd(result, SMALLEST)
    machine.counts[ODD] |= odd
    return registers[dst]
