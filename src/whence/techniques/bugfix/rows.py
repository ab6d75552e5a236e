"""What a row of like statements lacks: one more of them, about a name that is left over.

Programs do the same about several things, one beside the other: they print each figure, read each option, refuse each
value. Where nothing uses a name, or half of it alone, what is done about a name like it is done about that: a variable
of its type, another member of its structure, a function of its parameters. The copy stands beside its model, or beside
another statement of the row; its indices may be the next ones, and constants that nothing names stand for others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING

from whence.program.c_source import Place, Unit, beside, is_leaf, is_listed, is_statement, lines_of, walk
from whence.program.source_edits import Kind
from whence.techniques.bugfix.conditions import decides, statement_of
from whence.techniques.bugfix.expressions import Splice
from whence.techniques.bugfix.put_in import Change, put_in
from whence.techniques.bugfix.scope import Scope, declared
from whence.techniques.bugfix.terms import Terms

if TYPE_CHECKING:
    from tree_sitter import Node

MOST, LIKE, MODELS, OTHERS, BESIDE = 120, 6, 12, 12, 6  # of a name: edits, names like it; mentions of each; and so on
LONGEST, STEPS = 200, 2  # bytes of a statement that is copied, and simple ones in an `if`
_INDEX = re.compile(r"\[(\d+)\]")
_WORD = re.compile(r"[A-Za-z_]\w*")


class Rows:
    """The rows of one file that lack something."""

    def __init__(self, scope: Scope, terms: Terms) -> None:
        self._scope, self._source, self._terms = scope, scope.source, terms

    def statements(self) -> Iterator[Change]:
        """The statements that rows lack, with where they can be put in."""
        for function in self._source.functions:
            for name in sorted(self._of_function(function)):
                yield from islice(self._of_others(name, function), MOST)
        for name, like in self._left_over():
            yield from islice(self._copies(name, like), MOST)

    def conditions(self) -> Iterator[tuple[Unit, Splice]]:
        """The operands of ``&&`` and ``||`` that rows lack, each in the condition that it becomes a part of."""
        for name, like in self._left_over():
            yield from islice(self._operands(name, like), MOST)

    # ---- Names that are left over ------------------------------------------------------------------------------------

    def _left_over(self) -> Iterator[tuple[str, Mapping[str, list[Node]]]]:
        """Each name that is left over, with names like it, and where these stand."""
        unused, half = self._terms.unused, self._terms.half_used
        for function in self._source.functions:
            for name in sorted(self._of_function(function)):
                yield name, self._mentions(self._variables_like(function, name), function)
        for name in sorted(half.members | unused.members):
            yield name, self._mentions(self._terms.types.alike_members(name), self._source.root)
        for name in sorted(unused.uncalled):
            yield name, self._mentions(self._functions_like(name), self._source.root)

    def _of_function(self, function: Node) -> frozenset[str]:
        """The variables of a function that are left over; those that are read unset lack a first value, and no more."""
        half, unused = self._terms.half_used.of(function), self._terms.unused.but_parameters(function)
        own = {name for n in walk(function) if n.type == "declaration" for name, _ in declared(self._source, n)}
        return half.unread | half.unchanged | (unused & own)

    def _variables_like(self, function: Node, name: str) -> list[str]:
        """The variables of a function that have the type of one of them, those declared nearest to it first."""
        body = function.child_by_field_name("body")
        nodes = [n for n in walk(body) if n.type == "declaration"] if body is not None else []
        known = [one for n in nodes for one in declared(self._source, n)]
        at = next((number for number, (one, _) in enumerate(known) if one == name), None)
        if at is None:
            return []
        order = sorted(range(len(known)), key=lambda number: abs(number - at))
        same = [known[number][0] for number in order if known[number][1] == known[at][1] and number != at]
        return list(dict.fromkeys(same))

    def _functions_like(self, name: str) -> list[str]:
        """The functions with the result and the parameters of one of them."""
        shapes = {one: (self._terms.types.result(one), types) for one, types in self._scope.parameters.items()}
        return [one for one in shapes if one != name and shapes[one] == shapes.get(name)]

    def _mentions(self, names: list[str], inside: Node) -> dict[str, list[Node]]:
        wanted = list(names)[:LIKE]
        found: dict[str, list[Node]] = {name: [] for name in wanted}
        for node in walk(inside):
            if node.type in ("identifier", "field_identifier") and self._source.name(node) in found:
                found[self._source.name(node)].append(node)
        return found

    # ---- Statements --------------------------------------------------------------------------------------------------

    def _copies(self, name: str, like: Mapping[str, list[Node]]) -> Iterator[Change]:
        seen = set[tuple[int, str]]()
        for other, nodes in like.items():
            models = {model.start_byte: model for node in nodes for model in self._models(node)}
            for model in islice(models.values(), MODELS):
                if not self._is_visible(name, other, model):
                    continue
                for text in self._variants(model, other, name):
                    for kind, place in self._places(model):
                        if (place.start_byte, text) not in seen:
                            seen.add((place.start_byte, text))
                            yield put_in(kind, place, text)

    def _of_others(self, name: str, function: Node) -> Iterator[Change]:
        """What other functions do about a variable of that name, behind the last mention of it, or near that."""
        nodes = [n for n in walk(self._source.root) if n.type == "identifier" and self._source.name(n) == name]
        own = [n for n in nodes if self._source.function_at(n.start_byte) == function]
        others = [n for n in nodes if n not in own]
        models = {self._source.of(model): model for node in others for model in self._models(node)}
        last = lines_of(own[-1]).start if own else lines_of(function).start
        near = sorted(self._source.inside(function), key=lambda node: abs(lines_of(node).start - last))
        for model in islice(models.values(), MODELS):
            text = " ".join(self._source.name(model).split())
            names = {self._source.name(n) for n in walk(model) if n.type == "identifier"}
            able = [place for place in near[:BESIDE] if names <= self._usable(place)]
            for one, place in product((text, *self._with_constants(text, lambda _: True)), able):
                yield from (put_in(kind, place, one) for kind in (Kind.BEHIND, Kind.BEFORE))

    def _usable(self, place: Node) -> set[str]:
        return {*self._scope.variables(place), *self._scope.functions, *self._scope.constant_names}

    def _models(self, node: Node) -> Iterator[Node]:
        """The statements that may be copied about a mention: the simple one, and the ``if`` that it stands in."""
        at: Node | None = node
        while at is not None and not is_statement(at):
            at = at.parent
        if at is None or at.type == "declaration":
            return
        if is_leaf(at) and at.end_byte - at.start_byte <= LONGEST:
            yield at
        around = at if at.type == "if_statement" else _around(at)
        if around is not None and around.type == "if_statement" and _is_simple(around):
            yield around

    def _places(self, model: Node) -> Iterator[tuple[Kind, Node]]:
        """Where a copy can stand: behind its model and before it, and beside what is like it in its list."""
        yield from ((Kind.BEHIND, model), (Kind.BEFORE, model))
        if not is_listed(model):
            return
        called = self._source.called(model)
        for step in (1, -1):
            at = beside(model, step)
            for _ in range(BESIDE):
                if at is None:
                    break
                if at.type == model.type and (at.type == "if_statement" or self._source.called(at) & called):
                    yield (Kind.BEHIND if step > 0 else Kind.BEFORE), at
                at = beside(at, step)

    def _is_visible(self, name: str, other: str, model: Node) -> bool:
        """Whether a name means something where another one does that is like it."""
        visible = self._scope.variables(model)
        return other not in visible or name in visible

    def _variants(self, node: Node, other: str, name: str) -> Iterator[str]:
        """A node's text about another name: as it is, with the next indices, with constants that are left over, ..."""
        is_left = self._terms.unused.is_left
        text = " ".join(self._source.name(node).split())
        base = re.sub(rf"\b{re.escape(other)}\b", name, text)
        for one in dict.fromkeys((_INDEX.sub(_next, base), base)):
            yield one
            yield from self._with_constants(one, is_left)
        for one in (base, *self._with_constants(base, is_left)):
            yield from islice(self._about_others(one, name, node), OTHERS)

    def _with_constants(self, text: str, serves: Callable[[str], bool]) -> Iterator[str]:
        """A text with other constants of the lists that its own are in."""
        for constant in sorted(self._scope.constant_names & set(_WORD.findall(text))):
            for sibling in filter(serves, self._scope.siblings(constant)):
                yield re.sub(rf"\b{constant}\b", sibling, text)

    def _about_others(self, text: str, name: str, node: Node) -> Iterator[str]:
        """A text about another variable of the same type."""
        visible = self._scope.variables(node)
        for one in sorted(set(_WORD.findall(text)) & visible.keys() - {name}):
            near = _nearest(list(visible), one)
            others = (other for other in near if visible[other] == visible[one] and other not in (one, name))
            yield from (re.sub(rf"(?<![\w.>]){one}\b", other, text) for other in others)

    # ---- Conditions --------------------------------------------------------------------------------------------------

    def _operands(self, name: str, like: Mapping[str, list[Node]]) -> Iterator[tuple[Unit, Splice]]:
        seen = set[tuple[int, str]]()
        for other, nodes in like.items():
            for operand in islice(filter(None, map(_operand, nodes)), MODELS):
                unit = self._unit_of(operand)
                if unit is None or not self._is_visible(name, other, statement_of(operand)):
                    continue
                for text in self._variants(operand, other, name):
                    if (operand.end_byte, text) not in seen:
                        seen.add((operand.end_byte, text))
                        yield from ((unit, splice) for splice in self._joined(operand, text))

    def _joined(self, operand: Node, text: str) -> Iterator[Splice]:
        """A condition with another one behind it, by either operator."""
        around = operand.parent
        sign = around.child_by_field_name("operator") if around is not None else None
        own = sign.type if around is not None and around.type == "binary_expression" and sign is not None else ""
        for operator in ("||", "&&"):
            added = f"{self._source.name(operand)} {operator} {text}"
            joined = added if own in ("", operator) else f"({added})"
            yield Splice(operand.start_byte, operand.end_byte, joined.encode("latin-1"), 0)

    def _unit_of(self, node: Node) -> Unit | None:
        return next((u for u in self._conditions if u.start <= node.start_byte and node.end_byte <= u.end), None)

    @cached_property
    def _conditions(self) -> list[Unit]:
        return [unit for unit in self._source.units if unit.place is Place.CONDITION]


