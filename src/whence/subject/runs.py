"""Running all cases: verdicts of the plain program, checked against those of the variant, and its coverage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whence.build.flags import is_optimised
from whence.build.programs import captured_modules, programs
from whence.errors import NoTime, SubjectError
from whence.findings import Statement
from whence.probe.cover import branch_sides, counters_of
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.compare import EXACT, unsteady_place
from whence.run.oracle import judge
from whence.run.outcome import Kind, Outcome
from whence.run.result import RunResult
from whence.run.runner import RunLost, Runner
from whence.run.sandbox import LAYOUTS
from whence.subject.own_environment import verdicts_that_hang_on_it
from whence.subject.subject import Subject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[int, int], None]
Results = dict[int, RunResult]  # by the case's number
Written = tuple[bytes, dict[str, bytes]]  # standard output, and files by name

ENDLESS, ENDLESS_LEAST = 5.0, 1.0  # times the longest run that ends, and seconds, for the coverage of one that does not
PATTERNS = (0, 0xAA)  # what fresh memory is made to hold, to see whether a verdict depends on it
QUICK, GROWTH = 1.0, 3  # seconds that each case is given first, and times as many for those which did not end
FAR, PATIENCE = 100.0, 0.4  # times the longest run that ended, behind which waiting takes no larger share of the time
OTHERS = 5  # captured programs that are named where none of the cases runs the one that was
DEPENDS = "depends on uninitialised memory"
FLAKY = "flaky: "
TIME_OVER = "its run did not come to an end before the time was over"
BY_THE_OPTIMISER = "; or it is what the optimiser makes of undefined code, which shows in a build with -O0"
ORDER_OF_THREADS = "; or the order of its threads decides: `whence schedules` looks for one in which it fails"
SLOWER = 2  # the cover variant may take this many times as long as the time limit says


@dataclass(slots=True)
class Tested:
    """A case with its run on the plain program."""

    case: Case
    result: RunResult
    outcome: Outcome


@dataclass(slots=True)
class Runs:
    """The runs of all cases that count; flaky ones and those whose verdict a variant changes are in ``left_out``.

    ``counts``: uint32, cases by counters of the cover variant. ``depending`` are those of the cases left out whose
    verdict hangs on memory or layout, by their places in ``left_out``. ``unlike`` tells that the only failing cases are
    such whose verdict a variant changes: what they executed is known only as far as the variant ran as the program did.
    ``cut_short`` names the runs that were ended before their limit, and count as endless. ``pinned`` tells of verdicts
    that are other ones in the user's own environment.
    """

    tested: list[Tested]
    counts: NDArray[np.uint32]
    left_out: list[str] = field(default_factory=list)
    unlike: bool = False
    depending: dict[int, Case] = field(default_factory=dict)
    cut_short: list[str] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)

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


def run_all(subject: Subject, progress: Progress | None = None, deadline: float = float("inf")) -> Runs:
    """Run every case on the plain program and on the cover variant; and again what fails, or where the two differ.

    So every case runs twice at least, which tells flaky ones. What has not been run by ``deadline`` (of
    ``time.monotonic``) is left out; of the time, plain runs may take half. Raises SubjectError where there is no case,
    or none that counts, NoTime where there was none for a single case.
    """
    if not subject.cases:
        raise SubjectError("no cases", "add cases to whence.toml, or give --fails and --passes")
    batches = _Batches(subject.cases, progress)
    half = time.monotonic() + (deadline - time.monotonic()) / 2
    with subject.runner() as runner, subject.runner(Variant.COVER) as cover:
        plain = _plain(subject.cases, batches, runner, half)
        plain |= _at_other_addresses(batches, runner, plain, half)
        endless = [row for row, result in plain.items() if result.timed_out]
        others = [row for row in plain if row not in endless]
        cover.limits = replace(cover.limits, time=cover.limits.time * SLOWER)
        covered = batches.run(cover, others, deadline)
        cover.limits = replace(cover.limits, time=_long_enough(subject, covered))
        covered |= batches.run(cover, endless, deadline)
        cover.limits = replace(cover.limits, time=subject.limits.time * SLOWER)
        covered |= batches.run(cover, [row for row in endless if _is_empty(covered.get(row))], deadline)
        failing = [row for row in others if _verdict(plain[row]) not in (Kind.PASS, Kind.SKIPPED)]
        covered |= _at_like_addresses(batches, cover, covered, plain, deadline)
        differing = [row for row in covered if _verdict(plain[row]) is not _verdict(covered[row])]
        repeated = {} if subject.limits.aslr else batches.run(cover, differing, deadline)
        filled = _filled(batches, cover, differing, deadline)
        again = {} if subject.limits.aslr else batches.run(runner, sorted({*failing, *differing}), deadline)
        looked_at = [] if subject.limits.aslr else [plain[row] for row in failing or others]
        pinned = verdicts_that_hang_on_it(runner, looked_at)
    unstable = {row for row, result in repeated.items() if _verdict(result) is not _verdict(covered[row])}
    runs = _judged(subject, plain, covered, again, unstable, filled, batches.lost)
    runs.pinned = pinned
    runs.cut_short = _cut_short(subject, [one.result for one in runs.tested])
    _look_at_memory(subject, runs, deadline)
    return runs


def _look_at_memory(subject: Subject, runs: Runs, deadline: float) -> None:
    """Let silent failures count where that is asked for, and say what verdicts hang on that memory decides."""
    passing = [(row, runs.tested[row].case) for row in runs.passing]
    follows = not runs.failing  # forked processes: where something fails without them, that is enough
    asked = [(r, case) for r, case in passing if case.comparison.memory or (follows and case.follows_children)]
    if not asked and not runs.depending:
        return
    from whence.subject.memory_outcome import judged_by_memory, what_it_hangs_on
    from whence.subject.recorder import Recorder

    with Recorder(subject) as recorder:
        failing, unchecked = judged_by_memory(subject, recorder, asked, deadline)
        if time.monotonic() < deadline:
            for number, words in what_it_hangs_on(subject, recorder, runs.depending).items():
                runs.left_out[number] += f"; {words}"
    for row, outcome in failing.items():
        runs.tested[row].outcome = outcome
    runs.left_out += [f"{runs.tested[row].case.name}: {why}" for row, why in unchecked.items()]
    if unchecked:
        rows = [row for row in range(len(runs.tested)) if row not in unchecked]
        runs.tested, runs.counts = [runs.tested[row] for row in rows], runs.counts[rows]


def _plain(cases: Sequence[Case], batches: _Batches, runner: Runner, deadline: float) -> Results:
    """The runs of the program itself, long ones after all others: a few without an end would use up the time.

    So the time that a run gets grows until it is what the limits say; one that has not got that far when the time is
    over counts as endless if it went on for much longer than all that ended; where it went on for very much longer, a
    share of the time is enough. Where none ends in the first turn it is
    the program that takes long (it waits, say): beginning anew would use up the time. Commands take long anyway, and
    are run once.
    """
    limits, most = runner.limits, runner.limits.time or float("inf")
    slow = alone = [row for row, case in enumerate(cases) if case.command is None]
    found: Results = {}
    seconds = min(QUICK, most)
    while slow and time.monotonic() < deadline:
        runner.limits = replace(limits, time=seconds)
        found |= batches.run(runner, slow, deadline)
        slow = [row for row in slow if row in found and not _has_end(found[row], most)]
        if seconds >= most:
            break
        seconds = most if len(slow) == len(alone) else min(GROWTH * seconds, most)
        if _is_enough([found[row] for row in slow], found, seconds, deadline):
            break
    runner.limits = limits
    is_alone = len(alone) == 1
    found = {row: r for row, r in found.items() if _has_end(r, most) or _is_endless(found, r, is_alone)}
    found |= batches.run(runner, [row for row, case in enumerate(cases) if case.command is not None], deadline)
    return {row: found[row] for row in sorted(found)}


def _at_other_addresses(batches: _Batches, runner: Runner, plain: Results, deadline: float) -> Results:
    """Where addresses differ from run to run: a failing run of the first case that has one, and of other cases that
    fail a passing run, if they have one.
    """
    if not runner.limits.aslr:
        return {}
    found = {}
    if all(_verdict(result) is Kind.PASS for result in plain.values()):
        found = _repeated(batches, runner, list(plain), lambda row, kind: kind is not Kind.PASS, deadline, first=True)
    failing = [row for row, result in (plain | found).items() if judge(result.case, result).failed]
    return found | _repeated(batches, runner, failing[1:], lambda row, kind: kind is Kind.PASS, deadline)


def _at_like_addresses(batches: _Batches, cover: Runner, covered: Results, plain: Results, deadline: float) -> Results:
    """Where addresses differ from run to run: runs of the variant with the verdict of the program's own."""
    if not cover.limits.aslr:
        return {}
    rows = [row for row in covered if _verdict(plain[row]) is not _verdict(covered[row])]
    return _repeated(batches, cover, rows, lambda row, kind: kind is _verdict(plain[row]), deadline)


