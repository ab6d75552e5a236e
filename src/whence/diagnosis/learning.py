"""Learning from a fix: what it changed, and the situation of each statement before it.

Source: Jeffrey's dissertation (2009), section 8.2.3, where the developer describes a fix; here its diff does.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from whence.diagnosis.situations import Situations
from whence.errors import SubjectError, WhenceError
from whence.findings import Findings, Statement
from whence.investigation.investigation import Investigation
from whence.program.c_source import CSource
from whence.subject.initial_values import InitialValues
from whence.subject.suspiciousness import rank_by_coverage
from whence.techniques.bugfix.descriptions import describe
from whence.techniques.likely_invariants.technique import compared_values

SHARE = 0.8  # of the time, for altered runs
COMPARING, COMPARING_MOST = 0.25, 20.0  # of it, and seconds, for comparing values
NEAR = 2  # lines around a change in which its statement is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnFix:
    """Describes the fix that was made to a faulty program, which is the one investigated.

    ``fixed``: files, as statements name them, with their texts after the fix. ``origin``: where that was, in words.
    """

    fixed: tuple[tuple[str, bytes], ...]
    origin: str

    def run(self, investigation: Investigation) -> Findings:
        """The part ``scenarios``: for each place that the fix changed its descriptions and its situation before.

        Raises SubjectError where no case fails before the fix, or no statement was changed.
        """
        folder = investigation.subject.folder
        files = {name: CSource((folder / name).read_bytes()) for name, _ in self.fixed}
        places = [place for name, text in self.fixed for place in fixed_places(name, files[name].text, text)]
        rows = investigation.failing_rows()
        statements = [statement_near(investigation, place) for place in places]
        known = list(dict.fromkeys(statement for statement in statements if statement is not None))
        if not known:
            raise SubjectError("the fix changes no statement of the program")
        situations = Situations(investigation, files, _compared(investigation, rows))
        with investigation.work("looking at what was fixed", SHARE) as work:
            dynamic = situations.dynamic(known, work)
        scenarios = [
            {
                "file": statement.file,
                "line": statement.line,
                "fixes": list(place.descriptions),
                "situation": sorted(situations.static(statement) | dynamic[statement]),
                "from": self.origin,
            }
            for place, statement in zip(places, statements, strict=True)
            if statement is not None
        ]
        return Findings("fix learn", investigation.subject.name, parts={"scenarios": scenarios})


def _compared(investigation: Investigation, rows: Sequence[int]) -> Findings | None:
    """What failing runs have that passing ones have not; None: nothing can be said of that."""
    if not investigation.runs.passing:
        return None
    seconds = min(COMPARING * investigation.clock.left, COMPARING_MOST)
    try:
        return compared_values(investigation, rows, seconds, InitialValues(investigation.subject))
    except WhenceError:
        return None


@dataclass(frozen=True, slots=True)
class FixedPlace:
    """One change of a file: the lines of the faulty text that it changed (from 1, none: it was put in there)."""

    file: str
    lines: range
    descriptions: tuple[str, ...]


def fixed_places(file: str, faulty: bytes, fixed: bytes) -> list[FixedPlace]:
    """The changes that lead from a faulty text of a file to a fixed one, those of neighbouring lines as one."""
    before, after = faulty.split(b"\n"), fixed.split(b"\n")
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    groups: list[list[tuple[int, int, int, int]]] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if groups and a - groups[-1][-1][1] <= NEAR:
            groups[-1].append((a, b, c, d))
        else:
            groups.append([(a, b, c, d)])
    places = []
    for group in groups:
        a, b, c, d = group[0][0], group[-1][1], group[0][2], group[-1][3]
        descriptions = describe(b"\n".join(before[a:b]), b"\n".join(after[c:d]))
        if descriptions:  # else only comments or white space changed
            places.append(FixedPlace(file, range(group[0][0] + 1, group[-1][1] + 1), tuple(descriptions)))
    return places


def statement_near(investigation: Investigation, place: FixedPlace) -> Statement | None:
    """The statement that a change belongs to: one that it changed, or the nearest one, executed if there is such."""
    known = {s.line for s in investigation.subject.places.statements if s.file == place.file}
    ran = {e.statement.line for e in rank_by_coverage(investigation.coverage, "op2") if e.statement.file == place.file}
    own = [line for line in place.lines if line in known]
    middle = place.lines.start if len(place.lines) else place.lines.start - 1
    near = sorted(known, key=lambda line: (abs(line - middle), -line))[: 2 * NEAR]
    for lines in ([line for line in own if line in ran], own, [line for line in near if line in ran], near):
        if lines:
            return Statement(place.file, lines[0])
    return None
