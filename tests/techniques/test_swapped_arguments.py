"""Rules that exchange two arguments of a call: which there are, and that they repair such a fault."""

from __future__ import annotations

import pytest
from rule_programs import Program

from whence.alter.work import Work
from whence.techniques.rules.rules import rules

SWAPPED = Program(
    "variable",
    """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int lean(int from, const char *text, short small, int to)
{
    return 2 * to - from + small + (int)strlen(text);
}
static int count(const char *one, char *other, const char *three)
{
    return 3 * (int)strlen(one) - 2 * (int)strlen(other) + (int)strlen(three);
}
int main(int argc, char **argv)
{
    int low = atoi(argv[1]), high = atoi(argv[2]);
    short small = 1;
    const char *text = argv[1], *last = argv[2];
    char *own = argv[2];
    printf("%d\\n", lean(high, text, small, low)); /* FAULT */
    printf("%d\\n", count(text, own, last));
    printf("%d\\n", lean(low + low, text, small, high));
    return 0;
}
""",
    {"2 13": "26\n1\n24\n", "4 16": "30\n1\n26\n", "7 50": "95\n1\n88\n"},
    ["1 1", "5 5", "22 22", "0 0"],
)


@pytest.fixture(scope="module")
def found():
    subject, runs = SWAPPED.run()
    with Work(subject, workers=1) as work:
        return rules(subject, runs, work)


def test_arguments_exchanged_repair_their_fault(found):
    row = next(row for row in found.parts["rules"] if "exchanged" in row["rule"])
    assert row["rule"] == "`high` and `low` exchanged as arguments"
    assert row["after"].startswith('printf("%d\\n", lean(low, text, small, high));')
    assert (row["line"], row["family"], row["score"], row["f2p"]) == (SWAPPED.line, "variable", 1, 3)
    best = found.ranking[0]
    assert (best.statement.line, best.rank, best.rank_worst) == (SWAPPED.line, 1, 1)


def test_arguments_are_exchanged_where_both_are_variables_of_one_type():
    from whence.alter.profile import Profile
    from whence.techniques.rules.candidates import Candidates, batch_of

    subject, _ = SWAPPED.run()
    sites = subject.alter_plan.sites
    candidates = Candidates(subject, Profile.of(sites, []))
    swaps = [rule for site in range(len(sites)) for rule in candidates.of(site) if rule.swapped]
    lines = [subject.program.instruction(int(sites["instruction"][rule.site])).location.line for rule in swaps]
    assert sorted(lines) == [SWAPPED.line, SWAPPED.line + 1]  # not `low + low`, and `own` is of another type
    batch = batch_of(swaps, sites)
    assert batch.offsets.tolist() == [0, 2, 4]
    assert batch.changes["site"].tolist() == [site for rule in swaps for site in (rule.site, rule.swapped[0])]