def _repeated(
    batches: _Batches,
    runner: Runner,
    rows: Sequence[int],
    is_wanted: Callable[[int, Kind], bool],
    deadline: float,
    first: bool = False,
) -> Results:
    """A run of each case with a verdict that is wanted, or only of the ``first`` one, of those that have one at other
    addresses.
    """
    found: Results = {}
    for _ in range(LAYOUTS):
        waiting = [row for row in rows if row not in found]
        for row, result in batches.run(runner, waiting, deadline).items():
            if is_wanted(row, _verdict(result)):
                found[row] = result
                if first:
                    return found
    return found


def _has_end(result: RunResult, limit: float) -> bool:
    """Whether a run ended by itself, waits for ever with all its threads, or was given all of its time."""
    return not result.timed_out or result.deadlocked or result.wall >= limit


def _is_endless(found: Results, result: RunResult, is_alone: bool) -> bool:
    """Whether a run that was ended early went on for much longer than all that ended; so does one that is alone."""
    longest = max((other.wall for other in found.values() if not other.timed_out), default=0.0)
    return (longest > 0 or is_alone) and result.wall >= ENDLESS * longest


def _is_enough(slow: Sequence[RunResult], found: Results, seconds: float, deadline: float) -> bool:
    """Whether runs without an end are waited for no longer: they are far from all that ended, and more costs much."""
    longest = max((other.wall for other in found.values() if not other.timed_out), default=0.0)
    is_far = longest > 0 and all(result.wall >= FAR * longest for result in slow)
    return is_far and len(slow) * seconds > PATIENCE * (deadline - time.monotonic())


