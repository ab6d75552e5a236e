"""Rules as suggested fixes: the change of source that a rule stands for, in words and as the edited line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whence.alter.changes import Op
from whence.probe.sites import Form, Operation, Role
from whence.program.constants import integer_constant
from whence.program.model import Location, Operand
from whence.techniques.rules.logic import Logic
from whence.techniques.rules.members import Members
from whence.techniques.rules.operands import constant, from_bits
from whence.techniques.rules.operations import OTHER_SIGN, SYMBOLS
from whence.techniques.rules.patches import Target, call_text, edited
from whence.techniques.rules.tokens import Line

if TYPE_CHECKING:
    from whence.alter.describe import Describer
    from whence.findings import Statement
    from whence.techniques.rules.candidates import Rule


_UNSIGNED = range(Operation.ULT, Operation.UGE + 1), (Operation.UDIV, Operation.UREM, Operation.LSHR)
_ALONE = r"(?<![\w.>]){}(?![\w(\[.-])"  # a variable by itself, no member and no part of another name
_IN_TEXT = re.compile(r"'([^\\]|\\[\\'0nrt])'")  # characters that texts have; others are numbers that a char holds
_PLACES = {Role.STORE: "in `{}`", Role.RETURN: "as what {} returns", Role.ARGUMENT: "as an argument of `{}`"}


@dataclass(slots=True, frozen=True)
class Suggestion:
    """What a rule stands for: words to follow "with", the source line, and the edited line (None: in words only).

    One that ``takes_away`` does without something: an assignment, a call, what a condition decides, what a number in
    its place was computed from.
    """

    statement: Statement | None
    words: str
    before: str | None
    after: str | None
    takes_away: bool


class Suggestions:
    """Tells the rules of one subject; source files are read once."""

    def __init__(self, describer: Describer) -> None:
        self._describer, self._subject = describer, describer.subject
        self._lines: dict[str, list[str]] = {}
        self._members, self._logic = Members(self._subject), Logic(self._subject)

    def of(self, rule: Rule) -> Suggestion:
        """What a rule stands for."""
        location = self._describer.static(rule.site).instruction.location
        text = self._text(location)
        target = self._target(rule, text or "", location.column if location else 0)
        after = None if text is None else self._swapped(rule, target) if rule.swapped else edited(target)
        before, after = (None if line is None else _decoded(line).strip() for line in (text, after))
        statement = self._describer.statement(rule.site)
        return Suggestion(statement, self._words(rule, target), before, after, _takes_away(rule, target))

    def _swapped(self, rule: Rule, target: Target) -> str | None:
        """The line with two arguments exchanged; None where it does not show both, once each."""
        assert rule.swapped is not None
        text = target.line.text
        names = (target.name, self._describer.static(rule.swapped[0]).words[1])
        first, second = (list(re.finditer(_ALONE.format(re.escape(name)), text)) for name in names)
        if len(first) != 1 or len(second) != 1 or first[0].end() > second[0].start():
            return None
        one, other = first[0], second[0]
        return text[: one.start()] + other[0] + text[one.end() : other.start()] + one[0] + text[other.end() :]

    def _text(self, location: Location | None) -> str | None:
        """The source line of a place, one character a byte; None where it cannot be read."""
        if location is None:
            return None
        if location.file not in self._lines:
            try:
                self._lines[location.file] = Path(location.file).read_text("latin-1").split("\n")
            except OSError:
                self._lines[location.file] = []
        lines = self._lines[location.file]
        return lines[location.line - 1] if 0 < location.line <= len(lines) else None

    # ---- What is changed -----------------------------------------------------------------------------------------

    def _target(self, rule: Rule, text: str, column: int) -> Target:
        row, static, line = self._describer.sites[rule.site], self._describer.static(rule.site), Line(text)
        operands = static.instruction.operands
        argument = max(0, int(row["operand"]))
        hidden = sum(any(a.startswith("sret(") for a in operand.attributes) for operand in operands[:argument])
        return Target(
            rule=rule,
            role=Role(int(row["role"])),
            operation=int(row["operation"]),
            instruction=static.instruction,
            operand=operands[argument] if operands else Operand("void", ""),
            argument=argument - hidden,
            line=line,
            at=line.at_column(column),
            name=static.words[1],
            new=self._new(rule),
            guard="" if rule.guard is None else self._literal(rule.site, rule.guard),
        )

    def _new(self, rule: Rule) -> str:
        """The C text of what is used instead."""
        row = self._describer.sites[rule.site]
        form, width = Form(int(row["form"])), int(row["width"])
        if rule.op is Op.VARIABLE:
            plan = self._subject.alter_plan
            return plan.variable_names[int(plan.functions[row["function"]]) + rule.variable]
        if rule.op is Op.MEMBER:
            return self._other_member(rule)
        if rule.op is Op.EXCHANGE:
            return "&&" if self._logic.operator(rule.site) == "||" else "||"
        if rule.op is Op.ADD:
            number = from_bits(rule.value, 64 if form is Form.FLOAT else width, form)
            return f"- {abs(number)}" if number < 0 else f"+ {number}"
        if rule.op in (Op.LEFT_SET, Op.RIGHT_SET):
            return self._operand(rule)
        return self._literal(rule.site, rule.value) if width else ""

    def _other_member(self, rule: Rule) -> str:
        """``p->b`` for ``p->a``."""
        static = self._describer.static(rule.site)
        ref = self._subject.program.functions[int(self._describer.sites[rule.site]["function"])]
        own, name = self._members.own(ref, static.instruction), static.words[1]
        others = self._members.beside(ref, static.instruction)
        new = next(other.name for other in others if other.distance & (1 << 64) - 1 == rule.value)
        return name.removesuffix(own) + new if own and name.endswith(own) else new

    def _literal(self, site: int, bits: int) -> str:
        """A value of the site as a constant in C."""
        if self._describer.sites[site]["form"] == Form.POINTER:
            return hex(bits) if bits else "NULL"
        shown = self._describer.value(site, bits)
        character, _, number = shown.rpartition(" (")  # 'a' (97)
        if not shown.startswith("'"):
            return shown
        return character if _IN_TEXT.fullmatch(character) else number.removesuffix(")")

    def _operand(self, rule: Rule) -> str:
        """The new operand as a constant: as the type of the other one has it, numbers beside arithmetic as numbers."""
        row, static = self._describer.sites[rule.site], self._describer.static(rule.site)
        other = static.instruction.operands[rule.op is Op.LEFT_SET]
        number = from_bits(rule.value, int(row["width"]), Form(int(row["form"])))
        if isinstance(number, float):
            return repr(number)
        ctype = static.explainer.value(static.function, other).type
        is_letter = ctype is not None and ctype.plain.kind == "char" and 32 <= number < 127
        expected = ctype if row["role"] == Role.COMPARE or is_letter else None
        text = integer_constant(number, other.type, expected)
        return text if not text.startswith("'") or _IN_TEXT.fullmatch(text) else str(number)

    # ---- Words ---------------------------------------------------------------------------------------------------

    def _words(self, rule: Rule, target: Target) -> str:
        """The change in words."""
        name = target.name
        if rule.op is Op.KEEP:
            return self._without_store(rule, target)
        if rule.op is Op.SKIP:
            call = self._call(rule.site, target)
            return f"`{target.new}` instead of the call `{call}`" if target.new else f"leave out `{call};`"
        if rule.op is Op.EXCHANGE:
            right, old = self._describer.static(rule.right).words[1], self._logic.operator(rule.site)
            return f"`{target.new}` instead of `{old}` between `{name}` and `{right}`"
        if target.role is Role.BRANCH:
            state = "negated" if rule.op is Op.NOT else f"always {'true' if rule.value else 'false'}"
            return f"the condition `{name}` is {state}"
        if target.role is Role.SWITCH:
            when = f"where `{name}` is {target.guard}," if rule.guard is not None else f"on `{name}`"
            return (
                f"{when} the switch goes to case {target.new}"
                if rule.guard is not None
                else (f"the switch {when} always goes to case {target.new}")
            )
        return self._other_value(rule, target)

    def _other_value(self, rule: Rule, target: Target) -> str:
        name = self._call(rule.site, target) if target.role is Role.RESULT else target.name
        if rule.swapped is not None:
            return f"`{name}` and `{self._describer.static(rule.swapped[0]).words[1]}` exchanged as arguments"
        if rule.op is Op.OPERATOR:
            return self._other_operator(rule, target)
        if rule.op in (Op.LEFT_SET, Op.RIGHT_SET):
            return self._other_operand(rule, target)
        if target.role is Role.RESULT and rule.op is Op.SET and rule.guard is None:
            return f"`{target.new}` as the result of `{name}`"
        if target.role is Role.ARGUMENT:
            name = f"argument {target.argument + 1} of {target.name}"
        if rule.op is Op.ADD:
            new = f"{name} {target.new}"
        elif rule.op in (Op.NEGATE, Op.NOT):
            sign = "-" if rule.op is Op.NEGATE else "!"
            new = f"{sign}{name}" if name.isidentifier() else f"{sign}({name})"
        else:
            new = target.new
        if rule.guard is not None:
            return f"where `{name}` is {target.guard}, use {new}"
        old = constant(target.operand) if target.role in (Role.STORE, Role.ARGUMENT, Role.RETURN) else None
        if old is not None:
            bits = int(self._describer.sites[rule.site]["left"])
            return f"`{new}` instead of `{self._literal(rule.site, bits)}` {_PLACES[target.role].format(target.name)}"
        return f"`{new}` instead of `{name}`"

    def _other_operator(self, rule: Rule, target: Target) -> str:
        old, new = (SYMBOLS.get(Operation(number), "") for number in (target.operation, rule.operation))
        if OTHER_SIGN.get(Operation(target.operation)) == rule.operation:
            sign = "unsigned" if any(rule.operation in group for group in _UNSIGNED) else "signed"
            return f"`{target.name}` computed with {sign} numbers"
        return f"`{new}` instead of `{old}` in `{target.name}`"

    def _other_operand(self, rule: Rule, target: Target) -> str:
        static, is_right = self._describer.static(rule.site), rule.op is Op.RIGHT_SET
        changed, kept = target.instruction.operands[is_right], target.instruction.operands[not is_right]
        if constant(changed) is None:
            return f"`{static.explainer.value(static.function, kept).text}` instead of `{target.name}`"
        ctype = static.explainer.value(static.function, kept).type
        old = static.explainer.value(static.function, changed, ctype).text
        return f"`{target.new}` instead of `{old}` in `{target.name}`"

    def _without_store(self, rule: Rule, target: Target) -> str:
        static = self._describer.static(rule.site)
        return f"leave out `{static.explainer.expression(static.function, static.instruction)};`"

    def _call(self, site: int, target: Target) -> str:
        """The call as it is written, or, where the line does not show it (a macro), as the instruction tells it."""
        static = self._describer.static(site)
        told = static.explainer.expression(static.function, static.instruction)
        written = call_text(target)
        name = "".join(written.partition("(")[0].split())
        return written if name and name == told.partition("(")[0] else told


def _decoded(line: str) -> str:
    """A line that was held one character a byte."""
    return line.encode("latin-1").decode("utf-8", "replace")


def _takes_away(rule: Rule, target: Target) -> bool:
    """Whether a rule leaves something out, or has a number in the place of what is computed."""
    if rule.op is not Op.SET:
        return rule.op in (Op.KEEP, Op.SKIP)
    if target.role in (Role.STORE, Role.ARGUMENT, Role.RETURN):
        return constant(target.operand) is None
    return target.role is not Role.SWITCH
