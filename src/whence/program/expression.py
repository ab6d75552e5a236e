"""C-like text for what an instruction does, from IR and debug information.

Unoptimised IR keeps the shape of the source: a value's text is put together from its operands' texts back to
the loads, whose text is the access path of what they read. Conversions that C leaves implicit show nothing.
The answer need not be the source to the letter, but each name and operator in it is one that the programmer
wrote.
"""

from __future__ import annotations

import re

from whence.program.cfg import immediate_post_dominators, successors
from whence.program.character_classes import class_asked_for
from whence.program.constants import floating_constant, integer_constant
from whence.program.debug import CType, DebugInfo, describe
from whence.program.model import Block, Function, Instruction, Module, Operand
from whence.program.paths import (
    AND,
    ASSIGN,
    BOTH,
    CONDITION,
    EITHER,
    EQUAL,
    LESS,
    OR,
    POSTFIX,
    PRODUCT,
    SHIFT,
    SUM,
    UNARY,
    XOR,
    AccessPath,
    Paths,
    Value,
    address_of,
    bare_name,
)
from whence.program.program import Program, plain_name
from whence.program.values import format_constant, format_value

__all__ = ["AccessPath", "Expressions", "explain", "format_value"]

_LIMIT = 160  # characters of one value's text
_DEPTH = 60  # of nested values
_CUT = Value("...")

_OPERATORS = {
    "add": ("+", SUM), "fadd": ("+", SUM), "sub": ("-", SUM), "fsub": ("-", SUM),
    "mul": ("*", PRODUCT), "fmul": ("*", PRODUCT), "sdiv": ("/", PRODUCT), "udiv": ("/", PRODUCT),
    "fdiv": ("/", PRODUCT), "srem": ("%", PRODUCT), "urem": ("%", PRODUCT), "frem": ("%", PRODUCT),
    "shl": ("<<", SHIFT), "lshr": (">>", SHIFT), "ashr": (">>", SHIFT),
    "and": ("&", AND), "or": ("|", OR), "xor": ("^", XOR),
}  # fmt: skip
_RELATIONS = {
    "eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">=",
    "ult": "<", "ule": "<=", "ugt": ">", "uge": ">=",
    "oeq": "==", "une": "!=", "olt": "<", "ole": "<=", "ogt": ">", "oge": ">=", "ueq": "==", "one": "!=",
}  # fmt: skip
_CASTS = {
    ("fptosi", "i64"): "long", ("fptosi", "i16"): "short", ("fptosi", "i8"): "char",
    ("fptoui", "i64"): "unsigned long", ("fptoui", "i32"): "unsigned int",
    ("fptoui", "i16"): "unsigned short", ("fptoui", "i8"): "unsigned char",
}  # fmt: skip
_INVERSE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_CONVERSIONS = frozenset(
    {"zext", "sext", "trunc", "fpext", "fptrunc", "sitofp", "uitofp", "ptrtoint", "ptrtoaddr", "inttoptr"}
    | {"bitcast", "addrspacecast", "freeze"}
)
_INTEGER = re.compile(r"-?\d+")
_HIDDEN = re.compile(r"%(?:saved_stack|cleanup\.dest\.slot|__vla_expr)\d*$")  # clang's own bookkeeping
_INTRINSIC = re.compile(r"llvm\.([a-z_]+)")


def explain(program: Program) -> list[Expressions]:
    """The explainer of each module, knowing the types of what the other modules define."""
    return [Expressions(info.module, info) for info in describe(program.modules)]