def _cut_short(subject: Subject, results: Sequence[RunResult]) -> list[str]:
    """What is said of runs that were ended before their limit."""
    limit = subject.limits.time or float("inf")
    cut = [r for r in results if r.timed_out and not r.deadlocked and r.case.command is None and r.wall < limit]
    allowed = (
        f"of the {limit:g} s that [limits] time allows" if subject.limits.time else "though no [limits] time is set"
    )
    return [f"`{r.case.name}` counts as endless: ended after {r.wall:.1f} s, {allowed}" for r in cut]


def _long_enough(subject: Subject, covered: Results) -> float:
    """The seconds that a run without an end is looked at: longer than all that do end, but no more than the limit."""
    longest = max((result.wall for result in covered.values()), default=0.0)
    return min(max(ENDLESS_LEAST, ENDLESS * longest), subject.limits.time or float("inf"))


def _filled(batches: _Batches, cover: Runner, rows: list[int], deadline: float) -> dict[int, list[Kind]]:
    """The verdicts of some cases in the cover variant when fresh memory holds each of ``PATTERNS``."""
    found: dict[int, list[Kind]] = {row: [] for row in rows}
    limits = cover.limits
    for pattern in PATTERNS if rows else ():
        cover.limits = replace(limits, pattern=pattern)
        for row, result in batches.run(cover, rows, deadline).items():
            found[row].append(_verdict(result))
    return found


def _is_empty(result: RunResult | None) -> bool:
    """Whether a run was ended before it had executed anything, as on a machine that does a lot else."""
    return result is not None and (result.coverage is None or not result.coverage.any())


def _verdict(result: RunResult) -> Kind:
    return judge(result.case, result).kind


def _judged(
    subject: Subject,
    plain: Results,
    covered: Results,
    again: Results,
    unstable: set[int],
    filled: dict[int, list[Kind]],
    lost: Mapping[int, str],
) -> Runs:
    """The runs that count, and why the others do not; two runs of the variant differ for the ``unstable`` cases.

    ``lost`` tells by their numbers why cases cannot be run.
    """

    tested, rows, left_out, unlike = [], [], [], []
    depending: dict[int, Case] = {}
    for row, case in enumerate(subject.cases):
        if row in lost or row not in covered:
            left_out.append(f"{case.name}: {lost.get(row, TIME_OVER)}")
            continue
        outcome = judge(case, plain[row])
        reason = _why_not(outcome, plain[row], again.get(row, plain[row]), covered[row], filled.get(row, []))
        if case.passed and outcome.failed:
            reason = f"{FLAKY}it passed when it was captured from its test"
        if row in unstable:
            reason = f"{FLAKY}{outcome.kind} in one run, another verdict in the next"
        if subject.has_threads and reason.startswith((DEPENDS, FLAKY)):
            reason += ORDER_OF_THREADS
        if reason.startswith(f"{DEPENDS} or layout") and _is_optimised(subject):
            reason += BY_THE_OPTIMISER
        if reason:
            if reason.startswith(DEPENDS):
                depending[len(left_out)] = case
            left_out.append(f"{case.name}: {reason}")
            if outcome.failed and _unlike(outcome, covered[row]) in reason:
                unlike.append(row)
        else:
            tested.append(Tested(case, plain[row], outcome))
            rows.append(covered[row].coverage)
    alone = bool(unlike) and not any(one.outcome.failed for one in tested)
    for row in unlike if alone else ():
        case = subject.cases[row]
        tested.append(Tested(case, plain[row], judge(case, plain[row])))
        rows.append(covered[row].coverage)
    if not covered and not lost:
        raise NoTime("the time was over before the cases had been run", "more time: --budget 5m")
    if not tested:
        others = "\n".join(f"nor {other}" for other in left_out[1:6])
        raise SubjectError(f"no case can be used: {left_out[0]}", others or "add a case that ends by itself")
    if all(row is None for row in rows):
        raise SubjectError("no case ran the instrumented program", "\n".join(_how_to_run(subject, tested)))
    return Runs(tested, _matrix(rows), left_out, alone, depending)


