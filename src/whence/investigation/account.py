"""What was captured, run, recorded and altered, told in sentences: nothing is left out in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from whence.errors import SubjectError
from whence.investigation.stale import changed_files
from whence.run.outcome import Kind, Rule
from whence.run.verdicts import FAILING

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.subject.recorder import Recording
    from whence.subject.runs import Runs, Tested
    from whence.subject.subject import Subject

ALONE = "no passing case"  # how the line starts that says so; where inputs are made it is no loss
SEARCHED = "`whence schedules` looks for an order of the program's threads in which a case fails"
RUNS_HAVE = "runs have a pinned environment and fixed addresses; --environment keep and --aslr give them others"
NAMED = 5  # reasons, cases or files that are named; of the others only the number is told


def none_fails(runs: Runs, changed: Sequence[str], has_threads: bool = False) -> SubjectError:
    """The error where no case fails, of how many; those that were left out may have.

    ``changed`` are the source files that are not what was compiled: the fault may be in what was not built yet. A
    program that ``has_threads`` may fail in another order of them.
    """
    stale = [f"{changed_files(changed)} since the program was built: build it again"] if changed else []
    orders = [SEARCHED] if has_threads else []
    hint = [
        *stale,
        *not_compared(runs),
        *runs.pinned,
        how_to_fail(runs),
        RUNS_HAVE,
        *orders,
        *named("left out: ", runs.left_out),
    ]
    return SubjectError(_none_fails(runs), "\n".join(hint))


def _none_fails(runs: Runs) -> str:
    """That no case fails, of how many; those that were left out may have."""
    which = "it" if len(runs.tested) == 1 else "all of them"
    if not runs.left_out:
        return f"no case fails: ran {count(len(runs.tested), 'case')}, and {which} passed"
    out = len(runs.left_out)
    which = "passed" if len(runs.tested) == 1 else "all of them passed"
    verb = "was" if out == 1 else "were"
    total = len(runs.tested) + out
    return f"no case that counts fails: of {total} cases {out} {verb} left out, and of the others {which}"


def not_compared(runs: Runs) -> list[str]:
    """Which files are not compared, since what is right leaves them otherwise each time, and what helps."""
    cases = [tested.case for tested in runs.tested]
    unsteady = [one for case in cases if case.expected is not None for one in case.expected.unsteady]
    where, times = dict(reversed(unsteady)), Counter(name for name, _ in unsteady)
    of = {name: f" of {number:,} cases" if number > 1 else "" for name, number in times.items()}
    why = "is not compared: what is right leaves it otherwise the next time"
    return [f"file {name}{of[name]} {why}, {where[name]}" for name in times]


def how_to_fail(runs: Runs) -> str:
    """What helps where no case fails."""
    from whence.subject.runs import TIME_OVER

    if any(why.endswith(TIME_OVER) for why in runs.left_out):
        return "more time: --budget 5m; or less for a run that does not end: --timeout 1"
    if told := next(filter(None, map(_failed_silently, runs.tested)), ""):
        return told
    if told := _ended_early(runs):
        return told
    cases = [tested.case for tested in runs.tested if tested.case.command is None]
    if any(case.expected is None or case.expected.stdout is None for case in cases):
        return "say with --expect what is right: without it only a crash or a non-zero status counts as a failure"
    return "give a failing case with --fails and --expect, or add one to whence.toml"


def pass_against_word(runs: Runs) -> list[str]:
    """What is said of cases that were given as failing ones, and pass."""
    passing = (runs.tested[row].case for row in runs.passing)
    names = [f"`{case.name}`" for case in passing if case.said_to_fail]
    if not names:
        return []
    what = "passes, and counts as a passing case" if len(names) == 1 else "pass, and count as passing cases"
    return [f"{', '.join(names)} {what}: say with --expect what is right, or use --passes"]


def _ended_early(runs: Runs) -> str:
    """What helps where every run is a failed one that is said to be right: it may lack its files; empty: none is."""
    if not runs.tested or any(one.case.command is not None or one.result.stdout for one in runs.tested):
        return ""
    status, said = runs.tested[0].result.code, runs.tested[0].result.stderr.strip()
    if not status or not said or any(one.result.code != status for one in runs.tested):
        return ""
    line = " ".join(said.decode(errors="replace").split("\n")[0].split())
    return f"every run ends with status {status} and prints `{line}`: if files are lacking, name them with `files`"


def _failed_silently(tested: Tested) -> str:
    """What helps where a test that passes by its status prints that something failed; empty: it does not."""
    case, output = tested.case, tested.result.stdout + tested.result.stderr
    if case.rule is not Rule.STATUS or not (found := FAILING.search(output)):
        return ""
    line = output[output.rfind(b"\n", 0, found.start()) + 1 :].partition(b"\n")[0]
    printed = " ".join(line.decode(errors="replace").split())
    setting = f'failing_output = "{found[0].decode()}"'
    return f"`{case.name}` ends with status 0, but prints `{printed}`: if that is a failure, {setting} says so"


def search_summary(work: Work) -> list[str]:
    """How much a search ran, what it left out, and how to go on, in sentences."""
    known = f"; {work.known:,} more were known already" if work.known else ""
    lines = [f"ran {count(work.done, 'altered run')} in {work.seconds:.1f} s{known}"]
    lines += named("not altered: ", [f"{name}: {why}" for name, why in work.unusable.items()])
    if work.stopped and not work.done and not work.known:
        lines.append("not one ended in that time: --budget 5m, a smaller input or a lower [limits] time helps")
    if work.lost:
        lines.append(f"{count(work.lost, 'altered run')} took the process down, and tell nothing")
    if work.cut_short and not work.stopped:
        lines.append("a search took its share of the time, and left runs out; more time: --budget 10m")
    if work.stopped:
        why = "its time is used up" if work.stopped == "budget" else "interrupted"
        left = count(work.left_out, "altered run")
        lines.append(f"stopped early ({why}): {left} and whatever would have followed were left out")
    if work.trouble:
        lines.append(f"what was found cannot be kept for another search: {work.trouble}")
    elif work.stopped:
        lines.append("run the same command again to go on" + (", without --fresh" if work.fresh else ""))
    return lines


def summary(subject: Subject, runs: Runs, recording: Recording | None = None, checks: Sequence[str] = ()) -> list[str]:
    """What was captured and run, in sentences, those on passed ``checks`` last; nothing is left out in silence."""
    lines = [
        f"captured {count(len(subject.capture.modules), 'module')}, ran {count(len(runs.tested), 'case')} "
        f"({len(runs.passing)} passed, {len(runs.failing)} failed)",
        *subject.remarks,
    ]
    if not runs.passing and runs.failing and not subject.others and not checks:
        lines.append(f"{ALONE}: what failing and passing runs have in common tells nothing; add --passes")
    lines += [
        *not_compared(runs),
        *_right_but_for_the_status(runs),
        *named("left out: ", runs.left_out),
        *named("", runs.cut_short),
    ]
    if runs.unlike:
        lines.append(
            "no failing case fails in the instrumented program as it does by itself: what it executed there is taken "
            "for what it does; a longer input, another one, or building with -O0 may help"
        )
    lines += named("not captured: ", subject.capture.uncaptured)
    if recording is not None:
        kind = "failing" if recording.outcome.failed else "passing"
        lines.append(f"recorded the {kind} case `{recording.case.name}`" + _cut(recording))
        lines += _departing(recording)
    return [*lines, *checks]


def _right_but_for_the_status(runs: Runs) -> Iterator[str]:
    """A line where no case with an expected output passes, and several have that output and the same other status."""
    outputs = [one for one in runs.tested if one.case.expected is not None and one.case.expected.stdout is not None]
    only = [one for one in outputs if one.outcome.kind is Kind.WRONG_STATUS and one.case.rule is Rule.OUTPUT]
    statuses = {one.result.code for one in only}
    if len(only) > 1 and len(statuses) == 1 and not any(one.outcome.passed for one in outputs):
        yield (
            f"{len(only)} of {count(len(outputs), 'case')} give the expected output, and exit status {statuses.pop()}: "
            "if that is right, say so (`status` of a case, docs/configuration.md), since else they fail"
        )


def _departing(recording: Recording) -> list[str]:
    """A line that tells how much of a long run is no other than in a passing one."""
    if (departure := recording.departure) is None:
        return []
    where = f"block {departure.clock + 1:,} of {recording.trace.blocks:,}"
    return [f"up to {where} it went the same way as the passing case `{departure.case}`"]


def _cut(recording: Recording) -> str:
    trace = recording.trace
    if recording.is_cut:
        return f", of which the first {trace.bytes_used >> 20} MiB are kept"
    if trace.is_end:
        return f", of which only the last {trace.events:,} events are kept: what came before is not known"
    return ""


def named(lead: str, items: list[str]) -> Iterator[str]:
    """Lines that name the first of some items and count the others."""
    yield from (f"{lead}{item}" for item in items[:NAMED])
    if len(items) > NAMED:
        yield f"{lead}{len(items) - NAMED} more"


def count(number: int, noun: str) -> str:
    """``1 case``, ``2 cases``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
