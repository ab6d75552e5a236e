"""The learned ranking: what is weighed, what is left as it was, and how sure it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from whence.diagnosis import learned_ranking
from whence.diagnosis.combined_ranking import fuse
from whence.diagnosis.learned_ranking import Model, chance_told, is_weighed, reranked, shipped
from whence.diagnosis.ranking_features import Features
from whence.findings import Findings, Statement, rank

A, B, C, D = (Statement("a.c", line) for line in (10, 20, 30, 31))
ALL = (A, B, C, D)
COUNTS = {"failing": 2, "failing_total": 2, "passing": 1, "passing_total": 4}


def findings(technique: str, notes: dict[Statement, dict[str, Any]], **scores: float) -> Findings:
    return Findings(technique, "prog", rank({s: scores.get(f"line{s.line}", 0.0) for s in notes}, notes))


def rule(statement: Statement, **more: Any) -> dict[str, Any]:
    common = {
        "f2p": 2,
        "p2f": 0,
        "failing": 2,
        "checked": 3,
        "unknown": 0,
        "score": 1.0,
        "family": "value",
        "doubt": "",
    }
    return {"file": statement.file, "line": statement.line, **common, **more}


def rules(*listed: dict[str, Any]) -> Findings:
    scores = {Statement(row["file"], row["line"]): row["score"] for row in listed if not row["doubt"]}
    found = findings("rules", {s: COUNTS | {"rule_score": scores.get(s, 0.0)} for s in ALL})
    found.parts["rules"] = list(listed)
    return found


@pytest.fixture
def base() -> Findings:
    return Findings("locate", "prog", rank({A: 0.9, B: 0.8, C: 0.7, D: 0.7}, {s: dict(COUNTS) for s in ALL}))


def features(base: Findings, *found: Findings) -> Features:
    combined = fuse(base, found)
    return Features(combined.ranking, base, found, combined.parts.get("rules", []), {B: {"store": 1, "call": 2}})


def weights(base: Findings, **mine: float) -> Model:
    """A model with some weights, all others 0; names with blanks are written with underscores."""
    named = dict.fromkeys(features(base).names, 0.0)
    known = {name.replace("_", " "): weight for name, weight in mine.items()}
    assert known.keys() <= named.keys()
    return Model(named | known, {"first": (1.0, 0.0), "three": (1.0, 0.0), "five": (1.0, 0.0)})


def order(found: Findings) -> list[tuple[int, int, int]]:
    return [(entry.statement.line, entry.rank, entry.rank_worst) for entry in found.ranking]


def column(made: Features, name: str) -> dict[int, float]:
    values = made.matrix[:, made.names.index(name)].tolist()
    return {s.line: value for s, value in zip(made.statements, values, strict=True)}


def test_the_shipped_weights_are_of_these_features(base):
    assert list(shipped().weights) == features(base).names
    assert shipped().chances.keys() == learned_ranking.FIRST.keys()


def edit(statement: Statement, cost: float, **more: Any) -> dict[str, Any]:
    return rule(statement, family="edit", cost=cost, **more)


def test_a_statement_that_an_edit_mends_comes_first(base):
    found = [rules(rule(B, score=0.7, f2p=1))]
    model = weights(base, rule=5.0)

    def first(*edits: dict[str, Any]) -> Statement:
        mine = [replace(found[0], parts={"rules": [*found[0].parts["rules"], *edits]})]
        return reranked(fuse(base, mine), base, mine, {}, model).ranking[0].statement

    assert first() == B and first(edit(D, 3.0)) == D
    assert first(edit(D, 3.0, checked=0)) == first(edit(D, 3.0, doubt="it fits these cases")) == B


def test_the_one_statement_where_some_cases_are_mended_and_none_is_broken_comes_first(base):
    partly = {"score": 0.5, "f2p": 1, "failing": 4}
    model = weights(base, base_place=1.0)

    def first(*listed: dict[str, Any]) -> Statement:
        found = [rules(*listed)]
        return reranked(fuse(base, found), base, found, {}, model).ranking[0].statement

    assert first(rule(D, **partly)) == D
    assert first(rule(D, **partly), rule(D, **partly)) == D
    assert first(rule(D, **partly), rule(C, **partly)) == A  # one of them fits by chance
    assert first(rule(D, **partly), rule(C)) == A  # which mends all
    assert first(rule(D, **partly, p2f=1)) == first(rule(D, **partly, checked=0)) == A
    assert first(rule(D, **partly, doubt="it fits one value alone")) == A


def test_what_the_text_asks_for_and_no_passing_case_comes_to_comes_first_where_nothing_else_mends(base):
    model = weights(base, base_place=1.0)
    apart = {"checked": 0, "score": 0.99}

    def first(*listed: dict[str, Any]) -> Statement:
        found = [rules(*listed)]
        return reranked(fuse(base, found), base, found, {}, model).ranking[0].statement

    assert first(edit(D, 3.0, asked_for=True, **apart)) == D
    assert first(edit(D, 3.0, **apart)) == first(edit(D, 3.0, asked_for=True, **{**apart, "f2p": 1})) == A
    assert first(*(edit(at, 3.0, asked_for=True, **apart) for at in (C, D))) == A
    assert first(rule(B), edit(D, 3.0, asked_for=True, **apart)) == D  # a clean rule says less
    assert first(edit(B, 9.0, asked_for=True), edit(D, 3.0, asked_for=True, **apart)) == B  # passing cases come there


def test_where_another_rule_is_clean_edits_are_weighed(base):
    found = [rules(rule(B), edit(D, 3.0))]
    assert reranked(fuse(base, found), base, found, {}, weights(base, rule=5.0)).ranking[0].statement == B
    assert reranked(fuse(base, found), base, found, {}, weights(base, edit=5.0)).ranking[0].statement == D


def test_an_edit_that_the_text_asks_for_comes_before_clean_rules(base):
    found = [rules(rule(B), edit(C, 1.0), edit(D, 3.0, asked_for=True))]
    model = weights(base, rule=5.0)
    assert reranked(fuse(base, found), base, found, {}, model).ranking[0].statement == D
    found = [rules(rule(B), edit(C, 1.0), edit(D, 3.0, asked_for=True, score=0.7))]
    assert reranked(fuse(base, found), base, found, {}, model).ranking[0].statement == B


def test_of_statements_with_edits_the_one_with_the_likelier_edit_comes_first_where_they_are_nearly_equal(base):
    def first(weight: float, *edits: dict[str, Any]) -> Statement:
        mine = [rules(rule(A, score=0.5), *edits)]
        return reranked(fuse(base, mine), base, mine, {}, weights(base, base_place=weight)).ranking[0].statement

    assert first(1.0, edit(B, 1.0), edit(D, 1.0)) == first(1.0, edit(D, 1.0), edit(B, 1.0)) == B  # by the score
    assert first(1.0, edit(B, 9.0), edit(D, 1.0)) == D and first(1.0, edit(B, 9.0), edit(B, 1.5), edit(D, 1.0)) == B
    assert first(100.0, edit(B, 9.0), edit(D, 1.0)) == B


def test_edits_count_by_how_likely_they_are_and_whether_passing_cases_come_to_them(base):
    listed = [edit(A, 9.0), edit(C, 4.0), edit(C, 6.0), edit(B, 1.0, checked=0), edit(D, 2.0, doubt="it fits")]
    made = features(base, rules(*listed))
    assert column(made, "edit") == {10: 1, 20: 0, 30: 1, 31: 0} and column(made, "unchecked edit")[20] == 1
    assert column(made, "edit turn") == {10: 0.5, 20: 0, 30: 1, 31: 0}
    assert not any(column(made, "clean").values())  # which is what rules are


def test_the_first_memory_error_comes_before_all_that_no_rule_mends(base):
    memory = findings("memory", {C: {"corrupts": 1.0}, D: {"corrupts": 0.5}})
    found = [rules(rule(B)), memory]
    again = reranked(fuse(base, found), base, found, {}, weights(base, base_place=1.0, clean=5.0))
    assert [line for line, *_ in order(again)][:2] == [20, 30]
    without = [rules(rule(B)), findings("memory", {C: {"corrupts": 0.5}})]
    again = reranked(fuse(base, without), base, without, {}, weights(base, base_place=1.0, clean=5.0))
    assert order(again)[1][0] != 30


def test_other_features_are_refused(base):
    with pytest.raises(ValueError, match=r"bench\.ranking\.train"):
        Model({"suspicion": 1.0}, {}).scores(features(base))


def test_weights_decide_and_equals_share_a_rank(base):
    found = [rules(rule(C), rule(D))]
    again = reranked(fuse(base, found), base, found, {}, weights(base, clean=1.0))
    assert order(again) == [(30, 1, 2), (31, 1, 2), (10, 3, 4), (20, 3, 4)]
    assert [entry.score for entry in again.ranking] == [1.0, 1.0, 0.0, 0.0]
    assert order(reranked(fuse(base, found), base, found, {}, weights(base, clean=-1.0)))[0] == (10, 1, 2)


def test_rules_are_listed_in_the_new_order(base):
    found = [rules(rule(A), rule(B), rule(C, score=0.5))]
    again = reranked(fuse(base, found), base, found, {B: {"store": 1}}, weights(base, has_store=1.0))
    assert [row["line"] for row in again.parts["rules"]] == [20, 10, 30]


def test_statements_that_are_not_weighed_stay_behind_in_their_order(base, monkeypatch):
    monkeypatch.setattr(learned_ranking, "MOST", 2)
    found = [rules(rule(C), rule(D, f2p=1, score=0.7))]
    again = reranked(fuse(base, found), base, found, {}, weights(base, rule=-1.0))
    assert [line for line, _, _ in order(again)] == [31, 30, 10, 20]


def test_only_the_like_of_what_was_learned_from_is_weighed(base):
    alone = replace(base, ranking=rank({A: 0.9}, {A: {**COUNTS, "passing": 0, "passing_total": 0}}))
    altered, compared = rules(rule(A)), findings("invariants", {A: dict(COUNTS)})
    assert is_weighed(base, [altered, compared], is_open=False)
    assert is_weighed(base, [altered], is_open=False)
    assert not is_weighed(alone, [altered], is_open=False)  # no case passes
    assert not is_weighed(base, [compared], is_open=False)  # no run was altered
    assert not is_weighed(base, [altered], is_open=True)  # what is right is not known
    assert not is_weighed(base, [altered, findings("races", {A: {"decides": 1.0}})], is_open=False)
    assert not is_weighed(base, [replace(altered, ranking=[])], is_open=False)


def test_a_technique_that_did_not_speak_leaves_zeros(base):
    silent, speaking = (
        features(base, rules()),
        features(base, rules(), findings("switch", {B: {**COUNTS, "critical": 2}})),
    )
    assert silent.names == speaking.names
    assert set(column(silent, "switch all").values()) == {0.0}
    assert column(speaking, "switch all") == {10: 0.0, 20: 1.0, 30: 0.0, 31: 0.0}
    assert np.isfinite(silent.matrix).all() and np.isfinite(features(Findings("locate", "prog")).matrix.sum())


def test_rules_count_once_nothing_speaks_against_them(base):
    doubted = rule(B, doubt="it breaks 1 passing case", score=0.8)
    made = features(base, rules(rule(A), rule(A, family="store"), doubted, rule(C, f2p=1, score=0.7)))
    assert column(made, "clean") == {10: 1.0, 20: 0.0, 30: 0.0, 31: 0.0}
    assert column(made, "rule") == {10: 1.0, 20: 0.0, 30: 0.7, 31: 0.0}
    assert column(made, "doubtful rule")[20] == 0.8
    assert column(made, "clean kinds")[10] == pytest.approx(2 / 7)
    assert column(made, "mends")[30] == 0.5


def test_what_speaks_for_the_next_line_is_known(base):
    made = features(base, rules(rule(C)))
    assert column(made, "clean nearby") == {10: 0.0, 20: 0.0, 30: 0.0, 31: 1.0}


def test_the_chance_grows_with_how_far_the_first_stands_out_and_with_how_many_there_are(base):
    model = replace(shipped())
    clear, level = (model.chance(np.array([top, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])) for top in (6.0, 0.0))
    assert clear["first"] > level["first"]
    for chance in (clear, level):
        assert 0 < chance["first"] <= chance["three"] <= chance["five"] < 1
    bent = Model(model.weights, {"first": (1.0, 5.0), "three": (1.0, -5.0), "five": (1.0, 0.0)})
    said = bent.chance(np.zeros(9))
    assert said["first"] == said["three"] == said["five"] > 0.9


def test_the_chance_in_words():
    text = chance_told({"first": 0.414, "three": 0.6, "five": 0.75})
    assert text.startswith("of 100 planted faults with such evidence the first statement was faulty in 41, one of")
    assert "in 60, of the first five in 75" in text
