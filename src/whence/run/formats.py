"""What calls of a program would print, as far as constant texts tell: which calls an expected output could come from.

The constant strings given to a printing call are read as formats and turned into regular expressions. Where the
expected output goes on in a way that the call which printed there cannot have written, another call was missing; those
that would have fitted lead to the branches that skipped them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.library import FUNCTIONS
from whence.probe.plan import Plan
from whence.program.model import Instruction, Module
from whence.program.program import Program

CONVERSION = re.compile(
    rb"%(?:\d+\$)?[-+ #0'I]*(?:\*|\d+)?(?:\.(?:\*|\d*))?(?:hh|h|ll|l|L|q|j|z|t)?(?P<letter>[a-zA-Z%])"
)
INTEGER = rb" *[-+]?[0-9a-fA-Fx]+ *"
NUMBER = rb" *[-+]?(?:[0-9.]+(?:[eE][-+]?\d+)?|inf|nan|0x[0-9a-fA-F.]+p[-+]?\d+) *"
PATTERNS = {
    **dict.fromkeys(b"diuxXobBp", INTEGER),
    **dict.fromkeys(b"aAeEfFgG", NUMBER),
    ord("c"): rb"(?s:.)",
    ord("n"): b"",
    ord("%"): b"%",
}
ANYTHING = rb"[^\n]*?"
STRING = re.compile(r'\bconstant \[\d+ x i8\] c"((?:[^"\\]|\\.)*)"')
ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|\\)")
LEAST_LITERAL = 2  # bytes of its own that a text must share with the output to tell anything


class Formats:
    """The texts of one program's calls that print."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self.program, self.plan = program, plan
        self._strings: dict[tuple[int, str], bytes | None] = {}
        self._patterns: dict[tuple[bytes, bool], tuple[re.Pattern[bytes], int]] = {}

    def fits(self, site: int, text: bytes, start: int) -> bool | None:
        """Whether the call at a site could print what ``text`` holds from ``start`` on; None: its format is unknown."""
        patterns = list(self._of(site))
        if not patterns:
            return None
        return any(pattern.match(text, start) for pattern, _ in patterns)

    def deciders(self, text: bytes, start: int) -> NDArray[np.bool_] | None:
        """For each block whether it decides over a call that would print what ``text`` holds from ``start`` on.

        The calls whose text agrees in most literal bytes count. None where no call's text is like it.
        """
        lengths = np.array([self._agreement(site, text, start) for site in self._sites], np.int64)
        if not len(lengths) or lengths.max() < LEAST_LITERAL:
            return None
        return deciding_blocks(self.plan, np.array(self._sites)[lengths == lengths.max()])

    @cached_property
    def all_deciders(self) -> NDArray[np.bool_]:
        """For each block whether it decides over any call that prints."""
        return deciding_blocks(self.plan, np.array(self._sites, np.int64))

    @cached_property
    def ending_deciders(self) -> NDArray[np.bool_]:
        """For each block whether it decides over a call that ends the run."""
        return deciding_blocks(self.plan, self.ending_calls)

    @cached_property
    def ending_calls(self) -> NDArray[np.int64]:
        """The sites of the calls that end the run."""
        ends = [-2 - f.number for f in FUNCTIONS.values() if f.noreturn]
        return np.flatnonzero(np.isin(self.plan.sites["callee"][:-1], ends))

    def _agreement(self, site: int, text: bytes, start: int) -> int:
        return max((literal for pattern, literal in self._of(site) if pattern.match(text, start)), default=0)

    @cached_property
    def _sites(self) -> list[int]:
        """The sites of all calls that print, themselves or by what they call."""
        prints = [-2 - f.number for f in FUNCTIONS.values() if f.prints]
        sites = self.plan.sites[:-1]
        calls = (sites["kind"] == Kind.CALL) & np.isin(sites["callee"], [-1, *prints])  # -1: nobody knows what it does
        return [int(site) for site in np.flatnonzero(with_callers(self.plan, calls))]

    def _of(self, site: int) -> Iterator[tuple[re.Pattern[bytes], int]]:
        """The patterns of the constant strings given to a call, with how many literal bytes each has."""
        number = int(self.plan.sites[site]["instruction"])
        instruction = self.program.instruction(number)
        module = self.program.function_of_instruction(number).module
        function = FUNCTIONS.get((instruction.callee or "@")[1:])
        for operand in _texts(instruction, -1 if function is None else function.format):
            text = self._string(module, operand)
            if text is not None:
                plain = function is not None and function.format < 0
                yield self._pattern(text + b"\n" if plain and function and function.name == "puts" else text, plain)

    def _pattern(self, text: bytes, plain: bool) -> tuple[re.Pattern[bytes], int]:
        key = (text, plain)
        if key not in self._patterns:
            self._patterns[key] = (re.compile(re.escape(text)), len(text)) if plain else pattern_of(text)
        return self._patterns[key]

    def _string(self, module: int, name: str) -> bytes | None:
        key = (module, name)
        if key not in self._strings:
            self._strings[key] = constant_string(self.program.modules[module], name)
        return self._strings[key]


