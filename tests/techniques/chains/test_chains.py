"""Failure-inducing sets and chains (definitions 5 and 6, properties 1 and 2, theorem 2) of hand-worked programs.

Sets are written as the lines, by their marks, that defined their variables, the last set first.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from altering import change, instances, site_at
from compared import Change, Compared, compared

from whence.alter.changes import Op, Verdict
from whence.alter.session import Session
from whence.probe.sites import Role
from whence.techniques.chains.causality import FAILURE, Set, Target, _Test
from whence.techniques.chains.dependence_based import dependence_based
from whence.techniques.chains.hierarchical import hierarchical
from whence.techniques.chains.reference import Kind, Reference
from whence.techniques.chains.technique import nearest
from whence.techniques.chains.walk import Walk, linear

ALGORITHMS = (linear, hierarchical, dependence_based)

STRAIGHT = """\
#include <stdio.h>
#include <stdlib.h>
static int limit = 3, wide, spare, twice, sum;
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 4) /* SWITCH */
        limit = 5; /* LIMIT */
    spare = limit * 7; /* SPARE */
    wide = limit + 1; /* WIDE */
    twice = limit * 2; /* TWICE */
    sum = wide + twice; /* SUM */
    spare++;
    printf("%d\\n", sum);
    return 0;
}
"""
STRAIGHT_SETS = [["SUM"], ["WIDE", "TWICE"], ["LIMIT", "WIDE"], ["LIMIT"], ["SWITCH"]]

# Either of two ways alone makes it fail, as in the paper's figure 1.
TWO_WAYS = """\
#include <stdio.h>
#include <stdlib.h>
static int limit = 3, left, right, shown;
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 4) /* SWITCH */
        limit = 5; /* LIMIT */
    left = limit > 4; /* LEFT */
    right = limit > 3; /* RIGHT */
    shown = left | right; /* SHOWN */
    printf("%d\\n", shown);
    return 0;
}
"""

CALLS = """\
#include <stdio.h>
#include <stdlib.h>
static int limit = 3, total, out[8];
static int up(int n)
{
    if (n <= 0) /* BOTTOM */
        return limit; /* BASE */
    return up(n - 1) + 1; /* UP */
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i = 0;
    if (n > 4) /* SWITCH */
        limit = 5; /* LIMIT */
    for (int k = 0; k < 9; k++) { /* LOOP */
        if (k == 1)
            continue;
        if (k > limit) /* LEAVE */
            break;
        total += k; /* TOTAL */
    }
    out[i++] = up(2); /* OUT */
    printf("%d %d\\n", total, out[0]);
    return 0;
}
"""
INDEXED = """\
#include <stdio.h>
#include <stdlib.h>
static int out[8], seen, noise;
static int six(void)
{
    noise++;
    return 6;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i = 0;
    if (n > 4) /* SWITCH */
        i = 2; /* INDEX */
    out[i++] = six(); /* OUT */
    seen = out[2]; /* SEEN */
    printf("%d\\n", seen);
    return 0;
}
"""
# What a function gives is a register of two numbers, which are stored one after the other.
RETURNED = """\
#include <stdio.h>
#include <stdlib.h>
struct value { long number; int known; };
static int limit = 3;
static struct value made(int n)
{
    struct value made = { n, 0 };
    made.known = limit > 4; /* KNOWN */
    return made;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 4) /* SWITCH */
        limit = 5; /* LIMIT */
    struct value value = made(n); /* VALUE */
    if (value.known) /* TEST */
        n++;
    printf("%d\\n", n);
    return 0;
}
"""
# Behind the second return of setjmp the block goes on in which it returned first.
JUMPS = """\
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf out;
static int limit = 3, seen;
static void walk(int n)
{
    if (n == 0) /* BOTTOM */
        longjmp(out, limit);
    walk(n - 1);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    int got = setjmp(out); /* GOT */
    if (got == 0) { /* FIRST */
        if (n > 4) /* SWITCH */
            limit = 5; /* LIMIT */
        walk(2);
    }
    seen = limit + 1; /* SEEN */
    printf("%d\\n", seen);
    return 0;
}
"""
PROGRAMS = {
    "jumps": (JUMPS, "4\n"),
    "returned": (RETURNED, "5\n"),
    "straight": (STRAIGHT, "12\n"),
    "two ways": (TWO_WAYS, "0\n"),
    "calls": (CALLS, "5 5\n"),
    "indexed": (INDEXED, "0\n"),
}


def runs(name: str) -> Compared:
    text, right = PROGRAMS[name]
    return compared(text, "5", right, Change("SWITCH"))


def told(both: Compared, variables: Set) -> list[str]:
    """The marks of the lines that defined some variables."""
    text = both.made.files[both.made.main].splitlines()
    return [
        text[line - 1].partition("/* ")[2].partition(" */")[0] if line else "" for line in both.written_at(variables)
    ]


def walked(name: str, algorithm) -> Walk:
    walk = runs(name).walk()
    algorithm(walk)
    return walk


def sets_of(name: str, algorithm) -> list[list[str]]:
    return [told(runs(name), variables) for _, variables in walked(name, algorithm).sets]


# ---- Hand-worked -----------------------------------------------------------------------------------------------------


def test_a_structure_that_a_function_gives():
    told_lines = [line for lines in sets_of("returned", dependence_based) for line in lines]
    assert {"SWITCH", "LIMIT", "VALUE", "TEST"} <= set(told_lines)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_straight_program(algorithm):
    assert sets_of("straight", algorithm) == STRAIGHT_SETS


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_jump_back_into_a_block(algorithm):
    """What it does behind the second return is looked at at no point, since a continuation comes there first before."""
    assert sets_of("jumps", algorithm) == [["SEEN"], ["LIMIT"], ["SWITCH"]]
    both = runs("jumps")
    again = [event for mark in ("GOT", "FIRST") for event in both.events(mark)][-1:]
    assert again and not set(again) & set(both.pairing.points.tolist())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_index_that_is_counted_up_where_it_is_used(algorithm):
    """Between the two uses of ``i`` its old value is in a register alone, which no test can change."""
    assert sets_of("indexed", algorithm) == [["SEEN"], ["OUT"], ["INDEX"], ["SWITCH"]]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_of_two_ways_always_the_same_one(algorithm):
    """Property 1: both ``left`` and ``right`` alone are enough; one is taken, and no test decides which."""
    found = sets_of("two ways", algorithm)
    assert found == sets_of("two ways", algorithm)
    assert found[0] == ["SHOWN"] and found[1] in (["LEFT"], ["RIGHT"]) and found[-2:] == [["LIMIT"], ["SWITCH"]]
    assert all(len(variables) == 1 for variables in found)


# ---- What holds for all ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("algorithm", ALGORITHMS[1:])
def test_all_algorithms_give_the_same_chain(name, algorithm):
    assert walked(name, algorithm).definitions == walked(name, linear).definitions


@pytest.mark.parametrize("end", [(Verdict.LOST, 0), (Verdict.TIMEOUT, 2_500_000)])
def test_an_altered_run_that_the_machine_ends_is_run_once_more(monkeypatch, end):
    """The chain is that of a machine that does nothing else."""
    read, seen, ended = Session.read, set(), []

    def disturbed(session, batch, ticks):
        records, data = read(session, batch, ticks)
        for place in range(len(batch)):
            key = batch.changes[batch.offsets[place] : batch.offsets[place + 1]].tobytes()
            if key not in seen and len(seen) % 3 == 0:
                records["verdict"][place], records["microseconds"][place] = end
                ended.append(place)
            seen.add(key)
        return records, data

    wanted = walked("calls", linear).definitions
    monkeypatch.setattr(Session, "read", disturbed)
    assert walked("calls", linear).definitions == wanted and len(ended) > 5


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_chain_begins_with_one_instance_of_the_faulty_statement(name):
    """Theorem 2: what comes before the runs part is benign."""
    both, walk = runs(name), walked(name, dependence_based)
    assert told(both, walk.sets[-1][1]) == ["SWITCH"] and len(walk.sets[-1][1]) == 1
    assert both.lines(walk.definitions)[0] == both.line("SWITCH")


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_element_of_a_set_can_be_left_out(name):
    """Definition 5, of what is not carried: those of the next set that are defined already stay in it."""
    walk = walked(name, linear)
    targets = [FAILURE, *(Target(*found) for found in walk.sets)]
    for target, (point, variables) in zip(targets, walk.sets, strict=False):
        faulty = walk.causality.states.difference(point)
        carried = frozenset(v for v in target.variables if v.event <= point)
        added = [faulty[v] for v in sorted(variables - carried)]
        test = _Test(walk.causality, point, target, faulty, carried & variables)
        assert test.induces(added)
        for left_out in added:
            assert not test.induces([f for f in added if f is not left_out])


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_needed_is_faulty_by_its_value(name):
    """Definition 4's equal values of other definitions are faulty, and never needed."""
    walk = walked(name, linear)
    for point, variables in walk.sets:
        faulty = walk.causality.states.difference(point)
        assert variables <= faulty.keys() and not any(faulty[v].is_stale for v in variables)


