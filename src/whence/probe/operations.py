"""What the recipes of compact traces are made of: operations on the registers of frames, as tables for kernels."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any, NamedTuple

import numpy as np

NOTHING = -1


class Op(IntEnum):
    """What an operation of a recipe does; ``x`` is register ``a``, ``y`` is register ``b`` plus ``number``."""

    COPY = auto()  # ``number`` recorded units from ``unit`` on
    GET = auto()  # a recorded unit
    GET_WIDE = auto()  # two
    OBJECT = auto()  # a local of ``number`` bytes lies at the address in the units at ``out``
    CHECK = auto()  # ``number`` bytes are written there
    CHECK_LENGTH = auto()  # as many as the units four behind say
    ADD = auto()
    SUB = auto()
    MUL = auto()
    AND = auto()
    OR = auto()
    XOR = auto()
    SHL = auto()
    LSHR = auto()
    ASHR = auto()
    UDIV = auto()
    SDIV = auto()
    UREM = auto()
    SREM = auto()
    SCALE = auto()  # x + c * register b + number
    SEXT = auto()
    EQ = auto()
    NE = auto()
    UGT = auto()
    UGE = auto()
    ULT = auto()
    ULE = auto()
    SGT = auto()
    SGE = auto()
    SLT = auto()
    SLE = auto()
    SELECT = auto()  # y if x, else register c
    EXPECT = auto()  # the next block is ``b`` if x, else ``c``
    FADD = auto()
    FSUB = auto()
    FMUL = auto()
    FDIV = auto()
    FCMP = auto()  # ``c``: bits of the results that make it true (1 equal, 2 greater, 4 less, 8 unordered)
    FPEXT = auto()
    FPTRUNC = auto()
    SITOFP = auto()
    UITOFP = auto()
    FPTOSI = auto()


# ``dst`` is the register of the result, ``out`` the unit where it goes (0: none), ``units`` how many it has there,
# ``unit`` a recorded one. ``bits`` is the width of the operands, ``mask`` what is kept of the result. ``variable`` is
# 1 + the number of a static variable whose address is added to ``number``.
OPERATION = np.dtype(
    [(name, np.int32) for name in ("op", "dst", "a", "b", "c", "out", "units", "unit", "bits", "variable")]
    + [("number", np.int64), ("mask", np.int64)]
)
RECIPE = np.dtype([(name, np.int32) for name in ("start", "units", "follower", "frame")])


class Recipes(NamedTuple):
    """``recipes`` of all segments, with one row more: where the operations start, how many units are recorded (0: no
    header either), the segment that follows without one (-1), and how many registers the function's frames keep.
    """

    recipes: Any
    operations: Any
