"""How each kind of event becomes a term: one step a site, compiled once, run for each instance."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from whence.formula.library import Library
from whence.formula.objects import Objects
from whence.formula.registers import Frame, Getter
from whence.formula.state import State
from whence.formula.terms import Term
from whence.formula.variadic import place_arguments
from whence.formula.vectors import width_of
from whence.probe.layout import CONDITIONAL, NO_SLOT, Kind
from whence.program.model import Instruction, Operand
from whence.program.program import FunctionRef, plain_name
from whence.trace.columns import FrameKind

Step = Callable[[Frame, int, int], None]  # frame, segment instance, event


class Compiler:
    """Makes the steps of a program's sites."""

    library: Library  # of the run that is being encoded
    objects: Objects

    def __init__(self, state: State) -> None:
        self._state, self._terms = state, state.terms
        self._kinds: dict[Kind, Callable[[FunctionRef, int, Instruction], Step]] = {
            Kind.LOAD: self._load,
            Kind.STORE: self._store,
            Kind.RMW: self._read_modify_write,
            Kind.COPY: self._copy,
            Kind.SET: self._set,
            Kind.VASTART: self._variadic,
            Kind.BYVAL: self._by_value,
            Kind.ARG: self._argument,
            Kind.CALL: self._call,
            Kind.RESULT: self._result,
            Kind.BRANCH: self._branch,
            Kind.RET: self._return,
        }

    def step(self, ref: FunctionRef, site: int) -> Step | None:
        """The step of a site; None for a phi, which is merged where its block begins."""
        kind = Kind(int(self._state.plan.sites[site]["kind"]))
        if kind is Kind.PHI:
            return None
        instruction = self._state.program.instruction(int(self._state.plan.sites[site]["instruction"]))
        return self._kinds[kind](ref, site, instruction)

    def _site(self, site: int) -> tuple[int, int, int, int]:
        """A site's unit, units, size and aux."""
        row = self._state.plan.sites[site]
        return int(row["unit"]), int(row["units"]), int(row["size"]), int(row["aux"])

    def _block(self, ref: FunctionRef, site: int) -> int:
        """The number of the site's block in its function."""
        segment = self._state.plan.segments[self._state.plan.sites[site]["segment"]]
        return int(segment["block"]) - ref.first_block

    def _width(self, ref: FunctionRef, type_text: str) -> int:
        return width_of(type_text, self._state.program.modules[ref.module])

    def _get(self, ref: FunctionRef, operand: Operand) -> Getter:
        return self._state.registers.operand(ref, operand)

    # ---- Loads and stores --------------------------------------------------------------------------------------------

    def _load(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        unit, units, size, slot = self._site(site)
        block, name, width = self._block(ref, site), instruction.result or "", self._width(ref, instruction.type)
        state, terms = self._state, self._terms
        if slot != NO_SLOT:
            return self._load_private(block, name, slot, width, instruction)
        pointer_of, values = self._get(ref, instruction.operands[0]), units - 2
        label, mask = instruction.operands[0].text.removeprefix("%"), (1 << width) - 1

        def step(frame: Frame, row: int, event: int) -> None:
            address = state.word(row, unit)
            if address == 0:
                return
            pointer = state.explain(event, pointer_of(frame), address)
            value = state.bits(row, unit + 2, values) & mask or state.zero(row) if values else None
            special = self.library.table(pointer, size, value)
            loaded = state.load(event, address, size, value, label) if special is None else special
            term = terms.extract(loaded, 0, width) if width < 8 * size else loaded
            if value is not None:
                if state.evaluation.value(term) not in (value, None):
                    state.surprise(event, address, size)
                    term = terms.extract(state.load(event, address, size, value, label), 0, width)
                term = state.explain(event, term, value)
                if terms.operations[term] == "symbol" and width == 8 * size:
                    self.library.loaded(pointer, term)
            pair = pointer, address
            cells = self.objects.cells(pointer, address, size)
            if cells is not None:
                cells = self.objects.readable(cells, size)
                term = terms.extract(self.objects.load(cells, size, terms.resize(term, 8 * size)), 0, width)
                pair = self.objects.pair(cells, pointer)
            frame.blocks[block][name] = state.note(Kind.LOAD, event, term, value, (pair,))

        return step

    def _load_private(self, block: int, name: str, slot: int, width: int, instruction: Instruction) -> Step:
        state, local = self._state, instruction.operands[0].text.removeprefix("%")

        def step(frame: Frame, row: int, event: int) -> None:
            term = frame.locals.get(slot)
            if term is None:
                term = frame.locals[slot] = state.unwritten(event, local, width)
            frame.blocks[block][name] = state.note(Kind.LOAD, event, term, None)

        return step

    def _store(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        unit, units, size, slot = self._site(site)
        width = self._width(ref, instruction.type)
        value_of, pointer_of = (
            (self._get(ref, o) for o in instruction.operands)
            if slot == NO_SLOT
            else (self._get(ref, instruction.operands[0]), None)
        )
        state, mask = self._state, (1 << width) - 1
        if pointer_of is None:

            def step_private(frame: Frame, row: int, event: int) -> None:
                value = state.bits(row, unit, units) & mask or state.zero(row)
                term = value_of(frame)
                if value is not None:
                    term = state.explain(event, term, value)
                frame.locals[slot] = state.note(Kind.STORE, event, term, value)

            return step_private
        values = units - 2

        def step(frame: Frame, row: int, event: int) -> None:
            address = state.word(row, unit)
            if address == 0:
                return
            pointer = state.explain(event, pointer_of(frame), address)
            value = state.bits(row, unit + 2, values) & mask or state.zero(row) if values else None
            term = value_of(frame)
            if value is not None:
                term = state.explain(event, term, value)
            cells = self.objects.cells(pointer, address, size)
            pair = self.objects.pair(cells, pointer) if cells else (pointer, address)
            term = state.terms.resize(state.note(Kind.STORE, event, term, value, (pair,)), 8 * size)
            if cells:
                self.objects.store(cells, term, event)
            else:
                state.memory.write(address, term)

        return step

    def _read_modify_write(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        """Atomics, by one thread at a time: a load, an operation, a store."""
        unit, units, size, aux = self._site(site)
        block, name = self._block(ref, site), instruction.result or ""
        pointer_of, *others = (self._get(ref, o) for o in instruction.operands)
        state, values = self._state, units - 2 - (aux == CONDITIONAL)
        operation = "cmpxchg" if aux == CONDITIONAL else instruction.predicate

        def step(frame: Frame, row: int, event: int) -> None:
            address = state.word(row, unit)
            if address == 0:
                return
            pointer = state.explain(event, pointer_of(frame), address)
            value = state.bits(row, unit + 2, values) & (1 << 8 * size) - 1
            old = state.explain(event, state.load(event, address, size, value, name), value)
            new, result = self._atomic(operation, old, [get(frame) for get in others], instruction, ref)
            if new is None:
                state.encoding.notes[f"instruction not modelled: atomicrmw {operation}"] += 1
                state.memory.forget(address, size)
            else:
                state.memory.write(address, new)
            frame.blocks[block][name] = state.note(Kind.RMW, event, result, None, ((pointer, address),))

        return step

    def _atomic(
        self, operation: str, old: Term, operands: list[Term], instruction: Instruction, ref: FunctionRef
    ) -> tuple[Term | None, Term]:
        """What is stored (None: not modelled), and the result."""
        terms, width = self._terms, self._terms.widths[old]
        if operation == "cmpxchg":
            same = terms.equal(old, operands[0])
            flag = terms.resize(same, self._width(ref, instruction.type) - width)
            return terms.choose(same, operands[1], old), terms.concat(flag, old)
        if operation == "xchg":
            return operands[0], old
        if operation in {"add", "sub", "and", "or", "xor"}:
            return terms.apply(operation, width, old, operands[0]), old
        orders = {"max": "slt", "min": "slt", "umax": "ult", "umin": "ult"}
        if operation not in orders:
            return None, old
        less = terms.apply(orders[operation], 1, old, operands[0])
        greater = operation.endswith("max")
        return terms.choose(less, *((operands[0], old) if greater else (old, operands[0]))), old

    # ---- Blocks of memory --------------------------------------------------------------------------------------------

    def _copy(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        unit, *_ = self._site(site)
        target_of, source_of = (self._get(ref, o) for o in instruction.operands[:2])
        state = self._state

        def step(frame: Frame, row: int, event: int) -> None:
            target, source, length = (state.word(row, unit + 2 * k) for k in range(3))
            if target == 0:
                return
            pointers = (
                (state.explain(event, target_of(frame), target), target),
                (state.explain(event, source_of(frame), source), source),
            )
            self.library.copy(target, source, length, event)
            state.note(Kind.COPY, event, -1, None, pointers)

        return step

    def _set(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        unit, *_ = self._site(site)
        target_of, byte_of = (self._get(ref, o) for o in instruction.operands[:2])
        state = self._state

        def step(frame: Frame, row: int, event: int) -> None:
            target, length = state.word(row, unit), state.word(row, unit + 4)
            if target == 0:
                return
            pointer = state.explain(event, target_of(frame), target)
            byte = state.note(Kind.SET, event, byte_of(frame), None, ((pointer, target),))
            self._state.memory.fill(target, byte, length)

        return step

    def _variadic(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        unit, *_ = self._site(site)
        state = self._state

        def step(frame: Frame, row: int, event: int) -> None:
            words = [state.word(row, unit + 2 * k) for k in range(4)]
            if words[0]:
                place_arguments(state, row, words)
                state.note(Kind.VASTART, event, -1, None)

        return step

    def _by_value(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        """A structure argument: the call copied it from where the caller's argument points."""
        unit, _, size, number = self._site(site)
        state = self._state

        def step(frame: Frame, row: int, event: int) -> None:
            address = state.word(row, unit)
            pointer = state.explain(event, frame.arguments[number], address)
            source = self._passed_address(row, number)
            if source is None:
                self._state.memory.forget(address, size)
            else:
                self.library.copy(address, source, size, event)
            state.note(Kind.BYVAL, event, -1, None, ((pointer, address),))

        return step

    def _passed_address(self, row: int, number: int) -> int | None:
        """Where a structure argument lay that the frame was called with."""
        state = self._state
        entered = state.trace.columns.frames[state.frame_of[row]]
        if entered["kind"] != FrameKind.DIRECT or entered["call"] < 0:
            return None
        call = int(entered["call"])
        last = int(state.plan.segments[state.ids[call] + 1]["site_start"]) - 1
        sites = state.plan.sites
        return state.word(call, int(sites[last - int(sites[last]["aux"]) + number]["unit"]))

    # ---- Calls -------------------------------------------------------------------------------------------------------

    def _argument(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        unit, units, _, number = self._site(site)
        operand = instruction.operands[number]
        if operand.type in {"metadata", "token"}:
            return lambda frame, row, event: None
        get, state, mask = self._get(ref, operand), self._state, (1 << self._width(ref, operand.type)) - 1

        def step(frame: Frame, row: int, event: int) -> None:
            if frame.call != row:
                frame.call, frame.passed = row, {}
            term, value = get(frame), None
            if units:
                value = state.bits(row, unit, units) & mask or state.zero(row)
                if value is not None:
                    term = state.explain(event, term, value)
            frame.passed[number] = state.note(Kind.ARG, event, term, value)

        return step

    def _call(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        unit, units, *_ = self._site(site)
        callee, state = instruction.callee or "", self._state
        own = int(state.plan.sites[site]["callee"]) >= 0
        name = plain_name(callee[1:]) if callee.startswith("@") else ""
        pointer_of = self._get(ref, Operand("ptr", callee)) if callee.startswith("%") else None

        def step(frame: Frame, row: int, event: int) -> None:
            if frame.call != row:
                frame.call, frame.passed = row, {}
            pointers: tuple[tuple[Term, int], ...] = ()
            if pointer_of is not None and units:
                target = state.word(row, unit)
                pointers = ((state.explain(event, pointer_of(frame), target), target),)
            if not own:
                self.library.call(name, frame, row, event)
            state.note(Kind.CALL, event, -1, None, pointers)

        return step

    def _result(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        unit, units, *_ = self._site(site)
        if instruction.type == "void":
            return lambda frame, row, event: None
        block, name, width = self._block(ref, site), instruction.result or "", self._width(ref, instruction.type)
        state = self._state
        named = (instruction.callee or "").startswith("@")
        callee = plain_name((instruction.callee or "")[1:]) if named else "a function called through a pointer"

        def step(frame: Frame, row: int, event: int) -> None:
            value = state.bits(row, unit, units) & (1 << width) - 1 if units else None
            returned, term = frame.returned, -1
            if returned is not None and returned[0] + 1 == state.sources[row]:
                term = returned[1]
            if term >= 0 and state.terms.widths[term] == width:
                term = term if value is None else state.explain(event, term, value)
            else:
                term = self.library.result(frame, callee, width, event, value)
            frame.blocks[block][name] = state.note(Kind.RESULT, event, term, value)

        return step

    def _return(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        get = self._get(ref, instruction.operands[0]) if instruction.operands else None
        state = self._state

        def step(frame: Frame, row: int, event: int) -> None:
            term = state.note(Kind.RET, event, get(frame) if get else -1, None)
            entered = state.trace.columns.frames[state.frame_of[row]]
            if entered["kind"] == FrameKind.DIRECT and entered["call"] >= 0:
                caller = state.frames.get(state.frame_of[entered["call"]])
                if caller is not None and term >= 0:
                    caller.returned = event, term
            elif entered["kind"] == FrameKind.CALLBACK:
                self.library.called_back(int(entered["call"]), row, event)
            state.frames.pop(state.frame_of[row], None)

        return step

    # ---- Branches ----------------------------------------------------------------------------------------------------

    def _branch(self, ref: FunctionRef, site: int, instruction: Instruction) -> Step:
        if instruction.opcode != "br" and instruction.opcode != "switch":
            return self._computed_goto(ref, instruction)
        get, *cases = (self._get(ref, o) for o in instruction.operands)
        number = {block.label: ref.first_block + k for k, block in enumerate(ref.function.blocks)}
        targets = [number[label] for label in instruction.labels]
        state = self._state

        def step(frame: Frame, row: int, event: int) -> None:
            taken = state.next_block[row]
            if instruction.opcode == "br":
                term = get(frame)
                known = int(taken == targets[0]) if taken >= 0 and targets[0] != targets[1] else None
            else:
                state.way_to = partial(self._way, get(frame), [c(frame) for c in cases], targets)
                term = state.way_to(taken)
                known = 1 if taken >= 0 else None
            if known is not None:
                term = state.explain(event, term, known)
            state.note(Kind.BRANCH, event, term, known)

        return step

    def _way(self, selector: Term, cases: list[Term], targets: list[int], taken: int) -> Term:
        """Whether a switch goes to a block: one of the block's cases, or none of all others by default."""
        terms, found = self._terms, self._terms.constant(0, 1)
        default = targets[0] == taken
        for case, target in zip(cases, targets[1:], strict=True):
            if (target == taken) != default:
                found = terms.apply("or", 1, found, terms.equal(selector, case))
        return terms.negate(found) if default else found

    def _computed_goto(self, ref: FunctionRef, instruction: Instruction) -> Step:
        get, state = self._get(ref, instruction.operands[0]), self._state

        def step(frame: Frame, row: int, event: int) -> None:
            state.encoding.notes[f"way of a computed jump taken as recorded: {instruction.opcode}"] += 1
            state.note(Kind.BRANCH, event, get(frame), None)

        return step
