"""Failing cases with their runs of several paths, for the tests of merged formulas; loop-free random programs."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache

from cause_trees import Failing, failing

from whence.formula.encoding import SymbolKind
from whence.formula.evaluation import Evaluation
from whence.formula.merging import Merged
from whence.formula.terms import Term
from whence.techniques.formula_based.on_demand_formula import Bounds, Expanded, expand


@cache
def expanded(case: Failing, everything: bool = False, size: int = 2, sides: int = 200) -> Expanded:
    """The sets of a failing case over several paths."""
    return expand(case.subject, case.recording, {}, Bounds(size=size, sides=sides, query=20.0), everything=everything)


def lines(found: Expanded) -> set[frozenset[int]]:
    """The sets, as lines."""
    return {frozenset(statement.line for statement in statements) for statements in found.sets}


def marked(case: Failing, *marks: str) -> frozenset[int]:
    """The lines that hold marks, as a set of statements."""
    return frozenset(case.line(mark) for mark in marks)


def values_with(merged: Merged, forced: Mapping[Term, int]) -> Evaluation:
    """What all terms are when some instances' results are forced, and all others follow from what defines them."""
    encoding = merged.encoding
    found = Evaluation(encoding.terms)
    for symbol, known in encoding.symbols.items():
        value = encoding.evaluation.value(symbol)
        if known.kind is not SymbolKind.CUT and value is not None:
            found.set(symbol, value)
    for instance in encoding.instances:
        if instance.term != instance.meaning:
            value = forced[instance.term] if instance.term in forced else found.value(instance.meaning)
            if value is not None:
                found.set(instance.term, value)
    return found


# ---- Programs --------------------------------------------------------------------------------------------------------

HEAD = """\
#include <stdio.h>
#include <stdlib.h>
static int a, b, c;
static int pick(int x)
{
    if (x > %d)
        return x - 1;
    if (x == %d) {
        b += 2;
        return 7;
    }
    return x * 3;
}
int main(int argc, char **argv)
{
    a = atoi(argv[1]);
    b = a + 2;
    c = a ^ 5;
"""


def branching_program(seed: int) -> str:
    """A program without loops that prints one number."""
    draw = random.Random(seed)
    body = "".join(_statement(draw, 2) for _ in range(3))
    return HEAD % (draw.randrange(4, 9), draw.randrange(4)) + body + '    printf("%d\\n", a + 10 * b + 100 * c);\n}\n'


def _statement(draw: random.Random, depth: int) -> str:
    kind = draw.choice(["set", "if", "else", "switch", "and"]) if depth else "set"
    target, source, number = draw.choice("abc"), draw.choice("abc"), draw.randrange(1, 6)
    test = f"{source} {draw.choice(['<', '>', '=='])} {number}"
    if kind == "set":
        what = draw.choice([f"{source} + {number}", f"{source} - {number}", f"pick({source})", str(number)])
        return f"    {target} = {what};\n"
    inner = _statement(draw, depth - 1)
    if kind == "switch":
        cases = f"    case {number}:\n{inner}    break;\n    case {number + 1}:\n    {target} += 3;\n"
        return f"    switch ({source}) {{\n{cases}    default:\n    {target} -= 1;\n    }}\n"
    test = f"{test} && {target} != {number}" if kind == "and" else test
    other = f"    else {{\n{_statement(draw, depth - 1)}    }}\n" if kind != "if" else ""
    return f"    if ({test}) {{\n{inner}    }}\n{other}"


def branching(seed: int) -> Failing:
    """Such a program with a failing case: another number, near to the printed one, would have been right."""
    text = branching_program(seed)
    printed = int(failing(text, "3", stdout="x\n").recording.result.stdout)
    return failing(text, "3", stdout=f"{printed + random.Random(seed).choice([1, 10, -3])}\n")
