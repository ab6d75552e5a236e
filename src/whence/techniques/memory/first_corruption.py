"""The first memory error of a failing run: whether the failure came of it, and whether passing runs have it as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from whence.errors import WhenceError
from whence.findings import Findings, Statement, plural, rank
from whence.investigation.first_use import compile_in_time
from whence.subject.memory_check import Checked, Checker, Error, Kind
from whence.subject.memory_words import FoundErrors
from whence.subject.trace_reader import TraceReader
from whence.techniques.memory.block_size import sizings
from whence.techniques.memory.consequences import Consequences, Link
from whence.techniques.memory.given_beside import given_beside
from whence.techniques.memory.given_later import given_later
from whence.techniques.memory.overreach import reaching
from whence.techniques.memory.technique import reasons, run_part

if TYPE_CHECKING:
    from whence.findings import Symptom
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case
    from whence.subject.recorder import Recording
    from whence.subject.subject import Subject

MEMORY_ERROR = "memory-error"  # the symptom of a run that does nothing else wrong
BEHIND = 0.5  # how much what lies behind the first error is to blame, where its own place is 1
GIVING = 2  # calls, the innermost ones, of what gave a block back
COMPARED = 3  # passing runs that execute an error's line, and are checked
Place = tuple[Statement | None, str]  # of an error: the statement, and its kind


@dataclass(slots=True)
class FirstCorruption:
    """What a failing run's memory says: the ``findings``, and the words that its symptom gets (empty: none).

    ``is_cause``: the failure came of an error, and not of the failing access alone. ``later``: statements that the run
    came to behind the error that counts alone, so they have no part in it.
    """

    findings: Findings
    words: str = ""
    is_cause: bool = False
    later: frozenset[Statement] = frozenset()


@dataclass(slots=True)
class _LinkedError:
    """One error of the failing run: how it stands to the failure, and the passing runs that have it, too."""

    error: Error
    statement: Statement
    link: Link
    row: dict[str, Any]
    passing: list[str] = field(default_factory=list)
    compared: int = 0
    last: bool = True  # nothing went on behind it: the failing access is the only one of its place
    is_inside: bool = False  # it left an array, but not the structure that holds it

    @property
    def counts(self) -> bool:
        """Whether the failure may be its doing: it came of it, or passing runs do without what happened before it.

        That passing runs do something by a value that was never given, too, is no excuse: they were lucky.
        """
        before = self.link is Link.BEFORE or (self.link is Link.ITSELF and not self.last)
        return self.link in (Link.CAUSE, Link.HANGS) or (before and not self.passing)

    @property
    def order(self) -> int:
        """Orders those that count: what the failure came of first, then what it depends on."""
        return (Link.CAUSE, Link.HANGS).index(self.link) if self.link in (Link.CAUSE, Link.HANGS) else 2

    @property
    def place(self) -> Statement:
        """Where it is told: of an undefined value where it was read first, else where it was done."""
        origin = self.row["origin"]
        return Statement(origin["file"], origin["line"]) if origin else self.statement


def first_corruption(
    investigation: Investigation,
    recording: Recording,
    symptom: Symptom,
    passing: Sequence[int],
    members: bool = False,
) -> FirstCorruption:
    """Check the recorded failing run, and, where it has errors, those of the rows ``passing`` that were where they are.

    The first error, best one that the failure came of, is the one that counts: its statement's evidence has
    ``corrupts`` 1; of an undefined value that is where it was read first. Where the error went beyond the end of a
    block, what the block's size comes from has less than that; of an undefined value its use, and what made its block.

    With ``members`` an access beyond an array that stays inside of its structure counts as well, where the failure
    came of it and no passing run that was looked at does the same: some programs mean to copy several members at once.
    """
    subject = investigation.subject
    checker = Checker(subject, members)
    compile_in_time(checker)
    checked = checker.check(recording.trace)
    words = FoundErrors(subject, checked)
    linked = _linked(checked, words, Consequences(checked, symptom, recording.result))
    errors = [one for one in linked if one.link is Link.CAUSE or not one.is_inside]
    _compare(investigation, checker, errors, passing)
    errors = [one for one in errors if not (one.is_inside and one.passing)]
    first = min((one for one in errors if one.counts), key=lambda one: one.order, default=None)
    found = _findings(subject, recording, checked, errors, first)
    shown = _shown(errors, first)
    known = shown is None or symptom.kind == MEMORY_ERROR  # which tells of it already
    is_cause = first is not None and first.link is Link.CAUSE
    later = frozenset() if first is None else TraceReader(subject, recording.trace).begun_behind(first.error.event)
    return FirstCorruption(found, "" if known or shown is None else _clause(shown, words), is_cause, later)


def open_verdict(investigation: Investigation, case: Case, passing: Sequence[int]) -> FirstCorruption:
    """What the recorded run of a failing case shows that does not fail as the program by itself does.

    Best a value that was never given, else the first access outside of its object, counts as the first corruption,
    where no passing run that was looked at has it: the verdict hangs on what C leaves open.
    """
    subject = investigation.subject
    checker = Checker(subject)
    compile_in_time(checker)
    recording = investigation.recorder.record_or_beginning(case)
    checked = checker.check(recording.trace)
    words = FoundErrors(subject, checked)
    placed = ((error, words.statement(error)) for error in checked.errors)
    errors = [_LinkedError(error, at, Link.BEFORE, words.json(error), last=False) for error, at in placed if at]
    _compare(investigation, checker, errors, passing)
    counting = (one for one in errors if one.counts)
    first = min(counting, key=lambda one: one.error.kind is not Kind.UNDEFINED, default=None)
    found = _findings(subject, recording, checked, errors, first)
    return FirstCorruption(found, f"its recorded run shows {words.brief(first.error)}" if first else "")


def _findings(
    subject: Subject,
    recording: Recording,
    checked: Checked,
    errors: Sequence[_LinkedError],
    first: _LinkedError | None,
) -> Findings:
    """The errors of a run as findings, the ``first`` corruption with what lies behind it."""
    found = Findings("memory", subject.name)
    found.parts["memory"] = [run_part(recording, checked, [one.row for one in errors])]
    scores, evidence = _ranked(errors, first)
    shown = _shown(errors, first)
    if first is not None:
        _add(scores, evidence, first.error.kind, _behind(subject, checked, first))
    elif shown is not None and not shown.passing:
        _add(scores, evidence, shown.error.kind, list(_given_back(shown)))
    found.ranking = rank(scores, evidence)
    found.remarks += [f"memory errors: {remark}" for remark in checked.remarks]
    return found


def _shown(errors: Sequence[_LinkedError], first: _LinkedError | None) -> _LinkedError | None:
    """The error that is told: the first corruption, or else what failed."""
    return first or next((one for one in errors if one.link is Link.ITSELF), None)


def _linked(checked: Checked, words: FoundErrors, consequences: Consequences) -> Iterator[_LinkedError]:
    """The errors that have a place, in order of time."""
    for error in checked.errors:
        if (statement := words.statement(error)) is not None:
            link = consequences.link(error)
            last = error.count == 1 and checked.trace.header.end == "signal"
            is_inside = bool(checked.table[error.object]["parent"])
            yield _LinkedError(error, statement, link, words.json(error), last=last, is_inside=is_inside)


def _ranked(
    errors: Sequence[_LinkedError], first: _LinkedError | None
) -> tuple[dict[Statement, float], dict[Statement, Any]]:
    """Scores and evidence of the statements with errors."""
    by_statement: dict[Statement, list[_LinkedError]] = {}
    for one in errors:
        by_statement.setdefault(one.place, []).append(one)
    scores = {statement: 1 / (1 + number) for number, statement in enumerate(by_statement)}
    evidence = {}
    for statement, ones in by_statement.items():
        told = next((one for one in ones if one is first), ones[0])
        notes = list(_notes(told))
        if all(one.link is Link.AFTER for one in ones):
            notes.insert(0, "this memory error happened behind the failure")
        if others := len(ones) - 1:
            notes.append(f"{plural(others, 'more error')} {'come' if others > 1 else 'comes'} from here")
        said = reasons([told.row])
        lead, *more = said["text"].split("; ")
        said["text"] = "; ".join([lead, *notes, *more])
        evidence[statement] = said | {"corrupts": float(told is first)}
    return scores, evidence


def _behind(subject: Subject, checked: Checked, one: _LinkedError) -> list[tuple[Statement, str]]:
    """What lies behind an error, and why: what a block's size comes from, in turn with what let the access reach beyond
    it; where it was given back, and who called that; where an undefined value was declared and used, what gave it one
    later, what made the block that holds it, and what gave its neighbours their values.
    """
    sized = [(sizing.statement, sizing.text) for sizing in sizings(subject, checked, one.error)]
    reached = reaching(subject, checked, one.error)
    found = [behind for pair in zip_longest(sized, reached) for behind in pair if behind is not None]
    found += _given_back(one)
    if (origin := one.row["origin"]) is not None:
        found += _declared(subject, checked, origin)
        found.append((one.statement, one.row["text"][0]))
        later = given_later(subject, checked, origin)
        found += [later] if later else []
        held = origin["object"]
        if held is not None and held["kind"] == "heap" and held["file"]:
            read = f"{origin['file']}:{origin['line']}"
            text = f"{origin['name']} lies in the block that was made here; nothing gave it a value before {read}"
            found.append((Statement(held["file"], held["line"]), text))
        found += given_beside(subject, checked, origin)
    return found


def _declared(subject: Subject, checked: Checked, origin: dict[str, Any]) -> Iterator[tuple[Statement, str]]:
    """Where the local variable is declared that was read undefined: what should have given it a value may be there."""
    path = TraceReader(subject, checked.trace).static(int(origin["event"])).path
    variable = path.variable if path is not None else None
    if variable is not None and variable.register.startswith("%") and not variable.parameter and variable.line:
        at = Statement(subject.places.name(variable.file), variable.line)
        read = f"{origin['file']}:{origin['line']}"
        yield at, f"`{variable.name}` is declared here, and nothing gave it a value before {read}"


def _given_back(one: _LinkedError) -> Iterator[tuple[Statement, str]]:
    """Where the block of an error was given back, which is the fault as often as what came to it later."""
    block = one.row["object"] or {}
    calls = block["gone"]["stack"]["first"] if block.get("kind") == "heap" and block.get("gone") else []
    for number, call in enumerate(calls[:GIVING]):
        if call["file"]:
            what = f"called `{calls[0]['function']}`, which gave back" if number else "gave back"
            text = f"{what} {block['text']} before {one.statement.file}:{one.statement.line} came to it"
            yield Statement(call["file"], call["line"]), text


def _add(
    scores: dict[Statement, float], evidence: dict[Statement, Any], kind: Kind, behind: Sequence[tuple[Statement, str]]
) -> None:
    """Add what lies behind the first error, as less likely at fault."""
    for number, (statement, text) in enumerate(behind):
        if statement not in scores:
            scores[statement] = 1 / (1 + len(scores))
            reason = {"technique": str(kind), "text": text}
            evidence[statement] = {"reasons": [reason], "text": text, "corrupts": BEHIND / (1 + number)}


def _notes(one: _LinkedError) -> Iterator[str]:
    """What the error has to do with the failure and with passing runs, as far as that is known."""
    if one.link is Link.CAUSE:
        yield "the failure came of this memory error"
    if one.link is Link.HANGS:
        yield "the failure depends on what was done by it"
    if one.passing:
        runs = f"{len(one.passing)} of {plural(one.compared, 'passing run')} that came here"
        yield f"{runs} did the same, and passed all the same (`{one.passing[0]}`)"


def _clause(one: _LinkedError, words: FoundErrors) -> str:
    """What a symptom's sentence says of the error."""
    lead = {Link.CAUSE: "came of", Link.ITSELF: "is", Link.HANGS: "depends on", Link.BEFORE: "before it,"}[one.link]
    return f"{lead} {words.brief(one.error)}"


