"""The combined ranking: which technique decides, and what is told."""

from __future__ import annotations

import pytest

from whence.diagnosis.combined_ranking import AROUND, fuse, in_order, ordered
from whence.findings import Findings, Statement, rank

A, B, C, D = (Statement("a.c", line) for line in (1, 2, 3, 4))


def findings(technique: str, notes: dict[Statement, dict]) -> Findings:
    part = [{"file": statement.file, "line": statement.line, "score": 1.0} for statement in notes]
    return Findings(technique, "prog", rank(dict.fromkeys(notes, 0.0), notes), parts={technique: part})


@pytest.fixture
def base() -> Findings:
    scores = {A: 0.9, B: 0.8, C: 0.7, D: 0.7}
    notes = {s: {"text": f"line {s.line}", "in_slice": True} for s in scores}
    return Findings("locate", "prog", rank(scores, notes), summary=["done"], parts={"slice": []})


def order(found: Findings) -> list[int]:
    return [entry.statement.line for entry in found.ranking]


def test_nothing_found_leaves_the_order(base):
    found = fuse(base, [findings("rules", {A: {}, B: {}}), findings("switch", {C: {"critical": 0}})])
    assert order(found) == [1, 2, 3, 4]
    assert [(e.rank, e.rank_worst) for e in found.ranking[2:]] == [(3, 4), (3, 4)]


def test_rules_speak_before_switches_and_values(base):
    found = fuse(
        base,
        [
            findings("values", {B: {"pairs": 5, "consistent": True}}),
            findings("switch", {C: {"critical": 5}}),
            findings("rules", {D: {"rule_score": 0.2}}),
        ],
    )
    assert order(found) == [4, 3, 2, 1]


def test_where_no_output_is_known_to_be_right_what_leads_round_the_failure_says_little(base):
    found = [
        findings("values", {B: {"pairs": 5, "consistent": True}}),
        findings("switch", {C: {"critical": 5}}),
        findings("rules", {C: {"doubtful_score": 0.7}}),
        findings("causes", {A: {"level": 1}, D: {"level": 0}}),
    ]
    assert order(fuse(base, found, AROUND)) == [4, 1, 3, 2]
    assert order(fuse(base, found)) == [3, 2, 1, 4]
    clean = findings("rules", {B: {"rule_score": 0.1}})
    assert order(fuse(base, [*found, clean], AROUND))[0] == 2


def test_of_equally_good_changes_of_a_statement_those_come_first_that_can_be_made(base):
    rows = [
        {"file": "a.c", "line": line, "rule": words, "score": score, "after": after}
        for line, words, score, after in (
            (1, "in words", 1.0, None),
            (1, "made", 1.0, "x = 2;"),
            (2, "made of the second", 1.0, "y = 2;"),
            (1, "made, but worse", 0.5, "x = 3;"),
        )
    ]
    words = [row["rule"] for row in in_order(rows, base.ranking)]
    assert words == ["made", "in words", "made of the second", "made, but worse"]


def test_of_equally_good_changes_the_smallest_comes_first_also_beside_edits_that_have_a_cost(base):
    before = "if (!ready(a, b))"
    changes = (
        ("if (!(ready(a, b) - 1))", None),
        ("if (ready(a, b))", None),
        ("if (!ready(b, b))", 3.5),
    )
    rows = [
        {"file": "a.c", "line": 1, "score": 1.0, "before": before, "after": after, "cost": cost}
        for after, cost in changes
    ]
    found = [row["after"] for row in in_order(rows, base.ranking)]
    assert found == ["if (ready(a, b))", "if (!ready(b, b))", "if (!(ready(a, b) - 1))"]


def test_of_equally_small_changes_that_comes_first_which_leaves_the_shortest_line(base):
    before = "used += b->size;"
    rows = [
        {"file": "a.c", "line": 1, "score": 1.0, "before": before, "after": after}
        for after in ("used += -b->size;", "used -= b->size;")
    ]
    assert in_order(rows, base.ranking)[0]["after"] == "used -= b->size;"


def test_later_techniques_break_ties_of_earlier_ones(base):
    rules = findings("rules", {A: {"rule_score": 0.5}, C: {"rule_score": 0.5}, D: {"rule_score": 0.5}})
    found = fuse(base, [rules, findings("switch", {D: {"critical": 1}})])
    assert order(found) == [4, 1, 3, 2]


def test_pairs_count_where_one_change_mends_every_run(base):
    assert order(fuse(base, [findings("values", {D: {"pairs": 5, "consistent": False}})])) == [1, 2, 3, 4]
    assert order(fuse(base, [findings("values", {D: {"pairs": 1, "consistent": True}})]))[0] == 4


def test_evidence_and_parts_are_joined(base):
    rules = findings("rules", {B: {"rule_score": 1.0, "text": "`<=` instead of `<`"}})
    found = fuse(base, [rules])
    first = found.ranking[0]
    assert first.statement == B and first.score == 1.0
    assert first.evidence["text"] == "`<=` instead of `<`; line 2"
    assert first.evidence["in_slice"] and first.evidence["rules"] == 1.0
    assert found.parts == {"slice": [], "rules": [{"file": "a.c", "line": 2, "score": 1.0}]}
    assert found.summary == ["done"]


