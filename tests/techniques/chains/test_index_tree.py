"""The index tree of aligned points, against a twin that takes the ways of points through the regions."""

from __future__ import annotations

import itertools

import pytest
from compared import Change, Compared, compared

from whence.techniques.chains.index_tree import ROOT, Child, IndexTree

PROGRAM = """\
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf back;
static int limit = 3, total;
static int down(int n)
{
    if (n <= 0)
        return limit;
    if (n == 4)
        longjmp(back, 1); /* JUMP */
    return down(n - 1) + down(n - 2);
}
static void leave(int n)
{
    for (int i = 0; i < 6; i++) {
        if (i == n)
            continue;
        for (int k = 0; k < 4; k++) {
            if (k > limit - 2)
                break;
            if (i + k > 6)
                goto out;
            total++;
        }
        if (i > limit)
            return;
        switch (i) {
        case 1: total++; /* falls through */
        case 2: total += 2; break;
        default: total--;
        }
    }
out:
    total += 3;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 4) /* SWITCH */
        limit = 5;
    leave(1);
    total += down(3);
    if (!setjmp(back))
        total += down(5);
    else
        total += 100;
    do
        total -= 7;
    while (total > 30);
    printf("%d\\n", total);
    return 0;
}
"""


@pytest.fixture(scope="module")
def runs() -> Compared:
    return compared(PROGRAM, "5", "right\n", Change("SWITCH"))


@pytest.fixture(scope="module")
def tree(runs: Compared) -> IndexTree:
    return IndexTree(runs.failing.trace, runs.pairing.points)


def leaves(tree: IndexTree, child: Child) -> list[int]:
    """All points under a child, in the order of the tree."""
    if child.region is None:
        return [child.first]
    return [point for inner in tree.children(child.region) for point in leaves(tree, inner)]


def around(tree: IndexTree, point: int) -> list[int]:
    """The regions around a point, from the innermost one outward."""
    found = [tree.region(point)]
    while found[-1] != ROOT:
        found.append(tree.parent(found[-1]))
    return found


def test_the_program_has_points_of_all_kinds(runs, tree):
    assert len(tree.points) > 60 and runs.events("JUMP")
    assert max(len(around(tree, point)) for point in tree.points) > 6


def test_all_points_are_leaves_once_and_in_order(tree):
    assert [point for child in tree.children(ROOT) for point in leaves(tree, child)] == tree.points.tolist()


def test_children_never_overlap_and_hold_what_they_say(tree):
    regions = {region for point in tree.points for region in around(tree, point)}
    assert len(regions) > 20
    for region in regions:
        children = tree.children(region)
        assert all(first.last < second.first for first, second in itertools.pairwise(children))
        for child in children:
            inside = leaves(tree, child)
            assert (inside[0], inside[-1]) == (child.first, child.last) and inside == sorted(inside)


def test_a_region_holds_the_points_that_hang_under_it(tree):
    """The twin: a point is under a region that has no jump in it exactly if the region is on its way to the root."""
    ways = {point: set(around(tree, point)) for point in tree.points}
    for region in {region for way in ways.values() for region in way}:
        inside = [point for child in tree.children(region) for point in leaves(tree, child)]
        assert inside == [point for point in tree.points.tolist() if region in ways[point]]


def test_the_innermost_region_around_two_points(tree):
    for first in tree.points[::9]:
        for second in tree.points[::7]:
            common = [region for region in around(tree, second) if region in set(around(tree, first))]
            assert tree.common_region(first, second) == common[0]


def test_points_before_events(tree):
    for event in range(tree.points[-1] + 2):
        earlier = [point for point in tree.points if point < event]
        assert tree.before(event) == (earlier[-1] if earlier else None)
        assert tree.is_point(event) == (event in tree.points.tolist())


def test_alignment_keeps_order(runs):
    """Theorem 1, with recursion, loops that are left early, and a longjmp."""
    events = runs.pairing.events
    aligned = [int(event) for event in events if event >= 0]
    assert len(aligned) > 100 and all(a < b for a, b in itertools.pairwise(aligned))
    assert (events < 0).any() and aligned[-1] < runs.pairing.reference.trace.events
