"""Corrections in C terms: which value would have been right, and which one was computed."""

from __future__ import annotations

from collections.abc import Sequence

from whence.probe.layout import Kind
from whence.program.values import format_untyped
from whence.subject.story import RETURN_VALUE, Spot
from whence.techniques.correction.correction_values import Change
from whence.techniques.correction.formula import EventReader

POINTERS = ("0x", "NULL")  # how pointers are shown
SHOWN = 3  # changes that one sentence tells


def tell(events: EventReader, changes: Sequence[Change]) -> str:
    """A sentence: ``` `fee` had to be 17 here, `axles * 3 + 4` gave 13```; empty where nothing is worth saying."""
    texts = list(dict.fromkeys(text for change in changes if (text := tell_one(events, change))))
    more = f"; and {len(texts) - SHOWN:,} more values" if len(texts) > SHOWN else ""
    return "; ".join(texts[:SHOWN]) + more


def tell_one(events: EventReader, change: Change) -> str:
    """One change of a statement's value."""
    spot = events.spot(change.event)
    if spot.kind is Kind.BRANCH:
        wanted = "true" if change.right else "false"
        return f"`{spot.text}` had to be {wanted} here" if spot.text else "the test had to go the other way"
    name = _name(events, change.event)
    right, was = (_shown(spot, bits) for bits in (change.right, change.was))
    made = _made(spot)
    gave = f"`{made}` gave {was}" if made and made not in (was, name) else f"it was {was}"
    must, have_been = ("had to", "be") if change.only else ("could", "have been")
    if not change.only and right.startswith(POINTERS):  # any other that is not of use either would do
        right, must, have_been = "another pointer", "had to", "be"
    if spot.kind is Kind.RET or name == RETURN_VALUE:
        return f"the function {must} return {right}, {gave}"
    return f"`{name}` {must} {have_been} {right} here, {gave}" if name else ""


def values_of(events: EventReader, change: Change) -> dict[str, object]:
    """A change as results hold it."""
    spot = events.spot(change.event)
    return {
        "name": spot.text if spot.kind is Kind.BRANCH else _name(events, change.event),
        "was": _shown(spot, change.was),
        "right": _shown(spot, change.right),
        "only": change.only,
        "clock": events.trace.clock(change.event),
    }


def _name(events: EventReader, event: int) -> str:
    seen = events.named(event)
    return seen.name if seen is not None else _made(events.spot(event))


def _made(spot: Spot) -> str:
    """The expression that gave the value."""
    operands = spot.instruction.operands
    position = spot.argument if spot.kind is Kind.ARG else 0
    if position >= len(operands) or spot.kind is Kind.BRANCH:
        return ""
    return " ".join(spot.explainer.value(spot.function, operands[position]).text.split())


def _shown(spot: Spot, bits: int) -> str:
    """A value as C prints it."""
    if spot.kind is Kind.BRANCH:
        return "true" if bits else "false"
    if spot.kind is Kind.STORE and spot.path is not None and spot.path.type is not None:
        return spot.path.show(bits)
    operand = spot.instruction.operands[spot.argument if spot.kind is Kind.ARG else 0]
    return spot.show(operand, bits) if operand is not None else format_untyped(bits, "i64")
