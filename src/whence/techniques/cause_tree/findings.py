"""The cause tree of one recorded failing run as findings: statements by level, then by lines to read on the way."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.dependence.critical_conditions import Influence
from whence.errors import SubjectError
from whence.findings import Findings, Statement, Symptom, rank
from whence.formula.decide import Decider
from whence.formula.encoder import NOTHING, Inputs, encode
from whence.formula.goals import Goals
from whence.formula.path import Path
from whence.probe.layout import Kind
from whence.subject.recorder import Recording
from whence.subject.trace_reader import TraceReader
from whence.techniques.cause_tree.explanation import Explanation, Line
from whence.techniques.cause_tree.tree import INTERRUPT, Node, Settings, Tree
from whence.techniques.cause_tree.weakest_precondition import Preconditions

MOST_FOLLOWED = 1_000_000  # events that led to the failure through which data is followed, the last ones
MOST_EVENTS = 200_000  # that are encoded, the last ones; what they take from earlier ones is as recorded
FIRST_EVENTS = 20_000  # that are encoded where time may be short: how long they take tells how many more there can be
SLOWEST = 0.0002  # seconds that an event may take to encode
# Of the budget, at most: until all is encoded, the tree is grown, and its causes are told. What is left joins these.
ENCODING, EXPLORING, TELLING = 0.5, 0.75, 0.88
MOST_LINES = 1000  # on one way, in a score
Events = NDArray[np.int64]
NOTED = 5  # kinds of unmodelled instructions that are named


@dataclass(slots=True, frozen=True)
class Options:
    """How a tree is made.

    ``depth``: the levels that are opened. ``correct``: functions designated as correct. ``fine``: statements known to
    be right. ``query`` and ``budget``: seconds for one question to the solver, and for all. The optimisations of
    section 4 of Yi et al., all on by default: ``slices`` (the trace first), ``loops``, ``prunes`` (constraints).
    """

    depth: int = 8
    correct: frozenset[str] = frozenset()
    fine: frozenset[Statement] = frozenset()
    query: float = 0.2
    budget: float = 60.0
    slices: bool = True
    loops: bool = True
    prunes: bool = True


@dataclass(slots=True, frozen=True)
class Seconds:
    """What a tree took: slicing, encoding, the walks without the solver (pre-conditions, tries), the solver, all."""

    slicing: float
    encoding: float
    walking: float
    solving: float
    total: float


@dataclass(slots=True)
class Built:
    """A tree with what it was made from.

    ``led`` counts the events that led to the failure, ``events`` those of them from where the run departs from a
    passing one, of which the last are ``encoded``.
    """

    tree: Tree
    path: Path
    decider: Decider
    led: int
    events: int
    encoded: int
    seconds: Seconds


def build(reader: TraceReader, symptom: Symptom, recording: Recording, options: Options = Options()) -> Built:
    """The tree of a failing run, opened to the depth of the options.

    Raises SubjectError where the symptom has no place in the trace.
    """
    began = time.monotonic()
    references = list(symptom.details.get("criteria", []))
    if not references:
        raise SubjectError(f"the symptom has no place in the trace: {symptom.text}", "try `whence locate` instead")
    influence = Influence(reader, options.correct)
    if recording.departure is not None and len(influence.sliced(references).events) > FIRST_EVENTS:
        influence = Influence(reader, options.correct, recording.departure, references)
    silent = influence.silent(symptom, recording)
    overrun = influence.neighbours.overrun if symptom.kind == "crash" else None
    references += [overrun.event + 1] if overrun else []
    events = np.arange(influence.trace.events)
    if options.slices:
        events = influence.relevant_slice(references, silent, MOST_EVENTS).events
    influence.earliest = int(events[-MOST_FOLLOWED]) if len(events) > MOST_FOLLOWED else 0
    led = len(events)
    if influence.departure is not None:
        events, influence.earliest = influence.behind(events), influence.departure.event
    sliced = time.monotonic()
    path, encoded, interrupted = _encoded(recording, influence, events, began + ENCODING * options.budget)
    ready = time.monotonic()
    decider = Decider(path.terms, path.encoding.evaluation.value, options.query)
    goals = Goals(reader, path, influence)
    settings = Settings(options.loops, options.fine)
    preconditions = Preconditions(path, decider, options.prunes)
    tree = Tree(influence, goals, preconditions, settings, began + EXPLORING * options.budget)
    wanted = [*(goals.elsewhere(overrun) if overrun else []), *goals.of_symptom(symptom, recording)]
    if overrun and goals.is_of_heap(symptom):
        references = [overrun.event + 1]
    tree.plant(wanted, references, silent, goals.beyond(overrun) if overrun else "")
    tree.explore(0 if interrupted else options.depth)
    tree.stopped = INTERRUPT if interrupted else tree.stopped
    walking = preconditions.seconds - decider.seconds
    seconds = Seconds(sliced - began, ready - sliced, walking, decider.seconds, time.monotonic() - began)
    return Built(tree, path, decider, led, len(events), encoded, seconds)


def _encoded(recording: Recording, influence: Influence, events: Events, latest: float) -> tuple[Path, int, bool]:
    """The path of the last events, of as many as there is time for; how many; whether Ctrl-C cut it short."""

    def path(count: int) -> Path:
        encoding = encode(recording.trace, _inputs(recording), events[-count:], frozenset(Kind))
        return Path(encoding, recording.trace, influence.sources)

    count, least = min(len(events), MOST_EVENTS), min(len(events), FIRST_EVENTS, MOST_EVENTS)
    began = time.monotonic()
    if count * SLOWEST > latest - began:
        first, now = path(least), time.monotonic()
        count = min(count, int((latest - now) * least / (now - began)))
        if count <= least:
            return first, least, False
    try:
        return path(count), count, False
    except KeyboardInterrupt:
        return path(least), least, True


def _inputs(recording: Recording) -> Inputs:
    """What the run was given, as far as a case tells: of a test suite's command it does not."""
    case = recording.case
    if case.command is not None:
        return NOTHING
    stdin = case.stdin.read_bytes() if isinstance(case.stdin, FilePath) else case.stdin
    return Inputs(tuple(case.arguments), stdin or b"")


