"""The debugging situation of a statement (definition 13): all its descriptors, static and dynamic.

Source: Jeffrey's dissertation (2009), section 8.2.1. Beyond it, how the program fails is a descriptor, whether passing
cases come there, and what likely invariants say of the statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from whence.alter.work import Work
from whence.errors import SubjectError
from whence.findings import Findings, Statement
from whence.investigation.investigation import Investigation
from whence.program.c_source import CSource
from whence.program.debug import describe
from whence.program.program import plain_name
from whence.subject.suspiciousness import rank_by_coverage
from whence.techniques.bugfix.patterns import Pair, pair_patterns, value_patterns
from whence.techniques.bugfix.said import broken, executed
from whence.techniques.bugfix.structure import structure
from whence.techniques.bugfix.values import StatementValues
from whence.techniques.value_replacement.mapping_pairs import Searched, Settings
from whence.techniques.value_replacement.technique import searched_pairs

FAILING, PASSING = 3, 20  # runs whose values are looked at
EVENTS = 1 << 18  # instances of a run


class Situations:
    """The situations of the statements of one failing program; ``files`` are its sources by the names they have.

    ``compared`` are the findings of likely invariants, where there are any.
    """

    def __init__(
        self, investigation: Investigation, files: Mapping[str, CSource], compared: Findings | None = None
    ) -> None:
        self._investigation, self._files = investigation, files
        self._broken = {entry.statement: broken(entry) for entry in compared.ranking} if compared else {}
        self._subject, self._runs = investigation.subject, investigation.runs

    def static(self, statement: Statement) -> frozenset[str]:
        """The descriptors of a statement's structure, of how the program fails, of what executes it and broke there."""
        source = self._files.get(statement.file)
        found = structure(source, statement.line, self._type_of) if source is not None else frozenset[str]()
        found |= self._broken.get(statement, frozenset()) | self._executed.get(statement, frozenset())
        return found | {f"SYMPTOM-{self._runs.tested[row].outcome.kind}" for row in self._runs.failing[:1]}

    def dynamic(self, statements: Sequence[Statement], work: Work) -> dict[Statement, frozenset[str]]:
        """The descriptors of what statements' values were, and of what other values mend (mapping pairs).

        Both are of few runs, the shortest failing and the first passing ones; where no run can be altered there are
        none.
        """
        rows = self._investigation.failing_rows()[:FAILING]
        passing = self._runs.passing[:PASSING]
        tested = self._runs.tested
        seen = work.observe([tested[row].case for row in (*rows, *passing)], EVENTS)
        searched = self._pairs(statements, rows, work)
        found = {}
        for statement in statements:
            values = self._values(statement)
            descriptors = set[str]()
            for block in values.blocks:
                names = values.names(block)
                failed = [values.sets(block, run.events) for run in seen[: len(rows)]]
                passed = [values.sets(block, run.events) for run in seen[len(rows) :]]
                joined = [[one for run in runs for one in run] for runs in (failed, passed)]
                descriptors |= value_patterns(names, *joined)
                descriptors |= pair_patterns(names, list(_mapped(values, block, searched)), values.branches(block))
            found[statement] = frozenset(descriptors)
        return found

    @cached_property
    def _executed(self) -> dict[Statement, frozenset[str]]:
        return {entry.statement: executed(entry) for entry in rank_by_coverage(self._investigation.coverage, "op2")}

    def _pairs(self, statements: Sequence[Statement], rows: Sequence[int], work: Work) -> Searched:
        settings = Settings(neighbours=True, prunes=False, among=frozenset(statements))
        try:
            return searched_pairs(self._investigation, rows, work, settings)
        except SubjectError:
            return Searched([])

    def _values(self, statement: Statement) -> StatementValues:
        places, sites = self._subject.places, self._subject.alter_plan.sites
        number = places.statements.index(statement)
        return StatementValues(sites, np.asarray(places.numbers[sites["instruction"]] == number))

    def _type_of(self, function: str, name: str) -> str:
        return self._types.get((function, name)) or self._types.get(("", name), "")

    @cached_property
    def _types(self) -> dict[tuple[str, str], str]:
        """The types of variables by function ("": static ones) and name, as debug information spells them."""
        found: dict[tuple[str, str], str] = {}
        for info in describe(self._subject.program.modules):
            for variable in info.globals.values():
                found["", variable.name] = variable.type.spelling if variable.type else ""
            for function in info.module.functions.values():
                for variable in info.variables(function):
                    key = plain_name(function.name), variable.name
                    found.setdefault(key, variable.type.spelling if variable.type else "")
        return found


def _mapped(values: StatementValues, block: int, searched: Searched) -> Iterator[Pair]:
    """The mapping pairs of a block of a statement."""
    columns = set(values.blocks[block])
    for pair in searched.pairs[~searched.pairs["relaxed"]]:
        target, event = searched.targets[int(pair["run"])], int(pair["event"])
        if int(target.sites[event]) in columns:
            mapped = values.pair(block, target.events, {event: int(pair["alternate"])})
            if mapped is not None:
                yield mapped
