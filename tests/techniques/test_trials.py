"""Trials of rules: scores, which cases a rule is tried on, and what is not known; altered runs are made up here."""

from __future__ import annotations

from contextlib import contextmanager
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_programs import BRANCH

from whence.alter.changes import RESULT, Op, Results, Verdict
from whence.techniques.rules.candidates import Family, Rule
from whence.techniques.rules.rules import sentence
from whence.techniques.rules.trials import Search, Settings, Suite, Trial

RULE = Rule(0, Family.BRANCH, Op.NOT)


class MadeUp:
    """Stands for ``Work``: the verdict of each run is what a function of case and rule's value says."""

    def __init__(self, verdict, stop_after=1 << 30):
        self.stopped, self.asked, self.unusable = "", [], {}
        self._verdict, self._stop_after = verdict, stop_after

    def run(self, requests):
        answers = []
        for request in requests:
            records = np.zeros(len(request.batch), RESULT)
            for at, change in enumerate(request.batch.changes):
                if len(self.asked) < self._stop_after:
                    records[at]["verdict"] = self._verdict(request.case.name, int(change["value"]))
                    self.asked.append((request.case.name, int(change["value"])))
                else:
                    self.stopped = "budget"
            answers.append(Results(records))
        return answers

    @contextmanager
    def share(self, part):
        whole = self._stop_after
        self._stop_after = len(self.asked) + int(part * (whole - len(self.asked)))
        yield
        self._stop_after = whole
        if len(self.asked) < whole:
            self.stopped = ""


@pytest.fixture(scope="module")
def program():
    return BRANCH.run()


def rules_of(count: int, site: int = 0) -> list[Rule]:
    return [Rule(site, Family.VALUE, Op.SET, value) for value in range(count)]


def trials(program, verdict, count=3, settings=None, site=0, **options):
    subject, runs = program
    work = MadeUp(verdict, **options)
    suite = Suite(subject, runs, settings or Settings())
    return Search(subject, suite, work).trials(rules_of(count, site)), work, suite


@given(st.integers(0, 5), st.integers(0, 25), st.integers(0, 3))
def test_scores(repaired, broken, unknown):
    failing = 5
    score = Trial(RULE, tuple(range(repaired)), tuple(range(broken)), failing, 25, unknown).score
    if not repaired:
        assert score == 0
    else:
        assert score == pytest.approx(repaired / sqrt(failing * (repaired + broken + unknown)))
        assert 0 < score <= 1
        assert (score == 1) == (repaired == failing and not broken and not unknown)


def test_only_what_repairs_is_tried_on_passing_cases(program):
    def verdict(case, value):
        return Verdict.PASS if (case.startswith("5 ") and value == 1) or case in BRANCH.passes else Verdict.WRONG_OUTPUT

    found, work, _ = trials(program, verdict)
    assert [len(trial.repaired) for trial in found] == [0, 1, 0]
    assert {value for case, value in work.asked if case in BRANCH.passes} == {1}
    assert (found[1].checked, found[1].broken) == (4, ())


def test_what_repairs_most_of_the_first_failing_cases_is_tried_on_further_ones(program):
    def verdict(case, value):
        is_mended = value == 2 or (value == 1 and case == first)
        return Verdict.PASS if case in BRANCH.passes or is_mended else Verdict.WRONG_OUTPUT

    subject, runs = program
    chosen = Suite(subject, runs, Settings(failing=1))
    first = runs.tested[chosen.failing[0]].case.name
    found, work, suite = trials(program, verdict, settings=Settings(failing=1))
    assert sorted((*suite.failing, *suite.further)) == sorted(runs.failing) and len(suite.further) == 2
    assert [(len(trial.repaired), trial.failing) for trial in found] == [(0, 1), (1, 3), (3, 3)]
    assert [trial.score for trial in found] == pytest.approx([0, sqrt(1 / 3), 1])
    assert {value for case, value in work.asked if case in BRANCH.fails and case != first} == {1, 2}
    alone, _, _ = trials(program, verdict, settings=Settings(failing=1, further=0))
    assert [trial.score for trial in alone] == [0, 1, 1]


def test_further_cases_that_there_is_no_time_for_do_not_count(program):
    found, work, _ = trials(program, lambda *_: Verdict.PASS, 1, Settings(failing=1), stop_after=6)
    assert work.stopped == "budget"
    assert (len(found[0].repaired), found[0].failing, found[0].unknown, found[0].score) == (2, 2, 0, 1)


@pytest.mark.parametrize("end", [Verdict.CRASH, Verdict.TIMEOUT, Verdict.WRONG_STATUS, Verdict.LOST, Verdict.REFUSED])
def test_whatever_is_no_pass_breaks_a_passing_case(program, end):
    found, _, suite = trials(program, lambda case, _: end if case == "4 1 2" else Verdict.PASS, count=1)
    (row,) = found[0].broken
    assert suite.runs.tested[row].case.name == "4 1 2"
    assert found[0].score == pytest.approx(3 / sqrt(3 * 4))