class Expressions:
    """Explains the instructions of one module."""

    def __init__(self, module: Module, debug: DebugInfo | None = None) -> None:
        self.module = module
        self.debug = debug or DebugInfo(module)
        self.paths = Paths(self.debug, self.definition, self.value)
        self._definitions: dict[str, dict[str, Instruction]] = {}
        self._temporaries: dict[str, dict[str, list[Instruction]]] = {}
        self._known: dict[str, dict[str, Value]] = {}
        self._depth = 0

    def definition(self, function: Function, register: str) -> Instruction | None:
        """The instruction whose result is ``register``; None for a parameter."""
        found = self._definitions.get(function.name)
        if found is None:
            found = {i.result: i for b in function.blocks for i in b.instructions if i.result}
            self._definitions[function.name] = found
        return found.get(register)

    def access_path(self, function: Function, pointer: Operand, llvm_type: str = "") -> AccessPath | None:
        """What ``pointer`` points to; None when C has no words for it.

        With the LLVM type of an access the path ends at what is accessed (the member of a union).
        """
        path = self.paths.place(function, pointer)
        return self.paths.refine(path, llvm_type) if path and llvm_type else path

    def accessed(self, function: Function, instruction: Instruction) -> AccessPath | None:
        """The place that a load, store, atomicrmw or cmpxchg accesses; None for other instructions."""
        if instruction.opcode in ("load", "atomicrmw"):
            return self.access_path(function, instruction.operands[0], instruction.type)
        if instruction.opcode == "store":
            return self.access_path(function, instruction.operands[1], instruction.type)
        if instruction.opcode == "cmpxchg":
            return self.access_path(function, instruction.operands[0], instruction.operands[1].type)
        return None

    def expression(self, function: Function, instruction: Instruction) -> str:
        """What the instruction does: ``i < n`` for a branch, ``x = y + 1`` for a store, ``f(x)`` for a call.

        "" for instructions that stand for nothing in C (a plain jump).
        """
        opcode = instruction.opcode
        if opcode == "store":
            return self._assignment(function, instruction)
        if opcode == "br":
            return self.value(function, instruction.operands[0]).text if instruction.operands else ""
        if opcode in ("switch", "indirectbr"):
            keyword = "switch" if opcode == "switch" else "goto"
            return f"{keyword} ({self.value(function, instruction.operands[0]).text})"
        if opcode == "ret":
            return self._return(function, instruction)
        if opcode == "alloca":
            variable = self.debug.variable_at(function, instruction.result or "")
            return variable.type.declare(variable.name) if variable and variable.type else ""
        if opcode in ("unreachable", "fence", "resume", "landingpad") or _is_silent_call(instruction):
            return ""
        return self._value_of_instruction(function, instruction).text

    def value(self, function: Function, operand: Operand, expected: CType | None = None) -> Value:
        """The C text of an operand; ``expected`` is the type as which C would read a constant."""
        text = operand.text
        if text.startswith("%"):
            return self._register(function, text)
        if text.startswith("@"):
            path = self.paths.place(function, operand)
            return address_of(path) if path else Value(plain_name(text[1:]))
        return self._constant(function, operand, expected)

    def _register(self, function: Function, register: str) -> Value:
        known = self._known.setdefault(function.name, {})
        found = known.get(register)
        if found is not None:
            return found
        definition = self.definition(function, register)
        if definition is None:
            return self._parameter(function, register)
        if self._depth >= _DEPTH:
            return _CUT
        known[register] = _CUT  # what a cycle of phis finds
        self._depth += 1
        try:
            found = self._value_of_instruction(function, definition)
        finally:
            self._depth -= 1
        known[register] = found if len(found.text) <= _LIMIT else _CUT
        return known[register]

    def _parameter(self, function: Function, register: str) -> Value:
        variable = self.debug.variable_at(function, register)
        if variable is not None:  # a struct passed in memory: the register is its address
            return address_of(AccessPath(variable.name, variable.type, variable))
        return Value(bare_name(register))

    def _constant(self, function: Function, operand: Operand, expected: CType | None) -> Value:
        text, type_ = operand.text, operand.type
        if _INTEGER.fullmatch(text):
            return Value(integer_constant(int(text), type_, expected), UNARY if text[0] == "-" else POSTFIX)
        if type_ in ("float", "double", "half", "bfloat", "x86_fp80", "fp128"):
            return Value(floating_constant(text))
        if text in ("null", "true", "false"):
            return Value("NULL" if text == "null" else text)
        if (instruction := self.paths.constant(text)) is not None:
            return self._value_of_instruction(function, instruction)
        return Value({"undef": "undefined", "poison": "undefined", "zeroinitializer": "{0}"}.get(text, "..."))

    def _value_of_instruction(self, function: Function, instruction: Instruction) -> Value:
        opcode = instruction.opcode
        operands = instruction.operands
        if opcode == "load":
            return self._loaded(function, instruction)
        if (instruction.result or "").startswith("%bf."):  # the steps that pick a bit-field from its unit
            return self.value(function, operands[0])
        if opcode in ("alloca", "getelementptr"):
            path = self.paths.result(function, instruction)
            return address_of(path) if path else Value(bare_name(instruction.result or "%..."))
        if opcode in _CONVERSIONS:
            return self._converted(function, instruction)
        if opcode in ("fptosi", "fptoui"):
            cast = _CASTS.get((opcode, instruction.type), "int")
            return Value(f"({cast}){self.value(function, operands[0]).at(UNARY)}", UNARY)
        if opcode in ("icmp", "fcmp"):
            return self._comparison(function, instruction)
        if opcode in _OPERATORS:
            return self._binary(function, instruction)
        if opcode == "fneg":
            return Value(f"-{self.value(function, operands[0]).at(UNARY)}", UNARY)
        if opcode == "call":
            return self._call(function, instruction)
        if opcode == "phi":
            return self._merged(function, instruction)
        if opcode == "select":
            return self._conditional(function, *operands)
        return self._other(function, instruction)

    def _loaded(self, function: Function, instruction: Instruction) -> Value:
        pointer = instruction.operands[0]
        variable = self.debug.variable_at(function, pointer.text)
        if variable is not None and variable.indirect:
            return address_of(AccessPath(variable.name, variable.type, variable))
        if (stored := self._stored_before(function, pointer.text, instruction)) is not None:
            return self.value(function, stored.operands[0])
        path = self.accessed(function, instruction)
        if path is None:
            return Value(f"*{bare_name(pointer.text)}" if pointer.is_register else "...", UNARY)
        return Value(path.text, UNARY if path.text.startswith("*") else POSTFIX, path.type)

    def _stored_before(self, function: Function, register: str, load: Instruction) -> Instruction | None:
        """The store whose value a load from a temporary of the compiler's own reads; None: not certain.

        That is the only store, or the last one before the load in the same block.
        """
        stores = self._stores(function).get(register, [])
        if len(stores) < 2:
            return stores[0] if stores else None
        home = next(block for block in function.blocks if _holds(block, load))
        before = [store for store in stores if _holds(home, store) and store.index < load.index]
        return before[-1] if before else None

    def _stores(self, function: Function) -> dict[str, list[Instruction]]:
        """The stores into each temporary: a local that is no variable of the program's."""
        found = self._temporaries.get(function.name)
        if found is None:
            found = self._temporaries[function.name] = {}
            for instruction in function.instructions():
                if instruction.opcode == "alloca" and self._is_temporary(function, instruction):
                    found[instruction.result or ""] = []
                elif instruction.opcode == "store" and instruction.operands[1].text in found:
                    found[instruction.operands[1].text].append(instruction)
        return found

    def _is_temporary(self, function: Function, alloca: Instruction) -> bool:
        register = alloca.result or ""
        known = register == "%retval" or self.debug.variable_at(function, register) is not None
        return not known and not alloca.operands

    def _converted(self, function: Function, instruction: Instruction) -> Value:
        """Conversions are transparent; the type stays that of the C object behind them."""
        return self.value(function, instruction.operands[0])

    def _comparison(self, function: Function, instruction: Instruction) -> Value:
        left, right = instruction.operands
        relation = _RELATIONS.get(instruction.predicate)
        if left.is_register and right.text == "0" and relation in ("==", "!="):
            source = self.definition(function, left.text)
            if source is not None and source.opcode == "zext" and source.operands[0].type == "i1":
                truth = source.operands[0]
                return self.value(function, truth) if relation == "!=" else self._negated(function, truth)
        if relation is None:
            return Value(f"{instruction.predicate}({self._list(function, instruction.operands)})")
        return self._related(function, relation, instruction)

    def _related(self, function: Function, relation: str, instruction: Instruction) -> Value:
        left, right = (self.value(function, operand) for operand in instruction.operands)
        first, second = instruction.operands
        unsigned = instruction.predicate.startswith("u")
        if _INTEGER.fullmatch(second.text):
            right = Value(integer_constant(int(second.text), second.type, left.type, unsigned))
        elif _INTEGER.fullmatch(first.text):
            left = Value(integer_constant(int(first.text), first.type, right.type, unsigned))
        level = EQUAL if relation in ("==", "!=") else LESS
        return Value(f"{left.at(level)} {relation} {right.at(level + 1)}", level)

    def _negated(self, function: Function, operand: Operand) -> Value:
        definition = self.definition(function, operand.text) if operand.is_register else None
        if definition is not None and definition.opcode == "icmp":
            inverse = _INVERSE[_RELATIONS[definition.predicate]]
            return self._related(function, inverse, definition)
        return Value(f"!{self.value(function, operand).at(UNARY)}", UNARY)

    def _binary(self, function: Function, instruction: Instruction) -> Value:
        opcode, (left_operand, right_operand) = instruction.opcode, instruction.operands
        if opcode == "xor" and right_operand.text in ("true", "-1"):
            if right_operand.text == "true":
                return self._negated(function, left_operand)
            return Value(f"~{self.value(function, left_operand).at(UNARY)}", UNARY)
        left, right = self.value(function, left_operand), self.value(function, right_operand)
        if opcode == "and" and (asked := class_asked_for(left.text, right_operand.text)):
            return Value(asked)
        if opcode == "sdiv" and " exact " in instruction.text:  # q - p: C shows no division by the size
            return left
        if opcode == "sub" and left_operand.text == "0":
            return Value(f"-{right.at(UNARY)}", UNARY, right.type)
        sign, level = _OPERATORS[opcode]
        if _is_letter(left, right_operand):
            right = self.value(function, right_operand, left.type)
        elif opcode == "add" and right.text.startswith("-") and not right_operand.is_register:
            sign, right = "-", Value(right.text[1:])
        is_operand = _is_float if opcode[0] == "f" else _is_number  # an integer beside a double was converted to one
        type_ = left.type if is_operand(left.type) else right.type if is_operand(right.type) else None
        return Value(f"{left.at(level)} {sign} {right.at(level + 1)}", level, type_)

    def _call(self, function: Function, instruction: Instruction) -> Value:
        callee = instruction.callee or ""
        if callee == "asm":
            return Value(f"asm({self._list(function, instruction.operands)})")
        intrinsic = _INTRINSIC.match(callee[1:])
        if intrinsic:
            return self._intrinsic(function, instruction, intrinsic[1])
        target = self.value(function, Operand("ptr", callee))
        ctype = target.target.plain if target.target else None
        signature = ctype.signature if ctype and ctype.kind == "function" else ()
        arguments = ", ".join(self._arguments(function, instruction, signature))
        return Value(f"{target.at(POSTFIX)}({arguments})", POSTFIX, signature[0] if signature else None)

    def _arguments(self, function: Function, call: Instruction, signature: tuple[CType | None, ...]) -> list[str]:
        """The arguments as C passes them: hidden result pointers left out, structs by their place."""
        texts: list[str] = []
        for operand in call.operands:
            if any(a.startswith("sret(") for a in operand.attributes):
                continue
            if any(a.startswith("byval(") for a in operand.attributes):
                place = self.paths.place(function, operand)
                texts.append(place.text if place else "...")
                continue
            position = 1 + len(texts)
            expected = signature[position] if position < len(signature) else None
            texts.append(self.value(function, operand, expected).text)
        return texts

    def _intrinsic(self, function: Function, instruction: Instruction, name: str) -> Value:
        operands = instruction.operands
        if name in ("memcpy", "memmove") and (copied := self._struct_assignment(function, operands)):
            return Value(copied, ASSIGN)
        if name == "threadlocal":  # the address of a thread's own copy of a variable
            return self.value(function, operands[0])
        if name in ("fmuladd", "fma"):
            left, right, addend = (self.value(function, operand) for operand in operands)
            return Value(f"{left.at(PRODUCT)} * {right.at(UNARY)} + {addend.at(PRODUCT)}", SUM, left.type)
        kept = [o for o in operands if not any(a == "immarg" for a in o.attributes)]
        if name in ("memcpy", "memmove", "memset"):
            kept = kept[:3]
        first = self.value(function, kept[0]) if kept else _CUT
        return Value(f"{name}({self._list(function, tuple(kept))})", POSTFIX, first.type)

    def _struct_assignment(self, function: Function, operands: tuple[Operand, ...]) -> str | None:
        """``a = b`` for a memcpy by which clang copies a whole object."""
        target, source = (self.paths.place(function, operand) for operand in operands[:2])
        if target is None or source is None or not _INTEGER.fullmatch(operands[2].text):
            return None
        if target.type is None or target.type.size != int(operands[2].text):
            return None
        call = self._returning_into(function, operands[1].text) if source.type is None else None
        return f"{target.text} = {self._call(function, call).text if call else source.text}"

    @staticmethod
    def _returning_into(function: Function, register: str) -> Instruction | None:
        """The call that leaves its struct in a temporary of the compiler."""
        for call in (i for i in function.instructions() if i.opcode == "call" and i.operands):
            result = call.operands[0]
            if result.text == register and any(a.startswith("sret(") for a in result.attributes):
                return call
        return None

    def _assignment(self, function: Function, instruction: Instruction) -> str:
        value, pointer = instruction.operands
        if _HIDDEN.match(pointer.text):
            return ""
        if pointer.text == "%retval":
            return f"return {self.value(function, value, self._result_type(function)).text}"
        path = self.accessed(function, instruction)
        if path is None:
            return f"*{bare_name(pointer.text)} = {self.value(function, value).text}"
        if path.variable is not None and path.variable.parameter and self._is_formal(function, value):
            return f"parameter {path.text}" if path.text else ""
        if pointer.text in self._stores(function):
            return self.value(function, value).text
        if path.bits is not None:
            return f"{path.text} = {self._bit_field_value(function, value, path)}"
        return f"{path.text} = {self.value(function, value, path.type).text}"

    @staticmethod
    def _is_formal(function: Function, value: Operand) -> bool:
        return any(value.text == formal.text for formal in function.parameters)

    def _bit_field_value(self, function: Function, stored: Operand, path: AccessPath) -> str:
        """What is stored into a bit-field: ``or (unit & ~mask), value << shift``."""
        shift, width = path.bits or (0, 0)
        definition = self.definition(function, stored.text)
        while definition is not None and definition.opcode == "or":
            stored = definition.operands[1]
            definition = self.definition(function, stored.text)
        if stored.is_register or not _INTEGER.fullmatch(stored.text) or path.type is None:
            return self.value(function, stored).text
        raw = int(stored.text) >> shift & (1 << width) - 1
        if path.type.plain.signed and raw >> (width - 1):
            raw -= 1 << width
        return format_constant(raw, path.type)

    def _return(self, function: Function, instruction: Instruction) -> str:
        if not instruction.operands:
            return "return"
        shown = self.value(function, instruction.operands[0], self._result_type(function)).text
        return "return" if shown == "return value" else f"return {shown}"  # shown where %retval was set

    def _result_type(self, function: Function) -> CType | None:
        ctype = self.debug.function_type(function.name)
        return ctype.signature[0] if ctype and ctype.signature else None

    def _conditional(self, function: Function, test: Operand, yes: Operand, no: Operand) -> Value:
        condition, first, second = (self.value(function, operand) for operand in (test, yes, no))
        text = f"{condition.at(EITHER)} ? {first.at(CONDITION)} : {second.at(CONDITION)}"
        return Value(text, CONDITION, first.type or second.type)

    def _merged(self, function: Function, phi: Instruction) -> Value:
        """A phi is ``&&`` (constant false from the short way), ``||`` (constant true) or ``?:``."""
        *short, last = phi.operands
        for constant, sign, level in (("false", "&&", BOTH), ("true", "||", EITHER)):
            if phi.type == "i1" and short and all(operand.text == constant for operand in short):
                tests = [block.terminator for block in function.blocks if block.label in phi.labels[:-1]]
                conditions = [test.operands[0] for test in tests if test.operands]
                parts = [self.value(function, operand) for operand in (*conditions, last)]
                return Value(f" {sign} ".join(part.at(level) for part in parts), level)
        if (phi.result or "").startswith("%vaarg.addr"):
            area = self.value(function, last).text  # ap[0].overflow_arg_area
            return Value("&va_arg", UNARY, place=AccessPath(f"va_arg({area.partition('[')[0]})"))
        branch = _deciding_branch(function, phi) if len(phi.operands) == 2 else None
        if branch is None:
            parts = [self.value(function, operand) for operand in phi.operands]
            return Value(" or ".join(part.at(POSTFIX) for part in parts), ASSIGN)
        return self._conditional(function, branch.operands[0], *phi.operands)

    def _other(self, function: Function, instruction: Instruction) -> Value:
        if instruction.opcode == "extractvalue":
            return self.value(function, instruction.operands[0])
        if instruction.opcode == "cmpxchg":
            return Value(f"atomic_compare_exchange({self._list(function, instruction.operands)})")
        name = f"atomic_{instruction.predicate}" if instruction.opcode == "atomicrmw" else instruction.opcode
        return Value(f"{name}({self._list(function, instruction.operands)})")

    def _list(self, function: Function, operands: tuple[Operand, ...]) -> str:
        return ", ".join(self.value(function, operand).text for operand in operands)