def _nearest(names: list[str], name: str) -> list[str]:
    """Names in the order of how near they stand to one of them."""
    at = names.index(name)
    return [names[number] for number in sorted(range(len(names)), key=lambda number: abs(number - at))]


def _next(index: re.Match[str]) -> str:
    return f"[{int(index[1]) + 1}]"


def _operand(node: Node) -> Node | None:
    """The condition that a mention stands in: what is compared, tested, or joined with others."""
    at: Node | None = node
    while at is not None and not at.type.endswith("statement"):
        negated = at.parent is not None and at.parent.type == "unary_expression"
        if decides(at) and not negated:
            return at
        at = at.parent
    return None


def _around(node: Node) -> Node | None:
    """What a statement is done by, or a block that it stands in."""
    at = node.parent
    return at.parent if at is not None and at.type == "compound_statement" else at


def _is_simple(node: Node) -> bool:
    """Whether an ``if`` does a thing or two, and nothing else where its condition does not hold."""
    body = node.child_by_field_name("consequence")
    if body is None or node.child_by_field_name("alternative") is not None or node.has_error:
        return False
    inner = body.named_children if body.type == "compound_statement" else [body]
    return 0 < len(inner) <= STEPS and all(map(is_leaf, inner)) and node.end_byte - node.start_byte <= LONGEST
