"""The candidate edits of a file: all changes of what stands on a line, with what each of them is called.

They are worth trying in the order of how suspicious their lines are, and of how likely such a change is (its tier).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from whence.build.flags import included_from
from whence.program.c_source import CSource, Unit, entries, is_listed, lines_of, own_headers
from whence.program.debug import describe
from whence.program.source_edits import Kind, Part, SourceEdit
from whence.techniques.bugfix.conditions import Conditions, statement_of
from whence.techniques.bugfix.contradictions import Contradictions
from whence.techniques.bugfix.declarations import DeclarationChanges
from whence.techniques.bugfix.entries import EntryChanges
from whence.techniques.bugfix.expressions import ExpressionChanges, Splice
from whence.techniques.bugfix.first_values import FirstValues
from whence.techniques.bugfix.half_used import reads, sets
from whence.techniques.bugfix.lacking import Lacking, LackingConditions
from whence.techniques.bugfix.right_values import RightValues, splices
from whence.techniques.bugfix.rows import Rows
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.shared_variables import shared_variables
from whence.techniques.bugfix.statements import StatementChanges, is_last
from whence.techniques.bugfix.telling_conditions import Told
from whence.techniques.bugfix.term_changes import TermChanges
from whence.techniques.bugfix.terms import Terms
from whence.techniques.bugfix.unused_names import FEW, mentions

if TYPE_CHECKING:
    from tree_sitter import Node

    from whence.subject.subject import Subject

SYSTEM = "/usr"  # whose headers are not read
LONGEST_UNIT = 2_000  # bytes; a longer one is no statement that anyone wrote by hand
LONGEST_TABLE = 8_000  # ... of an initialiser, which each change of it repeats
FILLINGS = 80  # statements that an empty block may lack
_SET = re.compile(r"([^=!<>+*/%&|^-]+) = ([^=;]+);")
_VARIABLE = re.compile(r"(?<![\w.>])[A-Za-z_]\w*")  # no member


def file_candidates(subject: Subject, names: Iterable[str]) -> dict[str, FileCandidates]:
    """The candidates of those files, each by what statements call it, that are compiled by themselves."""
    compiled = {module.source: number for number, module in enumerate(subject.capture.modules)}
    infos, found = describe(subject.program.modules), dict[str, FileCandidates]()
    for name in dict.fromkeys(names):
        path = subject.folder / name
        if (number := compiled.get(str(path))) is not None and path.is_file():
            source, module = CSource(path.read_bytes()), subject.capture.modules[number]
            folders = [Path(folder) for folder in included_from(module.arguments, module.directory)]
            headers = own_headers(source, path, [folder for folder in folders if not folder.is_relative_to(SYSTEM)])
            is_alone = len(subject.capture.modules) == 1
            found[name] = FileCandidates(source, name, headers, shared_variables(infos, number, headers), is_alone)
    return found


class FileCandidates:
    """The candidate edits of one file, ``name`` being what statements call it; ``headers`` are those it includes.

    ``shared`` are the variables of other files that it can use, each with its type. ``is_alone``: there are none.
    """

    def __init__(
        self,
        source: CSource,
        name: str,
        headers: Sequence[CSource] = (),
        shared: Mapping[str, str] | None = None,
        is_alone: bool = False,
    ) -> None:
        self.source, self.name = source, name
        self._scope = scope = Scope(source, headers, shared, is_alone)
        self._shared_terms = terms = Terms(scope)
        self._conditions = Conditions(scope, terms)
        common = scope, terms, self._conditions
        self._expressions, self._terms = ExpressionChanges(*common), TermChanges(*common)
        self._statements = StatementChanges(*common)
        self._lacking = LackingConditions(*common, self._expressions, self._statements)
        self._entries = EntryChanges(scope)
        self._contradictions = Contradictions(scope, terms)
        self._first_values, self._rows = FirstValues(scope, terms), Rows(scope, terms)
        self._declarations = DeclarationChanges(scope, terms.types)

    def on(self, line: int) -> Iterator[tuple[float, SourceEdit]]:
        """The edits of what stands on a line, each with its tier; the same text may be made by two of them."""
        for unit in self._units_on(line):
            for splice in (*self._expressions.of(unit), *self._terms.of(unit)):
                if self._line_of(splice.start) == line or len(lines_of(unit.node)) == 1:
                    yield splice.tier, self._in_unit(unit, splice, line)
        for statement in self._starting.get(line, ()):
            for parts, tier in self._statements.of(statement):
                yield tier, self._edit(line, parts)
            if (joined := self._statements.as_else(statement)) is not None:
                chosen, written = joined
                yield 0, SourceEdit(self.name, line, chosen, ((b"", b"else"),), (written,))
        for statement in self._closing.get(line, ()):
            for parts, tier in self._statements.behind(statement):
                yield tier, self._edit(line, parts)
        for table, entry in self._entries_on.get(line, ()):
            for splice in self._entries.of(table, entry):
                yield splice.tier, self._in_unit(table, splice, line)

    @cached_property
    def asked_for(self) -> tuple[SourceEdit, ...]:
        """The edits that put in what the text of the file itself asks for, the surest first."""
        put_in = (self._edit(line, (part,)) for line, part in self._contradictions.changes())
        jumping = (self._edit(lines_of(node).start, (part,)) for node, part in self._statements.jumping())
        alone = (self._edit(lines_of(node).start, (part,)) for node, part in self._statements.standing_alone())
        return (*put_in, *jumping, *alone, *self._filling())

    @cached_property
    def completing(self) -> tuple[SourceEdit, ...]:
        """The edits that use what is left over: first values, and what rows of like statements lack."""
        return (*self._beginning(), *self._in_rows())

    @cached_property
    def other_types(self) -> tuple[SourceEdit, ...]:
        """The edits of declarations whose types lose a part of what variables are given, which need a build each."""
        return tuple(self._edit(self._line_of(part.start), (part,)) for part in self._declarations.losing())

    def _beginning(self) -> Iterator[SourceEdit]:
        """The edits that give a variable a first value which is read before it has one."""
        for line, chosen, written, text in self._first_values.all():
            yield SourceEdit(self.name, line, (chosen,), ((b"", text.encode("latin-1")),), (written,))

    def _in_rows(self) -> Iterator[SourceEdit]:
        """The edits that put in what a row of like statements, or conditions, lacks."""
        for unit, splice in self._rows.conditions():
            yield self._in_unit(unit, splice, self._line_of(splice.start))
        yield from (self._edit(line, (part,)) for line, part in self._rows.statements())

    def _filling(self) -> Iterator[SourceEdit]:
        """The edits that put something into an empty block, the likeliest first; none where a file has many like it."""
        kinds = Counter(block.type for block in self.source.empty_blocks)
        for block in (one for one in self.source.empty_blocks if kinds[one.type] <= FEW):
            line, start, end = lines_of(statement_of(block.parent or block)).start, block.start_byte, block.end_byte
            for text in (one.encode("latin-1") for one in self._statements.filling(block)[:FILLINGS]):
                inside = self.source.of(block)[1:-1] or b" "
                content = text if block.type == "expression_statement" else b"{ " + text + inside + b"}"
                part = Part(Kind.REPLACE, start, end, content, listed=is_listed(block))
                yield SourceEdit(self.name, line, (part,), ((b"", text),))

    def is_asked_for(self, edit: SourceEdit) -> bool:
        """Whether the text asks for an edit, or it names what nothing does, no parameter, or what is half used."""
        place = self._place_of(edit)
        is_named = self._names(edit, self._shared_terms.unused.but_parameters(place)) or self._completes(edit, place)
        return is_named or edit in self._asked

    @cached_property
    def _asked(self) -> frozenset[SourceEdit]:
        return frozenset((*self.asked_for, *self.completing, *self.other_types))

    def naming_unused(self, line: int) -> Iterator[tuple[float, SourceEdit]]:
        """The edits of what stands on a line that name what nothing names, or what is half used, with their tiers."""
        if self.can_name_unused(line):
            unused = frozenset[str]().union(*(self._shared_terms.unused.at(node) for node in self._nodes_on(line)))
            for tier, edit in self.on(line):
                if self._names(edit, unused) or self._completes(edit, self._place_of(edit)):
                    yield tier, edit

    def can_name_unused(self, line: int) -> bool:
        """Whether the statements on a line could name what nothing names, or what is half used."""
        terms = self._shared_terms
        return any(terms.unused.at(node) or terms.half_names(node) for node in self._nodes_on(line))

    def _nodes_on(self, line: int) -> list[Node]:
        here = [unit.node for unit in self._units_on(line)]
        return [*here, *self._starting.get(line, ()), *self._closing.get(line, ())]

    def _names(self, edit: SourceEdit, some: frozenset[str]) -> bool:
        """Whether an edit puts in one of some names."""
        members = some & self._shared_terms.unused.members
        return mentions(edit.new_text, some - members) or mentions(edit.new_text, members, are_members=True)

    def _completes(self, edit: SourceEdit, place: Node) -> bool:
        """Whether an edit reads what nothing reads, or changes what nothing changes."""
        half, members = self._shared_terms.half(place), self._shared_terms.half_used.members
        new = edit.new_text
        return reads(new, half.unread) or reads(new, members, are_members=True) or sets(new, half.unchanged)

    def _place_of(self, edit: SourceEdit) -> Node:
        start = edit.parts[0].start
        return self.source.root.descendant_for_byte_range(start, start) or self.source.root

    def alone(self, line: int) -> Iterator[tuple[float, SourceEdit]]:
        """The edits that no running program can choose, each with its tier: of the declarations on a line.

        And of those of what stands there names, wherever they are.
        """
        for part, tier in self._declarations.on(line):
            yield tier, self._edit(line, (part,))
        units = [unit.node for unit in self._units_on(line)]
        for declaration in (one for node in units for one in self._declarations.named(node)):
            for part, tier in self._declarations.of(declaration):
                yield tier, self._edit(self._line_of(part.start), (part,))

    def with_values(self, line: int, right: RightValues) -> Iterator[SourceEdit]:
        """The edits of what stands on a line that follow from right values of its statement."""
        for unit in self._units_on(line):
            for splice in splices(self.source, unit, right):
                if self._line_of(splice.start) == line or len(lines_of(unit.node)) == 1:
                    yield self._in_unit(unit, splice, line)

    def assigning(self, line: int, name: str, value: str) -> Iterator[SourceEdit]:
        """The edits that give a place, as the code on a line calls it, a value at a statement of the same function.

        Those statements come first that are nearest, the earlier ones before the later ones.
        """
        here = [node for node in self.source.statements if line in lines_of(node)]
        function = self.source.function_at(here[0].start_byte) if here else None
        if function is None or not any(t.text == name and t.is_place for t in self._shared_terms.at(here[-1])):
            return
        used, text = set(_VARIABLE.findall(name)), f"{name} = {value};".encode("latin-1")
        for node in sorted(self.source.inside(function), key=lambda node: _apart(lines_of(node).start, line)):
            if used <= self._scope.variables(node).keys():
                start, end, listed = node.start_byte, node.end_byte, is_listed(node)
                yield self._edit(lines_of(node).start, (Part(Kind.BEFORE, start, end, text, listed=listed),))
                if is_last(node):
                    last = lines_of(node).stop - 1
                    yield self._edit(last, (Part(Kind.BEHIND, start, end, text, listed=listed),))

    def guarded(self, edit: SourceEdit, told: Sequence[str] = ()) -> Iterator[SourceEdit]:
        """The edits that add the same statement under a condition, those ``told`` first, or else the likely ones.

        What is set to something else is compared with it at first: a limit that is missing is such a statement.
        """
        (part,) = edit.parts
        place = next(
            (node for node in self.source.statements if (node.start_byte, node.end_byte) == (part.start, part.end)),
            None,
        )
        if place is None or part.kind not in (Kind.BEFORE, Kind.BEHIND) or part.text.startswith(b"if ("):
            return
        conditions = list(told) or [text for text, _ in self._conditions.near(place)]
        if not told and (set_ := _SET.fullmatch(part.text.decode("latin-1"))):
            conditions[:0] = [f"{set_[1]} {operator} {set_[2]}" for operator in (">", "<")]
        for condition in dict.fromkeys(conditions):
            text = f"if ({condition}) ".encode("latin-1") + part.text
            yield self._edit(edit.line, (replace(part, text=text),))

    def lacking(self, line: int) -> Iterator[Lacking]:
        """The places of a line at which a condition may be missing, with what has to be observed there."""
        for statement in self._starting.get(line, ()):
            yield from self._lacking.at(line, statement)
        for unit in self._units_on(line):
            if self._line_of(unit.start) == line:
                yield from self._lacking.of(line, unit)

    def under(self, place: Lacking, told: Told) -> Iterator[SourceEdit]:
        """The edits that put conditions in which were told to hold where a run fails."""
        for parts in self._lacking.parts(place, told):
            yield self._edit(place.line, parts)
        own = [place.unit] if place.unit else [unit for unit in self._units_on(place.line) if unit.node == place.node]
        for unit in own if not place.spot.behind else ():
            for splice in self._lacking.splices(place, unit, told):
                yield self._in_unit(unit, splice, place.line)

    def _units_on(self, line: int) -> list[Unit]:
        return self._units_by_line.get(line, [])

    @cached_property
    def _units_by_line(self) -> dict[int, list[Unit]]:
        found: dict[int, list[Unit]] = {}
        for unit in self.source.units:
            if unit.end - unit.start <= LONGEST_UNIT:
                for line in lines_of(unit.node):
                    found.setdefault(line, []).append(unit)
        return found

    @cached_property
    def _entries_on(self) -> dict[int, list[tuple[Unit, Node]]]:
        """The entries of tables by the line on which they begin, each with its table."""
        found: dict[int, list[tuple[Unit, Node]]] = {}
        for table in self.source.tables:
            if table.end - table.start <= LONGEST_TABLE:
                for entry in entries(table.node):
                    found.setdefault(entry.start_point[0] + 1, []).append((table, entry))
        return found

    @cached_property
    def _starting(self) -> dict[int, list[Node]]:
        """The statements by the line on which they begin."""
        return by_line(self.source.statements, lambda node: node.start_point[0] + 1)

    @cached_property
    def _closing(self) -> dict[int, list[Node]]:
        """The last statements of blocks that end on a line of their own, by that line."""
        last = [node for node in self.source.statements if is_last(node) and node.parent is not None]
        found = by_line(last, lambda node: node.parent.end_point[0] + 1 if node.parent is not None else 0)
        return {line: [n for n in nodes if n.start_point[0] + 1 != line] for line, nodes in found.items()}

    def _line_of(self, offset: int) -> int:
        return bisect_left(self._line_ends, offset) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [at for at, byte in enumerate(self.source.text) if byte == ord("\n")]

    def _in_unit(self, unit: Unit, splice: Splice, line: int) -> SourceEdit:
        """The edit that replaces a unit by one with a splice in it."""
        text = self.source.text
        new = text[unit.start : splice.start] + splice.text + text[splice.end : unit.end]
        part = Part(Kind.REPLACE, unit.start, unit.end, new, unit.place, unit.name)
        return SourceEdit(self.name, line, (part,), ((text[splice.start : splice.end], splice.text),))

    def _edit(self, line: int, parts: tuple[Part, ...]) -> SourceEdit:
        replacing = (Kind.DELETE, Kind.TEXT, Kind.REPLACE)
        text = self.source.text
        guard = (b"if (", b")")
        changes = [
            (
                text[p.start : p.end] if p.kind in replacing else b"",
                p.text.join(guard) if p.kind is Kind.GUARD else p.text,
            )
            for p in parts
        ]
        return SourceEdit(self.name, line, parts, tuple(changes))


def _apart(line: int, other: int) -> tuple[int, bool]:
    """How far a line is from another one; of two that are as far the earlier one is nearer."""
    return abs(line - other), line > other


def by_line(nodes: Iterable[Node], line_of: Callable[[Node], int]) -> dict[int, list[Node]]:
    """Nodes by a line that each of them has."""
    found: dict[int, list[Node]] = {}
    for node in nodes:
        found.setdefault(line_of(node), []).append(node)
    return found
