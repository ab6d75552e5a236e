"""Segments and sites of two versions that correspond."""

from __future__ import annotations

import numpy as np
from snippets import Snippet, snippet

from whence.probe.pieces import Pieces, matched_alter_sites, segments_of
from whence.probe.sites import Role
from whence.program.correspondence import NONE, correspond

TEXT = """\
#include <stdlib.h>
int total;
static int add(int a, int b)
{
    total = a + b;
    return total;
}
int main(int argc, char **argv)
{
    int x = argc;
    total = abs(x) + add(x, 1);
    x = total;
    return x > 99;
}
"""


def of(first: Snippet, second: Snippet) -> Pieces:
    found = correspond(first.subject.program, second.subject.program)
    return Pieces(found, first.subject.plan, second.subject.plan)


def test_a_program_has_its_segments_as_pieces():
    made = snippet(TEXT)
    found, plan = of(made, made), made.subject.plan
    for cut in (found.first, found.second):
        assert cut.numbers.tolist() == list(range(len(plan.segments) - 1))
        assert cut.starts[:-1].tolist() == list(range(len(plan.segments)))
    assert found.sites.tolist() == [*range(len(plan.sites) - 1), NONE]
    assert not found.places.any()


def test_a_branch_and_a_call_of_one_version_cut_segments_of_the_other():
    more = TEXT.replace("    x = total;\n", "    if (total > 3)\n        abs(7);\n    x = total;\n")
    found = of(snippet(TEXT), snippet(more))
    assert found.count == len(snippet(TEXT).subject.plan.segments) - 1 + 1  # the last one of main is two
    assert np.diff(found.first.starts[:-1]).max() == 2
    cuts = np.diff(found.second.starts[:-1])
    assert (cuts == 0).sum() == 1 and cuts.max() == 1  # behind the call of abs nothing but a jump


def test_sites_match_by_kind_and_argument():
    one, two = snippet(TEXT), snippet(TEXT.replace("add(x, 1)", "add(2, x)").replace("a + b", "a - b"))
    found = of(one, two)
    plans = one.subject.plan.sites, two.subject.plan.sites
    some = np.flatnonzero(found.sites >= 0)
    assert (plans[0]["kind"][some] == plans[1]["kind"][found.sites[some]]).all()
    assert (plans[0]["aux"][some] == plans[1]["aux"][found.sites[some]]).all()
    assert len(np.unique(found.sites[some])) == len(some)
    assert len(some) == len(plans[0]) - 1


def test_sites_of_altered_runs():
    one, two = (
        snippet(TEXT),
        snippet(TEXT.replace("a + b", "a - b").replace("    x = total;\n", "    x = total / 2;\n")),
    )
    plans = one.subject.alter_plan, two.subject.alter_plan
    matched = correspond(one.subject.program, two.subject.program).instructions
    found = matched_alter_sites(matched, *plans)
    some = np.flatnonzero(found != NONE)
    for name in ("role", "operand", "form", "width"):
        assert (plans[0].sites[name][some] == plans[1].sites[name][found[some]]).all()
    lost = plans[0].sites[found == NONE]
    assert lost["role"].tolist() == [Role.BINARY]  # the addition
    assert (matched[plans[0].sites["instruction"][some]] == plans[1].sites["instruction"][found[some]]).all()


def test_segments_of_all_instructions():
    program, plan = snippet(TEXT).subject.program, snippet(TEXT).subject.plan
    found = segments_of(program, plan, np.arange(program.instruction_count))
    assert (np.diff(found) >= 0).all()
    for site in plan.sites[:-1]:
        assert found[site["instruction"]] in (site["segment"], site["segment"] - 1)