def _how_to_run(subject: Subject, tested: Sequence[Tested]) -> Iterator[str]:
    """What helps where no case runs the program: lines."""
    hint = "the `command` has to run the program at `path` in its copy of the folder; where it builds that again "
    yield hint + "(is a source newer?), the plain program is back"
    failing = (one for one in tested if one.outcome.failed)
    printed = ((one.case.name, (one.result.stderr.strip() or one.result.stdout.strip())) for one in failing)
    if (first := next(((name, text) for name, text in printed if text), None)) is not None:
        yield f"test `{first[0]}` fails, and says at its end: {first[1].splitlines()[-1].decode(errors='replace')}"
    own = subject.executable.resolve()
    others = [path for path, _ in programs(subject.folder) if path.resolve() != own and captured_modules(path)]
    if others:
        names = ", ".join(str(path.relative_to(subject.folder)) for path in sorted(others)[:OTHERS])
        yield f"other captured programs here, of which `path` may name one: {names}"


def _matrix(rows: list[NDArray[np.uint32] | None]) -> NDArray[np.uint32]:
    """The rows as one array; a case that never ran the program (of a test suite) has counted nothing."""
    import numpy as np

    nothing = np.zeros_like(next(row for row in rows if row is not None))
    return np.array([nothing if row is None else row for row in rows], np.uint32)


class _Batches:
    """Runs some of the cases at a time, and tells the progress over all."""

    def __init__(self, cases: Sequence[Case], progress: Progress | None) -> None:
        self._cases, self._progress, self._done = cases, progress, 0
        self.lost: dict[int, str] = {}  # by the case's number why it cannot be run

    def run(self, runner: Runner, rows: Iterable[int], deadline: float) -> Results:
        """The results of the cases with these numbers, of as many as there is time for.

        A case that ends or stops its fork server, or cannot be run in its sandbox, has none; it is in ``lost``, and the
        others go on with another server and an empty folder.
        """
        rows = [row for row in rows if row not in self.lost]
        results: Results = {}
        while waiting := [row for row in rows if row not in results and row not in self.lost]:
            try:
                for row, result in zip(waiting, self._iterate(runner, waiting, deadline), strict=False):
                    results[row] = result
                    self._report(len(results), 0)
                break
            except RunLost as error:
                self.lost[next(row for row in waiting if row not in results)] = str(error).partition(": ")[2]
        self._done += len(rows)
        return results

    def _iterate(self, runner: Runner, rows: list[int], deadline: float) -> Iterator[RunResult]:
        return runner.iterate([self._cases[row] for row in rows], deadline=deadline)

    def _report(self, done: int, _: int) -> None:
        total = 2 * len(self._cases)
        if self._progress is not None:
            self._progress(min(self._done + done, total), total)


def _why_not(
    outcome: Outcome, plain: RunResult, again: RunResult, covered: RunResult, filled: Sequence[Kind] = ()
) -> str:
    """Why a case does not count; empty when it does. ``filled`` are its verdicts with each of ``PATTERNS``."""
    case = plain.case
    second, instrumented = judge(case, again), judge(case, covered)
    if outcome.kind is not second.kind:
        return f"{FLAKY}{outcome.kind} in one run, {second.kind} in another"
    if outcome.kind is Kind.WRONG_OUTPUT and case.comparison == EXACT and _written(plain) != _written(again):
        return f"{FLAKY}two runs print different wrong outputs, {_where_apart(_written(plain), _written(again))}"
    if outcome.kind is Kind.SKIPPED:
        return f"skipped: {outcome.text}"
    return _depends(_unlike(outcome, covered), filled) if outcome.kind is not instrumented.kind else ""


