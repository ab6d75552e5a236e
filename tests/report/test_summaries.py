"""Summaries of a suite, in Markdown and as JUnit XML: whatever a program prints or is called stays text."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from whence.report.diagnosed import Diagnosed, Verdict
from whence.report.junit import junit_text
from whence.report.markdown import markdown_text

EVIL = "<script>*b*</script> `x` [a](b) |\x1b[31m\n# t ]]>&amp; @user"


def diagnosed(text: str = "why", **parts: Any) -> Diagnosed:
    reasons = [{"technique": "rules", "text": text}]
    entry = {"file": "a.c", "line": 1, "rank": 1, "rank_worst": 1, "evidence": {"text": text, "reasons": reasons}}
    symptom = {"kind": "wrong-output", "text": text, "file": "a.c", "line": 1}
    return Diagnosed(("one", text), {"symptom": symptom, "ranking": [entry], **parts}, {"a.c": f"{text}\n"})


def verdicts(text: str = "differs") -> list[Verdict]:
    return [Verdict("one", "wrong output", text, 0.25), Verdict(text, "crash", text, 0.5), Verdict("two", "", "", 0.25)]


@given(st.text() | st.just(EVIL))
def test_junit_is_xml_with_all_verdicts(text: str) -> None:
    suites = ElementTree.fromstring(junit_text(text, verdicts(text), [diagnosed(text)], "found.sarif"))
    (suite,) = suites
    assert (suite.get("tests"), suite.get("failures"), suite.get("time")) == ("3", "2", "1.000")
    assert [case.find("failure") is not None for case in suite] == [True, True, False]
    assert (suite[0].findtext("failure") or "").startswith("1. a.c:1")
    assert suite[0].findtext("system-out") == "[[ATTACHMENT|found.sarif]]"


def test_junit_says_why_nothing_was_found() -> None:
    text = junit_text("p", verdicts(), [Diagnosed(("one",), None, trouble="no time")])
    assert ElementTree.fromstring(text)[0][0].findtext("failure") == "no time"


def lines(*found: Diagnosed, notes: tuple[str, ...] = ()) -> list[str]:
    return markdown_text("./p", verdicts(), found, notes).splitlines()


def test_markdown_has_nothing_of_a_programs_as_markup() -> None:
    fence = "```"
    changed = {"since": EVIL, "changes": 2, "needed": [{"file": EVIL, "line": 1, "before": "```\n", "after": EVIL}]}
    shown = lines(diagnosed(EVIL, changes=changed), notes=(EVIL,))
    inside = False
    for line in shown:
        if line.startswith(fence):
            inside = not inside
            assert line.startswith("`" * 4)  # more than stand in the diff
        elif not inside:
            text = line.replace("<code>", "").replace("</code>", "").replace("**", "")
            assert not set("<>*[]|@\x1b`") & set(text), line
    assert not inside and not any(line.startswith("# t") for line in shown)


def test_markdown_tells_a_failure() -> None:
    rule = {"file": "a.c", "line": 1, "before": "why", "after": "because", "broken": [], "confirmed": True}
    steps = [{"file": "a.c", "line": 1, "text": "gave `n` the value 3", "reference": "4"}]
    chain = {"reference": {"text": "a passing case"}, "steps": steps}
    shown = lines(diagnosed(rules=[rule | {"confirmation": "all pass"}], chain=chain))
    assert shown[0] == "# <code>./p</code>: 2 of 3 cases fail"
    assert "**why** (<code>a.c:1</code>)" in shown and "1. <code>a.c:1</code> <code>why</code>" in shown
    at = shown.index("With this change (all pass):")
    assert shown[at + 2 : at + 7] == ["```diff", "@@ a.c:1 @@", "-why", "+because", "```"]
    assert shown[-1] == "1. <code>a.c:1</code> gave <code>n</code> the value 3 (there 4)"


def test_markdown_where_nothing_fails_or_was_found() -> None:
    assert markdown_text("./p", verdicts()[2:], [], []) == "# <code>./p</code>: all pass\n"
    assert "Not located: no time" in lines(Diagnosed(("one",), None, trouble="no time"))
