"""Algorithms 1 and 2 give the chain that a walk over all points gives: on small generated programs.

One program holds many generated functions, of which an argument names the one to run: building is what takes time.
"""

from __future__ import annotations

from functools import cache
from random import Random

from compared import Change, Compared, compared

from whence.techniques.chains.dependence_based import dependence_based
from whence.techniques.chains.hierarchical import hierarchical
from whence.techniques.chains.walk import linear

FUNCTIONS = 6
VARIABLES = 5


def statements(random: Random, depth: int, count: int) -> str:
    """Statements that compute with ``v[0]`` to ``v[4]``, none of which ends the program."""
    return " ".join(statement(random, depth) for _ in range(count))


def value(random: Random) -> str:
    return f"v[{random.randrange(VARIABLES)}]"


def statement(random: Random, depth: int) -> str:
    kind = random.randrange(5 if depth else 2)
    target = value(random)
    if kind == 0:
        return f"{target} = {value(random)} {random.choice('+-^')} {random.randrange(1, 9)};"
    if kind == 1:
        return f"{target} = {value(random)} {random.choice('+-^&|')} {value(random)};"
    if kind == 2:
        return (
            f"if ({value(random)} {random.choice('<>')} {random.randrange(9)}) {{ {statements(random, depth - 1, 2)} }}"
        )
    if kind == 3:
        name = "ijkm"[depth]
        early = f"if ({value(random)} > 40) {random.choice(('break;', 'continue;'))}" if random.random() < 0.5 else ""
        body = f"{statements(random, depth - 1, 1)} {early} {statements(random, depth - 1, 1)}"
        return f"for (int {name} = 0; {name} < {random.randrange(1, 4)}; {name}++) {{ {body} }}"
    return f"{target} = mixed({value(random)}, {value(random)});"


def function(number: int) -> str:
    random = Random(number)
    return f"""static void f{number}(int n)
{{
    if (n > 4) /* SWITCH {number} */
        v[0] = 7;
    {statements(random, 2, 5)}
}}
"""


def program() -> str:
    functions = "".join(function(number) for number in range(FUNCTIONS))
    calls = "\n".join(f"    case {number}: f{number}(5); break;" for number in range(FUNCTIONS))
    return f"""#include <stdio.h>
#include <stdlib.h>
static int v[{VARIABLES}] = {{1, 2, 3, 4, 5}};
static int mixed(int a, int b)
{{
    int sum = a;
    if (a > b)
        sum -= b;
    return sum + 1;
}}
{functions}
int main(int argc, char **argv)
{{
    switch (atoi(argv[1])) {{
{calls}
    }}
    int sum = 0;
    for (int i = 0; i < {VARIABLES}; i++)
        sum = 3 * sum + v[i];
    printf("%d\\n", sum);
    return 0;
}}
"""


@cache
def text() -> str:
    return program()


def runs(number: int) -> Compared:
    return compared(text(), str(number), "right\n", Change(f"SWITCH {number}"))


def chains(both: Compared) -> dict[str, list[int]]:
    """The chain of each algorithm."""
    found = {}
    for algorithm in (linear, hierarchical, dependence_based):
        for is_printed in (False, True) if algorithm is not linear else (False,):
            walk = both.walk()
            walk.is_printed, walk.causality.is_shared = is_printed, not is_printed
            algorithm(walk)
            found[algorithm.__name__ + "-printed" * is_printed] = walk.definitions
    return found


def test_all_algorithms_give_the_same_chain():
    lengths = []
    for number in range(FUNCTIONS):
        found = chains(runs(number))
        assert found["hierarchical"] == found["linear"], number
        assert found["dependence_based"] == found["linear"], number
        assert found["hierarchical-printed"] == found["dependence_based-printed"] == found["linear"], number
        lengths.append(len(found["linear"]))
    assert sum(length > 3 for length in lengths) >= FUNCTIONS // 2  # most have something to tell


UNSTABLE = """\
#include <stdio.h>
#include <stdlib.h>
static int limit = 3, out[4], k, spare, shown;
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 4) /* SWITCH */
        limit = 5; /* no aligned point: none lies between it and KEPT */
    out[2] = limit; /* KEPT */
    k = 2 - out[2] / 5; /* INDEX */
    spare = n; /* BETWEEN */
    out[k] = 0; /* OTHER */
    spare++;
    shown = out[2]; /* SHOWN */
    printf("%d\\n", shown);
    return 0;
}
"""


def test_where_property_2_does_not_hold_the_shortcut_leaves_out_what_protects():
    """Before and behind the stretch from INDEX to OTHER the set is ``out[2]`` alone; within, it needs ``k``, too.

    Else ``k`` is overwritten, and OTHER kills what is carried. From KEPT on, ``out[2]`` gives ``k`` itself its value.
    """
    both = compared(UNSTABLE, "5", "0\n", Change("SWITCH"))
    found = chains(both)
    assert both.lines(found["dependence_based"]) == [both.line(mark) for mark in ("SWITCH", "KEPT", "SHOWN")]
    more = set(found["linear"]) - set(found["dependence_based"])
    assert set(both.lines(sorted(more))) == {both.line("INDEX")}
    assert set(found["dependence_based"]) < set(found["linear"])
