"""Suggested changes confirmed in the source: what holds, what is dropped, what could not be compiled, the new order."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from cli_tool import subject_folder
from rule_programs import Program

from whence.diagnosis.combined_ranking import fuse
from whence.diagnosis.confirmation import MISUSED, confirm
from whence.findings import Findings, Statement, rank
from whence.report.text import suggested_changes
from whence.subject.edited_memory import EditedMemory
from whence.subject.memory_check import Checker
from whence.subject.runs import Runs
from whence.subject.subject import Subject

PAY = Program(
    "value",
    """\
#include <stdio.h>
#include <stdlib.h>
static int extra(int hours)
{
    return (hours - 40) * 9; /* FAULT: 10 */
}
int main(int argc, char **argv)
{
    int hours = atoi(argv[1]), pay = hours * 20;
    if (hours > 40)
        pay += extra(hours);
    printf("%d\\n", pay);
    return 0;
}
""",
    {"45": "950\n", "52": "1160\n"},
    ("8", "40", "39"),
)
FILE = "p.c"
CLEAN = "nothing wrong with arithmetic and bounds in 5 runs and memory in 5 runs"
TRUE, PRINT, BOUND, CALL = 5, 12, 10, 11  # lines


@pytest.fixture(scope="module")
def pay() -> tuple[Subject, Runs]:
    subject, runs = PAY.run()
    Checker(subject).compile()
    return subject, runs


def rule(line: int, old: str, new: str | None, **other: Any) -> dict[str, Any]:
    """A rule as altered runs might have left it: it repairs all and breaks nothing."""
    before = PAY.text.splitlines()[line - 1].strip()
    after = None if new is None else before.replace(old, new)
    found = {"file": FILE, "line": line, "rule": f"`{new}` instead of `{old}`", "before": before, "after": after}
    found |= {
        "f2p": 2,
        "p2f": 0,
        "failing": 2,
        "checked": 3,
        "unknown": 0,
        "score": 1.0,
        "doubt": "",
        "family": "value",
    }
    return found | {"cases": ["45", "52"], "broken": []} | other


def combined(*rules: dict[str, Any]) -> Findings:
    """A combined ranking in which rules decide, those of the first one first."""
    lines = [r["line"] for r in rules]
    statements = [Statement(FILE, line) for line in (PRINT, BOUND, CALL, TRUE)]
    base = Findings(
        "locate", "p", rank({s: 0.1 * n for n, s in enumerate(statements)}, {s: {"text": "base"} for s in statements})
    )
    best: dict[Statement, dict[str, Any]] = {}
    for r in rules:
        notes = {"rule_score": r["score"], "text": r["rule"]}
        best.setdefault(
            Statement(FILE, r["line"]), {"doubtful_score": r["score"], "text": r["rule"]} if r["doubt"] else notes
        )
    scores = {s: -lines.index(s.line) for s in best}
    return fuse(base, [Findings("rules", "p", rank(scores, best), parts={"rules": list(rules)})])


def confirmed(pay: tuple[Subject, Runs], findings: Findings, seconds: float = 60.0, **options: bool) -> Findings:
    return confirm(*pay, findings, time.monotonic() + seconds, **options)


def test_what_holds_is_said_and_what_does_not_is_dropped_with_its_effect_on_the_ranking(
    pay: tuple[Subject, Runs],
) -> None:
    wrong, right = rule(BOUND, "40", "41"), rule(TRUE, "* 9", "* 10", score=0.9)
    before = combined(wrong, right)
    assert before.ranking[0].statement.line == BOUND
    found = confirmed(pay, before)
    assert found.ranking[0].statement.line == TRUE
    told = f"{right['rule']}: compiled and run on all 5 cases: all pass; {CLEAN}"
    assert found.ranking[0].evidence["reasons"][0]["text"] == told
    assert [(r["line"], r["confirmed"], r["score"]) for r in found.parts["rules"]] == [(TRUE, True, 1.0)]
    (dropped,) = found.parts["refuted"]
    assert dropped["confirmation"] == "compiled and run on all 5 cases: `45` still fails, and 1 more"
    last = next(e for e in found.ranking if e.statement.line == BOUND).evidence
    assert "rules" not in last and last["text"] == "base"
    assert "compiled 2 suggested changes and ran 5 cases with each: with 1 all pass, 1 dropped" in found.summary[-1]


def test_a_change_that_breaks_a_passing_case_is_dropped_though_altered_runs_saw_nothing(
    pay: tuple[Subject, Runs],
) -> None:
    found = confirmed(pay, combined(rule(PRINT, "pay)", "pay + (hours - 40) * (hours != 8))")))
    assert not found.parts["rules"] and "still fails" not in found.parts["refuted"][0]["confirmation"]
    assert "it breaks `39`: standard output differs" in found.parts["refuted"][0]["confirmation"]


def test_the_next_best_change_of_a_statement_is_compiled_in_the_place_of_one_that_was_dropped(
    pay: tuple[Subject, Runs],
) -> None:
    found = confirmed(pay, combined(rule(TRUE, "* 9", "* 8"), rule(TRUE, "* 9", "* 10")))
    assert [r["confirmed"] for r in found.parts["rules"]] == [True] and len(found.parts["refuted"]) == 1
    assert found.ranking[0].statement.line == TRUE


def test_what_could_not_be_compiled_stays_and_says_so(pay: tuple[Subject, Runs]) -> None:
    unknown, wrong = rule(BOUND, "40", None), rule(TRUE, "* 9", "* ten")
    stale = rule(CALL, "extra", "extra") | {"before": "something else", "after": "another"}
    found = confirmed(pay, combined(unknown, wrong, stale))
    told = {r["line"]: (r["confirmed"], r["confirmation"]) for r in found.parts["rules"]}
    assert told[BOUND] == (None, "no edited line of source is known for it, so it was not compiled")
    assert told[TRUE][0] is None and told[TRUE][1].startswith("its line alone does not compile: ")
    assert "use of undeclared identifier 'ten'" in told[TRUE][1]
    edits = {r["line"]: r["after"] for r in found.parts["rules"]}
    assert edits[TRUE] is None  # no edit that anyone should make
    assert edits[CALL] == "another"
    assert told[CALL][0] is None and "is not the text that was shown" in told[CALL][1]
    assert [e.statement for e in found.ranking] == [e.statement for e in combined(unknown, wrong, stale).ranking]
    assert found.summary[-1] == "not compiled, or not run on all cases: 3 suggested changes"


def test_a_change_that_misuses_memory_is_doubtful_though_all_cases_pass(pay: tuple[Subject, Runs]) -> None:
    clean, wrong = rule(CALL, "extra(hours)", "extra(hours) + hours - 40"), rule(TRUE, "* 9", "* 10 + 0 * (&hours)[3]")
    found = confirmed(pay, combined(wrong, clean))
    assert [(r["line"], r["clean"]) for r in found.parts["rules"]] == [(CALL, True), (TRUE, False)]
    assert found.ranking[0].statement.line == CALL
    doubtful = found.parts["rules"][1]
    assert doubtful["doubt"].startswith("`45` has a read beyond `hours` at p.c:5")
    assert f"all pass; but {doubtful['doubt']}; nothing wrong with arithmetic" in doubtful["confirmation"]
    assert suggested_changes(found) == found.parts["rules"][:1]
    assert "with 2 all pass, 1 not suggested: they misuse memory or arithmetic" in found.summary[-1]


def test_what_was_not_compiled_is_doubtful_where_the_failure_came_of_a_memory_error(
    pay: tuple[Subject, Runs],
) -> None:
    unknown, right = rule(TRUE, "* 9", None), rule(CALL, "extra(hours)", "extra(hours) + hours - 40")
    assert confirmed(pay, combined(unknown, right)).ranking[0].statement.line == TRUE
    found = confirmed(pay, combined(unknown, right), is_misuse=True)
    assert found.ranking[0].statement.line == CALL
    assert [(r["line"], bool(r["doubt"])) for r in found.parts["rules"]] == [(CALL, False), (TRUE, True)]
    assert found.parts["rules"][1]["confirmation"].endswith("hide the memory error that the failure came of")


def test_where_the_failure_came_of_a_memory_error_memory_is_checked_first_and_what_was_not_checked_is_doubtful(
    pay: tuple[Subject, Runs], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = [
        rule(TRUE, "* 9", "* 10"),
        rule(CALL, "extra(hours)", "extra(hours) + hours - 40"),
        rule(BOUND, "> 40", "> 40 && (pay += hours - 40)"),
        rule(PRINT, "pay)", "pay + (hours > 40) * (hours - 40))"),
    ]
    found = confirmed(pay, combined(*rules), is_misuse=True)
    assert [(r["doubt"], r["checks"]["memory"]["runs"]) for r in found.parts["rules"]] == [("", 5)] * 4
    assert all("rules" in e.evidence for e in found.ranking)
    monkeypatch.setattr(EditedMemory, "is_compiled", lambda self: False)
    found = confirmed(pay, combined(*rules), is_misuse=True)
    for r in found.parts["rules"]:
        assert r["confirmed"] and r["doubt"] == MISUSED and r["confirmation"].endswith(MISUSED)
    assert not any("rules" in e.evidence for e in found.ranking)


def test_without_time_nothing_is_compiled(pay: tuple[Subject, Runs]) -> None:
    found = confirmed(pay, combined(rule(TRUE, "* 9", "* 10")), seconds=0.0)
    assert found.parts["rules"][0]["confirmation"] == "no time was left to compile"


def test_the_figures_of_all_cases_take_the_place_of_those_of_altered_runs(pay: tuple[Subject, Runs]) -> None:
    some = rule(TRUE, "* 9", "* 10 + (hours > 50)", cases=["45"], f2p=1, failing=1)
    found = confirmed(pay, combined(some))
    (row,) = found.parts["rules"]
    assert (row["f2p"], row["failing"], row["checked"], row["score"]) == (1, 2, 3, 1.0)
    told = "compiled and run on all 5 cases: 1 of 2 failing ones still fail; "
    assert row["confirmation"] == told + CLEAN.replace("memory in 5", "memory in 4")
    assert found.ranking[0].evidence["rules"] == row["score"]


def test_a_ranking_by_rules_alone_is_ranked_again_too(pay: tuple[Subject, Runs]) -> None:
    from whence.alter.work import Work
    from whence.techniques.rules.rules import rules

    subject, runs = pay
    with Work(subject, workers=1) as work:
        found = rules(subject, runs, work)
    wrong = rule(PRINT, "pay)", "hours)", score=1.0)
    scores = {e.statement: e.score for e in found.ranking} | {Statement(FILE, PRINT): 1.0}
    notes = {e.statement: e.evidence for e in found.ranking}
    notes[Statement(FILE, PRINT)] = notes[Statement(FILE, PRINT)] | {"rule_score": 1.0, "text": wrong["rule"]}
    doubted = replace(found, ranking=rank(scores, notes), parts=found.parts | {"rules": [wrong, *found.parts["rules"]]})
    after = confirm(subject, runs, doubted, time.monotonic() + 60)
    assert after.ranking[0].statement.line == TRUE
    dropped = next(e for e in after.ranking if e.statement.line == PRINT)
    assert dropped.score < 0.01 and "still fails" in dropped.evidence["text"]
    assert "compiled and run on all 5 cases: all pass" in after.ranking[0].evidence["text"]


def test_a_change_in_a_header_is_compiled_in_the_modules_that_it_is_part_of() -> None:
    header = "static int extra(int hours)\n{\n    return (hours - 40) * 9;\n}\n"
    text = '#include "h.h"\n' + PAY.text.replace(PAY.text[PAY.text.index("static") : PAY.text.index("int main")], "")
    folder = subject_folder("confirmation-header", p_c=text, h_h=header)
    from whence.run.cases import Case
    from whence.run.outcome import Expected
    from whence.run.sandbox import DEFAULT_LIMITS
    from whence.subject.runs import run_all
    from whence.subject.subject import subject_from_sources

    cases = [Case("45", ("45",), expected=Expected(stdout=b"950\n")), Case("8", ("8",))]
    subject = subject_from_sources([folder / "p.c"], [], cases, DEFAULT_LIMITS)
    in_header = rule(TRUE, "9", "10", cases=["45"]) | {"file": "h.h", "line": 3}
    in_header |= {"before": "return (hours - 40) * 9;", "after": "return (hours - 40) * 10;"}
    found = confirm(
        subject, run_all(subject), Findings("rules", "p", parts={"rules": [in_header]}), time.monotonic() + 60
    )
    assert found.parts["rules"][0]["confirmation"].startswith("compiled and run on all 2 cases: all pass")


def test_a_change_that_mends_a_part_of_the_failing_cases_is_told_apart_from_one_with_which_all_pass(
    pay: tuple[Subject, Runs],
) -> None:
    part = rule(TRUE, "* 9", "* 9 + (hours == 45) * 5", f2p=1, score=0.7, cases=["45"])
    found = confirmed(pay, combined(part))
    assert found.parts["rules"][0]["confirmed"]
    assert "with none all pass, with 1 failing cases still fail or passing ones do not pass" in found.summary[-1]
