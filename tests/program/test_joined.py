"""The joined control flow of two versions: each run of either is a way in it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from snippets import Snippet, snippet

from whence.program.correspondence import correspond
from whence.program.joined import Joined
from whence.program.regions import CALL, anchors

TEXT = """\
int v[6] = {3, -1, 4, 1, -5, 9}, total;
static int take(int x)
{
    total += x;
    return total;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 6; i++) {
        if (v[i] == argc)
            continue;
        take(v[i]);
        total ^= i;
    }
    return 0;
}
"""
CHANGES = [
    ("    total += x;", "    if (x < 0)\n        return 0;\n    total += x;"),
    ("        total ^= i;", "        if (i & 1)\n            total ^= i;"),
    ("        take(v[i]);", "        while (take(v[i]) < 0)\n            total += 5;"),
    ("            continue;", "            break;"),
    ("        if (v[i] == argc)\n            continue;\n", ""),
    (
        "    return total;",
        "    switch (x) {\n    case 3: total++;\n    case 4: total++; break;\n    }\n    return total;",
    ),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_each_run_is_a_way(old, new):
    one, two = snippet(TEXT), snippet(TEXT.replace(old, new))
    joined = Joined(correspond(one.subject.program, two.subject.program))
    for side, made in enumerate((one, two)):
        for function, way in ways(made, joined, side):
            graph, (start, end) = joined.graph(function), joined.range(function)
            assert all(other - start in graph[node - start] for node, other in pairwise(way))
            assert way[0] == start and end - start in graph[way[-1] - start]


def ways(made: Snippet, joined: Joined, side: int) -> list[tuple[int, list[int]]]:
    """The function (of the first version) and the nodes of each frame of a run, in order."""
    trace, nodes = made.trace(), joined.nodes[:, side]
    partners = joined.correspondence.functions.tolist()
    found: dict[int, list[int]] = {}
    functions: dict[int, int] = {}
    for row in trace.columns.segments[: trace.segments]:
        static = trace.plan.segments[row["id"]]
        frame = int(row["frame"])
        functions[frame] = partners.index(int(static["function"])) if side else int(static["function"])
        if row["previous"] < 0:  # where its block begins
            found.setdefault(frame, []).extend((nodes == static["block"]).nonzero()[0].tolist())
    return [(functions[frame], way) for frame, way in found.items()]


def test_blocks_hang_where_they_do_in_one_program():
    program = snippet(TEXT).subject.program
    joined = Joined(correspond(program, program))
    assert joined.nodes.tolist() == [[block, block] for block in range(program.block_count)]
    for ref in program.functions:
        first, found = joined.anchors(ref.id)
        expected = [n if n == CALL else n + ref.first_block for n in anchors(ref.function)]
        assert (first, found.tolist()) == (ref.first_block, expected)
