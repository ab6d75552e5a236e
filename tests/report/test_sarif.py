"""SARIF logs: what services ask of them, and fixes that do what they say."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator
from report_sample import sample

from whence.report.diagnosed import Diagnosed
from whence.report.json import to_json
from whence.report.sarif import sarif_text, to_sarif

TEXT = "int total(int n)\n{\n\treturn n + 1; \n}\nint half(int n)\n{\n\treturn n + 1;\n}\n"
STRICT = {"additionalProperties": False}
NUMBER, STRING = {"type": "integer", "minimum": 1}, {"type": "string"}
MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": STRING}, **STRICT}
ARTIFACT = {
    "type": "object",
    "required": ["uri"],
    "properties": {"uri": {"type": "string", "format": "uri-reference"}, "uriBaseId": STRING},
    **STRICT,
}
SIDES = dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), NUMBER)
REGION = {"type": "object", "required": ["startLine"], "properties": {**SIDES, "snippet": MESSAGE}, **STRICT}
LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "message": MESSAGE,
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation", "region"],
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
            **STRICT,
        },
    },
    **STRICT,
}
# What we write of a result, in the words of the standard (SARIF 2.1.0, section 3.27).
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
    "properties": {
        "ruleId": {"enum": ["failure", "suspect"]},
        "ruleIndex": {"enum": [0, 1]},
        "level": {"enum": ["error", "warning", "note"]},
        "rank": {"type": "number", "minimum": 0, "maximum": 100},
        "message": MESSAGE,
        "partialFingerprints": {"type": "object", "additionalProperties": STRING},
        "locations": {"type": "array", "items": LOCATION},
        "relatedLocations": {"type": "array", "items": LOCATION},
        "codeFlows": {"type": "array", "minItems": 1},
        "fixes": {"type": "array", "minItems": 1},
    },
    **STRICT,
}


def result(**parts: Any) -> dict[str, Any]:
    """A result with two statements of the same text."""
    entries = [
        {"file": "a b.c", "line": line, "rank": rank, "rank_worst": rank, "score": 1.0, "evidence": {"text": "why"}}
        for rank, line in enumerate((7, 3), 1)
    ]
    symptom = {"kind": "wrong-output", "text": "wrong", "file": "a b.c", "line": 3}
    return {"ranking": entries, "symptom": symptom, **parts}


def results(found: dict[str, Any], text: str = TEXT) -> list[dict[str, Any]]:
    log = to_sarif([Diagnosed(("one",), found, {"a b.c": text})], "1.2.3")
    (run,) = log["runs"]
    for one in run["results"]:
        Draft202012Validator(RESULT).validate(one)
        assert run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
    return run["results"]


def fixed(text: str, fix: dict[str, Any]) -> str:
    """The text with a fix made, as the standard says: columns count characters, the end is not part of a region."""
    (change,) = fix["artifactChanges"]
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:n])) for n in range(len(lines) + 1)]
    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region.get("endLine", region["startLine"]) - 1] + region["endColumn"] - 1
        text = text[:start] + replacement["insertedContent"]["text"] + text[end:]
    return text


def test_the_sample_is_a_log() -> None:
    found = to_json(sample())
    log = json.loads(sarif_text([Diagnosed(("a", "b"), found, {})], "1.2.3"))
    assert log["version"] == "2.1.0" and log["runs"][0]["tool"]["driver"]["semanticVersion"] == "1.2.3"
    failure = log["runs"][0]["results"][0]
    assert failure["message"]["text"].startswith("a, b: ") and failure["level"] == "error"
    for one in log["runs"][0]["results"]:
        Draft202012Validator(RESULT).validate(one)


def test_where_nothing_failed_or_was_found_there_are_no_results() -> None:
    assert to_sarif([], "1")["runs"][0]["results"] == []
    assert to_sarif([Diagnosed(("a",), None, trouble="out of time")], "1")["runs"][0]["results"] == []


def test_regions_hold_the_text_of_a_line() -> None:
    _, first, second = results(result())
    place = second["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b.c"
    assert place["region"] == {"startLine": 3, "startColumn": 2, "endColumn": 15, "snippet": {"text": "return n + 1;"}}
    assert (first["level"], second["level"]) == ("warning", "note") and first["rank"] > second["rank"]


def test_fingerprints_stay_where_lines_come_elsewhere_and_tell_like_lines_apart() -> None:
    before = [one["partialFingerprints"] for one in results(result())]
    moved = result()
    for place in (*moved["ranking"], moved["symptom"]):
        place["line"] += 1
    assert [one["partialFingerprints"] for one in results(moved, "\n" + TEXT)] == before
    assert len({json.dumps(one) for one in before}) == 3


def test_the_way_is_the_chain_or_else_the_slice() -> None:
    steps = [{"file": "a b.c", "line": 7, "text": "gave n the value 3"}]
    (flow,) = results(result(chain={"steps": steps}))[0]["codeFlows"]
    told = [at["location"]["message"]["text"] for at in flow["threadFlows"][0]["locations"]]
    assert told == ["gave n the value 3", "wrong"]
    lines = [{"file": "a b.c", "line": n, "values": [{"name": "n", "value": str(n)}]} for n in (3, 7)]
    (flow,) = results(result(slice=lines))[0]["codeFlows"]
    told = [at["location"]["message"]["text"] for at in flow["threadFlows"][0]["locations"]]
    assert told == ["n = 7", "n = 3", "wrong"]


RULE = {
    "file": "a b.c",
    "line": 3,
    "rule": "the value - 1",
    "before": "return n + 1;",
    "after": "return n - 1;",
    "broken": [],
    "confirmation": "all pass",
}


def test_a_change_that_was_compiled_and_run_is_a_fix() -> None:
    (fix,) = results(result(rules=[RULE | {"confirmed": True}]))[2]["fixes"]
    assert fixed(TEXT, fix) == TEXT.replace("n + 1; ", "n - 1; ", 1)
    for other in ({"confirmed": None}, {"confirmed": True, "broken": ["two"]}, {"confirmed": True, "before": "x"}):
        assert all("fixes" not in one for one in results(result(rules=[RULE | other])))


def test_needed_changes_are_undone_where_the_case_passes_without() -> None:
    then = "int total(int n)\n{\n\treturn n;\n}\nint half(int n)\n{\n\tn /= 2;\n\treturn n + 1;\n}\n"
    needed = [
        {"file": "a b.c", "line": 3, "before": "\treturn n;\n", "after": "\treturn n + 1; \n"},
        {"file": "a b.c", "line": 7, "before": "\tn /= 2;\n", "after": ""},
    ]
    part = {"since": "v1", "case": "one", "needed": needed, "undone": True}
    for one in results(result(changes=part))[1:]:
        assert fixed(TEXT, one["fixes"][0]) == then
    assert all("fixes" not in one for one in results(result(changes=part | {"undone": False})))
