"""Predicate switching on tiny programs whose critical predicates are known by hand, and its search with stand-ins."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from switched import HEAD, Failed, all_failed, failed, values

from whence.alter.changes import NOWHERE, RESULT, Batch, Observed, Results, Verdict
from whence.alter.session import Session
from whence.alter.work import Work
from whence.dependence.predicate_switching import Failing, Switched, corrected, first_patch, switch
from whence.dependence.predicates import ALTERNATIVE, OUTSIDE, UNKNOWN, Predicates
from whence.findings import Entry, Findings, Statement
from whence.techniques.predicate_switching.findings import switch_findings

# From 20 on a parcel is heavy; the second test is right.
PARCEL = (
    HEAD
    + """
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]), fee = 4;
    if (weight > 20) /* FAULT */
        fee = 9;
    if (argc > 5)
        fee = 0;
    printf("fee %d\\n", fee);
    return 0;
}
"""
)

# The last number is left out.
SUM = (
    HEAD
    + """
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 1; i < argc - 1; i++) /* FAULT */
        sum += atoi(argv[i]);
    printf("%d\\n", sum);
    return 0;
}
"""
)

# The word for a third door is missing: 3 goes to the default.
DOORS = (
    HEAD
    + """
int main(int argc, char **argv)
{
    int door = atoi(argv[1]) + 1; /* FAULT */
    switch (door) {
    case 1: puts("red"); break;
    case 2: puts("green"); break;
    case 3: case 4: puts("blue"); break;
    default: puts("none"); break;
    }
    return 0;
}
"""
)

# Four is to be counted, too; the recursion goes down from n.
DEPTH = (
    HEAD
    + """
static int total;
static void count(int n)
{
    if (n == 0)
        return;
    if (n % 3 == 0) /* FAULT */
        total += n;
    count(n - 1);
}
int main(int argc, char **argv)
{
    count(atoi(argv[1]));
    printf("%d\\n", total);
    return 0;
}
"""
)

# One switch crashes, another never ends; none helps.
ROUGH = (
    HEAD
    + """
