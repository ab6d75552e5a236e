"""Other versions of generated programs."""

from __future__ import annotations

import re
from random import Random

ASSIGNMENT = re.compile(r" +[^\s(){}][^{}]* [+^]?= [^{}]*;$")


def mutant(text: str, seed: int) -> str:
    """A program with one or two statements left out, said twice, guarded, repeated, or computing another value."""
    random, lines = Random(seed), text.splitlines()
    for _ in range(random.randint(1, 2)):
        places = [n for n, line in enumerate(lines) if ASSIGNMENT.match(line) and "unsigned" not in line]
        if not places:
            break
        at = random.choice(places)
        made = {
            "left out": [],
            "twice": [lines[at]] * 2,
            "guarded": ["if (g0 & 1)", lines[at]],
            "repeated": ["for (unsigned again = 0; again < 2; again++) {", lines[at], "}"],
            "other": [lines[at].replace(" + ", " - ").replace("1u", "2u")],
            "way out": ["if (fuel-- <= 0) return 0;", lines[at]],
        }
        lines[at : at + 1] = random.choice(list(made.values()))
    return "\n".join(lines) + "\n"
