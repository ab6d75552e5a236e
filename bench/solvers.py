"""Which solver for which job: all ways give the same answers, and take different time.

    python -m bench.solvers [--every N] [--size 1] [--runs 1] [--limit 10] [--questions 100] [--details] [PROGRAM ...]

Formulas are those of failing runs of the corpus' faults. The first table is of finding all minimal correction sets up
to a size; a way that does not finish in the limit counts with the limit. The others are of the single questions that
cause trees ask, without and with floating point. Each way works in a process of its own; times are of the processor.
Answers that differ are printed, and the benchmark fails.
"""

from __future__ import annotations

import gc
import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import mean, median
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from bench.solver_questions import FLOATING, SOLVERS, Recorded, Reply, recorded, replies  # noqa: E402
from bench.solver_ways import WAYS, Answer, Problem, warmed  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.errors import WhenceError  # noqa: E402
from whence.findings import Symptom  # noqa: E402
from whence.formula.decide import Status  # noqa: E402
from whence.formula.encoder import Encoder  # noqa: E402
from whence.run.config import read_config  # noqa: E402
from whence.subject.recorder import Recorder, Recording  # noqa: E402
from whence.subject.runs import blocks_executed, run_all  # noqa: E402
from whence.subject.subject import Subject, subject_from_config  # noqa: E402
from whence.subject.symptoms import symptom_of  # noqa: E402
from whence.subject.trace_reader import TraceReader  # noqa: E402
from whence.techniques.formula_based.trace_formula import FailingRun, TraceFormula, symptom_formula  # noqa: E402

T = TypeVar("T")
TREE = 60.0  # seconds for a tree whose questions are recorded
LATE = 20  # times the limit of a question after which a solver that ignores it is ended
SETS = ["way", "finished", "build, median ms", "all sets, median ms", "mean ms", "worst ms", "questions, median"]
SINGLE = ["solver", "questions", "answered", "median ms", "mean ms", "worst ms", "all, s"]


@dataclass(slots=True, frozen=True)
class Settings:
    """The options of the benchmark: sizes of sets, failing runs and recorded questions a fault, limits in seconds."""

    size: int
    runs: int
    limit: float
    questions: int
    question_limit: float


@dataclass(slots=True)
class Formula:
    """A formula: its statements, and what each way found, None where that took too long."""

    statements: int
    answers: dict[str, Answer | None]


@dataclass(slots=True)
class Row:
    """One fault: its formulas, and the replies of each solver to the questions, without and with floating point."""

    program: str
    fault: str
    formulas: list[Formula] = field(default_factory=list)
    whole: dict[str, list[Reply]] = field(default_factory=dict)
    floating: dict[str, list[Reply]] = field(default_factory=dict)
    error: str = ""


# ---- Measuring -------------------------------------------------------------------------------------------------------


def measure(program: str, number: int, settings: Settings) -> Row:
    """All ways on one fault; what cannot be measured says why."""
    fault = corpus.faults(program)[number]
    row = Row(program, fault.id)
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            corpus.prepare(fault, Path(name))
            _measure(row, subject_from_config(read_config(Path(name))), settings)
    except WhenceError as error:
        row.error = str(error)
    return row


def _measure(row: Row, subject: Subject, settings: Settings) -> None:
    encoder = Encoder(subject.program, subject.plan)
    for number, (reader, recording, symptom) in enumerate(_failing(subject, settings.runs)):
        if settings.questions and not number:
            asked = isolated(partial(recorded, reader, symptom, recording, TREE), 2 * TREE)
            if asked is not None:
                _answer(row, asked, settings)
        if settings.size:
            formula = symptom_formula(FailingRun(reader, recording, symptom, encoder), settings.limit)
            row.formulas.append(_sets(formula, settings))


def _failing(subject: Subject, most: int) -> Iterator[tuple[TraceReader, Recording, Symptom]]:
    """The shortest failing runs."""
    runs = run_all(subject)
    lengths = blocks_executed(subject, runs)
    with Recorder(subject) as recorder:
        for row in sorted(runs.failing, key=lambda n: (lengths[n] == 0, lengths[n]))[:most]:
            tested = runs.tested[row]
            recording = recorder.record(tested.case, tested.outcome)
            yield TraceReader(subject, recording.trace), recording, symptom_of(recording, subject.folder)


def _sets(formula: TraceFormula, settings: Settings) -> Formula:
    """All ways on one formula."""
    equations = [formula.equations[statement] for statement in formula.statements]
    problem = Problem(formula.run.encoding.terms, formula.hard, formula.selectors, equations)
    list(problem.implied())  # the terms that all ways use
    answers = {
        name: isolated(partial(warmed, way, problem, settings.size), settings.limit) for name, way in WAYS.items()
    }
    return Formula(len(formula.statements), answers)