# ---- Passing runs ----------------------------------------------------------------------------------------------------


def _compare(
    investigation: Investigation, checker: Checker, errors: Sequence[_LinkedError], passing: Sequence[int]
) -> None:
    """Note which passing runs have the errors as well, of those that executed their lines."""
    executed = {row: _executed(investigation, row) for row in passing} if errors else {}
    known: dict[int, set[Place] | None] = {}
    for one in errors:
        there = [row for row in passing if one.statement in executed[row]]
        for row in there[:COMPARED]:
            if row not in known:
                known[row] = _places(investigation, checker, row)
            places = known[row]
            if places is not None:
                one.compared += 1
                if (one.statement, str(one.error.kind)) in places:
                    one.passing.append(investigation.runs.tested[row].case.name)


def _executed(investigation: Investigation, row: int) -> frozenset[Statement]:
    """The statements that a case executed."""
    coverage = investigation.coverage
    sites = coverage.counts[row].nonzero()[0].tolist()
    return frozenset(statement for site in sites for statement in coverage.sites[site].statements)


def _places(investigation: Investigation, checker: Checker, row: int) -> set[Place] | None:
    """The places of a passing run's errors; None where it cannot be recorded as it is, or there is no time."""
    if investigation.clock.left <= 0:
        return None
    try:
        checked = checker.check(investigation.record(investigation.runs.tested[row]).trace)
    except WhenceError:
        return None
    words = FoundErrors(investigation.subject, checked)
    return {(words.statement(error), str(error.kind)) for error in checked.errors}
