"""Failure-inducing chains as a technique: a failing case, the run it is compared with, and the chain as findings."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, Observed, Verdict
from whence.alter.faithful import FailureSignature
from whence.alter.session import Session
from whence.errors import SubjectError, UsageError
from whence.findings import Entry, Findings, Statement, plural
from whence.probe.instrument import Variant
from whence.program.correspondence import correspond
from whence.run.outcome import Kind as Outcome
from whence.subject.memory_check import Checker
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.chains.causality import Causality, Stopped, Target
from whence.techniques.chains.compared_run import ComparedRun
from whence.techniques.chains.continuations import Continuations
from whence.techniques.chains.dependence_based import dependence_based
from whence.techniques.chains.explanation import Explanation, Step
from whence.techniques.chains.hierarchical import hierarchical
from whence.techniques.chains.index_tree import IndexTree
from whence.techniques.chains.pairing import Pairing
from whence.techniques.chains.reference import Kind, Reference, ReferenceFails, unchanged
from whence.techniques.chains.state import Elsewhere, States, Unreached
from whence.techniques.chains.walk import Walk, beginning, linear
from whence.trace.writers import NOTHING

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case
    from whence.subject.recorder import Recording
    from whence.trace.trace import Trace


class Algorithm(NamedTuple):
    """How a chain is searched for; ``is_printed``: without the short cuts that ``Walk`` has beside the paper's way."""

    search: Callable[[Walk], Target | None]
    is_printed: bool = False


ALGORITHMS = {
    "dependence": Algorithm(dependence_based),
    "hierarchical": Algorithm(hierarchical),
    "dependence-printed": Algorithm(dependence_based, is_printed=True),
    "hierarchical-printed": Algorithm(hierarchical, is_printed=True),
    "linear": Algorithm(linear),
}
BEGINNING = 0.2  # of the time, at least, for the beginning of a chain that there is no time to follow all the way
ROOM = 512 << 20  # bytes of a recorded run
TRACE_TICKS = 1 << 40
MOST_NAMED = 32  # points at which all memory is read for the name of what a step is about
LEAST_SHARED = 0.5  # of either version's instructions
WHAT_HELPS = "give a smaller input, or compare with a good version of the program"
WHAT_IS_UNLIKE = "`whence memory` tells whether the run reads what was never given a value, or beyond an object"


def refuse_early(investigation: Investigation) -> None:
    """Raises UsageError for what has no chain, before anything is run."""
    if investigation.setup.window:
        raise UsageError("--window: a chain needs the whole run", "leave it out")


def refuse_threads(case: Case, trace: Trace) -> None:
    """Raises SubjectError for a run that has no chain, since it starts threads."""
    if trace.header.threads > 1:
        raise SubjectError(
            f"case {case.name} starts threads: states correspond only where they take the same turns in both runs",
            "`whence races` and `whence suppress` look at runs of several threads",
        )


def chain_findings(
    investigation: Investigation, row: int, recording: Recording, reference: Reference, algorithm: str
) -> Findings:
    """The chain of a failing case, compared with a reference run: its statements in order of time.

    Raises SubjectError where the runs cannot be compared.
    """
    subject = investigation.subject
    investigation.build(Variant.REPLAY)
    symptom = symptom_of(recording, subject.folder)
    plain = FailureSignature.of(recording.case, investigation.runs.tested[row].result)
    with ExitStack() as stack, investigation.watcher.first_use():
        investigation.watcher.busy(f"comparing {recording.case.name} with {reference.text}")
        session = stack.enter_context(Session(subject, recording.case, plain=plain, variant=Variant.REPLAY))
        comparison = stack.enter_context(compare(session, reference))
        chain = comparison.walk(ALGORITHMS[algorithm], lambda: investigation.clock.left, symptom.event)
    if not chain.steps and not chain.incomplete and len(reference.changes):
        chain.steps = [_patched(reference, chain.is_unexplained)]
    findings = Findings("chain", subject.name, symptom=symptom)
    findings.ranking = _ranking(chain.steps)
    findings.parts["chain"] = _part(recording, reference, algorithm, chain)
    findings.parts["cases"] = investigation.coverage.case_totals()
    findings.summary = _summary(reference, chain)
    findings.warnings = [f"the chain is not complete: {chain.incomplete}"] if chain.incomplete else []
    if reference.kind is Kind.CASE:
        findings.warnings.append(
            "compared with a run on another input: what differs for that alone is in the chain, too"
        )
    return findings


