"""Random C programs that compute with numbers of every width and sign, without branches: each run takes the same path.

The program reads eight bytes, and makes variables of them. Overflow, shifts by variables beyond the width, and
conversions out of range are left in, since a recorded program does what the processor does.
"""

from __future__ import annotations

from random import Random

TYPES = (
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "_Bool",
    "float",
    "double",
)
BYTES = 8


class Writer:
    """Draws one program."""

    def __init__(self, seed: int, floats: bool = True) -> None:
        self.random = Random(seed)
        self.types = TYPES if floats else TYPES[:9]
        self.names: list[tuple[str, str]] = []

    def integer(self, depth: int) -> str:
        names = [name for kind, name in self.names if kind not in ("float", "double")] or ["7"]
        choice = self.random.randrange(9 if depth else 2)
        if choice == 0:
            return self.random.choice((*map(str, (0, 1, 7, 255, -1, 65537)), "0x80000000u", "0x7fffffffL", "-3L"))
        if choice == 1:
            return self.random.choice(names)
        if choice == 2:
            return f"({self.random.choice(TYPES[:9])})({self.any(depth - 1)})"
        left, right = self.integer(depth - 1), self.integer(depth - 1)
        if choice == 3:
            return f"({left} {self.random.choice(('/', '%'))} (({right} & 15) + 1))"
        if choice == 4:  # a constant that is too large lets the compiler choose a result
            amount = self.random.choice((*names, str(self.random.randrange(8))))
            return f"({left} {self.random.choice(('<<', '>>'))} ({amount} & 127))"
        if choice == 5:
            return f"({left} {self.random.choice(('<', '<=', '>', '>=', '==', '!='))} {right})"
        if choice == 6:
            return f"{self.random.choice(('-', '~', '!'))}({left})"
        return f"({left} {self.random.choice(('+', '-', '*', '&', '|', '^'))} {right})"

    def any(self, depth: int) -> str:
        if "double" not in self.types or self.random.random() < 0.75:
            return self.integer(depth)
        names = [name for kind, name in self.names if kind in ("float", "double")] or ["1.5"]
        left = self.random.choice((*names, "0.1f", "3.0", f"(double)({self.integer(0)})"))
        right = self.random.choice((*names, f"({self.random.choice(('float', 'double'))})({self.integer(0)})"))
        return f"({left} {self.random.choice(('+', '-', '*', '/', '<', '=='))} {right})"

    def program(self) -> str:
        lines = []
        for number in range(self.random.randint(3, 5)):
            kind = self.random.choice(self.types)
            parts = " | ".join(f"(unsigned long)in[{(number + k) % BYTES}] << {8 * k}" for k in range(8))
            lines.append(f"{kind} v{number} = ({kind})({parts});")
            self.names.append((kind, f"v{number}"))
        for number in range(self.random.randint(4, 9)):
            kind = self.random.choice(self.types)
            lines.append(f"{kind} w{number} = ({kind})({self.any(3)});")
            self.names.append((kind, f"w{number}"))
            if self.random.random() < 0.3:
                lines.append(f"memory.{self.random.choice(('i', 's', 'l'))} = (long)({self.integer(1)});")
                lines.append(f"w{number} = ({kind})memory.bytes[{self.random.randrange(8)}];")
        body = "\n    ".join(lines)
        return f"""#include <stdio.h>
static union {{ int i; short s; long l; unsigned char bytes[8]; }} memory;
static unsigned char in[{BYTES}];
int main(void) {{
    {" ".join(f"in[{k}] = (unsigned char)getchar();" for k in range(BYTES))}
    {body}
    printf("%d\\n", (int)w0);
    return 0;
}}
"""


def arithmetic_program(seed: int, floats: bool = True) -> str:
    """The text of a program; without ``floats`` all its variables are integers."""
    return Writer(seed, floats).program()