def test_a_change_that_is_never_reached_breaks_nothing_and_repairs_nothing(program):
    found, _, _ = trials(
        program, lambda case, _: Verdict.PASS if case in BRANCH.fails else Verdict.NOT_REACHED, count=1
    )
    assert (len(found[0].repaired), found[0].broken) == (3, ())
    found, _, _ = trials(program, lambda case, _: Verdict.NOT_REACHED, count=1)
    assert found[0].repaired == ()


def test_runs_that_were_not_made_are_unknown(program):
    found, work, _ = trials(program, lambda *_: Verdict.PASS, count=1, stop_after=5)
    assert work.stopped == "budget"
    assert (len(found[0].repaired), found[0].broken, found[0].checked, found[0].unknown) == (3, (), 2, 2)
    assert found[0].score == pytest.approx(3 / sqrt(3 * 5))


def test_what_does_not_repair_the_shortest_failing_run_is_tried_on_the_others_when_all_were_tried_on_that(program):
    subject, runs = program
    suite = Suite(subject, runs, Settings())
    first, second, _ = (runs.tested[row].case.name for row in suite.failing)

    def verdict(case, value):
        repairs = value == 2 or (value == 0 and case == second)
        return Verdict.PASS if case in BRANCH.passes or repairs else Verdict.WRONG_OUTPUT

    work = MadeUp(verdict)
    latest = {trial.rule.value: trial for part in Search(subject, suite, work).portions(rules_of(4)) for trial in part}
    assert {value: len(trial.repaired) for value, trial in latest.items()} == {0: 1, 1: 0, 2: 3, 3: 0}
    assert not any(trial.unknown for trial in latest.values())
    on_first = [at for at, (case, _) in enumerate(work.asked) if case == first]
    on_second = {value: at for at, (case, value) in enumerate(work.asked) if case == second}
    assert on_second[2] < on_second[0] and max(on_first[:4]) < on_second[0]


def test_portions_end_when_the_search_is_stopped(program, monkeypatch):
    monkeypatch.setattr("whence.techniques.rules.trials.PORTION", 2)
    monkeypatch.setattr("whence.techniques.rules.trials.REPAIRING", 1.0)
    subject, runs = program
    work = MadeUp(lambda *_: Verdict.WRONG_OUTPUT, stop_after=3)
    search = Search(subject, Suite(subject, runs, Settings()), work)
    assert [len(portion) for portion in search.portions(rules_of(8))] == [2, 2]


def test_passing_cases_have_time_of_their_own_and_what_was_left_out_comes_again(program):
    def verdict(case, value):
        return Verdict.PASS if case.startswith("5 ") or case in BRANCH.passes else Verdict.WRONG_OUTPUT

    subject, runs = program
    suite = Suite(subject, runs, Settings())
    work = MadeUp(verdict, stop_after=300)
    found = [trial for portion in Search(subject, suite, work).portions(rules_of(100)) for trial in portion]
    assert any(case in BRANCH.passes for case, _ in work.asked)
    first = suite.runs.tested[suite.failing[0]].case.name
    assert {value for case, value in work.asked if case == first} == {*range(100)}
    assert len({trial.rule for trial in found}) == len(found) == 100


def test_cases_that_do_not_come_there_are_not_run(program):
    subject, runs = program
    sites = subject.alter_plan.sites
    places = [subject.program.location(int(number)) for number in sites["instruction"]]
    inside = next(n for n, place in enumerate(places) if place and place.line == 7)
    suite = Suite(subject, runs, Settings())
    block = np.array([sites[inside]["block"]])
    assert not suite.are_tried(block)[0]  # no failing case computes the new total
    assert [runs.tested[suite.passing[n]].case.name for n in np.flatnonzero(suite.checks(block)[:, 0])] == [
        "4 1 2",
        "6 3 8",
    ]
    found, work, _ = trials(program, lambda *_: Verdict.PASS, count=1, site=inside)
    assert {case for case, _ in work.asked if case in BRANCH.passes} == {"4 1 2", "6 3 8"}
    assert found[0].checked == 2


def test_settings_limit_the_cases(program):
    subject, runs = program
    suite = Suite(subject, runs, Settings(failing=2, passing=1))
    assert len(suite.failing) == 2 and len(suite.passing) == 4
    assert suite.checks(np.array([0])).sum(axis=0).tolist() == [1]
    assert len(suite.observed) == 3


def test_what_had_no_time_is_not_counted_as_tried():
    row = {"rule": "`1` instead of `0`", "f2p": 1, "failing": 2, "p2f": 2, "checked": 2, "unknown": 1}
    assert sentence(row, 3).endswith("and 2 of 2 passing cases that come there fail (1 run more not made)")
    assert sentence(row | {"checked": 0, "p2f": 0}, 3).endswith("no time to try it on passing cases")
    assert sentence(row | {"checked": 0, "p2f": 0, "unknown": 0}, 3).endswith("and no passing case comes there")