def _texts(call: Instruction, format_argument: int) -> list[str]:
    """The operands of a call that may be texts it prints: the format where it is known which that is."""
    operands = call.operands
    if 0 <= format_argument < len(operands):
        operands = (operands[format_argument],)
    return [o.text for o in operands if o.text.startswith("@")]


def pattern_of(text: bytes) -> tuple[re.Pattern[bytes], int]:
    """A pattern for what a printf format can print, and how many literal bytes the format has (blanks not counted)."""
    parts: list[bytes] = []
    literal = end = 0
    for match in CONVERSION.finditer(text):
        before = text[end : match.start()]
        parts += [re.escape(before), PATTERNS.get(match["letter"][0], ANYTHING)]
        literal += len(before) - before.count(b" ")
        end = match.end()
    rest = text[end:]
    return re.compile(b"".join([*parts, re.escape(rest)])), literal + len(rest) - rest.count(b" ")


def constant_string(module: Module, name: str) -> bytes | None:
    """The bytes of a constant C string (``name`` with its "@"), up to the terminating NUL; None for anything else."""
    match = STRING.search(module.globals.get(name[1:], ""))
    if match is None:
        return None
    text = ESCAPE.sub(lambda m: "\\" if m[1] == "\\" else chr(int(m[1], 16)), match[1])
    return text.encode("latin-1", "replace").split(b"\0")[0]


# ---- Calls and the branches that decide over them ----------------------------------------------------------


def with_callers(plan: Plan, calls: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The chosen call sites, and all those whose callee reaches one of them."""
    sites = plan.sites[:-1]
    function = plan.segments["function"][sites["segment"]]
    own = np.flatnonzero((sites["kind"] == Kind.CALL) & (sites["callee"] >= 0))
    reached = calls.copy()
    reaching = np.zeros(len(plan.functions), bool)
    while True:
        before = reaching.sum()
        reaching[function[reached]] = True
        reached[own] |= reaching[sites["callee"][own]]
        if reaching.sum() == before:
            return reached


def deciding_blocks(plan: Plan, calls: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each block whether some of ``calls`` (sites), or a call on the way to one, is control dependent on it.

    Directly or by way of other blocks.
    """
    chosen = np.zeros(len(plan.sites) - 1, bool)
    chosen[calls] = True
    chosen = with_callers(plan, chosen)
    count = len(plan.blocks)
    owners = np.repeat(np.arange(count - 1), np.diff(plan.blocks["control_start"]))
    parents = plan.controls["block"][: len(owners)]
    reached, deciding = np.zeros(count, bool), np.zeros(count, bool)
    reached[plan.segments["block"][plan.sites["segment"][:-1][chosen]]] = True
    while True:
        deciding[parents[reached[owners]]] = True
        if not (deciding & ~reached).any():
            return deciding
        reached |= deciding