@pytest.mark.parametrize("name", PROGRAMS)
def test_aligned_points_keep_their_order(name):
    """Theorem 1."""
    pairing = runs(name).pairing
    others = pairing.events[pairing.points]
    assert len(others) > 5 and all(first < second for first, second in pairwise(others.tolist()))


def test_a_program_that_begins_with_a_call():
    """The failing run is recorded with a change that is never made, which not every site allows."""
    calls = "static void last(void);\nvoid first(void)\n{\n    last();\n}\nstatic void last(void) {}\nint main"
    both = compared(STRAIGHT.replace("int main", calls).replace("spare++", "first()"), "5", "right\n", Change("SWITCH"))
    sites = both.session.subject.alter_plan.sites
    assert sites["role"][0] == Role.CALL
    walk = both.walk()
    dependence_based(walk)
    assert both.lines(walk.definitions)[0] == both.line("SWITCH")


@pytest.mark.parametrize("is_over", [False, True])
def test_of_patches_that_change_no_way_the_one_that_changes_the_fewest_values(is_over):
    both = compared(STRAIGHT, "5", "right\n", Change("SWITCH"))
    made, patches = both.made, {}
    for mark in ("LIMIT", "WIDE"):
        site = site_at(made, both.line(mark), Role.STORE)
        (clock,) = instances(both.session.observe(), site)
        patches[mark] = Reference(Kind.RULE, mark, change(made.subject, site, Op.SET, 4, clock=clock))
    for order in (("LIMIT", "WIDE"), ("WIDE", "LIMIT")):
        found = nearest(both.session, [patches[mark] for mark in order], lambda: is_over)
        assert found.text == (order[0] if is_over else "WIDE")


def test_sets_are_known_once_they_were_found():
    walk = runs("straight").walk()
    first = walk.first()
    assert first is not None
    tests = walk.causality.tests
    assert tests and walk.first() == first and walk.causality.tests == tests


# ---- What induces nothing --------------------------------------------------------------------------------------------

DIVIDED = """\
#include <stdio.h>
#include <stdlib.h>
static int divisor = 0, is_divided, shown = 1;
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 4) { /* SWITCH */
        divisor = 2; /* DIVISOR */
        is_divided = 1; /* DIVIDED */
    }
    shown = 4; /* SHOWN */
    if (is_divided) /* BRANCH */
        shown = shown / divisor; /* QUOTIENT */
    printf("%d\\n", shown);
    return 0;
}
"""


def test_a_crash_and_another_way_induce_nothing():
    """Without ``divisor`` it crashes, without ``is_divided`` it goes another way: both are needed."""
    both = compared(DIVIDED, "5", "4\n", Change("SWITCH"))
    walk = both.walk()
    linear(walk)
    found = {frozenset(told(both, variables)) for _, variables in walk.sets}
    assert frozenset(("DIVISOR", "BRANCH")) in found and frozenset(("DIVISOR", "DIVIDED")) in found
