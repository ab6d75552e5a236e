"""The changes since an earlier version that make a case fail: as few as do.

Source: Zeller, *Yesterday, my program worked. Today, it does not. Why?* (1999): of all changes between a version in
which a case passes and one in which it fails, a least set is sought with which it fails, by delta debugging. A version
that does not build, or fails in another way, has not failed.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.build.edited import Rebuild
from whence.build.scratch import scratch
from whence.errors import SubjectError, WhenceError
from whence.findings import Findings, Statement, plural, rank
from whence.inputs.delta_debugging import minimised
from whence.investigation.account import summary
from whence.investigation.investigation import Investigation
from whence.run.oracle import judge
from whence.run.runner import Runner
from whence.subject.confined import Ground
from whence.subject.runs import Runs, Tested
from whence.subject.subject import Subject

DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(.*)", re.M)
WORD = re.compile(r"\w+")
FAILS, PASSES, UNKNOWN = "fails", "passes", "unknown"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of neighbouring lines of a file: where they begin now (from 1), what they were and what they are."""

    file: str
    line: int
    before: tuple[bytes, ...]
    after: tuple[bytes, ...]

    @property
    def lines(self) -> range:
        """The lines of now; where lines were taken out, those around that place."""
        return range(self.line, self.line + len(self.after)) if self.after else range(self.line - 1, self.line + 1)

    @property
    def macros(self) -> list[str]:
        """The macros that its lines define, or defined."""
        return [name for name, _ in _macros(b"".join([*self.before, b"\n", *self.after]).decode(errors="replace"))]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureInducingChanges:
    """Finds the changes since a version that a failure needs.

    ``before``: the files that were changed since then, by their names in the subject's folder, with their texts of
    then; ``since``: what that version is called.
    """

    before: tuple[tuple[str, bytes], ...]
    since: str

    def run(self, investigation: Investigation) -> Findings:
        """The part ``changes``, and the statements that the needed ones changed as the ranking.

        Raises SubjectError where the case does not pass without the changes, or not fail with them.
        """
        folder, began = investigation.subject.folder, time.monotonic()
        tested = investigation.runs.tested[investigation.failing_rows()[0]]
        _check_ground(investigation.subject, investigation.runs)
        texts = {name: (text, (folder / name).read_bytes()) for name, text in self.before}
        changes = [change for name, (before, after) in texts.items() for change in changes_of(name, before, after)]
        with scratch("versions") as place:
            versions = _Versions(investigation.subject, Path(place), texts, tested, investigation.clock.deadline)
            versions.check(changes, self.since)
            needed = minimised(changes, versions.fails)
            undone = versions.passes([change for change in changes if change not in needed])
        part = {
            "since": self.since,
            "case": tested.case.name,
            "changes": len(changes),
            "needed": [_part(change) for change in needed],
            "versions": versions.count,
            "seconds": round(time.monotonic() - began, 2),
            "undone": undone,
            "incomplete": versions.is_late,
        }
        return self._findings(investigation, part, needed)

    def _findings(self, investigation: Investigation, part: dict[str, Any], needed: Sequence[Change]) -> Findings:
        subject = investigation.subject
        known = set(subject.places.statements)
        lines = {Statement(change.file, line) for change in needed for line in change.lines} & known
        macros = [name for change in needed for name in change.macros]
        used = _using(macros, subject, _executed(investigation)) - lines if macros else set()
        others = plural(len(needed) - 1, "other change")
        makes = "this change alone makes" if len(needed) == 1 else f"it and {others} make"
        text = f"changed since {self.since}: {makes} `{part['case']}` fail"
        text += ", not each of which may be needed" if part["incomplete"] and len(needed) > 1 else ""
        text += ", and it passes without" if part["undone"] else ""
        told_of = dict.fromkeys(lines, text) | dict.fromkeys(used, f"uses what was {text}")
        found = {at: {"text": one, "reasons": [{"technique": "changes", "text": one}]} for at, one in told_of.items()}
        late = ", then the time was up: not each of them may be needed" if part["incomplete"] else ""
        told = f"{len(needed)} of {plural(part['changes'], 'change')} since {self.since} make `{part['case']}` fail"
        tried = f"{told}; built and ran {plural(part['versions'], 'version')} in {part['seconds']:.1f} s{late}"
        lines_ = [*summary(subject, investigation.runs), tried]
        return Findings(
            "changes", subject.name, rank(dict.fromkeys(found, 1.0), found), summary=lines_, parts={"changes": part}
        )


def _executed(investigation: Investigation) -> set[Statement]:
    """The statements that the failing case executed."""
    coverage, row = investigation.coverage, investigation.failing_rows()[0]
    counted = zip(coverage.sites, coverage.counts[row], strict=True)
    return {statement for site, count in counted if count for statement in site.statements}


