"""Learning the ranking's weights: they are the best ones, the same each time, and chances come true."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.ranking.calibrate import corrected, fitted
from bench.ranking.edits import table as edits_told
from bench.ranking.evidence import Recorded, read
from bench.ranking.examples import EDITS, Known, held_out, known, load, without_edits
from bench.ranking.learn import Example, learned, softmax
from bench.ranking.measure import Ways, by_method, by_program
from bench.ranking.record import record
from bench.ranking.rule_order import before
from bench.ranking.train import trained
from bench.ranking.why import group, table
from corpus import corpus
from whence.diagnosis.learned_ranking import stored
from whence.findings import Findings, Statement, rank

NAMES = ("left", "right", "odd")
COUNTS = {"failing_total": 2, "passing_total": 4}


def examples(seed: int, number: int = 40) -> list[Example]:
    """Faults of 3 to 12 statements with three features; the first feature tells most about the faulty ones."""
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        x = chance.random((int(chance.integers(3, 12)), 3))
        faulty = np.zeros(len(x), np.bool_)
        faulty[np.argsort(x[:, 0] + 0.3 * chance.random(len(x)))[-int(chance.integers(1, 3)) :]] = True
        found.append(Example(x, faulty))
    return found


def loss(faults: list[Example], weights: np.ndarray, penalty: float) -> float:
    chances = [softmax(fault.matrix @ weights)[fault.faulty].sum() for fault in faults]
    return penalty / 2 * float(weights @ weights) - float(np.log(chances).sum())


@pytest.mark.parametrize("seed", range(3))
def test_no_step_away_from_the_weights_is_better(seed):
    faults = examples(seed)
    weights = learned(faults, penalty=1.0)
    least, chance = loss(faults, weights, 1.0), np.random.default_rng(seed)
    for size in (1.0, 0.1, 0.01):
        for _ in range(20):
            assert loss(faults, weights + size * chance.standard_normal(3), 1.0) > least - 1e-9
    assert weights[0] > 2 * abs(weights[1])


def test_a_fault_of_which_no_line_is_ranked_teaches_nothing():
    faults = examples(1)
    lost = Example(np.ones((4, 3)), np.zeros(4, np.bool_))
    assert np.array_equal(learned([*faults, lost]), learned(faults))


def test_chances_are_corrected_to_what_comes_true():
    chance = random.Random(1)
    said = [chance.random() for _ in range(4000)]
    came = [chance.random() < one**2 / (one**2 + (1 - one) ** 2) for one in said]  # too modest: log odds by half
    line = fitted(said, came)
    assert line == pytest.approx((2.0, 0.0), abs=0.2)
    assert corrected(0.5, line) == pytest.approx(0.5, abs=0.05)
    assert corrected(0.8, line) == pytest.approx(0.94, abs=0.03)


def recorded(number: int) -> Recorded:
    """A fault on line 2 or 3 of four, of which rules and switches say different things."""
    statements = [Statement("a.c", line) for line in range(1, 5)]
    line = 2 + number % 2
    counts = {s: {**COUNTS, "failing": 2, "passing": (s.line + number) % 4} for s in statements}
    switch = findings("switch", {s: {**n, "critical": 2 * (s.line == 4)} for s, n in counts.items()})
    rules = findings("rules", {s: {**n, "rule_score": float(s.line == line)} for s, n in counts.items()})
    common = {"f2p": 2, "p2f": 0, "failing": 2, "checked": 4, "unknown": 0, "family": "value", "doubt": ""}
    common |= {"before": "a", "after": None}
    rules.parts["rules"] = [{"file": "a.c", "line": line, "score": 1.0, **common}]
    found, base = [switch, rules], findings("locate", counts)
    about = ("generated", f"prog{number % 3}", f"{number:04}", "wrong constant", (line,), False)
    return Recorded(*about, base, found, {statements[0]: {"load": 1}}, "int a;\n")


def findings(technique: str, notes: dict[Statement, dict[str, Any]]) -> Findings:
    return Findings(technique, "prog", rank({s: n["failing"] - n["passing"] / 5 for s, n in notes.items()}, notes))


def test_trained_again_it_gives_the_same_file(tmp_path):
    path = tmp_path / "recorded.jsonl"
    path.write_text("".join(json.dumps(recorded(number).to_json()) + "\n" for number in range(30)))
    first, second = (json.dumps(trained(load([path]))) for _ in range(2))
    assert first == second
    stored = json.loads(first)
    assert stored["weights"]["clean"] > 0 > stored["weights"]["switch all"]
    assert stored["learned from"]["generated"] == 30


def test_a_model_stands_beside_the_order_and_what_is_learned(tmp_path):
    path, file = tmp_path / "recorded.jsonl", tmp_path / "model.json"
    path.write_text("".join(json.dumps(recorded(number).to_json()) + "\n" for number in range(30)))
    faults = load([path])
    file.write_text(json.dumps(trained(faults)))
    good = stored(file)
    ways = Ways.of(faults, held_out(faults), good)
    assert ways.model == [1] * 30 and ways.fixed == [fault.ranks["fixed"] for fault in faults]
    bad = replace(good, weights={name: -weight for name, weight in good.weights.items()})
    assert Ways.of(faults, held_out(faults), bad).model == [4] * 30
    assert "| the model | 30 | 30 (100 %) |" in by_method(faults, held_out(faults), good)
    assert "| prog0 | 10 | " in by_program(faults, held_out(faults), good)


def test_what_was_recorded_is_read_again_but_for_a_line_that_was_not_finished(tmp_path):
    path = tmp_path / "recorded.jsonl"
    rows = [json.dumps(recorded(number).to_json()) for number in range(3)]
    path.write_text("\n".join([*rows[:2], rows[2][:100]]))
    one, two = read(path)
    assert (one.key, two.key) == (("generated", "prog0", "0000"), ("generated", "prog1", "0001"))
    assert one.lines == (2,) and one.kinds == recorded(0).kinds and not one.is_open and one.source == "int a;\n"
    for mine, again in zip([recorded(0).base, *recorded(0).found], [one.base, *one.found], strict=True):
        assert [(e.statement, e.score, e.rank) for e in mine.ranking] == [
            (e.statement, e.score, e.rank) for e in again.ranking
        ]
    assert list(read(tmp_path / "none")) == []


def test_an_edit_that_the_text_asks_for_is_first_as_in_locate(tmp_path):
    path, one = tmp_path / "recorded.jsonl", recorded(0)
    (rule,) = one.found[1].parts["rules"]
    one.found[1].parts["rules"] = [rule | {"line": 4}, rule | {"family": "edit", "cost": 3.0, "asked_for": True}]
    for is_asked in (True, False):
        one.found[1].parts["rules"][1]["asked_for"] = is_asked
        path.write_text(json.dumps(one.to_json()) + "\n")
        (fault,) = load([path])
        assert (fault.rank(np.array(fault.lines, float)) == 1) is is_asked  # others score more than line 2


def test_what_all_techniques_say_of_a_fault_is_recorded(tmp_path):
    fault = corpus.faults("gatekeeper")[0]
    found = record(fault, seed=1, budget=float("inf"))
    assert isinstance(found, Recorded), found
    assert {"rules", "switch"} <= {one.technique for one in found.found}
    path = tmp_path / "recorded.jsonl"
    path.write_text(json.dumps(found.to_json()) + "\n")
    (known,) = load([path])
    assert known.example.faulty.any()
    assert known.ranks["rules"] <= known.ranks["op2"]


def with_rules(kind: str, **notes: Any) -> Known:
    """A fault on line 2, with what the rules say of it; the clean rule is at line 4."""
    one = replace(recorded(0), kind=kind)
    rules = one.found[1]
    for entry in rules.ranking:
        entry.evidence.pop("rule_score")
        entry.evidence["tried"] = 3
        if entry.statement.line == 2:
            entry.evidence.update(notes)
    rules.parts["rules"] = [{**row, "line": 4} for row in rules.parts["rules"]]
    found = known(one)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("kind", "notes", "expected"),
    [
        ("wrong constant", {"tried": 0}, "no site of it takes a rule"),
        ("missing condition", {"rules": 0}, "no rule there mends a run, missing code"),
        ("wrong constant", {"rules": 0}, "no rule there mends a run, other faults"),
        ("wrong constant", {"rules": 1, "rule_score": 0.5}, "rules there mend some runs, or break passing ones"),
        ("wrong type", {"rules": 1, "rule_score": 1.0}, "a clean rule there, and a statement before it has none"),
    ],
)
def test_why_a_fault_is_not_first_is_told_by_the_rules_of_its_line(kind, notes, expected):
    fault = with_rules(kind, **notes)
    by_line = {3: 3.0, 2: 2.0, 1: 1.0, 4: 0.0}
    scores = np.array([by_line[line] for line in fault.lines])
    assert group(fault, scores) == expected
    assert f"| {expected} | 1 |" in table([fault], [scores], 1)
    assert "| within 2 | 1 |" in table([fault], [scores], 2)


def test_how_many_rules_come_before_the_faulty_statement():
    one = recorded(0)
    assert before(one) is None  # no rule was tried there
    for entry, count in zip(one.found[1].ranking, (1, 2, 4, 8), strict=True):
        entry.evidence["tried"] = count
    shares = before(one)
    assert shares is not None
    tried = {entry.statement.line: entry.evidence["tried"] for entry in one.found[1].ranking}
    passing = {line: line % 4 for line in tried}
    higher = sum(count for line, count in tried.items() if passing[line] < passing[2])
    assert shares[0] == pytest.approx(higher / 15)


def test_without_edits_a_statement_has_the_score_of_its_best_other_rule():
    one = recorded(0)
    rules = one.found[1]
    row = rules.parts["rules"][0]
    rules.parts["rules"] = [
        {**row, "line": 1, "family": "edit", "cost": 3.0},
        {**row, "line": 2, "family": "edit", "cost": 3.0},
        {**row, "line": 2, "score": 0.5, "f2p": 1},
        {**row, "line": 4, "score": 0.9, "doubt": "it breaks a passing case"},
        {**row, "line": 4, "family": "edit", "cost": 3.0},
    ]
    for entry in rules.ranking:
        entry.evidence["rule_score"] = float(entry.statement.line != 3)
    edit, mends = ({}, {})
    for without in ((), (EDITS,)):
        found = known(one, without)
        assert found is not None
        columns = dict(zip(found.names, found.example.matrix.T, strict=True))
        edit[without] = dict(zip(found.lines, columns["edit"], strict=True))
        mends[without] = dict(zip(found.lines, columns["rule"], strict=True))
    assert edit[()] == {1: 1, 2: 1, 3: 0, 4: 1} and not any(edit[EDITS,].values())
    assert mends[()] == mends[EDITS,] == {1: 0, 2: 0.5, 3: 0, 4: 0}
    by_rules = {e.statement.line: e.evidence.get("rule_score") for e in without_edits(rules).ranking}
    assert by_rules == {1: None, 2: 0.5, 3: 0.0, 4: None}


def test_what_came_of_edits_is_told_of_faults_without_a_clean_rule():
    fault = next(one for one in corpus.faults("cache") if one.id == "07")
    row = recorded(0).found[1].parts["rules"][0] | {
        "family": "edit",
        "line": fault.lines[0],
        "before": "forget(newest);",
    }
    source = corpus.faulty_source(fault)

    def with_edits(*rows: dict[str, Any]) -> Recorded:
        one = replace(recorded(0), program="cache", lines=fault.lines, source=source)
        one.found[1].parts["rules"] = list(rows)
        return one

    fix, other = row | {"after": "forget(oldest);", "cost": 3.0}, row | {"line": 1, "after": "x;", "cost": 2.0}
    clean = with_edits({**row, "family": "value", "after": "forget(oldest);"})
    counts = [
        cells.split(" | ")
        for cells in edits_told([with_edits(fix), with_edits(fix, other), with_edits(), clean]).split("\n")
    ]
    assert [int(cells[1].rstrip(" |")) for cells in counts[2:]] == [3, 2, 2, 2, 1, 1]
