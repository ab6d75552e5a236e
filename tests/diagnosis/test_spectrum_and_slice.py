from __future__ import annotations

import re

import pytest
from trace_readers import subject_of

from whence.diagnosis import spectrum_and_slice
from whence.diagnosis.spectrum_and_slice import Evidence, locate, recurring, values_part
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.recorder import Recorder
from whence.subject.runs import coverage, run_all
from whence.subject.subject import with_cases
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.spectrum import spectrum

# Two faults of kinds that differ: a wrong sum that flows on, and a test that skips what it should not.
PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), noise = 0;
    int size = n + 1;
    if (n > 3)
        size += 2;
    for (int i = 0; i < 3; i++)
        noise += i;
    int bonus = 5;
    if (n > 8)
        bonus = 7;
    printf("%d\\n", noise);
    printf("%d %d\\n", size, bonus);
    return 0;
}
"""
RIGHT = {"2": "3\n3 5\n", "4": "3\n5 5\n", "7": "3\n10 7\n", "9": "3\n12 7\n"}  # 4 fails by size, 7 by bonus


def line(text):
    return next(n for n, source in enumerate(PROGRAM.splitlines(), 1) if text in source)


def evidence_of(failing, *passing):
    cases = [Case(name, (name,), expected=Expected(RIGHT[name].encode())) for name in (failing, *passing)]
    subject = with_cases(subject_of(PROGRAM), cases)
    runs = run_all(subject)
    with Recorder(subject) as recorder:
        readers = [
            TraceReader(subject, (last := recorder.record(t.case, t.outcome)).trace) for t in reversed(runs.tested)
        ]
        symptom = symptom_of(last, subject.folder)
    return Evidence(coverage(subject, runs), readers[-1], symptom), readers[:-1]


@pytest.fixture(scope="module")
def evidence():
    return evidence_of("4", "2", "9")


@pytest.fixture(scope="module")
def findings(evidence):
    return locate(evidence[0], "p")


def entry_of(findings, text):
    return next(e for e in findings.ranking if e.statement.line == line(text))


def test_ranks_what_failing_cases_executed(evidence, findings):
    suspects = spectrum(evidence[0].coverage, formula="op2").ranking
    assert {e.statement for e in findings.ranking} == {e.statement for e in suspects}


def test_scores_lie_between_0_and_1(findings):
    assert all(0 <= e.score <= 1 for e in findings.ranking)


def test_slice_is_marked(findings):
    inside = {(at["file"], at["line"]) for at in findings.parts["slice"]}
    marked = {(e.statement.file, e.statement.line) for e in findings.ranking if e.evidence["in_slice"]}
    assert marked == inside & {(e.statement.file, e.statement.line) for e in findings.ranking}


def test_equally_suspicious_statements_rank_by_slice_then_nearness(findings):
    groups = {}
    for e in findings.ranking:
        groups.setdefault(e.evidence["suspiciousness"], []).append(e)
    for group in groups.values():
        reached = [e.evidence.get("depth") for e in group]
        depths = [depth for depth in reached if depth is not None]
        assert reached[: len(depths)] == depths == sorted(depths)


def test_wrong_sum_is_first(findings):
    found = entry_of(findings, "size += 2")
    assert found.rank_worst <= 2
    assert found.evidence["text"].startswith(f"line {found.statement.line} gave `size` the value 7, used by ")
    assert found.evidence["text"].endswith("executed by 1 of 1 failing and 1 of 2 passing cases")


def test_what_the_output_does_not_need_is_outside(findings):
    assert not entry_of(findings, "noise += i").evidence["in_slice"]


def test_skipped_assignment_is_told():
    found = locate(evidence_of("7", "2")[0], "p")
    entry = entry_of(found, "if (n > 8)")
    assert entry.evidence["may_have_skipped"] and not entry.evidence["in_slice"]
    text = f"line {line('if (n > 8)')} found `n > 8` false; the other way could have changed what"
    assert entry.evidence["text"].startswith(text)
    assert entry.rank < entry_of(found, "noise += i").rank


def test_each_sentence_names_its_line(findings):
    for e in findings.ranking:
        text = e.evidence["text"]
        assert text.startswith(f"line {e.statement.line} ") or text.startswith("executed by")


def test_values_of_both_sides(evidence, findings):
    part = values_part(findings.ranking, evidence[0].reader, evidence[1])
    values = part[f"p.c:{line('size += 2')}"]
    assert [v["value"] for v in values["failing"] if v["name"] == "size"] == ["5", "7"]
    assert values["passing"] == [{"name": "size", "values": ["10", "12"], "cases": 1}]


def test_symptom_without_a_place_still_ranks(evidence):
    bare = Evidence(evidence[0].coverage, evidence[0].reader, type(evidence[0].symptom)("crash", "gone", details={}))
    found = locate(bare, "p")
    assert len(found.ranking) == len(locate(evidence[0], "p").ranking)
    assert found.parts["slice"] == [] and found.parts["criterion"]["file"] is None


TREE = """\
#include <stdio.h>
#include <stdlib.h>
static int busy[4], next[4] = {1, 2, 3, 0};
static void show(int n, int left)
{
    if (busy[n]) /* TEST */
        return;
    printf("%d\\n", n);
    for (int k = 0; k < left; k++) /* LOOP */
        show(next[n], left); /* AGAIN */
}
int main(int argc, char **argv)
{
    int left = atoi(argv[1]);
    int size = left + 1;
    if (left || argc > 2)
        size = 1; /* OTHER */
    show(0, left);
    return size == 0;
}
"""


def test_what_is_not_come_back_from_is_raised_as_what_led_to_the_symptom_is(monkeypatch):
    """The first symptom is a wrong output, long before the stack is used up."""
    words = (("1",), ("0",), ("0", "a"), ("0", "b"), ("0", "c"), ("0", "d"))
    subject = with_cases(subject_of(TREE), [Case(" ".join(w), w, expected=Expected(b"0\n")) for w in words])
    runs = run_all(subject)
    with Recorder(subject) as recorder:
        recording = recorder.record(runs.tested[0].case, runs.tested[0].outcome)
        reader, symptom = TraceReader(subject, recording.trace), symptom_of(recording, subject.folder)
    evidence = Evidence(coverage(subject, runs), reader, symptom)
    place = {text.split()[0]: n for n, source in enumerate(TREE.splitlines(), 1) for text in source.split("/*")[1:]}
    told = recurring(reader)
    lines = {statement.line for statement in told}
    assert lines >= {place["TEST"], place["LOOP"], place["AGAIN"]} and place["OTHER"] not in lines
    assert all(re.fullmatch(r"show\(\) was entered [\d,]+ times without coming back", text) for text in told.values())
    entries = {entry.statement.line: entry for entry in locate(evidence, "p").ranking}
    assert entries[place["LOOP"]].rank < entries[place["OTHER"]].rank
    assert entries[place["LOOP"]].evidence["text"].count("without coming back") == 1
    monkeypatch.setattr(spectrum_and_slice, "recurring", lambda _: {})
    entries = {entry.statement.line: entry for entry in locate(evidence, "p").ranking}
    assert entries[place["LOOP"]].rank > entries[place["OTHER"]].rank


def test_a_run_that_comes_back_from_all_has_nothing_that_recurs(evidence):
    assert recurring(evidence[0].reader) == {}
