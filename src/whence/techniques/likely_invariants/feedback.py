"""What a candidate tells a programmer: the value, the range of the good runs, and the expression behind it.

Invariants stand on loads, stores and returns, so the fault may be anywhere in the *maximal pure local sub-expression*
that ends there: what the value was computed from within its function without another load from memory, call or result
in between, and the branches that led there (Sahoo et al. 2013, sections 2.5 and 6). Private locals count as registers,
as after the paper's register promotion. Here the expression is that of the instance that broke the invariant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.alter.describe import Describer
from whence.alter.profile import bits_of
from whence.findings import Statement
from whence.probe.layout import Kind as Event
from whence.probe.sites import Form as Value
from whence.probe.sites import Role
from whence.techniques.likely_invariants.candidates import NAMES, Broken, Candidates, Step
from whence.techniques.likely_invariants.kinds import Invariants, Kind
from whence.techniques.likely_invariants.predicates import Form
from whence.techniques.likely_invariants.profile import EQUAL, GREATER, LESS, MOST_VALUES
from whence.techniques.likely_invariants.readings import NAN, NUMBER, TOP
from whence.trace.slicing import dependences

if TYPE_CHECKING:
    from whence.techniques.likely_invariants.runs import Observer

TOLD, EXPRESSIONS = 200, 40  # candidates that get a sentence, and those whose expression is looked for
MOST_NODES = 500  # of an expression that are walked
ROLES = {
    Event.LOAD: Role.LOAD,
    Event.STORE: Role.STORE,
    Event.ARG: Role.ARGUMENT,
    Event.RESULT: Role.RESULT,
    Event.RET: Role.RETURN,
    Event.BRANCH: Role.BRANCH,
}
WORDS = {
    Kind.RANGE: "range",
    Kind.EXECUTED: "executed",
    Kind.BRANCH: "branch",
    Kind.VALUES: "values",
    Kind.NONZERO: "nonzero",
    Kind.STEP: "step",
    Kind.ORDER: "order",
    Kind.CRASH: "crash",
}
ORDER = (Kind.CRASH, Kind.RANGE, Kind.NONZERO, Kind.VALUES, Kind.BRANCH, Kind.ORDER, Kind.STEP, Kind.EXECUTED)


@dataclass(slots=True)
class Candidate:
    """A site whose invariant is broken, in words.

    ``value``, ``low`` and ``high`` are as C prints them (None where there is none), ``distance`` is how far the value
    lies from the range, in widths of it. ``lines`` are those of its expression, its own ``statement`` first.
    """

    site: int
    statement: Statement
    step: Step
    kinds: list[str]
    text: str
    value: str | None
    low: str | None
    high: str | None
    distance: float
    failing: int
    lines: list[Statement]
    clock: int

    def part(self, failing: int) -> dict[str, Any]:
        """The candidate as an entry of the part ``candidates``; there are so many failing runs."""
        return {
            "file": self.statement.file,
            "line": self.statement.line,
            "text": self.text,
            "step": NAMES[self.step],
            "kinds": self.kinds,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "distance": round(self.distance, 6),
            "failing": self.failing,
            "failing_total": failing,
            "clock": self.clock,
            "lines": [{"file": line.file, "line": line.line} for line in self.lines],
        }


class Feedback:
    """Tells the candidates of one diagnosis in words."""

    def __init__(self, observer: Observer, invariants: Invariants, found: Candidates) -> None:
        self._observer, self._invariants, self._found = observer, invariants, found
        self._describer = Describer(observer.subject)
        self._sites = self._altered()
        self._instruction = observer.subject.plan.sites["instruction"][:-1]

    def _altered(self) -> dict[tuple[int, int, int], int]:
        """Numbers of the sites that the describer knows, by instruction, role and argument."""
        rows = self._describer.sites
        keys = zip(*(rows[field].tolist() for field in ("instruction", "role", "operand")), strict=True)
        return {key: number for number, key in enumerate(keys)}

    def candidates(self) -> list[Candidate]:
        """The first candidates: by step, by the failing runs that they hold for, by distance and by place."""
        first = self._found.sets[Step.FAILED]
        statements = self._observer.subject.places.numbers[self._instruction[first]]
        sites = first[statements >= 0].tolist()
        sites.sort(key=lambda site: (-self._found.step_of(site), -self._found.held_for.get(site, 0)))
        told = [self._candidate(site, number < EXPRESSIONS) for number, site in enumerate(sites[:TOLD])]
        return sorted(told, key=lambda c: (-c.step, -c.failing, -c.distance, c.statement))

    def _candidate(self, site: int, has_lines: bool) -> Candidate:
        broken = self._found.broken[0]
        event = int(broken.events(site)[0])
        kinds = [kind for kind in ORDER if int(broken.verdicts[event]) & kind]
        number = int(self._observer.subject.places.numbers[self._instruction[site]])
        statement = self._observer.subject.places.statements[number]
        value, low, high, distance = self._bounds(broken, event, site)
        return Candidate(
            site,
            statement,
            self._found.step_of(site),
            [WORDS[kind] for kind in kinds],
            self._sentence(broken, event, site, statement, kinds[0]),
            value,
            low,
            high,
            distance,
            self._found.held_for.get(site, 0),
            expression_lines(broken, event, statement) if has_lines else [statement],
            broken.run.reader.trace.clock(event),
        )

    # ---- Values ------------------------------------------------------------------------------------------------------

    def name(self, site: int) -> str:
        """What a site's value is in C: `` `a[i]` ``, ``the condition `x < y` ``."""
        known = self._altered_site(site)
        return self._describer.quoted(known) if known is not None else "a value"

    def show(self, site: int, key: int) -> str:
        """A value of a site as C prints it, from its key."""
        static = self._observer.static[site]
        form, width = np.array([static["form"]], np.uint8), np.array([static["width"]], np.uint8)
        if form[0] == Value.POINTER:
            return "not null" if key != int(TOP) else "null"
        bits = int(bits_of(np.array([key], np.uint64), form, width)[0])
        known = self._altered_site(site)
        return str(bits) if known is None else self._describer.value(known, bits)

    def reached(self, site: int, form: Form, bound: int) -> str:
        """A tolerant predicate in words: ``a[i]` was 9 or more``."""
        name = self.name(site)
        if form in (Form.DOWN, Form.UP):
            is_condition = bool(self._observer.static["width"][site] == 1)
            return f"{name} {changed(bound - int(TOP), form is Form.DOWN, is_condition)} from one time to the next"
        shown = self.show(site, bound)
        if self._observer.static["form"][site] == Value.POINTER or self._observer.static["width"][site] == 1:
            return f"{name} was {shown}"
        return f"{name} was {shown} or {'less' if form is Form.LOW else 'more'}"

    def _altered_site(self, site: int) -> int | None:
        static, row = self._observer.static[site], self._observer.subject.plan.sites[site]
        kind = Event(int(static["kind"]))
        role = ROLES.get(kind)
        if role is Role.BRANCH and static["yes"] < 0:
            role = Role.SWITCH
        operand = int(row["aux"]) if kind is Event.ARG else -1
        return self._sites.get((int(row["instruction"]), int(role or 0), operand))

    def _bounds(self, broken: Broken, event: int, site: int) -> tuple[str | None, str | None, str | None, float]:
        """The value of an event, the range of training, and the distance of the one from the other."""
        row, readings = self._invariants.rows[site], broken.run.readings
        is_switch = self._observer.static["kind"][site] == Event.BRANCH and self._observer.static["yes"][site] < 0
        if is_switch:
            return None, None, None, 1.0
        key = int(readings.keys[event])
        value = {0: None, NAN: "nan"}.get(int(readings.state[event]), self.show(site, key))
        if not row["known"]:
            return value, None, None, 1.0
        low, high = int(row["low"]), int(row["high"])
        return value, self.show(site, low), self.show(site, high), self._distance(site, key, low, high)

    def _distance(self, site: int, key: int, low: int, high: int) -> float:
        """How many widths of the range the value lies beyond it; 0 within."""
        number, least, most = (self._number(site, k) for k in (key, low, high))
        gap = max(least - number, number - most, 0.0)
        return gap / (most - least + 1) if math.isfinite(gap) and math.isfinite(most - least) else 1e300

    def _number(self, site: int, key: int) -> float:
        static = self._observer.static[site]
        if static["form"] != Value.FLOAT:
            return float(key - int(TOP))
        form, width = np.array([static["form"]], np.uint8), np.array([static["width"]], np.uint8)
        bits = bits_of(np.array([key], np.uint64), form, width)
        return float(bits.view(np.float64)[0] if width[0] == 64 else bits.astype(np.uint32).view(np.float32)[0])

    # ---- Sentences ---------------------------------------------------------------------------------------------------

    def _sentence(self, broken: Broken, event: int, site: int, statement: Statement, kind: Kind) -> str:
        """One sentence: what the event did, and what the good runs did there."""
        reader = broken.run.reader
        good = f"in {self._invariants.runs} good run{'s' if self._invariants.runs != 1 else ''}"
        if kind is Kind.CRASH:
            return f"line {statement.line} {reader.action(event) or 'was where the run ended'}"
        if kind is Kind.EXECUTED:
            count = self._invariants.runs
            compared = f"in none of the {count} good runs" if count != 1 else "not in the good run"
            return f"line {statement.line} was executed, but {compared} that it was compared with"
        name = self.name(site)
        row, value = self._invariants.rows[site], self._bounds(broken, event, site)[0]
        here = f"{name} on line {statement.line}"
        if kind is Kind.BRANCH:
            if value is None:
                return f"{here} went a way that it did not go {good}"
            return f"{here} was {value}; {good} it was always {'false' if value == 'true' else 'true'}"
        if kind is Kind.ORDER:
            return f"{here} was {value}; {self._order(broken, event)} {good} that never was so"
        if kind is Kind.STEP:
            return f"{here} changed by {self._change(broken, event, site)} {good} by {_span(row)}"
        return f"{here} was {value} here; {good} {self._usual(site, row, kind)}"

    def _usual(self, site: int, row: np.void, kind: Kind) -> str:
        """What a site's values were in training."""
        if not row["known"]:
            return "it had no number as value"
        low, high = self.show(site, int(row["low"])), self.show(site, int(row["high"]))
        if low == high:
            return f"it was always {low}"
        if kind is Kind.NONZERO:
            return f"it was never 0 ({low} to {high})"
        if kind is Kind.VALUES or (kind is Kind.RANGE and row["distinct"] <= 2):
            keys = sorted(int(key) for key in row["values"][: min(row["distinct"], MOST_VALUES)])
            return f"it was {' or '.join(self.show(site, key) for key in keys)}"
        return f"it stayed within {low} to {high}"

    def _change(self, broken: Broken, event: int, site: int) -> str:
        """From what to what a site's value went at an event."""
        readings = broken.run.readings
        before = np.flatnonzero((readings.sites[:event] == site) & (readings.state[:event] == NUMBER))[-1]
        old, new = int(readings.keys[before]), int(readings.keys[event])
        return f"{new - old:,}, from {self.show(site, old)} to {self.show(site, new)};"

    def _order(self, broken: Broken, event: int) -> str:
        """How the event compared with another one of its segment, where that is new."""
        readings, pairs = broken.run.readings, self._observer.pairs
        site = int(readings.sites[event])
        for number in np.flatnonzero(pairs["second"] == site).tolist():
            other = event - (site - int(pairs["first"][number]))
            one, two = int(readings.keys[other]), int(readings.keys[event])
            order = LESS if one < two else EQUAL if one == two else GREATER
            if other >= 0 and self._invariants.orders[number] and not self._invariants.orders[number] & order:
                first = int(pairs["first"][number])
                word = {LESS: "less", EQUAL: "the same"}.get(order, "greater")
                return f"{self.name(first)} was {word} ({self.show(first, one)});"
        return "another value beside it compared otherwise;"


