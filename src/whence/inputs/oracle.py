"""What is right for an input that nobody has described: the oracle that the user has, applied to made inputs.

There are four of them, the first that fits is taken:

- *command*: the case is a command (a test of a suite), which judges by itself;
- *still*: the user says with a pattern what is wrong in the output. An input is good where nothing matches;
- *reference*: another program, which is right. What it gives is expected;
- *detector*: a crash, a failed assertion, a time-out or a wrong status shows by itself. What else a run prints is not
  judged.

A wrong output alone says nothing about other inputs, which is an error that says what would help.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from whence.errors import SubjectError, UsageError
from whence.run.cases import Case
from whence.run.compare import EXACT
from whence.run.oracle import judge
from whence.run.outcome import Expected, Kind, Outcome
from whence.run.result import RunResult

COMMAND, STILL, REFERENCE, DETECTOR = "command", "still", "reference", "detector"
NOTES = {
    COMMAND: "whether an input is good was told by the test's command",
    STILL: "no reference program: an input counts as good where the output has no match of --still",
    REFERENCE: "what is right was told by the reference program",
    DETECTOR: "no reference program: an input counts as good where the program shows no {kind} and exits as it should, "
    "whatever it prints",
}


@dataclass(slots=True, frozen=True)
class Criteria:
    """What the user says about inputs.

    ``reference`` is a program that is right (the subject's own by default). Inputs that make a program print a match of
    one of ``rejects`` are rejected by it. A match of ``still`` in the failing output is what is wrong there.
    """

    reference: Path | None = None
    rejects: tuple[re.Pattern[bytes], ...] = ()
    still: re.Pattern[bytes] | None = None


def pattern(option: str, text: str) -> re.Pattern[bytes]:
    """The regular expression of an option (``^`` and ``$`` match at lines). Raises UsageError where it is none."""
    try:
        return re.compile(text.encode(errors="surrogateescape"), re.MULTILINE)
    except re.error as error:
        raise UsageError(f"{option} {text}: no regular expression: {error}") from error


@dataclass(slots=True, frozen=True)
class Signature:
    """How a run failed, as far as its result tells: what must be equal for the symptom to be the same.

    ``detail`` is the signal of a crash, the condition and line of an assertion, a wrong status, or the stream and
    whether bytes are missing from it or wrong.
    """

    kind: Kind
    detail: tuple[str | int, ...] = ()


def signature_of(result: RunResult, outcome: Outcome) -> Signature:
    """The signature of a failing run."""
    if outcome.kind is Kind.CRASH:
        return Signature(outcome.kind, (result.signal,))
    if outcome.assertion is not None:
        return Signature(outcome.kind, (outcome.assertion.file, outcome.assertion.line, outcome.assertion.text))
    if outcome.kind is Kind.WRONG_STATUS:
        return Signature(outcome.kind, (result.code,))
    if outcome.difference is not None:
        actual = result.text(outcome.stream)
        return Signature(outcome.kind, (outcome.stream, outcome.difference.actual >= len(actual)))
    return Signature(outcome.kind)


def common_signature(name: str, runs: Sequence[tuple[RunResult, Outcome]]) -> Signature:
    """The signature that all runs of a failing case have. Raises SubjectError where they differ."""
    found = {signature_of(result, outcome) for result, outcome in runs}
    if len(found) == 1 and len({outcome.difference for _, outcome in runs}) == 1:
        return found.pop()
    texts = "; ".join(sorted({outcome.text for _, outcome in runs}))
    raise SubjectError(
        f"the symptom of case {name} moves from run to run: {texts}",
        "make the program do the same every time (time, random numbers, uninitialised memory), or see --still",
    )


@dataclass(slots=True)
class Oracle:
    """What is expected of the runs of made inputs.

    ``case`` is the failing case, compared as the oracle needs it. ``statuses`` are those of runs that accept their
    input.
    """

    kind: str
    case: Case
    criteria: Criteria
    symptom: Kind
    stream: int = 1  # where ``still`` has its match
    statuses: frozenset[int] = field(default=frozenset({0}))

    @property
    def note(self) -> str:
        """One sentence on what counts as good."""
        return NOTES[self.kind].format(kind=self.symptom)

    def expected(self, run: RunResult, right: RunResult | None) -> Expected | None:
        """What this run should have given; ``right`` is the reference's run of the same input."""
        if right is not None:
            return right.as_expected()
        if self.kind == STILL:
            return self._without_match(run)
        if self.kind == DETECTOR:
            return Expected(status=self._status(run))
        return self.case.expected

    def _without_match(self, run: RunResult) -> Expected:
        """The output with what is wrong cut out, so that the first difference is where it begins."""
        assert self.criteria.still is not None
        text = self.criteria.still.sub(b"", run.stdout if self.stream == 1 else run.stderr)
        status = None if run.signal else run.code
        return Expected(text if self.stream == 1 else None, text if self.stream == 2 else None, status)

    def _status(self, run: RunResult) -> int | None:
        wanted = self.case.expected.status if self.case.expected else 0
        return run.code if self.symptom is not Kind.WRONG_STATUS and run.code in self.statuses else wanted

    def rejects(self, run: RunResult) -> bool:
        """Whether a program (the reference, or the subject without one) refused the input."""
        if self.kind not in (COMMAND, STILL) and not run.signal and run.code not in self.statuses:
            return True
        return any(p.search(run.stdout) or p.search(run.stderr) for p in self.criteria.rejects)


def choose_oracle(case: Case, run: RunResult, criteria: Criteria) -> Oracle:
    """The oracle for inputs made from a failing case, of which ``run`` is a run.

    Raises SubjectError where the case does not fail, or where nothing can tell what is right for another input.
    """
    outcome = judge(case, run)
    status = case.expected.status if case.expected else 0
    statuses = frozenset({0} if status is None else {0, status})
    if case.command is not None:
        return Oracle(COMMAND, case, criteria, _failed(case, outcome).kind)
    if criteria.still is not None:
        return _still(case, run, criteria)
    if criteria.reference is not None:
        return Oracle(REFERENCE, case, criteria, outcome.kind, statuses=statuses)
    if _failed(case, outcome).kind is Kind.WRONG_OUTPUT:
        raise SubjectError(
            f"case {case.name} has a wrong output, and nothing tells what is right for another input",
            "give a program that is right with --reference PROGRAM (or `reference` in whence.toml),\n"
            "or with --still REGEX what is wrong in the output: inputs without a match then count as good",
        )
    return Oracle(DETECTOR, case, criteria, outcome.kind, statuses=statuses)


def _failed(case: Case, outcome: Outcome) -> Outcome:
    if not outcome.failed and case.comparison.memory:
        raise SubjectError(f"case {case.name} fails by its memory errors alone, for which other inputs are not checked")
    if not outcome.failed:
        raise SubjectError(f"case {case.name} does not fail", "only a failing input can be reduced; see --fails")
    return outcome


def _still(case: Case, run: RunResult, criteria: Criteria) -> Oracle:
    assert criteria.still is not None
    for stream, text in ((1, run.stdout), (2, run.stderr)):
        found = criteria.still.search(text)
        if found and found.group():
            exact = replace(case, comparison=replace(EXACT, stderr=stream == 2))
            return Oracle(STILL, exact, criteria, Kind.WRONG_OUTPUT, stream)
    shown = criteria.still.pattern.decode(errors="replace")
    raise UsageError(
        f"--still {shown}: what case {case.name} prints has no match", "the pattern is to match what is wrong"
    )