@dataclass(slots=True)
class Chain:
    """A chain: its steps in order of time, the altered runs and seconds that it took, and why it is not complete.

    ``gap``: what lies between so many first steps and the others was not looked at; 0 where nothing was left out.
    ``is_unexplained``: the runs differ before the first step, which comes about all the same.
    """

    steps: list[Step]
    tests: int
    seconds: float
    points: int
    incomplete: str = ""
    gap: int = 0
    is_unexplained: bool = False


@dataclass(slots=True)
class Comparison:
    """Two runs that can be compared, and how the failing one fails."""

    pairing: Pairing
    baseline: FailureSignature

    def walk(self, algorithm: Algorithm, left: Callable[[], float], symptom: int) -> Chain:
        """The chain up to where the failure shows (``symptom``: the event); ``left``: seconds that there are.

        Where they do not suffice, the last ones go to its beginning.
        """
        began, until = time.monotonic(), BEGINNING * left()
        baseline, failing = self.baseline, self.pairing.failing
        crash = symptom if baseline.kind is Outcome.CRASH else -1
        points = self.pairing.points_before(baseline.stream, baseline.wrong, crash)
        causality = Causality(States(self.pairing), baseline, lambda: left() <= until, crash)
        causality.is_shared = not algorithm.is_printed
        walk = Walk(causality, IndexTree(failing.trace, points), is_printed=algorithm.is_printed)
        incomplete, gap, unexplained, names = "", False, False, MOST_NAMED
        try:
            unexplained = _is_unexplained(causality, algorithm.search(walk))
        except Stopped:
            incomplete = "its time is over (more: --budget 5m)"
            causality.stop = lambda: left() <= 0
            gap = _begun(walk)
        except KeyboardInterrupt:
            incomplete, names = "it was interrupted", 0
        except Elsewhere:
            incomplete = "the program's heap lies otherwise in altered runs than in the recorded one"
        except Unreached:
            incomplete = "an altered run did not come to a point again that the failing run comes to"
        readers = [TraceReader(run.session.subject, run.trace) for run in (failing, self.pairing.reference)]
        steps = Explanation(readers[0], readers[1], causality, names).steps(walk.sets)
        first = sum(step.time <= walk.sets[-1][0] for step in steps) if gap else 0
        return Chain(steps, causality.tests, time.monotonic() - began, len(points), incomplete, first, unexplained)


def _begun(walk: Walk) -> bool:
    """Whether the beginning of a chain was found in the time that is left; without it there is the end alone."""
    try:
        return beginning(walk)
    except (Stopped, Unreached):
        return False


def _is_unexplained(causality: Causality, last: Target | None) -> bool:
    """Whether a chain ends although the runs differ before: theorem 2 holds only where they do not."""
    if last is None or last.variables:
        return False
    return not all(faulty.is_stale for faulty in causality.states.difference(last.point).values())


@contextmanager
def compare(session: Session, reference: Reference) -> Iterator[Comparison]:
    """The two runs recorded. Raises SubjectError where they cannot be compared."""
    _check(session)
    assert session.signature is not None
    if reference.version is None and reference.case is None:
        failing, other = _recorded(session, [np.zeros(0, CHANGE), reference.changes])
        yield Comparison(Pairing(failing, other), session.signature)
        return
    version, case = reference.version or session.subject, reference.case or session.case
    correspondence = correspond(session.subject.program, version.program) if reference.version else None
    if correspondence is not None and min(correspondence.shares) < LEAST_SHARED:
        raise SubjectError(
            f"{reference.text} shares only {min(correspondence.shares):.0%} of the instructions with the program",
            "name a version that differs by little more than the fault",
        )
    with Session(version, case, variant=Variant.REPLAY) as good:
        observed = _check(good)
        if observed.result["verdict"] != Verdict.PASS:
            raise ReferenceFails(f"case {case.name} fails with {reference.text}, too", "name one that passes it")
        (failing,), (other,) = (_recorded(opened, [np.zeros(0, CHANGE)]) for opened in (session, good))
        yield Comparison(Pairing(failing, other, correspondence), session.signature)


