"""What ``whence faults`` remembers from one fix to the next: a JSON file with what the searches found.

The file holds what was known before the current list and what was fixed since. The list itself is computed again each
time, with what was found kept, since the techniques are pure: asking twice shows the same list, and an interrupted
search goes on where it stopped.

Statements are kept by file and line, with the texts of the sources that they stand in. When the program is another
version, the old lines are found in the new sources (``edits.py``), and what the edit touched is what was fixed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from whence.diagnosis.multiple_faults.edits import Edits
from whence.diagnosis.multiple_faults.minimal_full_partial import TECHNIQUES, Known, Pairs, Ranked, Run, Statements
from whence.errors import SubjectError, UsageError
from whence.findings import Statement
from whence.run.cases import Case
from whence.subject.subject import Subject

SCHEMA = {"name": "whence-faults", "version": 1}
AFRESH = "--start begins afresh, --state FILE keeps another search beside this one"
KEPT_SHARE = 0.5  # of its statements that two versions of one program have in common at least

Move = Callable[[Iterable[Statement]], list[Statement]]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version of the program: its name, its fingerprint, its statements, and the texts of their files."""

    program: str
    fingerprint: int
    statements: Statements
    sources: Mapping[str, str]

    @classmethod
    def of(cls, subject: Subject) -> Snapshot:
        """The version of a subject; raises SubjectError where a source is not what was compiled any more."""
        if changed := subject.places.changed_files():
            raise SubjectError(f"changed since the program was built: {', '.join(changed)}", "build it again")
        statements = frozenset(subject.places.statements)
        paths = {file: subject.folder / file for file in sorted({s.file for s in statements})}
        texts = {file: path.read_text(errors="surrogateescape") for file, path in paths.items() if path.is_file()}
        return cls(subject.executable.name, subject.fingerprint, statements, texts)


@dataclass(slots=True)
class History:
    """The state of an iterative search, all of it in the lines of ``snapshot``.

    ``before`` is what was known before this iteration, ``fixed`` what the edit before it touched, ``known`` what came
    of it. ``marks`` tell what the searched cases were, by name.
    """

    technique: str
    snapshot: Snapshot
    iteration: int = 1
    before: Known | None = None
    fixed: Statements = frozenset()
    known: Known | None = None
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def found(self) -> dict[str, Pairs]:
        """The pairs of each case that was searched in this version."""
        known = self.known
        return {case: known.runs[case].pairs for case in known.searched if case in known.runs} if known else {}


def continued(history: History, now: Snapshot, fixed: Statements | None = None) -> History:
    """The history at this version of the program: the same iteration, or the next one after an edit.

    ``fixed`` says which statements of now were fixed; by default the edit tells. Raises UsageError when it is the
    history of another program, or when ``fixed`` is given although nothing changed.
    """
    old = history.snapshot
    if old.program == now.program and old.fingerprint == now.fingerprint:
        if fixed is not None:
            raise UsageError("--fixed: the program is still the one of the last list", "rebuild it after the fix")
        return history
    edits = Edits(old.sources, now.sources)
    places = {s: m for s in old.statements if (m := edits.moved(s)) in now.statements and m is not None}
    if old.program != now.program or len(places) < KEPT_SHARE * len(old.statements):
        raise UsageError(f"the state is that of another program ({old.program}, {', '.join(old.sources)})", AFRESH)
    if fixed is None:
        touched = edits.touched(old.statements, now.statements) if edits.regions else None
        fixed = now.statements if touched is None else touched

    def move(statements: Iterable[Statement]) -> list[Statement]:
        return [places[s] for s in statements if s in places]

    before, known = history.before and _moved(history.before, move), history.known and _moved(history.known, move)
    if not fixed:  # comments, or code moved as it is
        return replace(history, snapshot=now, before=before, fixed=frozenset(move(history.fixed)), known=known)
    return History(history.technique, now, history.iteration + 1, known, fixed, None, history.marks)


def _moved(known: Known, move: Move) -> Known:
    """What is known in the lines of another version; statements that are gone are left out."""
    runs = {
        case: Run(frozenset(move(run.executed)), {m: pair for s, pair in run.pairs.items() for m in move([s])})
        for case, run in known.runs.items()
    }
    ranking = tuple(Ranked(s, r.runs, r.tarantula) for r in known.ranking for s in move([r.statement]))
    lists = {moved: cases for s, cases in known.lists.items() for moved in move([s])}
    return Known(runs, ranking, known.cases, known.searched, lists, tuple(tuple(move(one)) for one in known.shown))


def without(known: Known | None, cases: Iterable[str]) -> Known | None:
    """What is known without the runs of some cases: these are searched when they are needed again."""
    if known is None:
        return None
    return replace(known, runs={case: run for case, run in known.runs.items() if case not in set(cases)})


