"""Rules worth trying: changes of one site that hold at all its instances in a run.

A rule stands for a small change of the source. What a rule at a use stands for is a changed expression, so it leaves
memory as it is; a rule at a store is a changed assignment. Values that a site of their own makes are changed there and
nowhere else: the operand ``n`` of ``i < n`` where it is loaded, not at the comparison and again at the branch. Only
constants, which no instruction makes, are changed where they are used.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, EVERY, Batch, Flag, Op
from whence.alter.profile import Profile
from whence.probe.sites import Form, Operation, Role
from whence.techniques.rules.logic import Exchange, Logic
from whence.techniques.rules.members import Members
from whence.techniques.rules.operands import Number, Operands, constant, from_bits, to_bits
from whence.techniques.rules.operations import LEFT_NEUTRAL, OPPOSITE, RIGHT_NEUTRAL, SUMS, others
from whence.techniques.rules.scope import Scopes
from whence.techniques.rules.thresholds import NOTHING, Compared, thresholds

if TYPE_CHECKING:
    from whence.program.model import Instruction, Location
    from whence.program.program import FunctionRef
    from whence.subject.subject import Subject

CONSTANTS = 12  # of the same function that are tried in a constant's place, the nearest ones
BOUNDS = 4  # of these that are tried less one, and plus one, where a value is compared
CASES = 12  # of a switch that are tried
GUARDS = 8  # values of a switch each of which is led to another case
VARIABLES = 16  # that are tried in another one's place
SMALL = (0, 1, -1)  # values that are tried anywhere
FRACTIONS = (0.5, -0.5, 0.1, -0.1, 0.05, -0.05, 0.01, -0.01)  # by which a floating-point constant is changed
RETURNED = "%retval"  # the register in which clang keeps what a function with several returns will return


class Family(IntEnum):
    """What kind of change of source a rule stands for."""

    BRANCH = 0  # a condition negated, always true or false; another case of a switch
    VALUE = 1  # another value of an expression, another constant
    STORE = 2  # an assignment left out
    CALL = 3  # a call left out
    VARIABLE = 4  # another variable
    OPERATOR = 5  # another operator
    GUARDED = 6  # another value where it was a certain one


_TIERS = {
    Family.BRANCH: 0,
    Family.GUARDED: 0,
    Family.VALUE: 1,
    Family.STORE: 2,
    Family.CALL: 2,
    Family.VARIABLE: 3,
    Family.OPERATOR: 4,
}


@dataclass(slots=True, frozen=True)
class Rule:
    """One change of a site at every instance; ``value`` and ``guard`` (None: no guard) are bits, zero-extended.

    ``operation``: the new one of OPERATOR; of an operand that is changed the site's own; EXCHANGE: what decides.
    ``swapped``: two arguments of a call are exchanged; the site that loads the other one, and the variable it gets.
    """

    site: int
    family: Family
    op: Op
    value: int = 0
    guard: int | None = None
    variable: int = 0  # of VARIABLE: its number among the function's
    operation: int = 0
    right: int = 0  # of EXCHANGE: the site of the right operand
    swapped: tuple[int, int] | None = None

    @property
    def tier(self) -> int:
        """When it is tried at a statement: branches and comparisons, values, what is left out, variables, operators."""
        if self.op is Op.EXCHANGE or (self.family is Family.OPERATOR and self.operation >= Operation.EQ):
            return 0
        return _TIERS[self.family]


Pair = tuple[int, int, int]  # a site, the bits that its value had, and the bits with which the output is right


def batch_of(rules: Sequence[Rule], sites: NDArray[np.void]) -> Batch:
    """A continuation for each rule: one change, or the two of arguments that are exchanged."""
    firsts = change_records(rules, sites)
    swapped = {at: rule.swapped for at, rule in enumerate(rules) if rule.swapped is not None}
    if not swapped:
        return Batch.single(firsts)
    others = [replace(rules[at], site=site, variable=variable) for at, (site, variable) in swapped.items()]
    seconds = dict(zip(swapped, change_records(others, sites), strict=True))
    lists = [firsts[at : at + 1] for at in range(len(rules))]
    for at, second in seconds.items():
        lists[at] = np.concatenate([lists[at], np.array([second], CHANGE)])
    return Batch.of(lists)


def change_records(rules: Sequence[Rule], sites: NDArray[np.void]) -> NDArray[np.void]:
    """The rules as CHANGE records, one a rule (its first); ``sites`` is that of the AlterPlan."""
    records = np.zeros(len(rules), CHANGE)
    records["site"] = [rule.site for rule in rules]
    for name in ("block", "width", "form"):
        records[name] = sites[records["site"]][name]
    records["clock"] = EVERY
    records["op"] = [rule.op for rule in rules]
    records["value"] = np.array([rule.value for rule in rules], np.uint64)
    records["guard"] = np.array([rule.guard or 0 for rule in rules], np.uint64)
    records["flags"] = [0 if rule.guard is None else Flag.GUARDED for rule in rules]
    records["address"] = [rule.variable for rule in rules]
    records["operation"] = [rule.operation for rule in rules]
    exchanged = records["op"] == Op.EXCHANGE
    rights = np.array([rule.right for rule in rules], np.int64)[exchanged]
    records["address"][exchanged], records["guard"][exchanged] = rights, sites["block"][rights]
    return records


class Candidates:
    """Makes the rules of a subject's sites; ``profile`` has the values of its runs."""

    def __init__(self, subject: Subject, profile: Profile) -> None:
        self._subject, self._profile = subject, profile
        self._operands: dict[int, Operands] = {}
        self._scopes = Scopes(subject)
        self._members = Members(subject)
        self._logic = Logic(subject)
        self._compared = Compared(subject, profile)

    def of(self, number: int) -> list[Rule]:
        """The rules of one site, without repetition."""
        site = self._site(number)
        makers: dict[Role, Callable[[], Iterable[Rule]]] = {
            Role.BRANCH: site.branch,
            Role.SWITCH: site.switch,
            Role.COMPARE: site.compare,
            Role.BINARY: site.binary,
            Role.LOAD: site.load,
            Role.STORE: site.store,
            Role.CALL: site.call,
            Role.RESULT: site.result,
            Role.ARGUMENT: site.used,
            Role.RETURN: site.used,
        }
        return list(dict.fromkeys(makers[site.role]()))

    def _site(self, number: int) -> _Site:
        program, plan = self._subject.program, self._subject.alter_plan
        row = plan.sites[number]
        ref = program.functions[int(row["function"])]
        if ref.id not in self._operands:
            self._operands[ref.id] = Operands(ref.function)
        instruction, operands = program.instruction(int(row["instruction"])), self._operands[ref.id]
        role = Role(int(row["role"]))
        return _Site(
            number=number,
            role=role,
            form=Form(int(row["form"])),
            width=int(row["width"]),
            operation=int(row["operation"]),
            argument=int(row["operand"]),
            instruction=instruction,
            operands=operands,
            values=self._profile.values(number).tolist(),
            variables=self._alternatives(row, instruction.location),
            compared=self._compared.with_constant(ref, operands, instruction) if role is Role.COMPARE else NOTHING,
            members=[other.distance for other in self._members.beside(ref, instruction)],
            exchange=self._logic.exchange(number),
            swaps=self._swaps(row, ref, instruction),
        )

    def _swaps(self, row: NDArray[np.void], ref: FunctionRef, instruction: Instruction) -> list[tuple[int, int, int]]:
        """The later arguments of a call that a variable, the argument at the site, can be exchanged with.

        Of each the variable, the site that loads it, and the variable of the argument at the site.
        """
        operands, plan = self._operands[ref.id], self._subject.alter_plan
        if row["role"] != Role.LOAD or row["slot"] < 0:
            return []
        call, found = operands.only_call(instruction), []
        own = next((at for at, o in enumerate(call.operands) if o.text == instruction.result), 0) if call else 0
        for operand in call.operands[own + 1 :] if call else ():
            maker = operands.maker(operand)
            if maker is None or maker.opcode != "load" or maker.type != instruction.type:
                continue
            site = self._logic.site(ref, maker, Role.LOAD)
            slot = int(plan.sites["slot"][site]) if site is not None else -1
            is_alike = row["form"] != Form.POINTER or self._scopes.are_alike(ref, slot, int(row["slot"]))
            if site is not None and 0 <= slot != row["slot"] and is_alike:
                found.append((slot, site, int(row["slot"])))
        return found

    def _alternatives(self, row: NDArray[np.void], location: Location | None) -> list[int]:
        """The variables that can stand in a site's place: seen from there, of the same form and width.

        A pointer has to have the same type as well.
        """
        plan, own = self._subject.alter_plan, int(row["slot"])
        if location is None or (own < 0 and (not row["constant"] or row["form"] == Form.POINTER)):
            return []
        ref = self._subject.program.functions[int(row["function"])]
        first, last = plan.functions[ref.id : ref.id + 2].tolist()
        rows = plan.variables[first:last]
        fits = (rows["form"] == row["form"]) & (rows["width"] == row["width"]) & (rows["slot"] != own)
        found = [slot for slot in self._scopes.visible(ref, location) if fits[slot]]
        if row["form"] == Form.POINTER:
            found = [slot for slot in found if self._scopes.are_alike(ref, slot, own)]
        return found[:VARIABLES]


