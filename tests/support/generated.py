"""Random C programs that are deterministic, end, and never do what C leaves undefined.

Everything is unsigned, indices are masked, loops are bounded, and calls spend fuel. The inputs are the program's
arguments. A program is made from one number: hypothesis draws that, since its own mutations of a drawn text would
mostly give the same program again.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

HEADER = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct record { unsigned a; unsigned short b; unsigned char c[6]; unsigned long d; };
union bits { unsigned long word; unsigned half[2]; unsigned char byte[8]; };
static unsigned g0, g1 = 7, numbers[8] = {3, 1, 4};
static struct record shared;
static union bits bits;
static int fuel = 60;
"""

VARIABLES = ("x", "y", "n", "g0", "g1", "*p")
SCALARS = (*VARIABLES, "r.a", "shared.a", "r.b", "shared.b", "r.c[1]", "bits.byte[3]", "bits.half[1]")
INDEXED = ("numbers[{} & 7]", "local[{} & 3]", "r.c[{} % 6]", "shared.c[{} % 6]", "bits.byte[{} & 7]")
OPERATORS = ("+", "-", "*", "^", "&", "|", "<", "==", ">", "&&", "||")
BLOCKS = (
    "r = shared;",
    "shared = r;",
    "memcpy(&bits, numbers, sizeof bits);",
    "memmove(numbers + 1, numbers, 5 * sizeof *numbers);",
    "memset(r.c, (int)x, 3);",
    "p = &g0;",
    "p = &local[y & 3];",
    "p = numbers + (x & 7);",
    "bits.word = x;",
    "r.d += bits.word;",
)


@dataclass
class Writer:
    """Draws the pieces of one program; ``functions`` can be called so far."""

    random: Random
    functions: int = 0
    depth: int = 0
    loops: int = 0

    def one_of(self, choices: tuple[str, ...]) -> str:
        return self.random.choice(choices)

    def expression(self, depth: int = 2) -> str:
        kind = self.random.randint(0, 6 if depth else 2)
        if kind == 0:
            return f"{self.random.randint(0, 9)}u"
        if kind == 1:
            return self.one_of(SCALARS)
        if kind == 2:
            return self.one_of(INDEXED).format(self.one_of(("x", "y", "n", "g0")))
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if kind == 3:
            return f"({left} ? {right} : {self.expression(depth - 1)})"
        if kind == 4 and self.functions:
            return f"f{self.random.randint(0, self.functions - 1)}({left}, p, r)"
        return f"({left} {self.one_of(OPERATORS)} {right})"

    def target(self) -> str:
        if self.random.random() < 0.5:
            return self.one_of(SCALARS)
        return self.one_of(INDEXED).format(self.one_of(("x", "y", "n")))

    def statement(self) -> str:
        kind = self.random.randint(0, 9 if self.depth < 3 else 3)
        if kind <= 2:
            return f"{self.target()} {self.one_of(('=', '+=', '^='))} {self.expression()};"
        if kind == 3:
            return self.one_of(BLOCKS)
        self.depth += 1
        try:
            return self.compound(kind)
        finally:
            self.depth -= 1

    def compound(self, kind: int) -> str:
        if kind <= 5:
            other = f" else {{ {self.block(2)} }}" if self.random.random() < 0.5 else ""
            return f"if ({self.expression()}) {{ {self.block(2)} }}{other}"
        if kind == 6:
            cases = " ".join(
                f"case {n}: {self.block(1)} {self.one_of(('break;', ''))}" for n in range(self.random.randint(1, 3))
            )
            return f"switch ({self.expression()} & 3) {{ {cases} default: {self.block(1)} }}"
        return self.loop(kind)

    def loop(self, kind: int) -> str:
        self.loops += 1
        i, times = f"i{self.loops}", self.random.randint(1, 4)
        out = f"if ({self.expression(1)}) {self.one_of(('break;', 'continue;'))}" if self.random.random() < 0.5 else ""
        body = f"{self.block(2)} {out} {self.block(1)}"
        if kind == 7:
            return f"for (unsigned {i} = 0; {i} < {times}; {i}++) {{ {body} }}"
        if kind == 8:
            return f"{{ unsigned {i} = 0; while ({i}++ < {times}) {{ {body} }} }}"
        return f"{{ unsigned {i} = 0; do {{ {body} }} while (++{i} < {times}); }}"

    def block(self, most: int) -> str:
        return "\n        ".join(self.statement() for _ in range(self.random.randint(1, most)))

    def function(self, number: int) -> str:
        self.functions = number + 1
        body = "\n        ".join(self.statement() for _ in range(self.random.randint(2, 5)))
        return f"""static unsigned f{number}(unsigned n, unsigned *p, struct record r) {{
        unsigned x = n, y = 1, local[4] = {{0, 1, 2, 3}};
        if (fuel-- <= 0)
            return n;
        {body}
        return {self.expression()};
}}
"""


def c_program(seed: int) -> str:
    """The text of a program; it takes two numbers as arguments and prints what it computed."""
    writer = Writer(Random(seed))
    count = writer.random.randint(1, 3)
    declared = "".join(f"static unsigned f{n}(unsigned n, unsigned *p, struct record r);\n" for n in range(count))
    functions = "\n".join(writer.function(n) for n in range(count))
    calls = "\n        ".join(f"x += f{n}(x + {n}, p, r);" for n in range(count))
    body = "\n        ".join(writer.statement() for _ in range(writer.random.randint(2, 5)))
    return f"""{HEADER}{declared}
{functions}
int main(int count, char **arguments) {{
        unsigned x = count > 1 ? (unsigned)atoi(arguments[1]) : 0, y = count > 2 ? (unsigned)atoi(arguments[2]) : 0;
        unsigned n = x + y, local[4] = {{x, y, n, 9}}, *p = &x;
        struct record r = {{x, 2, "abc", y}};
        {body}
        {calls}
        printf("%u %u %u %u %u %lu %lu\\n", x, y, n, g0, g1, shared.d, bits.word);
        printf("%u %u %.3u %u\\n", r.a, r.c[2], numbers[4], local[1]);
        return (int)(x & 63);
}}
"""


def c_programs() -> st.SearchStrategy[str]:
    """Random programs."""
    return st.integers(0, (1 << 64) - 1).map(c_program)