def test_statements_that_only_a_technique_names_join(base):
    other = Statement("b.c", 9)
    found = fuse(base, [findings("switch", {other: {"critical": 1, "text": "the other way"}})])
    assert found.ranking[0].statement == other
    assert found.ranking[0].evidence["text"] == "the other way"


def test_scores_go_down_from_one(base):
    scores = [entry.score for entry in fuse(base, []).ranking]
    assert scores[0] == 1.0 and scores[-1] == 0.0 and scores == sorted(scores, reverse=True)


def test_equal_rules_are_listed_in_the_order_of_the_ranking(base):
    rules = findings("rules", {C: {"rule_score": 1.0}, B: {"rule_score": 1.0}})
    found = fuse(base, [rules, findings("switch", {C: {"critical": 1}})])
    assert [rule["line"] for rule in found.parts["rules"]] == order(found)[:2] == [3, 2]


def test_what_several_say_stands_once(base):
    values = findings("values", {A: {"pairs": 1, "consistent": True, "text": "with 3; run by 2 of 2"}})
    switch = findings("switch", {A: {"critical": 1, "text": "switched; run by 2 of 2"}})
    assert fuse(base, [switch, values]).ranking[0].evidence["text"] == "switched; with 3; run by 2 of 2; line 1"


def test_values_unlike_those_of_passing_runs_decide_behind_altered_runs(base):
    notes = {s: {"text": f"`n` was {s.line} or more; executed by 2 of 2 failing runs"} for s in (C, D)}
    invariants = Findings("invariants", "prog", rank({C: 0.2, D: 0.4}, notes), summary=["compared"])
    switch = findings("switch", {B: {"critical": 1}})
    found = fuse(base, [invariants, switch])
    assert order(found) == [2, 4, 3, 1] and found.summary == ["done", "compared"]
    assert found.ranking[1].evidence["text"] == "`n` was 4 or more; line 4"


def test_rules_that_break_passing_cases_come_behind_pairs_and_values_that_tell_the_runs_apart(base):
    rules = findings("rules", {A: {"doubtful_score": 0.9, "text": "where `op` is 157 the switch goes to case 38"}})
    notes = {C: {"predicate": 1.0, "text": "`n` was 7"}, A: {"predicate": 0.4}, B: {"predicate": 0.4}}
    invariants = Findings("invariants", "prog", rank({A: 0.9, B: 0.8, C: 0.5}, notes))
    values = findings("values", {D: {"pairs": 1, "consistent": True}})
    assert order(fuse(base, [rules, invariants, values])) == [4, 3, 1, 2]
    assert order(fuse(base, [findings("rules", {A: {"rule_score": 0.1}}), invariants, values])) == [1, 4, 3, 2]


def test_changes_that_mend_some_of_the_failing_runs_alone_do_not_speak(base):
    repair = {"repairs": ["the opposite"], "text": "would make 1 of 2 failing runs right: the opposite"}
    formula = Findings("formula", "prog", rank({D: 1.0}, {D: {**repair, "alone": 1, "runs": 2}}))
    assert order(fuse(base, [formula])) == [1, 2, 3, 4]
    assert "1 of 2" in next(e for e in fuse(base, [formula]).ranking if e.statement == D).evidence["text"]
    formula.ranking[0].evidence["alone"] = 2
    assert order(fuse(base, [formula]))[0] == 4


def test_reasons_stand_in_the_order_of_the_techniques_that_speak(base):
    rules = findings("rules", {B: {"rule_score": 1.0, "text": "`<=` instead of `<`: 1 of 1 passes"}})
    switch = findings("switch", {B: {"critical": 1, "text": "with `i` true it passes; executed by 1 of 1 failing"}})
    evidence = fuse(base, [switch, rules]).ranking[0].evidence
    assert [(reason["technique"], reason["text"]) for reason in evidence["reasons"]] == [
        ("rules", "`<=` instead of `<`: 1 of 1 passes"),
        ("switch", "with `i` true it passes"),
        ("locate", "line 2"),
    ]
    assert evidence["text"] == "; ".join(reason["text"] for reason in evidence["reasons"])


def test_the_order_can_be_made_again_from_the_evidence_alone(base):
    found = fuse(base, [findings("rules", {D: {"rule_score": 0.2}}), findings("switch", {C: {"critical": 5}})])
    again = ordered({entry.statement: entry.evidence for entry in found.ranking})
    assert [(e.statement, e.score, e.rank_worst) for e in again] == [
        (e.statement, e.score, e.rank_worst) for e in found.ranking
    ]
    weaker = {e.statement: {k: v for k, v in e.evidence.items() if k != "rules"} for e in found.ranking}
    assert [entry.statement.line for entry in ordered(weaker)] == [3, 1, 2, 4]


def test_what_each_technique_says_of_its_own_ranking_is_a_remark(base):
    switch, values = findings("switch", {}), findings("values", {})
    switch.remarks, values.remarks = ["the ranking is that of op2 alone"], ["the ranking is that of tarantula alone"]
    found = fuse(base, [switch, values])
    assert found.summary == ["done"] and found.brief and len(found.remarks) == 2