def _using(macros: Iterable[str], subject: Subject, statements: set[Statement]) -> set[Statement]:
    """Those of the statements whose line names a macro, or another one that is made of it."""
    texts = {name: text for name in {at.file for at in statements} if (text := _text(subject.folder / name))}
    defined = [one for text in (*texts.values(), *_headers(subject)) for one in _macros(text)]
    names, more = set[str](), set(macros)
    while more:
        names |= more
        more = {name for name, made in defined if not names.isdisjoint(WORD.findall(made))} - names
    lines = {name: text.splitlines() for name, text in texts.items()}
    return {
        at
        for at in statements
        if at.file in lines and not names.isdisjoint(WORD.findall("".join(lines[at.file][at.line - 1 : at.line])))
    }


def _headers(subject: Subject) -> Iterator[str]:
    """The texts of the headers in the subject's folder."""
    return (_text(path) for path in sorted(subject.folder.rglob("*.h")))


def _macros(text: str) -> Iterator[tuple[str, str]]:
    """The macros that a text defines, with what they are made of."""
    return ((name, made) for name, made in DEFINED.findall(text.replace("\\\n", " ")))


def _text(path: Path) -> str:
    """A file's text; empty where it cannot be read."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def changes_of(file: str, before: bytes, after: bytes) -> list[Change]:
    """The changes that lead from one text of a file to the other, in their order; lines keep their ends."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        Change(file, c + 1, tuple(old[a:b]), tuple(new[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def with_changes(before: bytes, after: bytes, changes: Sequence[Change]) -> bytes:
    """The text of now with those changes alone: all others are undone."""
    kept = {change.line: change for change in changes}
    lines, text, at = after.splitlines(keepends=True), list[bytes](), 1
    for change in changes_of("", before, after):
        text += lines[at - 1 : change.line - 1]
        text += change.after if change.line in kept else change.before
        at = change.line + len(change.after)
    return b"".join([*text, *lines[at - 1 :]])


def _check_ground(subject: Subject, runs: Runs) -> None:
    """Raise SubjectError where versions cannot be run: nobody wrote those with a part of the changes, so all of them
    are confined.
    """
    if trouble := Ground(subject, runs).trouble:
        raise SubjectError(f"no version was run: {trouble}")


class _Versions:
    """Versions of the program between then and now, each built and run at most once."""

    def __init__(
        self, subject: Subject, scratch: Path, texts: dict[str, tuple[bytes, bytes]], tested: Tested, deadline: float
    ) -> None:
        self._subject, self._texts, self._tested, self._deadline = subject, texts, tested, deadline
        self._rebuild = Rebuild(subject.capture, scratch)
        self._known: dict[frozenset[Change], str] = {}
        self.count, self.is_late, self._trouble = 0, False, ""

    def check(self, changes: Sequence[Change], since: str) -> None:
        """Raise SubjectError unless the case fails with all changes, and passes without them."""
        name = self._tested.case.name
        if not self.fails(changes):
            raise SubjectError(f"built anew `{name}` does not fail as it does in your build{self._trouble}")
        if self.fails([]):
            raise SubjectError(f"`{name}` fails in {since}, too: no change since then makes it fail")
        if not self.passes([]):
            raise SubjectError(f"`{name}` does not pass in {since}{self._trouble or ': it fails in another way'}")

    def fails(self, changes: Sequence[Change]) -> bool:
        """Whether the case fails, in the way it does now, with those changes alone."""
        return self._verdict(changes) == FAILS

    def passes(self, changes: Sequence[Change]) -> bool:
        """Whether it passes with those changes alone."""
        return self._verdict(changes) == PASSES

    def _verdict(self, changes: Sequence[Change]) -> str:
        key = frozenset(changes)
        if key not in self._known:
            if time.monotonic() >= self._deadline:
                self.is_late = True
                return UNKNOWN
            self._known[key] = self._tried(changes)
        return self._known[key]

    def _tried(self, changes: Sequence[Change]) -> str:
        self._trouble = ""
        texts = {}
        for name, (before, after) in self._texts.items():
            text = with_changes(before, after, [change for change in changes if change.file == name])
            if text != after:
                texts[self._subject.folder / name] = text
        try:
            executable = self._rebuild.version(texts, f"version-{self.count}", self._deadline)
            self.count += 1
            with Runner(executable, self._subject.limits, name=self._subject.name, confined=True) as runner:
                result = runner.run_case(self._tested.case)
        except WhenceError as error:
            self._trouble = f": {error}"
            return UNKNOWN
        except TimeoutError:
            self.is_late = True
            return UNKNOWN
        outcome = judge(self._tested.case, result)
        return PASSES if outcome.passed else FAILS if outcome.kind is self._tested.outcome.kind else UNKNOWN


def _part(change: Change) -> dict[str, Any]:
    before, after = (b"".join(lines).decode(errors="replace") for lines in (change.before, change.after))
    return {"file": change.file, "line": change.line, "before": before, "after": after}