@dataclass(slots=True, frozen=True)
class _Site:
    """A site with all that its rules are made from; ``values`` are the bits that it had, in ascending order."""

    number: int
    role: Role
    form: Form
    width: int
    operation: int
    argument: int
    instruction: Instruction
    operands: Operands
    values: list[int]
    variables: list[int]  # that can stand in its place
    compared: NDArray[Any]  # with a constant, in ascending order
    members: list[int]  # of the same structure, by their distance in bytes
    exchange: Exchange | None  # of a branch on the left operand of && or ||
    swaps: list[tuple[int, int, int]]  # of an argument: another's variable, the site that loads it, its own variable

    # ---- By role -------------------------------------------------------------------------------------------------

    def branch(self) -> Iterator[Rule]:
        """The condition negated, always true, always false; of ``&&`` and ``||`` the other operator."""
        yield Rule(self.number, Family.BRANCH, Op.NOT)
        for value in (1, 0):
            yield Rule(self.number, Family.BRANCH, Op.SET, value)
        if found := self.exchange:
            rule = Rule(self.number, Family.OPERATOR, Op.EXCHANGE, found.forced, operation=found.decides)
            yield replace(rule, right=found.right)

    def switch(self) -> Iterator[Rule]:
        """Always one of the cases, or the default; and a value of the run led to another case."""
        _, *cases = self.instruction.operands
        known = [n for case in cases if isinstance(n := constant(case), int)][:CASES]
        ways = [self._bits(n) for n in (*known, max(known, default=0) + 1)]
        yield from (Rule(self.number, Family.BRANCH, Op.SET, way) for way in ways)
        for value in self.values[:GUARDS]:
            yield from (Rule(self.number, Family.BRANCH, Op.SET, way, guard=value) for way in ways if way != value)

    def compare(self) -> Iterator[Rule]:
        """Another comparison; another constant."""
        opposite = OPPOSITE.get(Operation(self.operation)) if self.operands.decides(self.instruction) else None
        yield from self._operators(opposite)
        yield from self._constant_operands()

    def binary(self) -> Iterator[Rule]:
        """Another constant, an operand left out, the result plus or minus one or negated; another operator."""
        yield from self._constant_operands()
        for op, neutral in ((Op.RIGHT_SET, RIGHT_NEUTRAL), (Op.LEFT_SET, LEFT_NEUTRAL)):
            if self.operation in neutral:
                yield self._value(op, self._bits(neutral[Operation(self.operation)]))
        yield from self._near(steps=self.operation not in SUMS)
        yield from self._operators()

    def load(self) -> Iterator[Rule]:
        """Another value, another variable, another member; arguments exchanged."""
        yield from self._near()
        yield from self._fixed([*SMALL, *self._extremes()])
        yield from self._other_variables()
        for distance in self.members:
            yield Rule(self.number, Family.VARIABLE, Op.MEMBER, distance & (1 << 64) - 1)
        for variable, site, own in self.swaps:
            yield Rule(self.number, Family.VARIABLE, Op.VARIABLE, variable=variable, swapped=(site, own))

    def store(self) -> Iterator[Rule]:
        """Left out; another constant, or another value where no site makes it."""
        _, place = self.instruction.operands
        if place.text != RETURNED:
            yield Rule(self.number, Family.STORE, Op.KEEP)
        yield from self.used()

    def call(self) -> Iterator[Rule]:
        """Left out; where its result is used, 0 or 1 is used instead."""
        results = (0, 1) if self.operands.is_used(self.instruction) else (0,)
        yield from (Rule(self.number, Family.CALL, Op.SKIP, value) for value in results)

    def result(self) -> Iterator[Rule]:
        """Another result, where it is used."""
        if not self.operands.is_used(self.instruction):
            return
        yield from self._near()
        if self.form is Form.INTEGER:
            yield self._value(Op.NOT)
        yield from self._fixed([*SMALL, *self._extremes()])

    def used(self) -> Iterator[Rule]:
        """What is stored, passed or returned: another constant or a variable; another value if no one site makes it."""
        operand = self.instruction.operands[max(0, self.argument)]
        number = constant(operand)
        if number is not None:
            yield from self._fixed(self._instead(number), number)
            yield from self._other_variables()
        elif self.form is not Form.POINTER and self.operands.maker(operand) is None:
            yield from self._near()
            yield from self._fixed([*SMALL, *self._extremes()])

    # ---- Kinds of change -----------------------------------------------------------------------------------------

    def _value(self, op: Op, value: int = 0) -> Rule:
        return Rule(self.number, Family.VALUE, op, value, operation=self.operation)

    def _operators(self, without: int | None = None) -> Iterator[Rule]:
        for operation in others(self.operation):
            if operation != without:
                yield Rule(self.number, Family.OPERATOR, Op.OPERATOR, operation=operation)

    def _near(self, steps: bool = True) -> Iterator[Rule]:
        """Plus and minus one (not of a sum, whose operands have them), negated."""
        if steps and self.form is Form.FLOAT:
            yield from (self._value(Op.ADD, _double(step)) for step in (1.0, -1.0))
        elif steps and self.form is Form.INTEGER and self.width > 1:
            yield from (self._value(Op.ADD, self._bits(step)) for step in (1, -1))
        if self.form is not Form.POINTER and self.width > 8:
            yield self._value(Op.NEGATE)

    def _fixed(self, numbers: Iterable[Number], present: Number | None = None) -> Iterator[Rule]:
        """Always one of these numbers, unless the value always was."""
        always = self.values[0] if len(self.values) == 1 else None
        for number in [0] if self.form is Form.POINTER else numbers:
            bits = to_bits(number, self.width, self.form)
            if bits is not None and bits != always and number != present:
                yield self._value(Op.SET, bits)

    def _constant_operands(self) -> Iterator[Rule]:
        """Another constant where an operand is one."""
        for op, operand in zip((Op.LEFT_SET, Op.RIGHT_SET), self.instruction.operands, strict=True):
            number = constant(operand)
            for other in () if number is None else self._instead(number):
                if other != number and (bits := to_bits(other, self.width, self.form)) is not None:
                    yield self._value(op, bits)

    def _instead(self, number: Number) -> list[Number]:
        """What may stand in a constant's place: neighbours, doubled, halved, negated, and other constants around.

        In a comparison also the neighbours of the nearest of these: the end of one range is right before the next one;
        and what it was compared with.
        """
        steps = [number + step for step in FRACTIONS] if isinstance(number, float) else []
        half = number / 2 if isinstance(number, float) else number // 2
        around = sorted((c for c in self.operands.constants if type(c) is type(number)), key=lambda c: abs(c - number))
        others = around[: CONSTANTS + 1]
        bounds = [c for c in others if c != number][:BOUNDS] if self.role is Role.COMPARE else []
        ends = [bound + step for bound in bounds for step in (-1, 1)]
        limits = thresholds(number, self.compared)
        return [number + 1, number - 1, *SMALL, 2 * number, half, -number, *steps, *others, *ends, *limits]

    def _extremes(self) -> list[Number]:
        """The least and the greatest value that the site had."""
        ends = dict.fromkeys([self.values[0], self.values[-1]]) if self.values else {}
        return [from_bits(bits, self.width, self.form) for bits in ends]

    def _other_variables(self) -> Iterator[Rule]:
        for variable in self.variables:
            yield Rule(self.number, Family.VARIABLE, Op.VARIABLE, variable=variable)

    def _bits(self, number: Number) -> int:
        return to_bits(number, self.width, self.form) or 0


