"""Which operators may stand in one another's place, and how C writes them."""

from __future__ import annotations

from whence.probe.sites import Operation as O

SYMBOLS = {
    O.ADD: "+", O.SUB: "-", O.MUL: "*", O.SDIV: "/", O.UDIV: "/", O.SREM: "%", O.UREM: "%",
    O.SHL: "<<", O.LSHR: ">>", O.ASHR: ">>", O.AND: "&", O.OR: "|", O.XOR: "^",
    O.FADD: "+", O.FSUB: "-", O.FMUL: "*", O.FDIV: "/",
    O.EQ: "==", O.NE: "!=", O.SLT: "<", O.SLE: "<=", O.SGT: ">", O.SGE: ">=",
    O.ULT: "<", O.ULE: "<=", O.UGT: ">", O.UGE: ">=",
    O.OEQ: "==", O.UNE: "!=", O.OLT: "<", O.OLE: "<=", O.OGT: ">", O.OGE: ">=",
}  # fmt: skip

_SIGNED = (O.SLT, O.SLE, O.SGT, O.SGE)
_UNSIGNED = (O.ULT, O.ULE, O.UGT, O.UGE)
_BITWISE = (O.AND, O.OR, O.XOR, O.SHL)
_GROUPS = (
    (O.EQ, O.NE, *_SIGNED),
    (O.EQ, O.NE, *_UNSIGNED),
    (O.OEQ, O.UNE, O.OLT, O.OLE, O.OGT, O.OGE),
    (O.ADD, O.SUB, O.MUL, O.SDIV, O.SREM, *_BITWISE, O.ASHR),
    (O.ADD, O.SUB, O.MUL, O.UDIV, O.UREM, *_BITWISE, O.LSHR),
    (O.FADD, O.FSUB, O.FMUL, O.FDIV),
)
_SIGNS = (
    *zip(_SIGNED, _UNSIGNED, strict=True),
    (O.SDIV, O.UDIV), (O.SREM, O.UREM), (O.ASHR, O.LSHR),
)  # fmt: skip
_OPPOSITES = (
    (O.EQ, O.NE), (O.SLT, O.SGE), (O.SLE, O.SGT), (O.ULT, O.UGE), (O.ULE, O.UGT), (O.OEQ, O.UNE),
)  # fmt: skip
_SHIFTS = (O.SHL, O.LSHR, O.ASHR)
_PRODUCTS = (O.MUL, O.SDIV, O.UDIV, O.FMUL, O.FDIV)

#: Adding to the result is adding to an operand.
SUMS = (O.ADD, O.SUB, O.FADD, O.FSUB)
#: The same operation on numbers with, or without, a sign.
OTHER_SIGN = {one: other for pair in _SIGNS for one, other in (pair, pair[::-1])}
#: The comparison that holds where the other one does not; of floating-point numbers only (in)equality has one.
OPPOSITE = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}
#: The right operand with which an operation gives the left one, and the left operand with which it gives the right one.
RIGHT_NEUTRAL = {**dict.fromkeys((*SUMS, O.OR, O.XOR, *_SHIFTS), 0), **dict.fromkeys(_PRODUCTS, 1), O.AND: -1}
LEFT_NEUTRAL = {
    **dict.fromkeys((O.ADD, O.OR, O.XOR, O.FADD), 0), **dict.fromkeys((O.MUL, O.FMUL), 1), O.AND: -1,
}  # fmt: skip


def others(operation: int) -> list[O]:
    """What may stand in an operation's place: those of its kind, then the same one for the other sign."""
    group = next((group for group in _GROUPS if operation in group), ())
    found = [o for o in group if o != operation]
    return [*found, OTHER_SIGN[O(operation)]] if operation in OTHER_SIGN else found
