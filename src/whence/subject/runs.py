"""Running all cases: verdicts of the plain program, checked against those of the variant, and its coverage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whence.errors import SubjectError
from whence.findings import Statement
from whence.probe.cover import branch_sides, counters_of
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.outcome import Outcome
from whence.run.result import RunResult
from whence.subject.subject import Subject, is_statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Tested:
    """A case with its run on the plain program."""

    case: Case
    result: RunResult
    outcome: Outcome


@dataclass(slots=True)
class Runs:
    """The runs of all cases that count: flaky ones and those whose verdict a variant changes are named in ``left_out``.

    ``counts``: uint32, cases by counters of the cover variant.
    """

    tested: list[Tested]
    counts: NDArray[np.uint32]
    left_out: list[str] = field(default_factory=list)

    @property
    def failing(self) -> list[int]:
        """Rows of the failing cases."""
        return [row for row, tested in enumerate(self.tested) if tested.outcome.failed]

    @property
    def passing(self) -> list[int]:
        """Rows of the passing cases."""
        return [row for row, tested in enumerate(self.tested) if tested.outcome.passed]


@dataclass(slots=True, frozen=True)
class Counter:
    """What one counter of the cover variant counts: a block, or a side of a branch."""

    statements: tuple[Statement, ...]
    side: str = ""  # "", "true" or "false"
    column: int = 0


def run_all(subject: Subject, progress: Progress | None = None) -> Runs:
    """Run every case twice on the plain program and once on the cover variant.

    Raises SubjectError where there is no case, or none that counts.
    """
    import numpy as np

    if not subject.cases:
        raise SubjectError("no cases", "add cases to whence.toml, or give --fails and --passes")
    total = 3 * len(subject.cases)
    plain: list[RunResult] = []
    with subject.runner() as runner:
        for start in (0, len(subject.cases)):
            plain += runner.run_cases(subject.cases, progress=_shifted(progress, start, total))
    with subject.runner(Variant.COVER) as runner:
        covered = runner.run_cases(subject.cases, progress=_shifted(progress, 2 * len(subject.cases), total))
    tested, rows, left_out = [], [], []
    for case, first, second, cover in zip(
        subject.cases, plain, plain[len(subject.cases) :], covered, strict=False
    ):
        outcome = judge(case, first)
        reason = _unusable(case, outcome, judge(case, second), judge(case, cover), first, second)
        if reason:
            left_out.append(reason)
        elif outcome.passed or outcome.failed:
            tested.append(Tested(case, first, outcome))
            rows.append(cover.coverage)
    if not tested:
        raise SubjectError(f"none of {len(subject.cases)} cases can be used: {left_out[0] if left_out else 'all skipped'}")
    return Runs(tested, np.array(rows, np.uint32), left_out)


def _shifted(progress: Progress | None, start: int, total: int) -> Progress | None:
    """Progress of one of several batches."""
    return None if progress is None else lambda done, _: progress(start + done, total)


def _unusable(
    case: Case, outcome: Outcome, again: Outcome, covered: Outcome, first: RunResult, second: RunResult
) -> str:
    """Why a case does not count; empty when it does."""
    if outcome.kind != again.kind or (case.command is None and first.observed != second.observed):
        return f"{case.name}: flaky: two runs of the program differ ({outcome.kind}, then {again.kind})"
    if outcome.kind != covered.kind:
        return f"{case.name}: {outcome.kind} in the program, {covered.kind} in its instrumented variant"
    return ""


def counters(subject: Subject) -> list[Counter]:
    """What each counter of the cover variant counts, in the order of the counters."""
    found: list[Counter] = []
    for ref in subject.program.functions:
        sides: list[Counter] = []
        for block in ref.function.blocks:
            places = (subject.relative(i.location) for i in block.instructions if is_statement(block, i))
            statements = dict.fromkeys(Statement(*place) for place in places if place)
            found.append(Counter(tuple(statements)))
            for side in branch_sides(block):
                place = subject.relative(side.instruction.location)
                statement = (Statement(*place),) if place else ()
                column = side.instruction.location.column if side.instruction.location else 0
                sides.append(Counter(statement, "true" if side.taken else "false", column))
        found += sides
        assert len(sides) + len(ref.function.blocks) == counters_of(ref.function)
    return found


def coverage(subject: Subject, runs: Runs) -> Any:
    """The ``techniques.spectrum.Coverage`` of the runs: counters without a place in the source are left out."""
    import numpy as np

    from whence.techniques.spectrum import Coverage, Site

    sites = counters(subject)
    used = [n for n, counter in enumerate(sites) if counter.statements]
    failed = np.array([tested.outcome.failed for tested in runs.tested], np.bool_)
    named = [Site(sites[n].statements, sites[n].side, sites[n].column) for n in used]
    return Coverage(runs.counts[:, used], failed, named, [tested.case.name for tested in runs.tested])


def blocks_executed(subject: Subject, runs: Runs) -> NDArray[np.int64]:
    """For each row, how many blocks its run executed: the run's length."""
    import numpy as np

    is_block = np.array([not counter.side for counter in counters(subject)], np.bool_)
    return np.asarray(runs.counts[:, : len(is_block)][:, is_block].sum(axis=1, dtype=np.int64))
