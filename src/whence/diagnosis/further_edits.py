"""Where edits come from when no change of the first statements mends the program: what altered runs and solvers find.

Rules reach all that failing cases execute. Values that would have been right say which number to write. Entries of
tables are changed in copies of the executable, which reaches large tables and those of headers. Each source has a share
of the time that is left, and is asked only where all before it came to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.diagnosis.edit_search import EditSearch
from whence.diagnosis.formula import CorrectionSets
from whence.diagnosis.rules import Rules
from whence.errors import WhenceError
from whence.findings import Statement
from whence.investigation.investigation import Investigation
from whence.subject.initial_values import InitialValue
from whence.techniques.bugfix.right_values import right_values
from whence.techniques.rules.initial_values import other_initial_values
from whence.techniques.value_replacement.technique import ValueReplacement
from whence.trace.decode import decode
from whence.trace.kernels import is_kept

RULES = 0.6  # of what is left, for rules
VALUES = 0.6  # of what is left then, for values that would have been right, by altered runs, then by formulas
ENTRIES = 0.5  # ... and for other numbers in tables
TRYING = 0.8  # ... and for the edits that follow from what was found

Rows = Sequence[Mapping[str, Any]]


@dataclass(slots=True)
class FurtherEdits:
    """Other sources of edits for a search; ``statements`` and initial values, ``entries``, the most suspicious first.

    ``notes`` say what could not be asked, and why.
    """

    investigation: Investigation
    edits: EditSearch
    statements: Sequence[Statement]
    entries: Sequence[InitialValue]
    notes: list[str] = field(default_factory=list)

    def search(self, everywhere: bool) -> None:
        """Try one source after the other until an edit passes; not ``everywhere``: only edits of the statements."""
        if not is_kept(decode):
            return
        if everywhere:
            self._rules(Rules(confirm=False))
        pairs = self._asked(ValueReplacement(), "pairs")
        self._follow(pairs, ())
        self._follow((), self._asked(CorrectionSets(size=1, alter=False), "diagnoses"))
        self._change_entries([one for one in self.entries if everywhere or one.statement in self.statements])
        if everywhere and pairs:  # they fit the values of these cases, so they come last
            self._rules(Rules(families=("guarded",), pairs=True, confirm=False))

    @property
    def _is_over(self) -> bool:
        return bool(self.edits.passing) or not self.investigation.clock.left

    def _rules(self, search: Rules) -> None:
        """Try the edits that rules stand for, which are searched now."""
        clock = self.investigation.clock
        if self._is_over:
            return
        try:
            with clock.part(RULES):
                rules = search.run(self.investigation).parts["rules"]
            self.edits.propose(rules, clock.within(TRYING))
        except WhenceError as error:
            self.notes.append(f"no rules were tried: {error}")

    def _asked(self, technique: ValueReplacement | CorrectionSets, part: str) -> Rows:
        """A part of what a technique finds now."""
        if self._is_over:
            return ()
        try:
            with self.investigation.clock.part(VALUES):
                found: Rows = technique.run(self.investigation).parts[part]
            return found
        except WhenceError as error:
            self.notes.append(f"not all right values are known: {error}")
            return ()

    def _follow(self, pairs: Rows, diagnoses: Rows) -> None:
        if not self._is_over:
            self.follow(pairs, diagnoses, self.investigation.clock.within(TRYING))

    def follow(self, pairs: Rows, diagnoses: Rows, deadline: float) -> None:
        """Try the edits that follow from right values (the parts ``pairs`` and ``diagnoses``) of the statements."""
        found = right_values(pairs, diagnoses)
        right = {statement: found[statement] for statement in self.statements if statement in found}
        if right:
            self.edits.with_values(right, deadline)

    def _change_entries(self, entries: Sequence[InitialValue]) -> None:
        """Try other numbers in tables by their bytes in the executable."""
        investigation, clock = self.investigation, self.investigation.clock
        if self._is_over or not entries:
            return
        rows, end = investigation.failing_rows(), clock.within(ENTRIES)
        try:
            other = other_initial_values(investigation.subject, investigation.runs, rows, entries, end)
            self.edits.propose(sorted(other.rows, key=lambda row: -row["score"]), clock.within(TRYING))
        except WhenceError as error:
            self.notes.append(f"no initial values were changed: {error}")
