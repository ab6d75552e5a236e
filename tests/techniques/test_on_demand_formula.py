"""Correction sets over several paths: known answers, on demand as all at once, values that hold when forced."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cause_trees import Failing, failing
from merged_runs import branching, expanded, lines, marked

from whence.alter.session import Session
from whence.alter.work import Work
from whence.errors import SubjectError
from whence.findings import Statement
from whence.subject.recorder import Recording
from whence.techniques.formula_based.altered_runs import confirmed
from whence.techniques.formula_based.bugassist_ranking import of_run, of_runs
from whence.techniques.formula_based.correction_values import correction_values
from whence.techniques.formula_based.on_demand_formula import Expanded

HEAD = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n    int x = atoi(argv[1]);\n"
TAIL = "    return 0;\n}\n"

TWO_SIDES = """\
    int fee = 0;
    if (x >= 0) /* TEST */
        fee = x + 1; /* THEN */
    else
        fee = x - 5; /* ELSE */
    printf("%d\\n", fee);
"""

TWO_BRANCHES = """\
    int fee = 1;
    int late = 1;
    if (x > 3) /* FIRST */
        fee = 10; /* TEN */
    if (x > 4) /* SECOND */
        late = 7; /* SEVEN */
    fee = fee * late; /* PRODUCT */
    printf("%d\\n", fee);
"""

NESTED = """\
    int kind = 0;
    if (x > 2) { /* OUTER */
        if (x == 5) /* INNER */
            kind = 1; /* ONE */
        else
            kind = 2; /* TWO */
    } else {
        kind = 3; /* THREE */
    }
    printf("%d\\n", kind);
"""

EARLY = """\
#include <stdio.h>
#include <stdlib.h>
static int price(int x)
{
    if (x > 7) /* GUARD */
        return 50; /* FLAT */
    x = x * 2; /* DOUBLE */
    return x + 1; /* SUM */
}
int main(int argc, char **argv)
{
    int paid = price(atoi(argv[1])); /* CALL */
    printf("%d\\n", paid);
    return 0;
}
"""

LOOP = """\
    int sum = 0;
    int k = 0;
    while (k < x) { /* LOOP */
        sum += 5; /* ADD */
        k++; /* STEP */
    }
    printf("%d\\n", sum);
"""

SWITCH = """\
    int rate = 0;
    switch (x) { /* SWITCH */
    case 1:
        rate = 11; /* RATE1 */
        break;
    case 2:
        rate = 22; /* RATE2 */
        break;
    default:
        rate = 33; /* RATE3 */
    }
    printf("%d\\n", rate);
"""

ENDS = """\
    if (x > 3) { /* TEST */
        printf("no\\n"); /* NO */
        exit(0);
    }
    x = x + 2; /* SUM */
    printf("%d\\n", x);
"""

INNER_END = """\
#include <stdio.h>
#include <stdlib.h>
static void stop(void)
{
    printf("9\\n");
    exit(0);
}
int main(int argc, char **argv)
{
    int x = atoi(argv[1]);
    int y = 2; /* TWO */
    if (x > 0) { /* OUTER */
        if (x == 7) { /* INNER */
            %s;
        }
        y = 1; /* ONE */
    }
    printf("%%d\\n", y);
    return 0;
}
"""

PRINTS = """\
    if (x > 3) /* TEST */
        printf("%d ", x);
    printf("%d\\n", x + 1); /* LAST */
"""

JUMPS = """\
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf place;
static void check(int n)
{
    if (n > 5)
        longjmp(place, 1);
}
int main(int argc, char **argv)
{
    int x = atoi(argv[1]);
    int failed = setjmp(place);
    if (!failed) {
        check(x);
        check(x + 9);
        x = 5;
    }
    printf("%d\\n", failed + x);
    return 0;
}
"""

HEAP = """\
    int *cell = malloc(sizeof *cell);
    *cell = 1; /* ONE */
    if (x > 3) { /* TEST */
        int *other = malloc(sizeof *other);
        *other = x * 2; /* TWICE */
        *cell = *other; /* COPY */
        free(other);
    }
    printf("%d\\n", *cell);