def nearest(session: Session, references: Sequence[Reference], is_over: Callable[[], bool]) -> Reference:
    """Of patched runs the one that is nearest to the failing run: the fewest of both's events have no counterpart.

    Where as few have none, the fewest others have another value. Of those that were looked at, in their order, before
    the time ``is_over``; the first one always is. Raises SubjectError where the runs cannot be compared.
    """
    if len(references) == 1:
        return references[0]
    _check(session)
    (failing,) = _recorded(session, [np.zeros(0, CHANGE)])
    best, least = references[0], (sys.maxsize, 0)
    for reference in references:
        (patched,) = _recorded(session, [reference.changes])
        distance = _distance(Pairing(failing, patched))
        if distance < least:
            best, least = reference, distance
        if is_over():
            break
    return best


def _distance(pairing: Pairing) -> tuple[int, int]:
    """How many events of two runs have no counterpart, and how many of the failing run another value."""
    matched = np.flatnonzero(pairing.events >= 0)
    alone = pairing.failing.trace.events + pairing.reference.trace.events - 2 * len(matched)
    mine, is_known = pairing.failing.trace.values(matched)
    theirs, is_other_known = pairing.reference.trace.values(pairing.events[matched])
    return alone, int((is_known & is_other_known & (mine != theirs)).sum())


def _check(session: Session) -> Observed:
    """The unaltered run; raises SubjectError where states of it cannot be looked at."""
    observed = session.observe(0)
    if observed.unusable:
        raise SubjectError(f"case {session.case.name}: {observed.unusable}", WHAT_IS_UNLIKE)
    if observed.refusal:
        why = f"it can only be altered from its start: {observed.refusal}"
        raise SubjectError(f"case {session.case.name}: {why}", WHAT_HELPS)
    return observed


def _recorded(session: Session, runs: Sequence[NDArray[np.void]]) -> list[ComparedRun]:
    """The runs of a session's case with some changes, recorded alike."""
    subject = session.subject
    never = unchanged(subject.alter_plan.sites)
    recordings = session.traces([changes if len(changes) else never for changes in runs], TRACE_TICKS, ROOM)
    checker, found = Checker(subject, variant=Variant.REPLAY), []
    continuations = Continuations(session)
    for recording, changes in zip(recordings, runs, strict=True):
        if recording is None or recording.is_cut:
            raise SubjectError(f"case {session.case.name}: its run is too long to be compared", WHAT_HELPS)
        refuse_threads(session.case, recording.trace)
        found.append(ComparedRun(continuations, recording.trace, checker.check(recording.trace), changes))
    return found


def _patched(reference: Reference, is_unexplained: bool) -> Step:
    """The only step where no value that differs is needed: the two runs part where the failing one is patched."""
    text = "makes it fail by itself: no value that differs before it was needed"
    if is_unexplained:
        text = "is where it was patched: how that led on is not known, as it fails even with all that differs set right"
    return Step(NOTHING, reference.statement, text, reference.text.removeprefix("itself, "), [], NOTHING)


def _ranking(steps: list[Step]) -> list[Entry]:
    """The statements of the steps in order of time: the chain begins at the root cause, or near it."""
    by_statement: dict[Statement, list[Step]] = {}
    for step in steps:
        if step.statement is not None:
            by_statement.setdefault(step.statement, []).append(step)
    count = len(by_statement)
    return [
        Entry(statement, (count - place) / count, place + 1, place + 1, {"text": _told(members[0])})
        for place, (statement, members) in enumerate(by_statement.items())
    ]


def _told(step: Step) -> str:
    return step.text + (f" (reference: {step.reference})" if step.reference else "")


def _part(recording: Recording, reference: Reference, algorithm: str, chain: Chain) -> dict[str, Any]:
    """The part ``chain`` of the findings."""
    at = reference.statement
    return {
        "case": recording.case.name,
        "reference": {
            "kind": str(reference.kind),
            "text": reference.text,
            "file": at.file if at else None,
            "line": at.line if at else None,
        },
        "algorithm": algorithm,
        "steps": [step.json() for step in chain.steps],
        "tests": chain.tests,
        "seconds": round(chain.seconds, 3),
        "points": chain.points,
        "incomplete": chain.incomplete,
        "gap": chain.gap,
    }


def _summary(reference: Reference, chain: Chain) -> list[str]:
    found = [
        f"compared with {reference.text}",
        f"{plural(len(chain.steps), 'step')} by {plural(chain.tests, 'altered run')}, "
        f"of {chain.points:,} aligned points, in {chain.seconds:.1f} s",
    ]
    if chain.is_unexplained and chain.steps and chain.steps[0].statement != reference.statement:
        found.append(
            "its first step comes about whatever differs before it: by what is executed in this run alone, or by what "
            "is not compared, such as blocks that only one of the runs has"
        )
    return found
