"""Sites of the alter variant in the user's words: their statement, their value in C, and values as C prints them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.findings import Statement
from whence.probe.sites import Form, Role
from whence.program.debug import CType
from whence.program.expression import AccessPath, Expressions
from whence.program.model import Function, Instruction, Operand
from whence.program.program import plain_name
from whence.program.values import format_untyped, format_value

if TYPE_CHECKING:
    from whence.subject.subject import Subject

LONGEST = 60  # characters of an expression that is shown
RETURNED = "%retval"  # the register in which clang keeps what a function with several returns will return


class Describer:
    """Describes the sites of one subject; each site's text is put together once.

    ``statements`` has one number a site (int32): an index of ``subject.places.statements``, -1 for none.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.sites = subject.alter_plan.sites
        self._static_sites: dict[int, _StaticSite] = {}

    @cached_property
    def statements(self) -> NDArray[np.int32]:
        """For each site the number of its statement in ``subject.places.statements``; -1: none."""
        return np.asarray(self.subject.places.numbers[self.sites["instruction"]], np.int32)

    def statement(self, site: int) -> Statement | None:
        """The statement of a site."""
        number = int(self.statements[site])
        return self.subject.places.statements[number] if number >= 0 else None

    def sites_of_statements(self) -> dict[Statement, int]:
        """For each statement that has sites its first one."""
        numbers, first = np.unique(self.statements, return_index=True)
        known = self.subject.places.statements
        return {known[n]: site for n, site in zip(numbers.tolist(), first.tolist(), strict=True) if n >= 0}

    def what(self, site: int) -> str:
        """The C text of a site's value: ``a[i]``, ``x < y``, ``the result of f()``, ``the condition x > 0``."""
        lead, text = self.static(site).words
        return f"{lead}{text}"

    def quoted(self, site: int) -> str:
        """Like ``what``, with what is C in back quotes, for a sentence: ``the condition `x > 0```."""
        lead, text = self.static(site).words
        return f"{lead}`{text}`" if text else lead

    def value(self, site: int, bits: int) -> str:
        """A value of the site as C prints it, from its bits (zero-extended): ``-1``, ``'a' (97)``, ``RED``, ``2.5``.

        Conditions are ``true`` or ``false``, pointers ``null`` or ``not null``.
        """
        return self.static(site).show(int(bits))

    def static(self, site: int) -> _StaticSite:
        """What stands behind a site."""
        if site not in self._static_sites:
            row, program = self.sites[site], self.subject.program
            number = int(row["instruction"])
            ref = program.function_of_instruction(number)
            self._static_sites[site] = _StaticSite(
                Role(int(row["role"])),
                Form(int(row["form"])),
                int(row["operand"]),
                self.subject.expressions[ref.module],
                ref.function,
                program.instruction(number),
            )
        return self._static_sites[site]


@dataclass(frozen=True, eq=False)
class _StaticSite:
    """The program's side of a site: its instruction, the function around it, and what explains both."""

    role: Role
    form: Form
    argument: int
    explainer: Expressions
    function: Function
    instruction: Instruction

    @cached_property
    def words(self) -> tuple[str, str]:
        """What the site's value is: words, and the C text that follows them (either may be empty)."""
        if self._is_returned:
            return "what is returned by ", f"{plain_name(self.function.name)}()"
        if self.role in (Role.LOAD, Role.STORE):
            return "", self._place
        if self.role is Role.ARGUMENT:
            return f"argument {self._position} of ", f"{self._callee}()"
        if self.role in (Role.CALL, Role.RESULT):
            return f"the {'call' if self.role is Role.CALL else 'result'} of ", f"{self._callee}()"
        lead = {Role.BRANCH: "the condition ", Role.SWITCH: "the switch on "}.get(self.role, "")
        return lead, _short(self.explainer.value(self.function, self._operand).text)

    @property
    def _place(self) -> str:
        """What a load reads or a store writes; for a temporary of the compiler the value that goes in or comes out."""
        text = self._path.text if self._path is not None else ""
        return _short(text or self.explainer.value(self.function, self._operand).text)

    @property
    def _is_returned(self) -> bool:
        """Whether the value is what the function around it returns."""
        stored = self.instruction.opcode == "store" and self.instruction.operands[1].text == RETURNED
        return self.role is Role.RETURN or stored

    @cached_property
    def _path(self) -> AccessPath | None:
        """The C place that a load or store accesses."""
        if self.role not in (Role.LOAD, Role.STORE):
            return None
        return self.explainer.accessed(self.function, self.instruction)

    @property
    def _operand(self) -> Operand:
        """The operand, or the result, that holds the site's value."""
        instruction = self.instruction
        if self.role is Role.ARGUMENT:
            return instruction.operands[self.argument]
        if self.role in (Role.STORE, Role.BRANCH, Role.SWITCH, Role.RETURN):
            return instruction.operands[0]
        return Operand(instruction.type, instruction.result or "")

    @property
    def _callee(self) -> str:
        """What a call calls, in C: a function's name, or the expression that holds its address."""
        callee = self.instruction.callee or ""
        if callee.startswith("@"):
            return plain_name(callee[1:])
        return _short(self.explainer.value(self.function, Operand("ptr", callee)).text)

    @property
    def _position(self) -> int:
        """The number of an argument as C counts them, from 1: the hidden place of a result is none."""
        before = self.instruction.operands[: self.argument + 1]
        return sum(not any(a.startswith("sret(") for a in operand.attributes) for operand in before)

    def show(self, bits: int) -> str:
        """A value as C prints it."""
        if self.form is Form.POINTER:
            return "not null" if bits else "null"
        if self.role in (Role.BRANCH, Role.COMPARE):
            return "true" if bits & 1 else "false"
        path, ctype = self._path, self._type
        if path is not None and path.type is not None:
            return path.show(bits)
        return format_value(bits, ctype) if ctype is not None else format_untyped(bits, self._operand.type)

    @cached_property
    def _type(self) -> CType | None:
        """The C type of the value, where debug information tells."""
        if self._is_returned:
            return self._signature(self.function.name, 0)
        found = self.explainer.value(self.function, self._operand).type
        if found is None and self.role is Role.ARGUMENT:
            return self._signature((self.instruction.callee or " ")[1:], self._position)
        return found

    def _signature(self, name: str, position: int) -> CType | None:
        """The type of a function's result (position 0) or parameter (from 1)."""
        ctype = self.explainer.debug.function_type(name)
        signature = ctype.signature if ctype is not None else ()
        return signature[position] if position < len(signature) else None


def _short(text: str) -> str:
    """An expression that fits into a sentence."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