int main(int argc, char **argv)
{
    unsigned left = 0, steps = 0;
    if (argc > 2) /* crashes */
        left = strlen(argv[2]);
    for (left += strlen(argv[1]); left != 0; left--) /* loops */
        steps += 2;
    printf("%u\\n", steps);
    return 0;
}
"""
)

# Both lines of the output are wrong, each by its own test.
PAIR = (
    HEAD
    + """
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 5)
        puts("big");
    else
        puts("small");
    if (n > 7)
        puts("odd");
    else
        puts("even");
    return 0;
}
"""
)


def failing(found: Failed) -> Failing:
    return Failing.of(found.reader, found.case, found.start.references)


def search(found: list[Failed], order: str = "dependence", first: bool = False) -> list[Switched]:
    with Work(found[0].subject, workers=1, fresh=True) as work:
        return switch(work, [failing(one) for one in found], order, first)


@cache
def searched(text: str, *right: tuple[str, str]) -> tuple[list[Switched], Findings]:
    """All runs of a program searched, and the findings."""
    runs = search(all_failed(text, dict(right)))
    return runs, switch_findings("p", runs, [])


def critical(findings: Findings) -> list[dict[str, Any]]:
    return [p for p in findings.parts["predicates"] if p["effect"] == "passes"]


def line_of(text: str, part: str) -> int:
    return next(n for n, source in enumerate(text.splitlines(), 1) if part in source)


# ---- Critical predicates ---------------------------------------------------------------------------------------------


def test_a_wrong_condition():
    _, findings = searched(PARCEL, ("20", "fee 9\n"))
    (found,) = critical(findings)
    assert found["line"] == line_of(PARCEL, "FAULT")
    assert (found["text"], found["taken"], found["switched"]) == ("weight > 20", "false", "true")
    assert (found["occurrence"], found["instances"], values(found)) == (1, 1, {"weight": "20"})
    assert found["depth"] is None  # the skipped assignment left no dependence on its test


def test_the_sentence_tells_way_time_and_values():
    _, findings = searched(SUM, ("1 2 4", "7\n"))
    text = findings.ranking[0].evidence["text"]
    expected = "with `i < argc - 1` `true` instead of `false` at time 3 of 3 the run passes (`i` was 3, `argc` was 4)"
    assert text == expected


def test_a_wrong_loop_bound():
    _, findings = searched(SUM, ("1 2 4", "7\n"))
    (found,) = critical(findings)
    assert (found["occurrence"], found["instances"], found["switched"]) == (3, 3, "true")


def test_a_switch_goes_to_each_other_target():
    runs, findings = searched(DOORS, ("2", "green\n"))
    (found,) = critical(findings)
    assert (found["text"], found["taken"], found["switched"]) == ("switch (door)", "case 3", "case 2")
    assert values(found) == {"door": "3"}
    others = {runs[0].failing.predicates.other(row) for row in runs[0].rows}
    assert others == {"case 1", "case 2", "default"}  # cases 3 and 4 are one target, where it went


def test_the_default_is_reached_by_a_value_that_is_no_label():
    _, findings = searched(DOORS, ("3", "none\n"))
    (found,) = critical(findings)
    assert found["switched"] == "default"


def test_occurrences_count_over_all_frames():
    _, findings = searched(DEPTH, ("5", "7\n"))
    (found,) = critical(findings)
    assert found["line"] == line_of(DEPTH, "FAULT")
    assert (found["occurrence"], found["instances"], values(found)) == (2, 5, {"n": "4"})


def test_switches_that_crash_or_never_end_are_no_evidence():
    runs, findings = searched(ROUGH, ("ab", "5\n"))
    lines = [runs[0].failing.predicates.statement(row).line for row in runs[0].rows]
    verdicts = set(zip(lines, map(Verdict, runs[0].results["verdict"].tolist()), strict=True))
    assert {(line_of(ROUGH, "crashes"), Verdict.CRASH), (line_of(ROUGH, "loops"), Verdict.TIMEOUT)} <= verdicts
    assert not findings.parts["predicates"] and findings.parts["switching"][0]["tried"] == len(runs[0].rows)
    assert "none of the switches makes a run pass" in findings.summary[0]


def test_a_part_of_the_output_is_weaker_evidence():
    _, findings = searched(PAIR, ("6", "small\nodd\n"))
    assert not critical(findings)
    (found,) = findings.parts["predicates"]
    assert (found["text"], found["effect"], found["first_wrong"]) == ("n > 5", "corrects", len("small\n"))
    entry = findings.ranking[0]
    assert entry.score < 1 and entry.evidence["critical"] == 0 and entry.evidence["corrected"] == 1
    assert "the first wrong byte of the output is number 7, not 1" in entry.evidence["text"]


# ---- Several runs ----------------------------------------------------------------------------------------------------


def test_runs_with_a_critical_predicate_count_first():
    """The run with 6 is mended by either test, the run with 4 by one of them only."""
    text = (
        HEAD
        + """
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), high = 0;
    if (n > 8) /* both */
        high = 1;
    if (n > 5 && n < 8) /* one */
        n = -n;
    printf("%d\\n", n < -5 || high);
    return 0;
}
"""
    )
    _, findings = searched(text, ("6", "0\n"), ("4", "1\n"))
    first, second = findings.ranking[:2]
    assert (first.evidence["critical"], int(first.score)) == (2, 2)
    assert (second.evidence["critical"], int(second.score)) == (1, 1)
    assert "likewise in 2 of 2 failing cases" in first.evidence["text"]


def test_two_failing_cases_are_searched_alike():
    _, findings = searched(PARCEL, ("20", "fee 9\n"), ("20 x", "fee 9\n"))
    assert {p["case"] for p in critical(findings)} == {"20", "20 x"}
    assert findings.ranking[0].evidence["critical"] == 2
    assert [totals["case"] for totals in findings.parts["switching"]] == ["20", "20 x"]


# ---- Order and patches -----------------------------------------------------------------------------------------------


def test_the_first_order_is_by_dependence_then_by_time():
    rows = failing(failed(DEPTH, "5", "7\n")).ordered()
    inside = rows[rows["depth"] != OUTSIDE]
    assert len(inside) < len(rows) and (rows["depth"][: len(inside)] != OUTSIDE).all()
    assert (np.diff(inside["depth"]) >= 0).all()
    assert (np.diff(rows["event"][len(inside) :]) <= 0).all()


def test_the_other_order_is_by_time_alone():
    rows = failing(failed(DEPTH, "5", "7\n")).ordered("last")
    assert (np.diff(rows["event"]) <= 0).all()


def test_the_patched_run_can_be_recorded():
    found = failed(SUM, "1 2 4", "7\n")
    with Work(found.subject, workers=1, fresh=True) as work:
        patch = first_patch(work, failing(found))
    assert patch is not None and patch.statement == Statement("p.c", found.line("FAULT"))
    with Session(found.subject, patch.case) as session:
        recording = session.trace(patch.changes)
    assert recording.outcome.passed and recording.result.stdout == b"7\n"


def test_no_patch_where_no_switch_helps():
    found = failed(ROUGH, "ab", "5\n")
    with Work(found.subject, workers=1, fresh=True) as work:
        assert first_patch(work, failing(found)) is None


# ---- The search with stand-ins ---------------------------------------------------------------------------------------


class FakePredicates:
    """So many alternatives, of which nothing is known but their number."""

    def __init__(self, count: int) -> None:
        self.rows = np.zeros(count, ALTERNATIVE)
        self.rows["event"] = np.arange(count)
        self.one_sided = 0

    def changes(self, rows: Any) -> Any:
        return np.array(rows["event"])


class FakeWork:
    """Runs pass where their change is one of ``passing``; it is stopped after ``most`` of them."""

    def __init__(self, passing: set[int], most: int = 1 << 30, unaltered: Verdict = Verdict.WRONG_OUTPUT) -> None:
        self.passing, self.most, self.unaltered = passing, most, unaltered
        self.stopped = ""
        self.ran: list[int] = []

    def observe(self, cases: Any, limit: int) -> list[Observed]:
        assert limit == 0
        result = np.zeros((), RESULT)
        result["verdict"] = self.unaltered
        return [Observed(np.zeros(0), result, False) for _ in cases]

    def run(self, requests: Any) -> list[Results]:
        return [self._results(request.batch) for request in requests]

    def _results(self, batch: Batch) -> Results:
        records = np.zeros(len(batch), RESULT)
        for index, change in enumerate(batch.changes.tolist()):
            if len(self.ran) == self.most:
                self.stopped = "budget"
                break
            self.ran.append(change)
            records["verdict"][index] = Verdict.PASS if change in self.passing else Verdict.WRONG_OUTPUT
        return Results(records)


def fake_failing(count: int) -> Any:
    predicates = FakePredicates(count)
    rows = np.asarray(predicates.rows[::-1])
    return SimpleNamespace(case=SimpleNamespace(name="c"), predicates=predicates, ordered=lambda _: rows)


@given(st.integers(0, 500), st.sets(st.integers(0, 499), max_size=5))
def test_the_first_one_is_the_first_in_order(count, passing):
    work = FakeWork(passing)
    (found,) = switch(work, [fake_failing(count)], first=True)  # type: ignore[arg-type]
    expected = max((n for n in passing if n < count), default=None)
    hits = np.flatnonzero(found.critical)
    assert (int(found.rows["event"][hits[0]]) if len(hits) else None) == expected
    assert len(set(work.ran)) == len(work.ran) == found.tried


@given(st.integers(1, 300), st.integers(0, 400))
def test_a_search_that_is_stopped_says_how_far_it_came(count, most):
    work = FakeWork({0}, most)
    (found,) = switch(work, [fake_failing(count)])  # type: ignore[arg-type]
    assert found.tried == min(count, most) == len(work.ran)
    assert found.critical.any() == (most >= count)  # number 0 is the last one


def test_all_are_tried_where_not_only_the_first_is_wanted():
    work = FakeWork({70})
    switch(work, [fake_failing(100)])  # type: ignore[arg-type]
    assert sorted(work.ran) == list(range(100))


def test_a_run_that_passes_unaltered_is_left_out():
    work = FakeWork(set(), unaltered=Verdict.PASS)
    assert switch(work, [fake_failing(3)]) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdict", "first_wrong", "before", "is_better"),
    [
        (Verdict.WRONG_OUTPUT, 9, 5, True),
        (Verdict.WRONG_OUTPUT, 5, 5, False),
        (Verdict.WRONG_OUTPUT, 3, 5, False),
        (Verdict.WRONG_STATUS, NOWHERE, 5, True),
        (Verdict.WRONG_STATUS, NOWHERE, NOWHERE, False),  # the status was wrong before, too
        (Verdict.CRASH, NOWHERE, 5, False),  # what it has not printed is not wrong
        (Verdict.TIMEOUT, NOWHERE, 5, False),
        (Verdict.PASS, NOWHERE, 5, False),
    ],
)
def test_what_counts_as_more_of_the_output(verdict, first_wrong, before, is_better):
    results, unaltered = np.zeros(1, RESULT), np.zeros((), RESULT)
    results["verdict"], results["first_wrong"], unaltered["first_wrong"] = verdict, first_wrong, before
    assert bool(corrected(results, unaltered)[0]) is is_better


# ---- The branches of a run -------------------------------------------------------------------------------------------


def test_suspects_without_evidence_come_behind_in_their_order():
    runs, _ = searched(PARCEL, ("20", "fee 9\n"))
    suspects = [Entry(Statement("p.c", line), score, 1, 1) for line, score in ((90, 0.5), (80, 0.7), (70, 0.5))]
    findings = switch_findings("p", runs, suspects)
    assert [e.statement.line for e in findings.ranking] == [line_of(PARCEL, "FAULT"), 80, 70, 90]
    assert findings.ranking[2].rank == 3 and findings.ranking[2].rank_worst == 4


def test_a_branch_without_another_side_is_counted_and_left_out():
    text = (
        HEAD
        + """
