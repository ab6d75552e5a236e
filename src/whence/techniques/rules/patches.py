"""The line of source with a rule's change made in it, where the line shows clearly what is to be changed.

The place of a site's instruction in the debug information is that of the operator, of the name that is read, of the
call, or of the assignment. A line is edited only where the text there is what the instruction does. A rule for which
that cannot be seen (a macro, an expression over several lines, a conversion in between) has no edited line.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from whence.alter.changes import Op
from whence.probe.sites import Operation, Role
from whence.program.model import Instruction, Operand
from whence.techniques.rules.candidates import Rule
from whence.techniques.rules.operands import Number, constant
from whence.techniques.rules.operations import SYMBOLS
from whence.techniques.rules.tokens import ASSIGNMENTS, LOGICAL, LOOSE, PRECEDENCE, Line

_COUNTING = ("++", "--")
_TESTS = ("if", "while")
_COMPARING = PRECEDENCE["<"]
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_SIMPLE = re.compile(r"[-!]?[\w.]+|'[^']*'")  # what needs no parentheses beside operators


@dataclass(slots=True, frozen=True)
class Target:
    """A rule with the place in the source that it changes.

    ``at`` is the position of the token at the instruction's column, -1 where none begins there. ``name`` is the C text
    of the site's value, ``new`` that of the constant or variable to use, ``guard`` that of the value it is used for.
    """

    rule: Rule
    role: Role
    operation: int  # the site's
    instruction: Instruction
    operand: Operand  # that the site's value is, where it is one
    argument: int  # of an ARGUMENT: its number in C, from 0
    line: Line
    at: int
    name: str
    new: str = ""
    guard: str = ""

    @property
    def token(self) -> str:
        """The text of the token at the column."""
        return self.line.token(self.at).text


def edited(target: Target) -> str | None:
    """The whole edited line; None where it is not clear how it would have to be changed."""
    if target.at < 0 and target.role is not Role.BRANCH:
        return None
    after = _EDITS[target.role](target)
    return None if after == target.line.text else after


def call_text(target: Target) -> str:
    """The call at the place of a rule as its line has it; empty where there is none, or it goes on behind the line."""
    _, last = target.line.call_end(target.at)
    return "" if last < 0 else target.line.source(target.at, last)


# ---- Operators and their operands ------------------------------------------------------------------------------------


def _computed(target: Target) -> str | None:
    """Another operator, another operand, or something made of the result."""
    if target.rule.op is Op.OPERATOR:
        return _operator(target)
    if target.rule.op in (Op.LEFT_SET, Op.RIGHT_SET):
        return _operand(target)
    line, at = target.line, target.at
    if target.token != SYMBOLS.get(Operation(target.operation)) or not line.is_binary(at):
        return None
    return _instead(target, line.left_operand(at), line.right_operand(at), is_primary=False)


def _operator(target: Target) -> str | None:
    line, at, found = target.line, target.at, target.token
    old, new = SYMBOLS.get(Operation(target.operation)), SYMBOLS[Operation(target.rule.operation)]
    if found == old and line.is_binary(at) and line.keeps_shape(at, new):
        return line.replaced(at, at, new)
    if found == f"{old}=" and found in ASSIGNMENTS:
        return line.replaced(at, at, f"{new}=")
    if found in _COUNTING and target.rule.operation == Operation.SUB:
        return line.replaced(at, at, "--" if found == "++" else "++")
    return None


def _operand(target: Target) -> str | None:
    """Another constant beside an operator; or, in place of both operands, the one that is not changed."""
    line, at, found = target.line, target.at, target.token
    is_right = target.rule.op is Op.RIGHT_SET
    symbol = SYMBOLS.get(Operation(target.operation))
    number = constant(target.instruction.operands[is_right])
    if found in _COUNTING and is_right:
        return _counted(target)
    if not (found == symbol and line.is_binary(at)) and not (is_right and found == f"{symbol}="):
        return None
    if is_right:
        first, last = at + 1, line.right_operand(at) if found == symbol else line.expression_end(at + 1)
    else:
        first, last = line.left_operand(at), at - 1
    if number is not None:
        new = f"({target.new})" if target.new.startswith("-") and symbol in ("+", "-") else target.new
        return line.replaced(first, last, new) if _is_constant(line, first, last, number) else None
    if found != symbol or _acts(line, first, last):
        return None
    return line.without(at, last) if is_right else line.without(first, at)


def _counted(target: Target) -> str | None:
    """``i += 2`` for ``i++`` whose value is not used."""
    line, at = target.line, target.at
    start = line.primary_start(at - 1)
    if start < 0 or not line.begins_statement(start) or line.token(at + 1).text not in (";", ")"):
        return None
    return line.replaced(at, at, f" += {target.new}")


# ---- Values ----------------------------------------------------------------------------------------------------------


def _read(target: Target) -> str | None:
    """Something else for what is read: the name stands at the column, or a chain of members ends there."""
    line, at = target.line, target.at
    wanted = "".join(target.name.split())
    for first in dict.fromkeys((at, line.primary_start(at))):
        last = _spelled(line, first, wanted) if first >= 0 else -1
        if last >= at and line.token(first - 1).text not in _COUNTING:
            behind = line.token(last + 1).text
            is_place = behind in ("[", "(", ".", "->") and target.rule.op not in (Op.VARIABLE, Op.MEMBER)
            return None if is_place or behind in {*_COUNTING, *ASSIGNMENTS} else _instead(target, first, last)
    return None


def _spelled(line: Line, first: int, wanted: str) -> int:
    """The last of the tokens that spell a text, from ``first`` on; -1: they do not."""
    text = ""
    for position in range(first, len(line.tokens)):
        text += line.token(position).text
        if text == wanted:
            return position
        if not wanted.startswith(text):
            break
    return -1


def _called(target: Target) -> str | None:
    """Something else for the result of a call."""
    _, last = target.line.call_end(target.at)
    if last < 0 or target.rule.op is Op.VARIABLE:
        return None
    return _instead(target, target.at, last)


def _instead(target: Target, first: int, last: int, is_primary: bool = True) -> str | None:
    """The line with an expression replaced by what the rule makes of it, in parentheses where others are around."""
    line, rule = target.line, target.rule
    source = line.source(first, last)
    operand = source if is_primary else f"({source})"
    if rule.guard is not None:
        new = f"{operand} == {target.guard} ? {target.new} : {operand}"
    elif rule.op is Op.ADD:
        new = f"{source} {target.new}"
    elif rule.op is Op.NOT and is_primary and line.token(first - 1).text == "!":
        return line.replaced(first - 1, last, source)
    elif rule.op in (Op.NEGATE, Op.NOT):
        new = f"{'-' if rule.op is Op.NEGATE else '!'}{operand}"
    elif _acts(line, first, last):
        new = f"{source}, {target.new}"
    else:
        new = target.new
    is_list = new.startswith(f"{source}, ")
    is_simple = rule.op is Op.MEMBER or _SIMPLE.fullmatch(new)
    fits = is_simple and not (new[0] == "-" and line.token(first - 1).text == "-")
    return line.replaced(first, last, new if fits or (line.is_alone(first, last) and not is_list) else f"({new})")


def _used(target: Target) -> str | None:
    """Another constant, or a variable, for a constant that is stored, returned or passed; a store left out."""
    if target.rule.op is Op.KEEP:
        return _unassigned(target)
    if target.rule.op not in (Op.SET, Op.VARIABLE):
        return None
    line, at = target.line, target.at
    if target.role is Role.ARGUMENT:
        span = _argument(target)
    elif target.token == "return":
        span = at + 1, line.expression_end(at + 1)
    else:
        assignment = at if target.token == "=" else at + 1
        span = assignment + 1, line.expression_end(assignment + 1)
        if line.token(assignment).text != "=" or _is_passed_on(line, assignment):
            return None
    number = constant(target.operand)
    if span is None or number is None or not _is_constant(line, *span, number):
        return None
    return line.replaced(*span, target.new)


def _is_passed_on(line: Line, assignment: int) -> bool:
    """Whether an assigned value is used by what is around it, too, as in ``a = b = 0``: a rule changes ``b`` alone."""
    first = line.primary_start(assignment - 1)
    while line.token(first - 1).text == "*" and not line.is_binary(first - 1):
        first -= 1
    is_declared = line.token(first - 1).kind == "name"
    return not (is_declared or line.begins_statement(first) or line.token(first - 1).text == ",")


def _argument(target: Target) -> tuple[int, int] | None:
    """The tokens of an argument; None in what a macro makes the call of, whose arguments are others."""
    line, callee = target.line, target.instruction.callee or ""
    if callee.startswith("@") and not callee.endswith(target.token):  # headers give functions longer names
        return None
    opening, closing = line.call_end(target.at)
    first = opening + 1
    for _ in range(target.argument):
        first = line.expression_end(first) + 2
    last = line.expression_end(first)
    return (first, last) if 0 < opening < first <= last < closing else None


def _is_constant(line: Line, first: int, last: int, number: Number) -> bool:
    """Whether tokens are one constant of this value: a number, a character, or the name of an enumerator or a macro."""
    token, sign = line.token(last), 1
    if last == first + 1 and line.token(first).text == "-":
        sign = -1
    elif first != last:
        return False
    if token.kind == "name":
        return sign == 1
    value = _value(token.text) if token.kind in ("number", "char") else None
    return value is not None and sign * value == number


def _value(text: str) -> Number | None:
    """The value of a constant as C writes it; None for what is not understood."""
    try:
        if text[0] == "'":
            return int(literal_eval(f"b{text}")[0])  # Python has C's escapes
        digits = text.rstrip("uUlL")
        if digits[:2] in ("0x", "0X"):
            return int(digits, 16)
        if digits.isdigit():
            return int(digits, 8 if digits[0] == "0" else 10)
        return float(text.rstrip("fFlL"))
    except (ValueError, IndexError, SyntaxError):
        return None


# ---- What is left out ------------------------------------------------------------------------------------------------


def _unassigned(target: Target) -> str | None:
    """The line without an assignment; what it assigned is still computed where that does something."""
    line, at = target.line, target.at
    if line.token(at + 1).text == "=" and line.token(at).kind == "name":  # the variable is declared
        last = line.expression_end(at + 2)
        return None if _acts(line, at + 2, last) else line.without(at + 1, last)
    if target.token not in ASSIGNMENTS and target.token not in _COUNTING:
        return None
    is_prefix = target.token in _COUNTING and line.token(at - 1).text in LOOSE - {")", "]"}
    first = at if is_prefix else line.primary_start(at - 1)
    while line.token(first - 1).text == "*" and not line.is_binary(first - 1):
        first -= 1
    last = line.expression_end(at + 1)
    if first < 0 or not line.begins_statement(first) or line.token(last + 1).text not in (";", ")"):
        return None
    if _acts(line, at + 1, last):
        return line.without(first, at) if target.token == "=" else None
    return line.without(first, last)


def _acts(line: Line, first: int, last: int) -> bool:
    """Whether tokens of an expression do more than compute: they call or assign."""
    tokens = line.tokens[first : last + 1]
    calls = any(one.kind == "name" and two.text == "(" for one, two in pairwise(tokens))
    return calls or any(token.text in ASSIGNMENTS or token.text in _COUNTING for token in tokens)


def _uncalled(target: Target) -> str | None:
    """The line without a call, or with a constant in its place."""
    line, at = target.line, target.at
    _, last = line.call_end(at)
    if last < 0:
        return None
    if line.begins_statement(at) and line.token(last + 1).text == ";":
        return line.without(at, last)
    return line.replaced(at, last, target.new) if target.new else None


# ---- Conditions ------------------------------------------------------------------------------------------------------


def _exchanged(target: Target) -> str | None:
    """The other one of ``&&`` and ``||``, with its operands in parentheses where others stand beside them."""
    line, at = target.line, target.at
    if at < 0 or target.token not in LOGICAL or not line.is_binary(at):
        return None
    first, last = line.logical_operand(at, -1), line.logical_operand(at, 1)
    if at in (first, last):
        return None
    if not {*line.operators(at, -1), *line.operators(at, 1)} & set(LOGICAL):
        return line.replaced(at, at, target.new)
    return line.replaced(first, last, f"({line.source(first, at - 1)} {target.new} {line.source(at + 1, last)})")


def _condition(target: Target) -> str | None:
    """A condition negated, always true or always false; or its operator exchanged."""
    if target.rule.op is Op.EXCHANGE:
        return _exchanged(target)
    line = target.line
    spelled = _spelled_once(line, target.name)
    first, last = spelled or _whole_test(line)
    if first < 0:
        first, last = _chosen_by(target)
    if first < 0 or target.rule.guard is not None:
        return None
    source = line.source(first, last)
    if target.rule.op is Op.NOT:
        return _negated(line, first, last)
    is_inverted = spelled is None and line.token(first).text == "!"  # what is behind it is tested, and the ways swapped
    forced = str(target.rule.value ^ is_inverted)
    return line.replaced(first, last, f"({source}, {forced})" if _acts(line, first, last) else forced)


def _negated(line: Line, first: int, last: int) -> str:
    """The line with the opposite of a condition: of a comparison the opposite one, of a negation what it negates."""
    operators = [at for at in line.binary_operators(first - 1, 1) if at <= last]
    if not operators and line.token(first).text == "!":
        is_bracketed = line.token(first + 1).text == "(" and line.closing(first + 1) == last
        inside = (first + 2, last - 1) if is_bracketed and line.is_alone(first, last) else (first + 1, last)
        return line.replaced(first, last, line.source(*inside))
    loosest = [at for at in operators if PRECEDENCE[line.token(at).text] <= _COMPARING]
    if len(loosest) == 1 and line.token(loosest[0]).text in _OPPOSITES:
        return line.replaced(loosest[0], loosest[0], _OPPOSITES[line.token(loosest[0]).text])
    source = line.source(first, last)
    is_operand = first == last or line.primary_start(last) == first
    return line.replaced(first, last, f"!{source}" if is_operand else f"!({source})")


def _spelled_once(line: Line, text: str) -> tuple[int, int] | None:
    """The tokens that spell a condition, where that is a whole one and stands on the line once."""
    wanted = "".join(text.split())
    found = [(first, last) for first in range(len(line.tokens)) if (last := _spelled(line, first, wanted)) >= 0]
    if len(found) != 1:
        return None
    first, last = found[0]
    ends = LOOSE | {"&&", "||"}
    return (first, last) if line.token(first - 1).text in ends and line.token(last + 1).text in ends else None


def _whole_test(line: Line) -> tuple[int, int]:
    """The tokens between the brackets of the line's only test, if that is one condition."""
    tests = [at for at, token in enumerate(line.tokens) if token.text in _TESTS]
    if len(tests) != 1 or line.token(tests[0] + 1).text != "(":
        return -1, -1
    first, last = tests[0] + 2, line.closing(tests[0] + 1) - 1
    inside = line.tokens[first : last + 1]
    is_list = line.expression_end(first) != last  # commas between arguments are no matter
    if last < first or is_list or any(token.text in (*LOGICAL, "?") for token in inside):
        return -1, -1
    negates_part = line.token(first).text == "!" and line.operators(first - 1, 1)
    return (-1, -1) if negates_part else (first, last)


def _chosen_by(target: Target) -> tuple[int, int]:
    """The tokens of the condition before the line's only ``?``, if it is one condition and the place is in it."""
    line = target.line
    choices = [at for at, token in enumerate(line.tokens) if token.text == "?"]
    if len(choices) != 1:
        return -1, -1
    first, last = line.logical_operand(choices[0], -1), choices[0] - 1
    is_part = line.token(first - 1).text in LOGICAL
    return (first, last) if first <= target.at <= last and not is_part else (-1, -1)


_EDITS: dict[Role, Callable[[Target], str | None]] = {
    Role.COMPARE: _computed,
    Role.BINARY: _computed,
    Role.LOAD: _read,
    Role.RESULT: _called,
    Role.STORE: _used,
    Role.ARGUMENT: _used,
    Role.RETURN: _used,
    Role.CALL: _uncalled,
    Role.BRANCH: _condition,
    Role.SWITCH: lambda _: None,
}
