"""JSON results follow the documented schema, for sample findings and for any findings."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from report_sample import sample

from whence.findings import Findings, Statement, Symptom, rank
from whence.report.json import SCHEMA_PATH, to_json, to_text
from whence.subject.coverage import Coverage, Site
from whence.techniques.spectrum import Level, spectrum

SCHEMA = json.loads(SCHEMA_PATH.read_text())
VALIDATOR = Draft202012Validator(SCHEMA)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_the_sample_follows_the_schema() -> None:
    assert not list(VALIDATOR.iter_errors(json.loads(to_text(sample()))))


@pytest.mark.parametrize("level", ["statement", "branch"])
def test_spectra_follow_the_schema(level: Level) -> None:
    place = (Statement("a.c", 1),)
    sites = [Site(place), Site(place, "true", 4), Site(place, "false", 4)]
    counts = np.array([[1, 1, 0], [1, 0, 1]], np.uint32)
    coverage = Coverage(counts, np.array([True, False]), sites, ["bad", "good"])
    result = json.loads(to_text(spectrum(coverage, level=level)))
    VALIDATOR.validate(result)
    assert result["cases"]["names_failed"] == ["bad"]
    assert ("branches" in result) is (level == "branch")


def test_the_documented_example_follows_the_schema() -> None:
    page = (SCHEMA_PATH.parents[3] / "docs" / "json.md").read_text()
    assert not list(VALIDATOR.iter_errors(json.loads(page.split("```json\n")[1].split("```")[0])))


def test_common_keys_and_parts() -> None:
    result = to_json(sample())
    assert result["schema"] == {"name": "whence-findings", "version": 1}
    assert (result["subject"], result["technique"]) == ("ferry", "locate")
    assert result["symptom"]["file"] == "src/ferry.c"
    first = result["ranking"][0]
    assert list(first) == ["file", "line", "rank", "rank_worst", "score", "evidence"]
    assert (first["file"], first["rank"], first["rank_worst"]) == ("src/deck.c", 1, 3)
    assert "refused" in first["evidence"]["text"]
    assert {"slice", "values", "cases", "formulas", "criterion", "next"} <= result.keys()


def test_a_part_cannot_replace_a_common_key() -> None:
    with pytest.raises(ValueError, match="ranking"):
        to_json(Findings("t", "s", parts={"ranking": []}))


def test_a_score_that_json_cannot_hold_is_refused() -> None:
    findings = Findings("t", "s", ranking=rank({Statement("a.c", 1): math.inf}))
    with pytest.raises(ValueError, match="JSON"):
        to_text(findings)


@pytest.mark.parametrize(
    "damage",
    [
        lambda r: r.pop("technique"),
        lambda r: r["schema"].update(version=2),
        lambda r: r["ranking"][0].pop("rank_worst"),
        lambda r: r["ranking"][0].update(line=0),
        lambda r: r["symptom"].update(kind="mystery"),
        lambda r: r["slice"][0]["edges"][0].update(kind="magic"),
        lambda r: r["values"].update({"no line": {}}),
    ],
)
def test_the_schema_refuses_what_breaks_the_contract(damage: Any) -> None:
    result = to_json(sample())
    damage(result)
    with pytest.raises(ValidationError):
        VALIDATOR.validate(result)


names = st.text(min_size=1)
statements = st.builds(Statement, names, st.integers(1, 10**6))
symptoms = st.builds(Symptom, st.sampled_from(["crash", "timeout"]), names, st.none() | statements)
notes = st.fixed_dictionaries({"text": st.text(), "failing": st.integers(0, 9)})


@given(
    scores=st.dictionaries(statements, st.floats(allow_nan=False, allow_infinity=False)),
    note=notes,
    symptom=st.none() | symptoms,
    texts=st.tuples(names, st.text(), st.lists(st.text())),
)
def test_any_findings_follow_the_schema(
    scores: dict[Statement, float],
    note: dict[str, Any],
    symptom: Symptom | None,
    texts: tuple[str, str, list[str]],
) -> None:
    technique, subject, summary = texts
    ranking = rank(scores, dict.fromkeys(scores, note))
    text = to_text(Findings(technique, subject, ranking, symptom, summary))
    assert text.isascii()
    result = json.loads(text)
    VALIDATOR.validate(result)
    back = {Statement(e["file"], e["line"]): e["score"] for e in result["ranking"]}
    assert back == scores