def _answer(row: Row, asked: Recorded, settings: Settings) -> None:
    """All solvers on the questions of one tree: every n-th, as many as wanted."""
    for solvers, questions, into in ((SOLVERS, asked.whole, row.whole), (FLOATING, asked.floating, row.floating)):
        step = -(-len(questions) // settings.questions) or 1
        taken, limit = questions[::step], settings.question_limit
        for name, make in solvers.items():
            found = isolated(partial(replies, make, asked.terms, taken, limit), LATE + len(taken) * limit)
            into[name] = found if found is not None else [Reply(Status.UNKNOWN, limit)] * len(taken)


def isolated(work: Callable[[], T], seconds: float) -> T | None:
    """What some work gives in a process of its own; None where that takes longer. Raises RuntimeError where it dies."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_send, args=(sender, work))
    process.start()
    sender.close()
    try:
        answer = receiver.recv() if receiver.poll(seconds) else None
    except EOFError:
        raise RuntimeError("a solver's process died") from None
    finally:
        process.kill()
        process.join()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _send(sender: Connection, work: Callable[[], Any]) -> None:
    gc.freeze()  # what the parent holds is nothing to look through
    try:
        sender.send(work())
    except Exception as error:
        sender.send(error)


# ---- Telling ---------------------------------------------------------------------------------------------------------


def disagreements(row: Row) -> Iterator[str]:
    """The formulas and questions of a fault to which different ways have different answers."""
    for number, formula in enumerate(row.formulas, 1):
        found = {name: answer.sets for name, answer in formula.answers.items() if answer is not None}
        if len(set(found.values())) > 1:
            listed = "; ".join(f"{name}: {sorted(map(sorted, sets))}" for name, sets in found.items())
            yield f"{row.program} {row.fault}, formula {number}: different sets: {listed}"
    for kind in (row.whole, row.floating):
        for number, answers in enumerate(zip(*kind.values(), strict=True), 1):
            if {Status.SATISFIABLE, Status.UNSATISFIABLE} <= {reply.status for reply in answers}:
                listed = "; ".join(f"{name}: {r.status.value}" for name, r in zip(kind, answers, strict=True))
                yield f"{row.program} {row.fault}, question {number}: {listed}"


def table_of_sets(formulas: Sequence[Formula], limit: float) -> Iterator[list[str]]:
    """A line a way; what is not finished counts with the limit."""
    for name in WAYS:
        answers = [formula.answers[name] for formula in formulas]
        done = [answer for answer in answers if answer is not None]
        seconds = [limit if answer is None else answer.seconds for answer in answers]
        build = _thousandth(median(answer.build for answer in done)) if done else "-"
        questions = f"{median(answer.questions for answer in done):g}" if done else "-"
        times = [_thousandth(measure(seconds)) for measure in (median, mean, max)]
        yield [name, f"{len(done)} of {len(answers)}", build, *times, questions]


def table_of_questions(rows: Sequence[Mapping[str, Sequence[Reply]]]) -> Iterator[list[str]]:
    """A line a solver; questions that are not answered count with the time that was spent on them."""
    for name in rows[0]:
        found = [reply for row in rows for reply in row[name]]
        seconds = [reply.seconds for reply in found]
        answered = sum(reply.status is not Status.UNKNOWN for reply in found)
        times = [_thousandth(measure(seconds)) for measure in (median, mean, max)]
        yield [name, str(len(found)), str(answered), *times, f"{sum(seconds):.2f}"]


def _thousandth(seconds: float) -> str:
    return f"{1000 * seconds:,.1f}"


def told(row: Row) -> str:
    """A line a fault: the time of each way."""
    parts = []
    for formula in row.formulas:
        done = {name: answer for name, answer in formula.answers.items() if answer is not None}
        count = Counter(len(answer.sets) for answer in done.values()).most_common(1)
        times = ", ".join(f"{name} {_thousandth(answer.seconds)}" for name, answer in done.items())
        parts.append(f"{formula.statements} statements, {count[0][0] if count else '?'} sets; ms: {times}")
    asked = (len(next(iter(kind.values()), [])) for kind in (row.whole, row.floating))
    return f"{row.program} {row.fault}: {'; '.join(parts)}; questions: {' and '.join(map(str, asked))}"


def report(rows: Sequence[Row], settings: Settings) -> Iterator[str]:
    """The tables, as far as there is something to tell."""
    formulas = [formula for row in rows for formula in row.formulas]
    if formulas:
        statements = f"{median(formula.statements for formula in formulas):g} statements (median)"
        yield f"Correction sets up to size {settings.size}: {len(formulas)} formulas, {statements}"
        yield markdown(SETS, list(table_of_sets(formulas, settings.limit)))
    for title, kinds in (("without", [r.whole for r in rows]), ("with", [r.floating for r in rows])):
        asked = [kind for kind in kinds if any(kind.values())]
        if asked:
            yield f"\nQuestions of cause trees {title} floating point"
            yield markdown(SINGLE, list(table_of_questions(asked)))


def main() -> int:
    """Measure, and print the tables and where answers differ; 1 if they do."""
    parser = fault_options(__doc__, workers=1)
    parser.set_defaults(programs=["gatekeeper"])
    parser.add_argument("--size", type=int, default=1, help="statements in a set at most; 0: no sets (default 1)")
    parser.add_argument("--runs", type=int, default=1, help="failing runs of each fault (default 1)")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of a way for one formula (default 10)")
    parser.add_argument("--questions", type=int, default=100, help="questions of each tree at most; 0: no trees")
    parser.add_argument("--question-limit", type=float, default=2.0, help="seconds for a question (default 2)")
    o = parser.parse_args()
    settings = Settings(o.size, o.runs, o.limit, o.questions, o.question_limit)
    rows = [row for row in each_fault(o, measure, settings) if was_measured(row, told if o.details else None)]
    print("\n".join(report(rows, settings)))
    different = [line for row in rows for line in disagreements(row)]
    print("\n".join(different) if different else "\nall answers agree")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
