"""Persistent rules: each kind repairs a fault that no other kind repairs; what breaks passing cases scores lower."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_programs import BRANCH, GUARDED, PROGRAMS, STORE, VALUE, Program, first_lines

from whence.alter.changes import EVENT, RESULT, Observed, Verdict, Way
from whence.alter.describe import Describer
from whence.alter.work import Work
from whence.errors import SubjectError
from whence.findings import Findings, rank
from whence.probe.sites import Role
from whence.subject.runs import coverage
from whence.subject.suspiciousness import rank_by_coverage
from whence.techniques.rules.candidates import Family, Rule
from whence.techniques.rules.repairs import RepairSearch
from whence.techniques.rules.rules import AHEAD, CHEAP, _costs, _in_turn, _summary, rules, rules_to_try
from whence.techniques.rules.trials import Search, Settings, Suite, Trial

EVERY = frozenset(Family)


@cache
def found(program: Program, families: frozenset[Family] = EVERY, **settings: int) -> Findings:
    """The rules of some kinds that a program has."""
    subject, runs = program.run()
    with Work(subject, workers=1) as work:
        return rules(subject, runs, work, Settings(families, **settings))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.family)
def test_a_fault_that_one_kind_of_rule_repairs(program):
    family = Family[program.family.upper()]
    findings = found(program)
    best = findings.parts["rules"][0]
    assert (best["line"], best["family"], best["score"]) == (program.line, program.family, 1.0)
    assert (best["f2p"], best["p2f"], sorted(best["cases"])) == (len(program.fails), 0, sorted(program.fails))
    assert first_lines(findings) == [program.line]
    only = found(program, frozenset({family}))
    assert {row["family"] for row in only.parts["rules"]} == {program.family}
    assert first_lines(only) == [program.line]
    others = found(program, EVERY - {family})
    assert all(row["score"] < 1 for row in others.parts["rules"])


def test_each_kind_of_rule_has_a_program():
    assert {program.family for program in (*PROGRAMS, GUARDED)} == {family.name.lower() for family in Family}


def test_guarded_rules_are_made_from_pairs():
    subject, runs = GUARDED.run()
    describer, sites = Describer(subject), subject.alter_plan.sites
    (site,) = (n for n in range(len(sites)) if sites[n]["role"] == Role.LOAD and describer.what(n) == "days[month]")
    with Work(subject, workers=1) as work:
        without = rules(subject, runs, work)
        findings = rules(subject, runs, work, pairs=[(site, 31, 30)])
    assert all(row["score"] < 1 for row in without.parts["rules"] if row["line"] == GUARDED.line)
    best = next(row for row in findings.parts["rules"] if row["family"] == "guarded")
    assert best["rule"] == "where `days[month]` is 31, use 30"
    assert best["after"].startswith("sum += (days[month] == 31 ? 30 : days[month]) * 24;")
    assert (best["f2p"], best["p2f"], best["broken"]) == (1, 3, ["0", "2", "4"])
    assert best["score"] == 0.5


def test_what_breaks_passing_cases_scores_lower():
    rows = found(BRANCH).parts["rules"]
    breaking = [row for row in rows if row["f2p"] == 1 and row["p2f"]]
    clean = [row for row in rows if row["f2p"] == 1 and not row["p2f"]]
    assert breaking and clean
    assert max(row["score"] for row in breaking) < min(row["score"] for row in clean)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_without_passing_cases_nothing_can_be_broken():
    rows = found(BRANCH, passing=0).parts["rules"]
    assert all((row["p2f"], row["checked"]) == (0, 0) for row in rows)
    assert sum(row["score"] == 1 for row in rows) > 1


def test_evidence_is_one_sentence_with_the_best_rule():
    entry = found(VALUE).ranking[0]
    assert entry.evidence["text"] == (
        "`10` instead of `9` in `(hours - 40) * 9`: 2 of 2 failing cases pass with it, and no passing case comes there"
    )
    assert entry.evidence["rule_score"] == 1.0
    entry = found(STORE).ranking[-1]
    assert entry.evidence["rules"] == 0 and "executed by 3 of 3 failing" in entry.evidence["text"]


def test_the_ranking_holds_all_statements_of_failing_cases():
    lines = [entry.statement.line for entry in found(STORE).ranking]
    assert sorted(lines) == [5, 6, 7, 8, 10, 11]


def test_a_search_without_time_finds_nothing_and_says_so():
    subject, runs = VALUE.run()
    with Work(subject, workers=1, deadline=0.0, fresh=True) as work:
        findings = rules(subject, runs, work)
    assert work.stopped == "budget"
    assert findings.parts["rules"] == []
    assert findings.summary[-1] == "tried no rules: there was no time"
    assert len(findings.ranking) > 0


def test_chosen_failing_cases():
    subject, runs = VALUE.run()
    (row,) = (n for n in runs.failing if runs.tested[n].case.name == "52")
    with Work(subject, workers=1) as work:
        best = rules(subject, runs, work, among=[row]).parts["rules"][0]
    assert best["cases"][0] == "52" and best["failing"] == len(runs.failing)  # what is best is tried on the others, too


def test_a_repair_is_enough_where_one_is_wanted(monkeypatch):
    monkeypatch.setattr("whence.techniques.rules.trials.FIRST", 4)
    subject, runs = BRANCH.run()
    done = []
    for least in (0.9, None):
        search = RepairSearch(subject, runs, runs.failing[0])
        with Work(subject, runs, workers=1, fresh=True) as work:
            search.go_on(work, least)
        assert BRANCH.line in [repair.statement.line for repair in search.best(least or 0.0) if repair.statement]
        assert search.is_over == (least is None)
        done.append(work.done)
    assert 0 < done[0] < done[1] / 2


def test_a_search_for_repairs_goes_on_where_its_time_ended(monkeypatch):
    monkeypatch.setattr("whence.techniques.rules.trials.FIRST", 4)
    subject, runs = BRANCH.run()
    whole = RepairSearch(subject, runs, runs.failing[0])
    with Work(subject, runs, workers=1, fresh=True) as work:
        whole.go_on(work)
    parts = RepairSearch(subject, runs, runs.failing[0])
    with Work(subject, runs, workers=1, fresh=True, deadline=time.monotonic() + 3600) as work:
        with work.share(0.0):
            parts.go_on(work)
        assert not parts.is_over and not parts.best() and not work.done
        parts.go_on(work, least=1e-9)  # a portion with a repair is the last one
        assert parts.best() and not parts.is_over
        tried = set(parts._trials)
        parts.go_on(work)
    assert parts.is_over and tried < set(parts._trials) == set(whole._trials)
    assert parts._trials == whole._trials and parts.best() == whole.best()


def test_of_equally_good_repairs_the_wanted_one_is_taken_and_none_that_was_refuted(monkeypatch):
    subject, runs = BRANCH.run()
    search = RepairSearch(subject, runs, runs.failing[0])
    with Work(subject, runs, workers=1) as work:
        search.go_on(work)
    scores = [trial.score for trial in search._serving(0.0)]
    twice = next(score for score in scores if scores.count(score) > 1)
    alike = [trial for trial in search._serving(0.0) if trial.score <= twice]
    monkeypatch.setattr(RepairSearch, "_serving", lambda *_: alike)

    def words(**options):
        repair = search.best(**options)[0]
        return repair.statement, repair.words

    first = words()
    second = words(without=[first])
    worse = words(without=[first, second])
    assert first != second and words(preferred=second) == second and words(preferred=first) == first
    assert words(preferred=worse) == first, "it is not as good"
    every = [(repair.statement, repair.words) for repair in search.best()]
    assert len(every) == scores.count(twice) and worse not in every


def test_a_search_for_repairs_tries_its_own_case_however_long_that_is(monkeypatch):
    monkeypatch.setattr("whence.techniques.rules.repairs.Settings", lambda: Settings(failing=1))
    subject, runs = BRANCH.run()
    assert len(runs.failing) > 1
    for row in runs.failing:
        search = RepairSearch(subject, runs, row)
        with Work(subject, runs, workers=1) as work:
            search.go_on(work, 0.9)
        assert BRANCH.line in [repair.statement.line for repair in search.best(0.9) if repair.statement]


def test_the_first_statements_of_an_order_are_tried_first(monkeypatch):
    subject, runs = BRANCH.run()
    describer = Describer(subject)
    suspects = [entry.statement for entry in rank_by_coverage(coverage(subject, runs), "op2")]
    asked: list[list[Rule]] = []

    def portions(_: Search, wanted: Iterator[Rule]) -> Iterator[list[Trial]]:
        asked.append(list(wanted))
        return iter(())

    monkeypatch.setattr(Search, "portions", portions)
    by_line = sorted(suspects, key=lambda statement: statement.line)
    with Work(subject, workers=1) as work:
        for statements in (by_line, by_line[::-1]):
            order = rank({statement: -float(number) for number, statement in enumerate(statements)})
            rules(subject, runs, work, order=order)
    lines = [[statement.line for rule in mine if (statement := describer.statement(rule.site))] for mine in asked]
    assert lines[0] == sorted(lines[0]) and lines[1] == sorted(lines[0], reverse=True) and len(set(lines[0])) > 2


def test_of_a_long_run_what_comes_late_is_tried_first(monkeypatch):
    subject, runs = program_with_a_late_statement()
    describer, first = Describer(subject), {}
    for cheap in (1 << 17, 1):
        monkeypatch.setattr("whence.techniques.rules.rules.CHEAP", cheap)
        monkeypatch.setattr("whence.techniques.rules.rules.AHEAD", 1)
        order = rank({statement: -float(statement.line) for statement in subject.places.statements})
        with Work(subject, runs, workers=1) as work:
            suite = Suite(subject, runs, Settings())
            tried = [describer.statement(r.site) for r in rules_to_try(suite, work, (), describer, order)]
        first[cheap] = next(statement.line for statement in tried if statement is not None)
    assert first == {1 << 17: 4, 1: 6}


def program_with_a_late_statement():
    """A loop of many turns, and behind it the last statement."""
    text = """\