"""


def case_of(body: str, argument: str, stdout: str) -> Failing:
    return failing(HEAD + body + TAIL, argument, stdout=stdout)


def both(case: Failing, size: int = 2) -> Expanded:
    """The sets on demand, which are those of all paths; nothing is left open."""
    found, everything = expanded(case, size=size), expanded(case, everything=True, size=size)
    assert not found.stopped and not found.open and not everything.stopped and not everything.open
    assert lines(found) == lines(everything)
    assert found.switched <= everything.switched
    assert found.formula.run.encoding.unexplained == []
    return found


def test_a_value_on_the_other_side_of_a_branch_is_part_of_a_repair() -> None:
    case = case_of(TWO_SIDES, "3", "9\n")
    assert lines(both(case)) == {marked(case, "THEN"), marked(case, "TEST", "ELSE")}


def test_a_branch_alone_is_a_set_where_the_other_side_is_right_as_it_is() -> None:
    case = case_of(TWO_SIDES, "3", "-2\n")
    assert lines(both(case)) == {marked(case, "THEN"), marked(case, "TEST")}


def test_a_branch_whose_other_side_is_not_right_is_no_set() -> None:
    case = case_of(TWO_SIDES, "3", "9\n")
    assert lines(both(case, size=1)) == {marked(case, "THEN")}


def test_two_branches_can_go_the_other_way_at_once() -> None:
    case = case_of(TWO_BRANCHES, "2", "70\n")
    assert marked(case, "FIRST", "SECOND") in lines(both(case))
    assert marked(case, "FIRST") not in lines(both(case, size=1))


def test_a_branch_that_only_another_way_comes_to_can_be_sent_elsewhere() -> None:
    case = case_of(NESTED, "1", "1\n")
    found = both(case)
    assert lines(found) == {marked(case, "THREE"), marked(case, "OUTER", "INNER"), marked(case, "OUTER", "TWO")}
    assert found.switched == 2


def test_an_early_return_on_the_other_side_gives_its_value_to_the_caller() -> None:
    case = failing(EARLY, "4", stdout="50\n")
    assert marked(case, "GUARD") in lines(both(case))
    other = failing(EARLY, "9", stdout="19\n")
    assert marked(other, "GUARD") in lines(both(other))


def test_a_loop_can_go_round_once_more_or_less() -> None:
    for rounds, right in (("2", "15\n"), ("3", "10\n")):
        case = case_of(LOOP, rounds, right)
        assert marked(case, "LOOP") in lines(expanded(case, size=1))


def test_a_switch_has_many_other_ways() -> None:
    case = case_of(SWITCH, "1", "22\n")
    assert lines(both(case)) == {marked(case, "RATE1"), marked(case, "SWITCH")}
    other = case_of(SWITCH, "1", "44\n")
    assert lines(both(other)) == {
        marked(other, "RATE1"),
        marked(other, "SWITCH", "RATE2"),
        marked(other, "SWITCH", "RATE3"),
    }


def test_a_side_that_ends_the_program_is_judged_by_its_own_output() -> None:
    ends = case_of(ENDS, "2", "no\n")
    assert marked(ends, "TEST") in lines(both(ends))
    goes_on = case_of(ENDS, "5", "7\n")
    assert marked(goes_on, "TEST") in lines(both(goes_on))
    repaired = case_of(ENDS, "5", "8\n")
    assert lines(both(repaired)) == {marked(repaired, "TEST", "SUM")}


@pytest.mark.parametrize("end", ["stop()", 'puts("9"), exit(0)'])
def test_a_path_that_ends_within_a_region_has_nothing_to_do_with_what_follows_its_join(end: str) -> None:
    case = failing(INNER_END % end, "3", stdout="9\n")
    assert marked(case, "INNER") in lines(both(case))
    other = failing(INNER_END % end, "0", stdout="9\n")
    assert lines(both(other)) >= {marked(other, "TWO"), marked(other, "OUTER", "INNER")}
    expected = failing(INNER_END % end, "3", stdout="2\n")
    assert lines(both(expected)) == {marked(expected, "ONE"), marked(expected, "OUTER")}


def test_a_side_that_prints_more_is_a_path_of_its_own() -> None:
    case = case_of(PRINTS, "2", "2 3\n")
    assert marked(case, "TEST") in lines(both(case))


def test_memory_of_the_other_side_alone_is_followed() -> None:
    case = case_of(HEAP, "2", "4\n")
    assert lines(both(case)) == {marked(case, "ONE"), marked(case, "TEST")}
    other = case_of(HEAP, "2", "5\n")
    assert lines(both(other)) >= {marked(other, "ONE"), marked(other, "TEST", "TWICE"), marked(other, "TEST", "COPY")}


def test_what_a_bound_leaves_open_is_told_and_is_no_set() -> None:
    case = case_of(TWO_SIDES, "3", "-2\n")
    found = expanded(case, sides=0)
    assert found.stopped and found.switched == 0
    assert lines(found) == {marked(case, "THEN")}
    assert {frozenset(s.line for s in statements) for statements in found.open} == {marked(case, "TEST")}


def test_a_run_without_branches_is_refused() -> None:
    case = case_of('    printf("%d\\n", x + 1);\n', "1", "3\n")
    with pytest.raises(SubjectError, match="no branch"):
        expanded(case)


def test_a_run_that_is_wrong_in_another_way_in_a_session_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where layout or uninitialised memory decides: sets would be about another failure."""
    traces = Session.traces

    def otherwise(*arguments: Any) -> list[Recording | None]:
        found = traces(*arguments)
        return [one and replace(one, result=replace(one.result, stdout=b"4\n")) for one in found]

    monkeypatch.setattr(Session, "traces", otherwise)
    case = failing(HEAD + TWO_SIDES + TAIL, "4", stdout="-2\n")
    with pytest.raises(SubjectError, match=r'fails otherwise .*its first wrong output is "5", but "4" in'):
        expanded(case, sides=1)


