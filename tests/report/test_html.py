"""The HTML page's text: bounds, folding, highlighting, escaping. Behaviour is tested in a browser."""

from __future__ import annotations

import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from page_parts import unpacked
from report_sample import sample, sources

from whence.errors import UsageError
from whence.findings import Compared, Findings, Statement, Symptom, rank
from whence.report import page as bounds
from whence.report.html import render_html, write_html
from whence.report.page import Sources

EVIL = '</script><img src=x onerror="window.pwned=1">&lt;\'`\x1b[2J\u202e\udc80{{ 7*7 }}'


class Elements(HTMLParser):
    """Collects the elements and the attributes of a page, and its data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.data: Any = None
        self._in_data = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self._in_data = ("id", "data") in attrs

    def handle_data(self, data: str) -> None:
        if self._in_data:
            self.data = json.loads(data)
            self._in_data = False


def build_page(findings: Findings, texts: dict[str, str]) -> bounds.Page:
    """What a page holds of findings."""
    return bounds.build_page(findings, Sources(texts))


def evil_findings(evil: str = EVIL) -> tuple[Findings, dict[str, str]]:
    """Findings with all parts, in which every text of the subject is hostile, or this one."""
    place = Statement(evil, 1)
    entry = {"text": evil, evil: evil}
    call = {"function": evil, "file": evil, "line": 1}
    details = {
        "process": evil,
        "stderr": {"first": [evil], "left_out": 0, "last": []},
        "stack": {"first": [call], "left_out": 0, "last": []},
    }
    symptom = Symptom("crash", evil, place, details=details, compared=Compared(1, (evil,), (f"{evil} ",)))
    findings = Findings("t", evil, rank({place: 1.0}, {place: entry}), symptom, [evil])
    value = {"name": evil, "value": evil, "clock": 1}
    at = {"file": evil, "line": 1}
    step = at | {"text": evil, "reference": evil, "leads_to": [], "call": evil}
    node = at | {"number": 0, "parent": None, "level": 0, "kind": "symptom", "instances": 1, "contradiction": evil}
    node |= {"goal": evil, "cause": [at | {"deed": evil}], "notes": [evil]}
    thing = {"name": evil, "text": evil, "base": "0x10", "size": 4}
    access = {"writes": True, "expression": evil, "bytes": 4, "address": "0x14"}
    error = at | {"kind": evil, "text": [evil], "object": thing, "access": access, "hit": thing | {"base": "0x14"}}
    racing = at | {"thread": at | {"number": 0, "function": evil}, "writes": True, "expression": evil, "value": evil}
    race = {"name": evil, "harm": {"verdict": evil}, "text": [evil], "missing": evil}
    race["accesses"] = [racing | {"held": [{"name": evil}]}]
    findings.parts = {
        "slice": [
            at
            | {"depth": 0, "instances": 1, "values": [value | {"role": "read"}]}
            | {"edges": [{"to_file": evil, "to_line": 1, "kind": "data", "name": evil, "value": evil}]}
        ],
        "values": {f"{evil}:1": {"failing": [value], "passing": [{"name": evil, "values": [evil], "cases": 1}]}},
        "formulas": [at | {"formulas": {evil: {"score": 1.0, "best": 1, "average": 1.0, "worst": 1}}}],
        "branches": [at | {"side": evil, "score": 1.0, "rank": 1, "rank_worst": 1, "text": evil}],
        "rules": [at | {"rule": evil, "before": evil, "after": evil, "f2p": 1, "p2f": 0, "failing": 1, "checked": 1}],
        "chain": {"reference": {"text": evil}, "gap": 0, "steps": [step]},
        "tree": {"nodes": [node]},
        "edits": [at | {"descriptions": [evil], "passes": True, "checked": evil, "diff": f"@@ -1 +1 @@\n-{evil}\n"}],
        "memory": [{"errors": [error]}],
        "races": [{"races": [race]}],
    }
    return findings, {evil: f"{evil}\n/* {evil} */\n", "unused.c": evil}


def test_the_page_is_self_contained() -> None:
    text = render_html(sample(), sources())
    page = Elements(text)
    assert not {"src", "srcset", "action", "style", "onclick"} & page.attributes
    assert page.tags.count("script") == 2
    assert all(re.fullmatch(r"data:,|#\w+", target) for target in re.findall(r'href="([^"]*)"', text))
    assert "http" not in text.replace("http-equiv", "")


def test_every_line_of_the_sample_is_there_with_its_ranks() -> None:
    for file in build_page(sample(), sources()).data["files"]:
        content = unpacked(file["content"])
        assert content["text"] + "\n" == sources()[file["name"]].expandtabs(4)
        if file["name"] == "src/deck.c":
            assert [40, "1-3", 9] in content["ranks"]
            assert ["deck_place", 36, 44] in content["functions"]


def test_what_failed_stands_first_with_stack_and_standard_error() -> None:
    text = render_html(sample(), sources())
    titles = re.findall(r'<h2 id="(\w+)-title">', text)
    assert titles == ["failed", "suspect", "ranking", "done", "help"]
    part = text[text.index('id="failed"') : text.index('id="suspect"')]
    assert 'data-place="src/ferry.c:44">main at src/ferry.c:44' in part and "<li>begin</li>" in part
    assert "ferry: lane 1 is full\n... 7 lines left out ...\nferry: \\x1b[31mlate\\x1b[0m" in part


def test_what_was_expected_and_what_was_printed_is_a_diff() -> None:
    found = sample()
    assert found.symptom is not None
    found.symptom.compared = Compared(4, ("a", "bus   stays", "c"), ("a", "bus   lane 1", "c"))
    shown = re.sub(r"<[^>]+>", "", render_html(found, sources())).split("\n")
    assert shown[shown.index("4 a") :][:4] == ["4 a", "5-bus   lane 1", "5+bus   stays", "6 c"]


def test_the_first_suspect_has_its_change_in_its_surroundings() -> None:
    found = sample()
    rule = {"file": "src/deck.c", "line": 40, "rule": "`-2` instead of `-1`", "before": "return -1;"}
    found.parts["rules"] = [rule | {"after": "return -2;", "f2p": 4, "p2f": 0, "failing": 4, "checked": 208}]
    text = render_html(found, sources())
    card = text[text.index('id="suspect"') : text.index('id="ranking"')]
    rows = re.findall(r'<tr class="(\w*)">.*?class="text">(.*?)</td>', card)
    assert [kind for kind, _ in rows] == ["", "", "minus", "plus", "", ""]
    assert [row for kind, row in rows if kind] == [
        "        return -<mark>1</mark>;",
        "        return -<mark>2</mark>;",
    ]
    assert "one of 3 lines that tie for the first place" in card and "in <code>deck_place()</code>" in card


def test_hostile_text_stays_text() -> None:
    text = render_html(*evil_findings())
    page, plain = Elements(text), Elements(render_html(*evil_findings("plain")))
    assert page.tags.count("script") == 2
    assert set(page.tags) <= {*plain.tags, "code"}  # for what stands in back quotes
    assert page.attributes == plain.attributes
    assert "49" not in text.replace("{{ 7*7 }}", "")
    assert not set("\x1b\u202e\udc80") & set(text)
    assert page.data["entries"][0]["file"].startswith("</script><img src=x")


def test_data_cannot_end_its_element() -> None:
    text = render_html(*evil_findings())
    inside = text[text.index('id="data">') + len('id="data">') :]
    assert not set("<>&") & set(inside[: inside.index("</script>\n<script")])


def test_a_report_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write the report .*: No such file"):
        write_html(sample(), sources(), tmp_path / "none" / "page.html")


def test_everything_is_bounded_and_what_is_left_out_is_said() -> None:
    lines = 10_000
    scores = {Statement(f"f{n % 40}.c", 1 + n * 7 % lines): float(n) for n in range(50_000)}
    findings = Findings("t", "s", rank(scores))
    values = [{"clock": n, "name": f"v{n % 60}", "value": f"{n}" + "x" * 5000} for n in range(5000)]
    edge = {"to_file": "f1.c", "kind": "data", "name": "x", "value": 1}
    edges = [edge | {"to_line": n} for n in range(1, 500)]
    findings.parts["slice"] = [
        {"file": "f1.c", "line": n, "depth": n, "instances": 1, "values": values[: 5000 // n], "edges": edges}
        for n in range(1, 3000)
    ]
    text = {f"f{n}.c": "int x; /* a line */\n" * lines for n in range(40)}
    page = build_page(findings, text)
    assert len(page.data["entries"]) == bounds.ENTRIES
    assert len(page.details["slice"]) == bounds.SLICE_LINES
    assert sum(len(file["content"]) for file in page.data["files"]) <= bounds.PACKED
    first = page.details["slice"]["f1.c:1"]
    variables = first["values"]["variables"]
    assert (len(variables), first["values"]["more"]) == (bounds.NAMES, 60 - bounds.NAMES)
    assert sum(len(v["values"]) for v in variables) == bounds.VALUES
    assert all(v["more"] > 0 for v in variables)
    assert variables[0]["values"][-1][1] == 4980  # the last ones, which are nearest to the failure
    assert (len(first["edges"]), first["more"]) == (bounds.EDGES, 499 - bounds.EDGES)
    assert f"{len(scores) - 200:,} ranked statements beyond the first 200" in page.left_out
    assert "1,999 slice lines beyond the first 1,000" in page.left_out
    assert len(render_html(findings, text)) < 5_000_000


def test_a_source_that_has_no_room_is_named() -> None:
    noise = random.Random(1).randbytes(bounds.PACKED).hex()
    lines = "\n".join(noise[at : at + 100] for at in range(0, len(noise), 100))
    page = build_page(
        Findings("t", "s", rank({Statement(f, 1): 1.0 for f in ("a.c", "b.c")})), {"a.c": lines, "b.c": "x;\n"}
    )
    assert [file["name"] for file in page.data["files"]] == ["b.c"]
    assert "a.c: its source has no room in this page" in page.left_out


def test_ranks_beyond_the_list_are_known() -> None:
    findings = Findings("t", "s", rank({Statement("a.c", n): -float(n) for n in range(1, 301)}))
    page = build_page(findings, {"a.c": "x;\n" * 300})
    assert [250, "250", 0] in unpacked(page.data["files"][0]["content"])["ranks"]


def test_missing_sources_are_named() -> None:
    page = build_page(sample(), {"src/deck.c": sources()["src/deck.c"]})
    assert [file["name"] for file in page.data["files"]] == ["src/deck.c"]
    assert "src/ferry.c: its source is not available" in page.left_out


def test_findings_without_anything_make_a_page() -> None:
    assert "Whence" in render_html(Findings("t", "s"), {})


def test_a_form_feed_ends_no_line() -> None:
    page = build_page(Findings("t", "s", rank({Statement("a.c", 2): 1.0})), {"a.c": "int a;\x0c\nint b;\r\n"})
    assert unpacked(page.data["files"][0]["content"])["text"] == "int a;\\x0c\nint b;"


def test_reasons_are_told_one_by_one_warnings_first_and_what_was_done_last() -> None:
    findings = sample()
    reasons = [{"technique": "rules", "text": "`<=` instead of `<`"}, {"technique": "locate", "text": "was 3"}]
    findings.ranking[0].evidence = {"reasons": reasons, "text": "`<=` instead of `<`; was 3"}
    findings.warnings, findings.remarks = ["src/deck.c was changed"], ["a remark"]
    text = render_html(findings, sources())
    assert text.index("src/deck.c was changed") < text.index('class="symptom"') < text.index("a remark")
    entry = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', text, re.S)[1])["entries"][0]
    assert entry["reasons"] == ["`<=` instead of `<`", "was 3"]


def test_changes_since_a_version_stand_before_what_was_done() -> None:
    found = sample()
    needed = [{"file": "<b>.c", "line": 3, "before": "\x1b[1m<i>\n", "after": "now\n"}]
    found.parts["changes"] = {"since": "<u>v1", "case": "one", "changes": 4, "needed": needed, "undone": True}
    found.parts["changes"] |= {"incomplete": False}
    text = render_html(found, sources())
    assert "1 of 4 changes since &lt;u&gt;v1 makes <code>one</code> fail" in text
    assert r"    - \x1b[1m&lt;i&gt;" in text and "&lt;b&gt;.c:3" in text and "the case passes" in text
    assert set(Elements(text).tags) == set(Elements(render_html(sample(), sources())).tags)


def test_of_many_steps_at_one_place_the_first_and_the_last_stand_open() -> None:
    found = sample()
    lines = [40, *[44] * 5, 40, 40]
    step = {"file": "src/ferry.c", "text": "gave `n` the value 3", "reference": "2", "call": "", "leads_to": []}
    steps = [step | {"line": line} for line in lines]
    steps[0]["leads_to"] = [1, 6]
    found.parts["chain"] = {"reference": {"text": "itself"}, "gap": 0, "steps": steps}
    text = render_html(found, sources())
    folded = text[
        text.index("<details>", text.index('id="chain"')) : text.index("</details>", text.index('id="chain"'))
    ]
    assert "3 more steps there" in folded and re.findall(r'data-number="(\d+)"', folded) == ["3", "4", "5"]
    assert re.findall(r'class="step" value="(\d+)"', text) == [str(n) for n in range(1, len(lines) + 1)]
    assert "needed for 2, 7" in text


def access(event: int, thread: int, text: str, line: int = 40) -> dict[str, Any]:
    return {"event": event, "thread": thread, "file": "src/ferry.c", "line": line, "text": text, "value": None}


def test_a_failing_schedule_has_its_points_and_its_accesses_by_thread_in_the_order_of_the_run() -> None:
    found = sample()
    took, asked, left = access(3, 2, "lock(<b>)"), access(5, 1, "lock(<b>)"), access(4, 1, "count")
    waits = {"at": asked, "holder": 2, "taken": took}
    failing = {"failure": "deadlock: all wait", "kind": "deadlock", "points": [{"text": "before `count`"}]}
    failing |= {"waiting": [waits], "deciding": [{"access": left, "behind": took}, {"access": asked, "behind": None}]}
    found.parts["schedules"] = [{"case": "one", "found": None}, {"case": "<i>", "found": failing}]
    text = render_html(found, sources())
    told = text[text.index('id="schedules"') : text.index("</section>", text.index('id="schedules"'))]
    rows = [re.findall(r"<td>(.*?)</td>", row, re.S) for row in told.split("<tr>")[2:]]
    shown = [[re.sub(r"<[^>]*>", " ", cell).split()[:-1] for cell in row] for row in rows]
    lock = ["lock(&lt;b&gt;)"]
    assert shown == [[[], lock], [["count"], []], [["waits", "for", "thread", "2", "in", *lock], []]]
    assert "before <code>count</code>" in told and "in the case &lt;i&gt;" in told


def test_executions_of_suppression_are_steps() -> None:
    found = sample()
    definition = {"text": "`p` got <b>", "file": "src/ferry.c", "line": 44}
    crash = {"outcome": "crash", "text": "killed", "file": "src/ferry.c", "line": 40, "space": "global"}
    passed = {"outcome": "pass", "text": "no failure", "file": None, "line": None, "space": "", "suppressed": []}
    found.parts["suppression"] = {"executions": [crash | {"suppressed": [definition] * 7}, passed]}
    text = render_html(found, sources())
    first, last = re.findall(r'<li class="card">(.*?)</li>', text, re.S)
    assert "killed" in first and "global variables in another order" in first and 'class="kind">fails' in first
    assert first.count("<code>p</code> got &lt;b&gt;") == 5 and "2 suppressed definitions beyond the first 5" in text
    assert "no failure" in last and "fails" not in last


def test_a_back_quote_without_another_one_stays() -> None:
    found = sample()
    found.summary = ["assertion `get() == 1' failed", "in `main`"]
    text = render_html(found, sources())
    assert "<li>assertion `get() == 1&#39; failed</li>" in text and "<li>in <code>main</code></li>" in text