def _written(run: RunResult) -> Written:
    """Standard output and the compared files."""
    return run.stdout, {name: file.content for name, file in run.files.items()}


def _where_apart(one: Written, other: Written) -> str:
    """Where what two runs wrote first differs, and what lets the rest of it count."""
    if one[0] != other[0]:
        return f"in standard output {unsteady_place(one[0], other[0])}"
    name = min(name for name in {*one[1], *other[1]} if one[1].get(name) != other[1].get(name))
    return f"in file {name} {unsteady_place(one[1].get(name, b''), other[1].get(name, b''))}"


def _unlike(outcome: Outcome, covered: RunResult) -> str:
    """What is said of a case whose verdict the variant changes."""
    return f"{outcome.kind} in the program, but {_verdict(covered)} in its instrumented variant"


def _is_optimised(subject: Subject) -> bool:
    """Whether a part of the program was compiled with optimisation, which its instrumented variants are without."""
    return any(is_optimised(module.arguments) for module in subject.capture.modules)


def _depends(differs: str, filled: Sequence[Kind]) -> str:
    """That a verdict hangs on what C leaves open; and how, where the content of fresh memory changes it."""
    if len(set(filled)) < 2:
        return f"{DEPENDS} or layout: {differs}"
    ways = " and ".join(f"{kind} where fresh memory holds {byte}" for byte, kind in zip(PATTERNS, filled, strict=True))
    return f"{DEPENDS}: {differs} ({ways}; --pattern says what it holds)"


def counters(subject: Subject) -> Sequence[Counter]:
    """What each counter of the cover variant counts, in the order of the counters."""
    return subject.derived(_counters)


def _counters(subject: Subject) -> Sequence[Counter]:
    found: list[Counter] = []
    statements, numbers = subject.places.statements, subject.places.numbers.tolist()
    for ref in subject.program.functions:
        sides: list[Counter] = []
        first = ref.first_instruction
        for block in ref.function.blocks:
            end = first + len(block.instructions)
            here = [statements[n] for n in dict.fromkeys(numbers[first:end]) if n >= 0]
            found.append(Counter(tuple(here)))
            for side in branch_sides(block):
                last = numbers[end - 1]
                column = side.instruction.location.column if side.instruction.location else 0
                statement = (statements[last],) if last >= 0 else ()
                sides.append(Counter(statement, "true" if side.taken else "false", column))
            first = end
        found += sides
        assert len(sides) + len(ref.function.blocks) == counters_of(ref.function)
    return found


def coverage(subject: Subject, runs: Runs) -> Any:
    """The ``Coverage`` of the runs: counters without a place in the source are left out."""
    import numpy as np

    from whence.subject.coverage import Coverage, Site

    sites = counters(subject)
    used = [n for n, counter in enumerate(sites) if counter.statements]
    failed = np.array([tested.outcome.failed for tested in runs.tested], np.bool_)
    named = [Site(sites[n].statements, sites[n].side, sites[n].column) for n in used]
    return Coverage(runs.counts[:, used], failed, named, [tested.case.name for tested in runs.tested])


def nearest_passing(runs: Runs, row: int) -> list[int]:
    """Rows of the passing cases, those first whose coverage is nearest to that of the case in ``row``."""
    import numpy as np

    executed = runs.counts != 0
    distance = np.count_nonzero(executed != executed[row], axis=1)
    return sorted(runs.passing, key=lambda other: (int(distance[other]), other))


def like_in_coverage(runs: Runs, row: int, least: int) -> list[int]:
    """Rows of the passing cases whose runs executed most of what that of the case in ``row`` did: at least so many, and
    all that executed as much of it as the last of those.

    What a run executed beside it does not count: of one that ended early, the whole runs are like it.
    """
    import numpy as np

    executed = runs.counts != 0
    lacking = np.count_nonzero(executed[row] & ~executed[runs.passing], axis=1)
    most = np.sort(lacking)[:least][-1:]
    return [passing for passing, number in zip(runs.passing, lacking, strict=True) if number <= most]


def block_counts(subject: Subject, runs: Runs) -> NDArray[np.uint32]:
    """For each row how often its run executed each block of the program."""
    import numpy as np

    is_block = np.array([not counter.side for counter in counters(subject)], np.bool_)
    return np.asarray(runs.counts[:, : len(is_block)][:, is_block])


def blocks_executed(subject: Subject, runs: Runs) -> NDArray[np.int64]:
    """For each row, how many blocks its run executed: the run's length."""
    import numpy as np

    return np.asarray(block_counts(subject, runs).sum(axis=1, dtype=np.int64))
