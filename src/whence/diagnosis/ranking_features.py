"""What all techniques say of each statement, as numbers from about 0 to 1: what the learned ranking looks at.

A technique that did not speak leaves zeros. Missing code has no line of its own, so what speaks for the lines next to a
statement stands under ``... nearby``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.diagnosis.combined_ranking import SEPARATES
from whence.diagnosis.statement_kinds import Kinds
from whence.diagnosis.tried_edits import FAMILY, OF_STATEMENT, is_checked
from whence.findings import Entry, Findings, Statement

Floats = NDArray[np.float64]

FAMILIES = ("branch", "value", "store", "call", "variable", "operator", "guarded")  # of rules, those that have a weight
ROLES = ("load", "store", "branch", "switch", "argument", "call", "result", "return", "binary", "compare")
STEPS = ("failed", "slice", "dependence", "several")  # of candidates of likely invariants
NEARBY = 2  # lines
MANY = 100.0  # rules, cases or instances that count as 1
CLEAN = 0.999  # score of a rule that repairs all failing cases and breaks none
CHECKED = 25  # passing cases on which a rule is tried, at most
VOICES = ("switch", "invariants", "causes")
SPREAD = ("clean", "edit", "switch critical", "values same", "formula alone", "separates")  # what counts for neighbours


class Features:
    """The features of ranked statements: ``matrix`` has a row a statement, in their order, a column a name.

    ``ranked`` is the fixed order of the statements, or its first part, ``base`` and ``found`` are what techniques say
    of them, ``rules`` the rules that mend a failing case, as the part ``rules`` lists them (some may be confirmed).
    """

    def __init__(
        self,
        ranked: Sequence[Entry],
        base: Findings,
        found: Sequence[Findings],
        rules: Sequence[Mapping[str, Any]],
        kinds: Mapping[Statement, Kinds],
    ) -> None:
        self.statements = [entry.statement for entry in ranked]
        self._rows = {statement: row for row, statement in enumerate(self.statements)}
        self._columns: dict[str, Floats] = {}
        by_technique = {one.technique: one for one in found}
        self._base(base)
        self._places(ranked, by_technique)
        self._rules(rules)
        self._edits([rule for rule in rules if rule["family"] == FAMILY])
        self._switch(by_technique.get("switch"))
        self._values(by_technique.get("values"))
        self._formula(by_technique.get("formula"))
        self._invariants(by_technique.get("invariants"))
        self._others(by_technique)
        self._kinds(kinds)
        self._combine()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def matrix(self) -> Floats:
        """Statements by features."""
        return np.stack(list(self._columns.values()), axis=1)

    # ---- Columns -----------------------------------------------------------------------------------------------------

    def _column(self, name: str) -> Floats:
        return self._columns.setdefault(name, np.zeros(len(self.statements)))

    def _from(self, findings: Findings | None, names: Sequence[str], of: Any) -> None:
        """Columns from each entry's evidence; ``of`` gives a value for each name."""
        columns = [self._column(name) for name in names]
        for entry in findings.ranking if findings else ():
            if (row := self._rows.get(entry.statement)) is not None:
                for column, value in zip(columns, of(entry, entry.evidence), strict=True):
                    column[row] = value

    def _base(self, base: Findings) -> None:
        top = max((float(e.evidence.get("suspiciousness", e.score)) for e in base.ranking), default=1.0) or 1.0

        def of(entry: Entry, e: Mapping[str, Any]) -> tuple[float, ...]:
            passing = _share(e.get("passing", 0), e.get("passing_total", 0))
            return (
                max(float(e.get("suspiciousness", entry.score)) / top, 0.0),
                entry.score,
                _share(e.get("failing", 0), e.get("failing_total", 0)),
                passing,
                float(passing == 0),
                float(e.get("in_slice", False)),
                float(e.get("may_have_skipped", False)),
                1 / (1 + e["depth"]) if "depth" in e else 0.0,
            )

        names = ("suspicion", "base", "failing", "passing", "never passing", "in slice", "may skip", "near symptom")
        self._from(base, names, of)
        self._from(base, ("base place",), lambda entry, _: (1 / entry.rank_average,))

    def _places(self, ranked: Sequence[Entry], found: Mapping[str, Findings]) -> None:
        """Where the fixed order, and each voice, has a statement."""
        first, place, depth = (self._column(name) for name in ("fixed first", "fixed place", "fixed depth"))
        for row, entry in enumerate(ranked):
            first[row] = entry.rank_worst == 1
            place[row] = 1 / entry.rank_average
            depth[row] = -np.log2(entry.rank_average) / 10
        for voice in VOICES:
            self._from(found.get(voice), (f"{voice} place",), lambda entry, _: (1 / entry.rank_average,))

    def _rules(self, rules: Sequence[Mapping[str, Any]]) -> None:
        names = ("rule", "doubtful rule", "mends", "clean", "clean rules", "clean checked", "clean kinds")
        best, doubtful, mends, clean, count, checked, kinds = map(self._column, names)
        families = {name: self._column(f"rule {name}") for name in FAMILIES}
        of_kind: dict[int, set[str]] = {}
        for rule in rules:
            row = self._rows.get(Statement(rule["file"], rule["line"]))
            if row is None or rule["family"] == FAMILY:
                continue
            score = rule["score"]
            mends[row] = max(mends[row], _share(rule["f2p"], rule["failing"]))
            mine = doubtful if rule["doubt"] else best
            mine[row] = max(mine[row], score)
            if rule["doubt"]:
                continue
            if rule["family"] in families:
                families[rule["family"]][row] = max(families[rule["family"]][row], score)
            if score >= CLEAN:
                count[row] += 1
                checked[row] = max(checked[row], _log(min(rule["checked"], CHECKED)))
                of_kind.setdefault(row, set()).add(rule["family"])
                kinds[row] = len(of_kind[row]) / len(FAMILIES)
        clean[:] = best >= CLEAN
        self._column("clean share")[:] = count / max(count.sum(), 1.0)
        self._column("most clean")[:] = (count == count.max(initial=0.0)) & (count > 0)
        count[:] = _log(count)
        self._alone("clean")

    def _edits(self, edits: Sequence[Mapping[str, Any]]) -> None:
        """Edits with which all cases pass: the fewer statements have one, and the likelier it is, the more it says."""
        has, number, turn, unchecked = map(self._column, ("edit", "edits", "edit turn", "unchecked edit"))
        costs: dict[int, float] = {}
        for edit in edits:
            if edit["doubt"] or (row := self._rows.get(Statement(edit["file"], edit["line"]))) is None:
                continue
            if not is_checked(edit):
                unchecked[row] = 1.0
                continue
            if edit["score"] < CLEAN:  # other failing cases still fail
                continue
            has[row], number[row] = 1.0, number[row] + 1
            costs[row] = min(costs.get(row, edit["cost"]), edit["cost"])
        for place, row in enumerate(sorted(costs, key=lambda row: costs[row])):
            turn[row] = 1 / (1 + place)
        number[:] = number / OF_STATEMENT
        self._alone("edit")
        self._alone("unchecked edit")

    def _switch(self, switch: Findings | None) -> None:
        cases = max((e.evidence.get("critical", 0) for e in switch.ranking), default=0) if switch else 0

        def of(_: Entry, e: Mapping[str, Any]) -> tuple[float, ...]:
            critical = e.get("critical", 0)
            return (
                _share(critical, cases),
                float(critical > 0 and critical == cases),
                _share(e.get("corrected", 0), e.get("failing_total", 0)),
                _log(e.get("instances", 0)) if critical else 0.0,
            )

        self._from(switch, ("switch critical", "switch all", "switch corrected", "switch instances"), of)
        self._alone("switch all")

    def _values(self, values: Findings | None) -> None:
        def of(_: Entry, e: Mapping[str, Any]) -> tuple[float, ...]:
            names = ("pairs", "relaxed", "same_change", "branches")
            pairs, relaxed, same, branches = (_share(e.get(name, 0), e.get("searched", 0)) for name in names)
            return pairs, relaxed, same, branches, float(e.get("consistent", False)), float(pairs == 1)

        names = ("values pairs", "values relaxed", "values same", "values branches", "values consistent", "values all")
        self._from(values, names, of)
        self._alone("values consistent")
        self._alone("values all")

    def _formula(self, formula: Findings | None) -> None:
        def of(entry: Entry, e: Mapping[str, Any]) -> tuple[float, ...]:
            shares = [_share(e[name], e["runs"]) for name in ("alone", "together", "confirmed")]
            consistent = float(bool(e["consistent"]))
            repairs = len(e["repairs"])
            return *shares, consistent * (0.5 if e["also"] else 1.0), _log(repairs), float(shares[0] == 1), entry.score

        names = ("alone", "together", "confirmed", "consistent", "repairs", "all", "score")
        self._from(formula, [f"formula {name}" for name in names], of)
        self._alone("formula all")

    def _invariants(self, invariants: Findings | None) -> None:
        def of(entry: Entry, e: Mapping[str, Any]) -> tuple[float, ...]:
            predicate = e.get("predicate", 0.0)
            slices = _share(e.get("in_slices", 0), e.get("failing_total", 0))
            steps = [float(e.get("step") == step) for step in STEPS]
            separates = entry.score if predicate >= SEPARATES else 0.0
            return entry.score, predicate, separates, e.get("first_broken", 0.0), slices, *steps

        names = ("invariants", "predicate", "separates", "first broken", "in slices", *(f"step {s}" for s in STEPS))
        self._from(invariants, names, of)

    def _others(self, found: Mapping[str, Findings]) -> None:
        causes = ("causes", "causes level", "causes way")
        self._from(found.get("causes"), causes, lambda _, e: (1.0, 1 / (1 + e["level"]), 1 / (1 + e["lines_to_read"])))
        self._from(found.get("memory"), ("memory", "corrupts"), lambda _, e: (1.0, e["corrupts"]))
        self._from(found.get("races"), ("races",), lambda _, e: (e["decides"],))

    def _kinds(self, kinds: Mapping[Statement, Kinds]) -> None:
        columns = [self._column(f"has {role}") for role in ROLES]
        for row, statement in enumerate(self.statements):
            mine = kinds.get(statement, {})
            for column, role in zip(columns, ROLES, strict=True):
                column[row] = min(mine.get(role, 0), 3) / 3

    def _combine(self) -> None:
        voices = ("clean", "edit", "switch all", "values consistent", "formula all", "separates")
        says = sum((self._columns[name] > 0).astype(np.float64) for name in voices)
        self._column("voices agreeing")[:] = says / len(voices)
        near = self._neighbours()
        for name in SPREAD:
            column, target = self._columns[name], self._column(f"{name} nearby")
            for row, others in enumerate(near):
                target[row] = max((column[other] for other in others), default=0.0)

    def _neighbours(self) -> list[list[int]]:
        around = [offset for offset in range(-NEARBY, NEARBY + 1) if offset]
        rows = self._rows
        return [
            [rows[near] for offset in around if (near := Statement(s.file, s.line + offset)) in rows]
            for s in self.statements
        ]

    def _alone(self, name: str) -> None:
        """A column that tells how few others have what a statement has."""
        column = self._columns[name]
        self._column(f"{name} alone")[:] = column / max(column.sum(), 1.0)


def _share(count: float, total: float) -> float:
    return count / total if total else 0.0


def _log(count: Any) -> Any:
    """A count on a scale from 0 to 1, which MANY and more reach."""
    return np.minimum(np.log1p(count) / np.log1p(MANY), 1.0)