def mark_of(case: Case) -> str:
    """What tells whether a case is the same as before: a hash of what it is given and of what is right."""
    stdin = case.stdin.read_bytes() if isinstance(case.stdin, Path) else case.stdin
    files = [(name, path.read_bytes() if path.is_file() else str(path)) for name, path in case.files]
    given = (case.arguments, stdin, files, sorted(case.environment.items()), case.command, case.place)
    what = (given, case.expected, case.rule)
    return hashlib.sha256(repr(what).encode(errors="surrogateescape")).hexdigest()[:16]


# ---- The file --------------------------------------------------------------------------------------------------------


def default_path(home: str | Path, folder: Path) -> Path:
    """Where the state for the subject in ``folder`` is kept, below Whence's home."""
    return Path(home) / "faults" / f"{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]}.json"


def save(history: History, path: Path) -> None:
    """Write the state; a reader never sees half of it."""
    snapshot = history.snapshot
    state = {
        "schema": SCHEMA,
        "program": snapshot.program,
        "technique": history.technique,
        "iteration": history.iteration,
        "fingerprint": f"{snapshot.fingerprint:016x}",
        "fixed": _lines(history.fixed),
        "marks": history.marks,
        "before": _known_to_json(history.before),
        "known": _known_to_json(history.known),
        "statements": _lines(snapshot.statements),
        "sources": dict(snapshot.sources),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(json.dumps(state, indent=1) + "\n")
    partial.replace(path)


def load(path: Path) -> History | None:
    """Read the state; None where there is none. Raises UsageError for a file that is none or of another version."""
    try:
        state = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise UsageError(f"cannot read the state {path}: {error}", AFRESH) from error
    schema = state.get("schema") if isinstance(state, dict) else None
    if schema != SCHEMA:
        raise UsageError(f"{path} is no state of `whence faults` (version {SCHEMA['version']})", AFRESH)
    try:
        return _from_json(state)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"the state {path} is damaged: {error!r}", AFRESH) from error


def _from_json(state: dict[str, Any]) -> History:
    if state["technique"] not in TECHNIQUES:
        raise ValueError(state["technique"])
    sources = dict(state["sources"].items())
    statements = frozenset(_statements(state["statements"]))
    snapshot = Snapshot(state["program"], int(state["fingerprint"], 16), statements, sources)
    before, known = _known_from_json(state["before"]), _known_from_json(state["known"])
    fixed = frozenset(_statements(state["fixed"]))
    return History(state["technique"], snapshot, int(state["iteration"]), before, fixed, known, dict(state["marks"]))


def _known_to_json(known: Known | None) -> dict[str, Any] | None:
    if known is None:
        return None
    runs = {c: {"executed": _lines(run.executed), "pairs": _pairs_to_json(run.pairs)} for c, run in known.runs.items()}
    groups: dict[frozenset[str], list[Statement]] = {}
    for statement, cases in known.lists.items():
        groups.setdefault(cases, []).append(statement)
    return {
        "runs": runs,
        "ranking": [[r.statement.file, r.statement.line, r.runs, r.tarantula] for r in known.ranking],
        "cases": sorted(known.cases),
        "searched": list(known.searched),
        "lists": [{"cases": sorted(cases), "of": _lines(statements)} for cases, statements in groups.items()],
        "shown": [[[s.file, s.line] for s in one] for one in known.shown],
    }


def _known_from_json(state: dict[str, Any] | None) -> Known | None:
    if state is None:
        return None
    return Known(
        {
            case: Run(frozenset(_statements(run["executed"])), _pairs_from_json(run["pairs"]))
            for case, run in state["runs"].items()
        },
        tuple(Ranked(Statement(file, line), runs, value) for file, line, runs, value in state["ranking"]),
        frozenset(state["cases"]),
        tuple(state["searched"]),
        {s: frozenset(group["cases"]) for group in state["lists"] for s in _statements(group["of"])},
        tuple(tuple(Statement(file, line) for file, line in one) for one in state["shown"]),
    )


def _pairs_to_json(pairs: Pairs) -> dict[str, dict[str, str]]:
    """The sentences of the lines of each file."""
    found: dict[str, dict[str, str]] = {}
    for statement in sorted(pairs):
        found.setdefault(statement.file, {})[str(statement.line)] = pairs[statement]
    return found


def _pairs_from_json(state: Mapping[str, Mapping[str, str]]) -> Pairs:
    return {Statement(file, int(line)): pair for file, lines in state.items() for line, pair in lines.items()}


def _lines(statements: Iterable[Statement]) -> dict[str, list[int]]:
    """Statements as JSON: the lines of each file."""
    lines: dict[str, list[int]] = {}
    for statement in sorted(statements):
        lines.setdefault(statement.file, []).append(statement.line)
    return lines


def _statements(lines: Mapping[str, Iterable[int]]) -> list[Statement]:
    return [Statement(file, line) for file, numbers in lines.items() for line in numbers]
