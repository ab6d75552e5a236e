"""Whether a case fails in the altered variant as it does in the program itself.

What altered runs say is true of the program only where the unaltered run, in the same variant and under the same
restrictions, ends as it does by itself. Where layout or uninitialised memory decides, it may pass there, and then every
change seems to repair it.
"""

from __future__ import annotations

from dataclasses import dataclass

from whence.errors import SubjectError
from whence.run.cases import Case
from whence.run.oracle import judge, signal_name
from whence.run.outcome import Kind, Outcome
from whence.run.result import RunResult

VARIANT = "the variant whose runs are altered"
HELP = "`whence locate` still compares runs; [limits] pattern, another input or building with -O0 may help"
LINE = 256  # bytes of a wrong line that are compared
SHOWN = 40  # of them that a sentence shows


NEED_NONE = "`whence slice`, `whence spectrum` and `whence memory` need no altered runs"


class Unusable(SubjectError):
    """Altered runs of a case would prove nothing, or cannot be made: ``why`` says so in one sentence.

    ``str()`` names the case as well; by itself the hint names commands that do without.
    """

    def __init__(self, name: str, why: str, hint: str = NEED_NONE) -> None:
        super().__init__(f"case {name}: {why}", hint)
        self.name, self.why = name, why

    def __reduce__(self) -> tuple[object, ...]:
        return Unusable, (self.name, self.why, self.hint)


@dataclass(frozen=True, slots=True)
class FailureSignature:
    """How a run of a case ended, as far as two runs that fail in the same way have it in common.

    Of a wrong output that is the place of the first wrong byte, and the line from there on; where it is compared with
    tolerance, places in two runs do not correspond, and there are none.
    """

    kind: Kind
    status: int | None = None
    signal: int = 0
    stream: int = 1
    wrong: int = -1
    line: bytes = b""

    @classmethod
    def of(cls, case: Case, result: RunResult, outcome: Outcome | None = None) -> FailureSignature:
        """The signature of a run; ``outcome`` where more than its result was judged, as of a memory error."""
        outcome = outcome or judge(case, result)
        if outcome.kind in (Kind.PASS, Kind.SKIPPED, Kind.TIMEOUT, Kind.MEMORY):
            return cls(outcome.kind)
        if outcome.kind is not Kind.WRONG_OUTPUT:
            return cls(outcome.kind, result.status, result.signal)
        if outcome.difference is None or not case.comparison.exact:
            return cls(outcome.kind)
        text, wrong = result.text(outcome.stream), outcome.difference.actual
        return cls(outcome.kind, None, 0, outcome.stream, wrong, text[wrong : wrong + LINE].partition(b"\n")[0])


def difference(plain: FailureSignature, altered: FailureSignature) -> str:
    """What a run in the altered variant has otherwise than the program's own, in one sentence; empty: nothing."""
    if plain == altered:
        return ""
    if plain.kind is not altered.kind:
        return f"{plain.kind} in the program, but {altered.kind} in {VARIANT}"
    if plain.kind is not Kind.WRONG_OUTPUT:
        return f"{_end(plain)} in the program, but {_end(altered)} in {VARIANT}"
    if (plain.stream, plain.wrong) != (altered.stream, altered.wrong):
        return f"its output is wrong from byte {plain.wrong + 1:,} on, but in {VARIANT} from {altered.wrong + 1:,} on"
    return f"its first wrong output is {_shown(plain)}, but {_shown(altered)} in {VARIANT}"


def _end(signature: FailureSignature) -> str:
    return f"ended by {signal_name(signature.signal)}" if signature.signal else f"exit status {signature.status}"


def _shown(signature: FailureSignature) -> str:
    text = signature.line[:SHOWN].decode(errors="replace")
    return f'"{text}"' + ("..." if len(signature.line) > SHOWN else "")
