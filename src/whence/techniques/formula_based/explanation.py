"""Corrections in C terms: which value would have been right, and which one was computed."""

from __future__ import annotations

from collections.abc import Sequence

from whence.probe.layout import Kind
from whence.program.values import format_untyped
from whence.subject.trace_reader import RETURN_VALUE, StaticSite
from whence.techniques.formula_based.correction_values import Change
from whence.techniques.formula_based.trace_formula import EventReader

POINTERS = ("0x", "NULL")  # how pointers are shown
SHOWN = 3  # changes that one sentence tells
SMALL, LARGE = 1 << 20, 1 << 28  # a value below the one is not meant to be one above the other,
LIMITS = {(1 << bits) - 1 for bits in (31, 32, 63, 64)} | {-(1 << bits) for bits in (31, 63)}  # but for one of these


def explain(events: EventReader, changes: Sequence[Change]) -> str:
    """A sentence: ``` `fee` had to be 17 here, `axles * 3 + 4` gave 13```; empty where nothing is worth saying."""
    texts = list(dict.fromkeys(text for change in changes if (text := explain_change(events, change))))
    more = f"; and {len(texts) - SHOWN:,} more values" if len(texts) > SHOWN else ""
    return "; ".join(texts[:SHOWN]) + more


def explain_change(events: EventReader, change: Change) -> str:
    """One change of a statement's value."""
    static = events.static(change.event)
    if static.kind is Kind.BRANCH:
        wanted = "true" if change.right else "false"
        return f"`{static.text}` had to be {wanted} here" if static.text else "the test had to go the other way"
    name = _name(events, change.event)
    right, was = (_shown(static, bits) for bits in (change.right, change.was))
    made = _made(static)
    gave = f"`{made}` gave {was}" if made and made not in (was, name) else f"it was {was}"
    must, have_been = ("had to", "be") if change.only else ("could", "have been")
    if not change.only and right.startswith(POINTERS):  # any other that is not of use either would do
        right, must, have_been = "another pointer", "had to", "be"
    elif _overflows(right, was):
        right, must, have_been = "another value", "had to", "be"
    if static.kind is Kind.RET or name == RETURN_VALUE:
        return f"the function {must} return {right}, {gave}"
    return f"`{name}` {must} {have_been} {right} here, {gave}" if name else ""


def _overflows(right: str, was: str) -> bool:
    """Whether a number would be right only since arithmetic wraps, as it looks: no program means such a one.

    That is how a formula makes 10 of three times a number.
    """
    try:
        wanted, had = int(right), int(was)
    except ValueError:
        return False
    return abs(had) < SMALL and abs(wanted) > LARGE and wanted not in LIMITS


def values_of(events: EventReader, change: Change) -> dict[str, object]:
    """A change as results hold it."""
    static = events.static(change.event)
    return {
        "name": static.text if static.kind is Kind.BRANCH else _name(events, change.event),
        "was": _shown(static, change.was),
        "right": _shown(static, change.right),
        "only": change.only,
        "clock": events.trace.clock(change.event),
    }


def _name(events: EventReader, event: int) -> str:
    seen = events.named(event)
    return seen.name if seen is not None else _made(events.static(event))


def _made(static: StaticSite) -> str:
    """The expression that gave the value."""
    operands = static.instruction.operands
    position = static.argument if static.kind is Kind.ARG else 0
    if position >= len(operands) or static.kind is Kind.BRANCH:
        return ""
    return " ".join(static.explainer.value(static.function, operands[position]).text.split())


def _shown(static: StaticSite, bits: int) -> str:
    """A value as C prints it."""
    if static.kind is Kind.BRANCH:
        return "true" if bits else "false"
    if static.kind is Kind.STORE and static.path is not None and static.path.type is not None:
        return static.path.show(bits)
    operand = static.instruction.operands[static.argument if static.kind is Kind.ARG else 0]
    return static.show(operand, bits) if operand is not None else format_untyped(bits, "i64")
