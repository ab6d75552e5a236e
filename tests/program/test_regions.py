"""What blocks hang under: known shapes, and a twin that walks all ways through random graphs."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume, given
from hypothesis import strategies as st
from snippets import snippet

from whence.program.regions import CALL, anchors, anchors_of

Graph = Sequence[Sequence[int]]


def reached(graph: Graph, start: int, without: int = -1) -> set[int]:
    """What can be reached from a block when another one is taken away."""
    found, pending = ({start} if start != without else set()), [start] if start != without else []
    while pending:
        new = [t for t in graph[pending.pop()] if t not in found and t != without]
        found.update(new)
        pending += new
    return found


def twin(graph: Graph) -> list[int]:
    """By definition: dominators and loops by taking blocks away."""
    size, exits = len(graph), [n for n, targets in enumerate(graph) if not targets]
    alive = reached(graph, 0)
    above = {b: {d for d in alive if b not in reached(graph, 0, d)} for b in alive}  # with itself
    certain = {d: {b for b in alive if not set(exits) & reached(graph, d, b)} for d in alive}  # what d leads to
    loops: dict[int, set[int]] = {b: set() for b in alive}
    for header in alive:
        latches = [b for b in alive if header in graph[b] and header in above[b]]
        for block in alive:
            way = reached(graph, block, header) | ({header} if block == header else set())
            if latches and header in above[block] and (block == header or set(latches) & way):
                loops[block].add(header)
    found = []
    for block in range(size):
        choice = CALL
        nearest = sorted(above.get(block, set()) - {block}, key=lambda d: len(above[d]), reverse=True)
        for other in nearest:
            decides = other in loops[block] or block not in certain[other]
            if loops[other] <= loops[block] and decides:
                choice = other
                break
        found.append(choice)
    return found


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 8))
    return [draw(st.lists(st.integers(1, size - 1), max_size=2, unique=True)) if size > 1 else [] for _ in range(size)]


@given(graphs())
def test_twin(graph):
    alive = reached(graph, 0)
    exits = {n for n in alive if not graph[n]}
    assume(all(exits & reached(graph, b) for b in alive))  # what never ends has an exit of its own: see cfg
    expected, found = twin(graph), anchors_of(graph)
    assert [found[b] for b in sorted(alive)] == [expected[b] for b in sorted(alive)]


def labels(code: str, name: str = "f") -> dict[str, str]:
    """For each block of a function, by label, the label of what it hangs under."""
    program = snippet(code).subject.program
    function = next(ref.function for ref in program.functions if ref.name == name)
    blocks = [block.label for block in function.blocks]
    return {blocks[n]: "call" if a == CALL else blocks[a] for n, a in enumerate(anchors(function))}


LOOP = """
int f(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i == 3)
            continue;
        if (i == 7)
            break;
        sum += i;
    }
    return sum;
}
int main(void) { return f(3); }
"""


def test_what_follows_continue_and_break():
    found = labels(LOOP)
    assert found["for.cond"] == "call"  # its iterations are told apart by their number
    assert found["for.body"] == "for.cond"
    assert found["for.inc"] == "for.body"  # reached with and without `continue`
    assert found["for.end"] == "call"


def test_what_follows_a_return():
    code = """
int f(int n)
{
    for (int i = 0; i < n; i++)
        if (i == 3)
            return 1;
    n = 2;
    return n;
}
int main(void) { return f(3); }
"""
    assert labels(code)["for.end"] == "entry"  # not the last test of the loop


def test_inner_loops_hang_under_the_outer_iteration():
    code = """
int f(int n)
{
    int i = 0;
    do {
        int j = 0;
        do
            j++;
        while (j < n);
        i++;
    } while (i < n);
    return i;
}
int main(void) { return f(3); }
"""
    found = labels(code)
    assert found["do.body"] == "call"
    assert found["do.body1"] == "do.body"
    assert found["do.cond"] == "do.body1"