def _deciding_branch(function: Function, phi: Instruction) -> Instruction | None:
    """The conditional branch whose two ways meet first at the phi's block: of ``?:`` the test."""
    blocks = function.blocks
    home = next(n for n, block in enumerate(blocks) if _holds(block, phi))
    parents = immediate_post_dominators(successors(function))
    for number in range(home - 1, -1, -1):
        if parents[number] == home and len(blocks[number].terminator.labels) == 2:
            return blocks[number].terminator
    return None


def _holds(block: Block, instruction: Instruction) -> bool:
    first, last = block.instructions[0].index, block.instructions[-1].index
    return first <= instruction.index <= last


def _is_silent_call(instruction: Instruction) -> bool:
    """Intrinsics that clang puts in by itself."""
    return (instruction.callee or "").startswith(("@llvm.stack", "@llvm.assume", "@llvm.lifetime"))


def _is_number(ctype: CType | None) -> bool:
    return ctype is not None and ctype.plain.kind in ("int", "float")


def _is_float(ctype: CType | None) -> bool:
    return ctype is not None and ctype.plain.kind == "float"


def _is_letter(left: Value, right: Operand) -> bool:
    """Whether a constant beside a char is meant as a character: ``c - '0'``, but ``c + 1``."""
    if left.type is None or left.type.plain.kind != "char" or not _INTEGER.fullmatch(right.text):
        return False
    return 32 <= int(right.text) < 127