#include <stdio.h>
int main(int argc, char **argv)
{
    int sum = argc;
    for (int n = 0; n < 5000; n++) sum += n & 1;
    printf("%d\\n", sum);
    return 0;
}
"""
    return Program("late", text, {"a b": "2504\n"}, ["a"]).run()


def test_costs_are_equal_up_to_what_it_takes_to_begin_and_double_then():
    lengths = [0, 1, CHEAP - 1, CHEAP, 2 * CHEAP - 1, 2 * CHEAP, 9 * CHEAP]
    record = np.zeros((), RESULT)
    record["length"] = 10 * CHEAP
    events = np.array([(10 * CHEAP - length, 0, site, 0) for site, length in enumerate(lengths)], EVENT)
    seen = Observed(events, record, False)
    assert _costs(seen, len(lengths) + 1).tolist() == [0, 0, 0, 1, 1, 2, 4, 0]
    record["way"] = Way.RESTART
    assert not _costs(seen, len(lengths)).any(), "each run begins anew"
    record["way"], record["verdict"] = Way.SNAPSHOT, Verdict.TIMEOUT
    assert not _costs(seen, len(lengths)).any(), "none goes on to the end"


@given(st.dictionaries(st.tuples(st.floats(0, 1), st.integers(0, 6)), st.integers(1, 90), max_size=12))
def test_the_order_of_groups_is_that_of_their_places_times_their_costs(sites):
    order = _in_turn(sites)
    assert sorted(order) == sorted(sites)
    places = {one: sum(n for other, n in sites.items() if (-other[0], other[1]) < (-one[0], one[1])) for one in sites}
    turns = [(places[one] + AHEAD) * 2 ** one[1] for one in order]
    assert turns == sorted(turns)
    assert [one for one in order if not one[1]] == sorted((one for one in sites if not one[1]), reverse=True)


def test_no_failing_case():
    subject, runs = Program("", VALUE.text, {}, VALUE.passes).run()
    with Work(subject, workers=1) as work, pytest.raises(SubjectError, match="nothing to repair"):
        rules(subject, runs, work)


def test_rules_that_there_was_no_time_for_are_not_said_to_repair_nothing() -> None:
    suite, rule = SimpleNamespace(failing=[1, 2], further=[]), None

    def told(*trials: tuple[tuple[int, ...], int], is_all: bool = True) -> str:
        found: Any = [Trial(rule, repaired, (), 2, 0, unknown) for repaired, unknown in trials]
        return _summary(suite, found, is_all)

    assert told(((), 2), ((), 2)) == "tried no rules: there was no time"
    assert told(((), 0), ((), 1), ((), 2)) == (
        "tried 2 rules on 2 failing cases (there was no time for others), "
        "1 of them on the shortest run alone, which they do not repair: none repairs any"
    )
    assert told(((1,), 1)) == (
        "tried 1 rule on 2 failing cases: 1 repairs at least one, none of them all without breaking a passing one; "
        "1 of these had no time to be tried on every case"
    )
    assert told(((), 0)) == "tried 1 rule on 2 failing cases: none repairs any"
    start = "tried 1 rule on 2 failing cases (there was no time for others): 1 r"
    assert told(((1,), 1), ((), 2)).startswith(start) and told(((1,), 1), is_all=False).startswith(start)


LIMIT = Program(
    "value",
    """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void print(int n)
{
    if (n < 4800) { /* FAULT: 1000 */
        printf("%d\\n", n);
        return;
    }
    char digits[20];
    snprintf(digits, sizeof digits, "%d", n);
    size_t length = strlen(digits);
    for (size_t at = 0; at < length; at++) {
        if (at > 0 && (length - at) % 3 == 0)
            putchar(',');
        putchar(digits[at]);
    }
    putchar('\\n');
}
int main(int argc, char **argv)
{
    for (int at = 1; at < argc; at++)
        print(atoi(argv[at]));
    return 0;
}
""",
    {"1000": "1,000\n", "7 2500 30000": "7\n2,500\n30,000\n"},
    ["5 30", "700 999", "123 4800 6", "9876"],
)


def test_of_equally_good_rules_that_is_first_which_alters_passing_runs_least():
    best, *others = found(LIMIT).parts["rules"]
    assert best["rule"] == "`1000` instead of `4800` in `n < 4800`"  # 1000 is told by the runs, and stands nowhere
    clean = [row["rule"] for row in others if row["score"] == 1]
    assert "the condition `n < 4800` is always false" in clean  # what comes behind it prints small numbers, too