def test_runs_that_jump_out_of_a_region_into_its_middle_are_refused() -> None:
    case = failing(JUMPS, "1", stdout="9\n")
    with pytest.raises(SubjectError, match="fails otherwise when it is run again in a session"):
        expanded(case, everything=True)


@pytest.mark.parametrize("seed", [1, 4, 7, 13])
def test_on_demand_gives_the_sets_of_all_paths_on_random_programs(seed: int) -> None:
    found = both(branching(seed))
    assert found.sets


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_values_of_a_set_make_the_run_right_when_they_are_forced(seed: int) -> None:
    case = branching(seed)
    found, main = expanded(case), case.recording.trace.events
    repairs = [correction_values(found.formula, groups) for groups in found.found.sets if len(groups) == 1]
    own = [changes for changes in repairs if changes and all(change.event < main for change in changes)]
    with Work(case.subject, workers=1) as work:
        assert own and confirmed(work, found.formula.run, own) == [True] * len(own)


# ---- Rankings --------------------------------------------------------------------------------------------------------


def test_statements_of_several_runs_are_ranked_by_their_mean_rank() -> None:
    a, b, c, d = (Statement("p.c", line) for line in range(1, 5))
    one = of_run([frozenset({a}), frozenset({b}), frozenset({c, d})], {})
    assert [(e.statement, e.rank, e.rank_worst) for e in one] == [(a, 1, 2), (b, 1, 2), (c, 3, 4), (d, 3, 4)]
    other = of_run([frozenset({a}), frozenset({b}), frozenset({c})], {a: 0.9, b: 0.1, c: 0.5})
    assert [e.statement for e in other] == [b, c, a]
    together = of_runs([one, other])
    assert [(e.statement, e.score) for e in together] == [(b, -1.25), (a, -2.25), (c, -2.75)]
    assert of_runs([]) == []