# ---- Findings --------------------------------------------------------------------------------------------------------


def causes(reader: TraceReader, symptom: Symptom, recording: Recording, options: Options = Options()) -> Findings:
    """The statements of a run's cause tree, those of the lowest levels first, and the tree (part ``tree``)."""
    latest = time.monotonic() + TELLING * options.budget
    built = build(reader, symptom, recording, options)
    explanation = Explanation(built.tree)
    opened = built.tree.opened(options.depth)
    told = [node for node in opened if _is_told(explanation, node, latest)]
    levels, lines = ranked(explanation, told)
    scores = {s: 1 / (1 + levels[s] + min(len(line.way), MOST_LINES) / MOST_LINES) for s, line in lines.items()}
    evidence = {s: _evidence(explanation, levels[s], line) for s, line in lines.items()}
    findings = Findings("causes", reader.subject.name, rank(scores, evidence), symptom)
    findings.parts["tree"] = {
        "case": recording.case.name,
        "depth": options.depth,
        "encoded": built.encoded,
        "queries": built.decider.queries,
        "stopped": bool(built.tree.stopped),
        "nodes": explanation.part(told),
    }
    first, *findings.remarks = _summary(built, explanation, options)
    if len(told) < len(opened):
        findings.remarks.append(f"of {len(opened):,} causes {len(told):,} are told for lack of time: --budget 5m")
    findings.summary = [first]
    return findings


def _is_told(explanation: Explanation, node: Node, latest: float) -> bool:
    """Find what a node says, unless it is too late for that; the root's, from which all others are, whenever."""
    if node.parent is not None and time.monotonic() >= latest:
        return False
    explanation.lines(node)
    return True


def ranked(explanation: Explanation, nodes: Iterable[Node]) -> tuple[dict[Statement, int], dict[Statement, Line]]:
    """The statements of a tree's nodes: the lowest level of each, and there its line with the shortest way.

    What only stands beside a cause counts to the next level.
    """
    levels: dict[Statement, int] = {}
    lines: dict[Statement, Line] = {}
    for node in nodes:
        for line in explanation.lines(node):
            level = node.level + (line.beside >= 0)
            known = levels.setdefault(line.statement, level)
            shorter = line.statement not in lines or len(line.way) < len(lines[line.statement].way)
            if level < known or (level == known and shorter):
                levels[line.statement], lines[line.statement] = level, line
    return levels, lines


def _evidence(explanation: Explanation, level: int, line: Line) -> dict[str, Any]:
    action = explanation.action(line)
    text = f"line {line.statement.line} {action}" if action else ""
    return {"level": level, "lines_to_read": len(line.way), "text": text}


def _summary(built: Built, explanation: Explanation, options: Options) -> Iterable[str]:
    """What was done, and what was not."""
    tree, decider = built.tree, built.decider
    nodes = [node for node in tree.nodes if node.children is not None]
    yield (
        f"{len(nodes):,} causes to level {max((n.level for n in nodes), default=0)}, from {built.encoded:,} of "
        f"{tree.reader.trace.events:,} events; {decider.queries:,} questions to the solver"
    )
    if built.events > built.encoded:
        why = (
            ""
            if built.encoded == MOST_EVENTS or tree.stopped == INTERRUPT
            else ", for more there was no time: --budget 5m"
        )
        yield f"{built.events:,} events led to the failure; causes are looked for among the last {built.encoded:,}{why}"
    if built.led > built.events:
        yield (
            f"{built.led:,} events led to the failure; causes are looked for among the {built.events:,} of them "
            "from where it departs from a passing run"
        )
    if built.led > MOST_FOLLOWED:
        yield f"values are followed back through the last {MOST_FOLLOWED:,} of these events"
    if tree.stopped == INTERRUPT:
        yield "interrupted: causes are missing"
    elif tree.stopped:
        yield f"stopped after {built.seconds.total:.0f} s: causes are missing; more time: --budget 5m"
    elif unopened := sum(node.children is None for node in tree.nodes):
        yield f"{unopened:,} more causes on the next level: --depth {options.depth + 1}"
    undecided = [node for node in nodes if any(not c.contradiction.is_decided for c in node.causes) and node.level]
    if undecided:
        places = list(dict.fromkeys(_place(explanation, node) for node in undecided))
        yield f"not decided, so taken with all that they come from: {', '.join(places[:NOTED])}"
    notes = built.path.encoding.notes
    yield from (f"taken as recorded: {note} ({count:,} times)" for note, count in notes.most_common(NOTED))


def _place(explanation: Explanation, node: Node) -> str:
    place = explanation.reader.statement(node.event)
    return "a test without a place" if place is None else f"{place.file}:{place.line}"