int main(int argc, char **argv)
{
    switch (argc) { default: puts("x"); }
    if (argc > 1)
        puts("z");
    return 0;
}
"""
    )
    predicates = Predicates(failed(text, "1", "q\n").reader)
    assert {predicates.text(row) for row in predicates.rows} == {"argc > 1"}
    assert predicates.one_sided == 1


def test_clocks_are_those_of_the_altered_runs():
    """A block that calls goes on under its own clock, however many blocks the call executed."""
    found = failed(DEPTH, "5", "7\n")
    predicates = Predicates(found.reader)
    with Session(found.subject, found.case) as session:
        seen = {(int(e["clock"]), int(e["site"])) for e in session.observe().events}
    changes = predicates.changes(predicates.rows)
    assert {(int(c["clock"]), int(c["site"])) for c in changes} <= seen


def test_the_side_taken_is_unknown_where_the_run_ended_at_the_branch():
    text = (
        HEAD
        + """
int main(int argc, char **argv)
{
    volatile int *p = NULL;
    if (argc > 1 && *p > 3)
        puts("a");
    puts("b");
    return 0;
}
"""
    )
    predicates = Predicates(failed(text, "1", "b\n").reader)
    last = [row for row in predicates.rows if row["event"] == predicates.rows["event"].max()]
    assert {predicates.other(row) for row in last} == {"true", "false"}
    assert {int(row["taken"]) for row in last} == {UNKNOWN} and predicates.taken(last[0]) is None
