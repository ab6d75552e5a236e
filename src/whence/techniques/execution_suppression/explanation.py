"""What was suppressed, in the user's words: the statement, what it gave to what, and how each execution ended."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from whence.probe.layout import Kind as Site
from whence.run.point import MAPPED, is_odd, pointer_text, statement_of
from whence.subject.trace_reader import TraceReader

if TYPE_CHECKING:
    from pathlib import Path

    from whence.subject.subject import Subject
    from whence.techniques.execution_suppression.algorithm import Step
    from whence.techniques.execution_suppression.definitions import Definition


class Explanation:
    """Tells the definitions of one execution."""

    def __init__(self, subject: Subject, step: Step) -> None:
        self._reader = TraceReader(subject, step.recording.trace)
        self._trace = step.recording.trace
        self._folder: Path = subject.folder
        self._step = step

    def json(self) -> dict[str, Any]:
        """The execution as results hold it (docs/json.md)."""
        step, symptom = self._step, self._step.symptom
        place = symptom.statement if symptom else None
        counts = Counter(self._trace.site(d.shown) for d in step.definitions)
        firsts: dict[int, Definition] = {}
        for definition in step.definitions:
            firsts.setdefault(self._trace.site(definition.shown), definition)
        definitions = sorted(firsts.values(), key=self._is_sound)
        return {
            "outcome": str(step.recording.outcome.kind),
            "text": symptom.text if symptom else step.recording.outcome.text or "no failure",
            "file": place.file if place else None,
            "line": place.line if place else None,
            "points": len(step.points),
            "space": step.ordering.space if step.ordering else "",
            "races": [race.shown for race in step.races],
            "suppressed": [self._definition(d) | {"count": counts[self._trace.site(d.shown)]} for d in definitions],
        }

    def _definition(self, definition: Definition) -> dict[str, Any]:
        """One definition, with the sentence that a person reads."""
        static = self._reader.static(definition.shown)
        events = (definition.shown, definition.event, definition.read)
        places = (statement_of(self._trace.location(event), self._folder) for event in events if event >= 0)
        place = next((found for found in places if found), None)
        name, value = self._read(definition)
        written = sum(length for _, length in self._written(definition))
        return {
            "file": place.file if place else None,
            "line": place.line if place else None,
            "event": definition.shown,
            "clock": self._trace.clock(definition.shown),
            "expression": static.text or None,
            "name": name,
            "value": value,
            "bytes": written,
            "address": definition.address,
            "text": self._sentence(definition, static.text, name, value, written),
        }

    def _sentence(self, definition: Definition, text: str, name: str | None, value: str | None, written: int) -> str:
        step = f"`{text}`" if text else "this line"
        count = f" wrote {written:,} bytes and" if written > 1 else ""
        read = f"`{name}`" if name else "what was used"
        shown = f" (= {value})" if value is not None else ""
        if definition.shown == definition.read:
            return f"{step} read {read}, which nothing had written"
        if definition.address:
            return f"nothing had written {read}{shown}; {step} gave the address where it was read"
        return f"{step}{count} gave {read} its value{shown}"

    def _written(self, definition: Definition) -> list[tuple[int, int]]:
        from whence.techniques.execution_suppression.definitions import Definitions

        if self._trace.kind(definition.event) is not Site.CALL:
            return []
        return Definitions(self._trace).written(definition.event)

    def _read(self, definition: Definition) -> tuple[str | None, str | None]:
        """What the failing instance read, by name, and its value."""
        if definition.read < 0:
            return None, None
        seen = self._reader.observation(definition.read) or self._reader.named(definition.read)
        if seen is None:
            return None, None
        raw = self._trace.value(definition.read)
        is_pointer = self._trace.instruction(definition.read).type == "ptr" and raw is not None
        return seen.name, pointer_text(raw or 0) if is_pointer and (not raw or is_odd(raw)) else seen.value

    def _is_sound(self, definition: Definition) -> bool:
        """Whether a definition gave a pointer that looks right: of several, the others come first."""
        read = definition.read
        value = self._trace.value(read) if read >= 0 else None
        if value is None or self._trace.instruction(read).type != "ptr":
            return False
        return value >> 40 in MAPPED and not is_odd(value)
