"""Failure-inducing chains, with the run that a failing run is compared with: what other techniques found patches it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from whence.alter.session import Session
from whence.dependence.predicate_switching import Failing
from whence.dependence.slices import symptom_start
from whence.errors import SubjectError, WhenceError
from whence.findings import Findings, plural
from whence.investigation.account import summary
from whence.probe.instrument import Variant
from whence.subject.good_version import good_version
from whence.subject.runs import counters
from whence.subject.suspiciousness import rank_by_coverage
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.chains.reference import Kind, Reference, critical
from whence.techniques.chains.technique import chain_findings, nearest, refuse_early
from whence.techniques.rules.rules import Repair, best_repairs
from whence.techniques.value_replacement.technique import searched_pairs

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.subject.recorder import Recording

ALGORITHM = "dependence"
COMPARED = 6  # equally good rules or switches, at most, of which the run that they patch is looked at
MANY = 1 << 20  # events of a failing run from which on it is not recorded with several patches
REPAIRS = 0.9  # score from which on a rule is taken for a repair
SEARCHING = 0.7  # of the time, at most, for finding a run to compare with: the rest is for comparing
REPAIRING, LAST = 0.6, 0.8  # of what is left of that, at most, for finding a repair, and for the last kind of patch
SHARE = 0.4  # of it for each other kind
NEAREST = 0.25  # of what is left then for choosing among those


@dataclass(frozen=True, slots=True)
class FailureInducingChain:
    """How a failure came about: the faulty values from the first one to the symptom, each needed for the next.

    ``algorithm``: ``dependence`` (Algorithm 2), ``hierarchical`` (Algorithm 1), either with ``-printed`` for the
    paper's way without short cuts, or ``linear``: all points one by one. All give the same chain.
    ``reference``: what the failing run is compared with: itself, patched (``switch``, ``rule``, ``pair``), the nearest
    passing ``case``, or a good version of the program: the path of a folder, C file or executable. By default the first
    of these kinds that there is.
    """

    algorithm: str = ALGORITHM
    reference: str | Path | None = None

    def run(self, investigation: Investigation) -> Findings:
        """The statements of the chain in order of time.

        Raises SubjectError where no case fails, or no run is found to compare with; UsageError for ``window``.
        """
        refuse_early(investigation)
        row, recording = investigation.record_failing(investigation.failing_rows())
        if recording.case.command is not None:
            raise SubjectError(
                f"{recording.case.name} runs a command: states are looked at in runs of the program itself",
                "give one of its runs of the program as a case: --fails 'ARGUMENTS' --expect 'OUTPUT'",
            )
        remarks: list[str] = []
        if self.reference is not None and self.reference not in set(Kind) - {Kind.VERSION}:
            reference = _version(investigation, Path(self.reference), recording)
            findings: Findings | None = chain_findings(investigation, row, recording, reference, self.algorithm)
        else:
            order = ORDER if self.reference is None else ((Kind(self.reference), _FINDERS[Kind(self.reference)]),)
            findings = telling_chain(investigation, row, recording, order, self.algorithm, remarks)
        if findings is None:
            tried = "".join(f"\n{remark}" for remark in remarks)
            raise SubjectError(
                f"no run to compare {recording.case.name} with",
                f"name a good version of the program with --reference, or a smaller input{tried}",
            )
        findings.summary = [*summary(investigation.subject, investigation.runs), *remarks, *findings.summary]
        return findings


def telling_chain(
    investigation: Investigation,
    row: int,
    recording: Recording,
    order: Sequence[tuple[Kind, Finder]],
    algorithm: str,
    remarks: list[str],
) -> Findings | None:
    """The chain of a failing case with the first reference run of some kinds; None where there is no such run.

    A branch that is switched may be all that its chain holds: where it decides what is printed, and no value that
    differs was needed for it. Another patch may lie farther from the failure, so it is looked for, and its chain taken
    if it holds more.
    """
    short: Findings | None = None
    while order:
        reference, order = first_reference(investigation, row, recording, order, remarks)
        if reference is None or (short is not None and reference.kind is Kind.CASE):
            break
        try:
            found = chain_findings(investigation, row, recording, reference, algorithm)
        except SubjectError:
            if short is None:
                raise
            break
        is_short = len(found.parts["chain"]["steps"]) <= 1
        if not is_short or (short is None and reference.kind is not Kind.SWITCH):
            return found
        short = short or found
        incomplete = found.parts["chain"]["incomplete"]
        remarks.append(f"compared with {reference.text}: {incomplete or 'no value that differs was needed'}")
    return short


def first_reference(
    investigation: Investigation,
    row: int,
    recording: Recording,
    order: Sequence[tuple[Kind, Finder]],
    remarks: list[str],
) -> tuple[Reference | None, Sequence[tuple[Kind, Finder]]]:
    """The first of some kinds of runs to compare a failing case with that there is, and the kinds behind it.

    What was in vain is remarked.
    """
    with investigation.clock.part(SEARCHING):
        for place, (kind, find) in enumerate(order, 1):
            try:
                found = find(investigation, row, recording)
            except WhenceError as error:
                found = str(error)
            if isinstance(found, Reference):
                return found, order[place:]
            remarks.append(f"compared with no {kind}: {found}")
    return None, ()


def patched_chain(
    investigation: Investigation, row: int, recording: Recording, found: Sequence[Findings] = ()
) -> Findings:
    """The chain of a failing case against itself, patched: nothing but a line of the summary where nothing patches it.

    Where the rules are among what was ``found`` before, a repair is looked for only if they hold one. Raises
    SubjectError where the runs cannot be compared.
    """
    refuse_early(investigation)
    rules = next((one.parts["rules"] for one in found if one.technique == "rules"), None)
    is_in_vain = rules is not None and not any(row["score"] >= REPAIRS and not row["doubt"] for row in rules)
    chain = telling_chain(investigation, row, recording, PATCHES[is_in_vain:], ALGORITHM, [])
    if chain is None:
        text = "no chain of values: nothing that was tried makes the failing run pass"
        return Findings("chain", investigation.subject.name, summary=[text])
    return chain


# ---- Where reference runs come from: each finder gives one, or says why there is none --------------------------------


def _version(investigation: Investigation, path: Path, recording: Recording) -> Reference:
    with investigation.clock.standing():
        version = good_version(path, investigation.subject, recording.case)
        version.variant(Variant.REPLAY)
    return Reference(Kind.VERSION, f"the good version {path}", version=version)


def _switch(investigation: Investigation, row: int, recording: Recording) -> Reference | str:
    """The critical predicate with which the run changes least; of a long run the last one.

    The first one (section 4.1) is often an option that is taken for another one, with which all that follows is another
    run: its chains hold more steps that are not in the ideal ones (docs/chains.md).
    """
    start = symptom_start(symptom_of(recording, investigation.subject.folder))
    failing = Failing.of(TraceReader(investigation.subject, recording.trace), recording.case, start.references)
    with investigation.work("switching branches", SHARE) as work:
        found, tried = critical(work, failing, COMPARED)
    if not found:
        return f"{recording.case.name} passes with none of {plural(tried, 'branch instance')} sent the other way"
    return _nearest(investigation, recording, found[::-1])


def _repair(
    investigation: Investigation, row: int, recording: Recording, least: float = REPAIRS, share: float = REPAIRING
) -> Reference | str:
    """The best rule that is as good as a repair; of equally good ones that with which the run changes least."""
    with investigation.work("trying rules", share) as work:
        repairs = best_repairs(investigation.subject, investigation.runs, work, row, least)
    if not repairs:
        return f"no change of a site repairs {recording.case.name}" + (" and all like it" if least else "")
    found = [_ruled(repair) for repair in repairs[:COMPARED]]
    return _nearest(investigation, recording, found)


def _nearest(investigation: Investigation, recording: Recording, references: Sequence[Reference]) -> Reference:
    """Of patched runs the one that changes least; of a long run the first."""
    if recording.trace.events > MANY:
        return references[0]
    investigation.build(Variant.REPLAY)
    ends = investigation.clock.within(NEAREST)
    with Session(investigation.subject, recording.case, variant=Variant.REPLAY) as session:
        return nearest(session, references, lambda: time.monotonic() >= ends)


def _rule(investigation: Investigation, row: int, recording: Recording) -> Reference | str:
    """The best rule with which the case passes, whatever else it does."""
    return _repair(investigation, row, recording, 0.0, LAST)


def _ruled(repair: Repair) -> Reference:
    where = f" on line {repair.statement.line}" if repair.statement else ""
    return Reference(Kind.RULE, f"itself, with {repair.words}{where}", repair.changes, repair.statement)


def _pair(investigation: Investigation, row: int, recording: Recording) -> Reference | str:
    """The value at the most suspicious statement that has one, the first in time."""
    statements = investigation.subject.places.statements
    ranks = {entry.statement: entry.rank for entry in rank_by_coverage(investigation.coverage, "op2")}
    with investigation.work("replacing values", SHARE) as work:
        searched = searched_pairs(investigation, [row], work)
    pairs = searched.pairs[~searched.pairs["relaxed"]] if searched.targets else np.zeros(0)
    if not len(pairs):
        return f"{recording.case.name} passes with no other value that was tried"
    order = sorted(pairs, key=lambda p: (ranks.get(statements[int(p["statement"])], len(ranks)), int(p["event"])))
    first, statement = order[0], statements[int(order[0]["statement"])]
    changes = searched.targets[0].changes(np.array([first["event"]]), np.array([first["alternate"]]))
    return Reference(Kind.PAIR, f"itself, with another value on line {statement.line}", changes, statement)


def _case(investigation: Investigation, row: int, recording: Recording) -> Reference | str:
    """The passing case that executes most nearly the same code."""
    runs = investigation.runs
    is_block = np.array([not counter.side for counter in counters(investigation.subject)], np.bool_)
    executed = runs.counts[:, : len(is_block)][:, is_block] > 0
    passing = [other for other in runs.passing if runs.tested[other].case.command is None]
    if not passing:
        return "no case passes that runs the program itself"
    nearest = min(passing, key=lambda other: (int((executed[other] != executed[row]).sum()), other))
    case = runs.tested[nearest].case
    return Reference(Kind.CASE, f"the passing case {case.name}, which differs in its input, too", case=case)


Finder = Callable[["Investigation", int, "Recording"], Reference | str]
_FINDERS: dict[Kind, Finder] = {Kind.SWITCH: _switch, Kind.RULE: _rule, Kind.PAIR: _pair, Kind.CASE: _case}
# In which order they are looked for: a repair comes nearest to the program without its fault (bench.chains).
PATCHES: tuple[tuple[Kind, Finder], ...] = (
    (Kind.RULE, _repair),
    (Kind.SWITCH, _switch),
    (Kind.PAIR, _pair),
    (Kind.RULE, _rule),
)
ORDER = (*PATCHES, (Kind.CASE, _case))
