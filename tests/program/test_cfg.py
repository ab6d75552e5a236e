from hypothesis import given
from hypothesis import strategies as st

from whence.program import read_module
from whence.program.cfg import (
    control_dependence,
    control_dependence_of,
    immediate_post_dominators,
    predecessors,
    successors,
    with_virtual_exit,
)

Graph = list[list[int]]


def graphs(most: int = 9) -> st.SearchStrategy[Graph]:
    def of_size(size: int) -> st.SearchStrategy[Graph]:
        node = st.lists(st.integers(0, size - 1), max_size=3, unique=True)
        return st.lists(node, min_size=size, max_size=size)

    return st.integers(1, most).flatmap(of_size)


def reachable(graph: Graph, start: int, without: int = -1) -> set[int]:
    """Nodes on paths from ``start`` that avoid ``without``."""
    seen, stack = set(), [start] if start != without else []
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(t for t in graph[node] if t != without)
    return seen


def post_dominators(graph: Graph) -> list[set[int]]:
    """By definition: p post-dominates n when every path from n to the exit meets p."""
    extended = with_virtual_exit(graph)
    end = len(graph)
    return [
        {p for p in range(len(extended)) if p == n or end not in reachable(extended, n, without=p)}
        for n in range(len(graph))
    ]


def brute_control_dependence(graph: Graph) -> Graph:
    """Ferrante, Ottenstein, Warren, definition 3: b post-dominates all but a on a path."""
    sets = [*post_dominators(graph), {len(graph)}]
    return [
        [
            a
            for a, targets in enumerate(graph)
            if len(targets) > 1 and any(b in sets[t] for t in targets) and (b == a or b not in sets[a])
        ]
        for b in range(len(graph))
    ]


@given(graphs())
def test_immediate_post_dominators_are_the_nearest(graph: Graph) -> None:
    sets = post_dominators(graph)
    for node, parent in enumerate(immediate_post_dominators(graph)):
        strict = sets[node] - {node}
        assert parent in strict
        assert all(other == parent or (parent < len(graph) and other in sets[parent]) for other in strict)


@given(graphs())
def test_control_dependence_is_that_of_the_definition(graph: Graph) -> None:
    assert control_dependence_of(graph) == brute_control_dependence(graph)


@given(graphs())
def test_every_node_reaches_the_virtual_exit_by_few_new_edges(graph: Graph) -> None:
    extended = with_virtual_exit(graph)
    end = len(graph)
    for node in range(end):
        assert end in reachable(extended, node)
        added = len(extended[node]) - len(graph[node])
        assert added in (0, 1)
        if added and graph[node]:  # an endless loop: nothing reachable leaves it
            assert all(node in reachable(graph, other) for other in reachable(graph, node))


@given(graphs())
def test_predecessors_reverse(graph: Graph) -> None:
    reverse = predecessors(graph)
    assert {(a, b) for a, ts in enumerate(graph) for b in ts} == {(a, b) for b, ps in enumerate(reverse) for a in ps}


def test_a_while_loop_decides_its_body_and_itself() -> None:
    #   0 -> 1 (test) -> 2 (body) -> 1, 1 -> 3
    assert control_dependence_of([[1], [2, 3], [1], []]) == [[], [1], [1], []]


def test_an_endless_loop_with_a_test_inside() -> None:
    # for (;;) { 1: if (...) 2; 3 } and nothing after it
    assert control_dependence_of([[1], [2, 3], [3], [1]]) == [[], [], [1], []]


def test_early_return_decides_what_follows() -> None:
    assert control_dependence_of([[1, 2], [], [3], []]) == [[], [0], [0], [0]]


def test_a_deep_graph_needs_no_recursion() -> None:
    chain = [[n + 1] for n in range(20000)] + [[]]
    assert immediate_post_dominators(chain) == list(range(1, 20002))


def test_a_function_with_a_switch() -> None:
    text = """define void @f(i32 %a) {
entry:
  switch i32 %a, label %end [
    i32 1, label %one
    i32 2, label %two
    i32 3, label %two
  ]

one:                                              ; preds = %entry
  br label %two

two:                                              ; preds = %one, %entry, %entry
  br label %end

end:                                              ; preds = %two, %entry
  ret void
}
"""
    function = read_module(text).functions["f"]
    assert successors(function) == [[3, 1, 2], [2], [3], []]
    assert control_dependence(function) == [[], [0], [0], []]