def _span(row: np.void) -> str:
    """The differences from one value to the next in training."""
    low, high = int(row["step_low"]), int(row["step_high"])
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


# ---- Expressions -----------------------------------------------------------------------------------------------------

STOPS = (Event.RESULT, Event.CALL, Event.RMW, Event.COPY, Event.SET)


def expression_lines(broken: Broken, event: int, statement: Statement) -> list[Statement]:
    """The lines of the maximal pure local sub-expression behind an event, its own statement first, the others in order.

    It is made of the event and all that it depends on in its frame through private locals, phis and branches; loads
    from memory, calls and their results end it.
    """
    reader = broken.run.reader
    trace = reader.trace
    frame = _frame(broken, event)
    known, waiting = {event}, [event]
    while waiting and len(known) < MOST_NODES:
        for reference, _ in dependences(trace.plan, trace.columns, waiting.pop() + 1):
            source = reference - 1
            if reference > 0 and source not in known and _frame(broken, source) == frame and _is_pure(broken, source):
                known.add(source)
                waiting.append(source)
    lines = {place for source in known if (place := reader.statement(source)) is not None}
    return [statement, *sorted(lines - {statement})]


def _frame(broken: Broken, event: int) -> int:
    columns = broken.run.reader.trace.columns
    return int(columns.segments[columns.events[event]["segment"]]["frame"])


def _is_pure(broken: Broken, event: int) -> bool:
    """Whether an event belongs to the expression of what uses it."""
    trace = broken.run.reader.trace
    kind = trace.kind(event)
    return trace.is_private(event) if kind in (Event.LOAD, Event.STORE) else kind not in STOPS


def changed(change: int, at_most: bool, is_condition: bool) -> str:
    """A change by so much at most, or at least, in words that follow the name of what changed."""
    if is_condition:
        if change:
            return "went from true to false" if change < 0 else "went from false to true"
        return f"did not go from {'false to true' if at_most else 'true to false'}"
    if not change:
        return "did not rise" if at_most else "did not fall"
    way = "fell" if change < 0 else "rose"
    return f"{way} by {abs(change):,} or {'more' if (change < 0) == at_most else 'less'}"