def guarded(pairs: Iterable[Pair], sites: NDArray[np.void]) -> list[Rule]:
    """Rules made from pairs that Value Replacement found: "where `v` was 3, 4".

    Where several pairs of a site have the same difference, or the same new value, one rule without a guard says it.
    """
    found: list[Rule] = []
    by_site: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for site, original, alternate in dict.fromkeys(pairs):
        by_site[site].append((original, alternate))
    for site, changes in by_site.items():
        found += _general(site, changes, sites[site])
        found += [Rule(site, Family.GUARDED, Op.SET, new, guard=old) for old, new in changes]
    return found


def _general(site: int, changes: list[tuple[int, int]], row: NDArray[np.void]) -> Iterator[Rule]:
    """What several changes of a site's value have in common."""
    width, form = int(row["width"]), Form(int(row["form"]))
    news = Counter(new for _, new in changes)
    yield from (Rule(site, Family.VALUE, Op.SET, new) for new, times in news.items() if times > 1)
    if form is Form.INTEGER:
        differences = Counter((new - old) & (1 << width) - 1 for old, new in changes)
        yield from (Rule(site, Family.VALUE, Op.ADD, by) for by, times in differences.items() if times > 1)


def _double(number: float) -> int:
    return int.from_bytes(struct.pack("<d", number), "little")
