"""The HTML page's text: bounds, folding, highlighting, escaping. Behaviour is tested in a browser."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_sample import sample, sources

from whence.errors import UsageError
from whence.findings import Findings, Statement, Symptom, rank
from whence.report import page as bounds
from whence.report.excerpt import excerpt
from whence.report.highlight import highlight
from whence.report.html import render_html, write_html
from whence.report.page import build_page
from whence.report.text import source_line

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


def evil_findings() -> tuple[Findings, dict[str, str]]:
    """Findings in which every text of the subject is hostile."""
    place = Statement(EVIL, 1)
    entry = {"text": EVIL, EVIL: EVIL}
    call = {"function": EVIL, "file": EVIL, "line": 1}
    details = {
        "process": EVIL,
        "stderr": {"first": [EVIL], "left_out": 0, "last": []},
        "stack": {"first": [call], "left_out": 0, "last": []},
    }
    symptom = Symptom("crash", EVIL, place, details=details)
    findings = Findings("t", EVIL, rank({place: 1.0}, {place: entry}), symptom, [EVIL])
    value = {"name": EVIL, "value": EVIL, "clock": 1}
    at = {"file": EVIL, "line": 1}
    findings.parts = {
        "slice": [
            at
            | {"depth": 0, "instances": 1, "values": [value | {"role": "read"}]}
            | {"edges": [{"to_file": EVIL, "to_line": 1, "kind": "data", "name": EVIL, "value": EVIL}]}
        ],
        "values": {f"{EVIL}:1": {"failing": [value], "passing": [{"name": EVIL, "values": [EVIL], "cases": 1}]}},
        "formulas": [at | {"formulas": {EVIL: {"score": 1.0, "best": 1, "average": 1.0, "worst": 1}}}],
        "branches": [at | {"side": EVIL, "score": 1.0, "rank": 1, "rank_worst": 1, "text": EVIL}],
        "rules": [at | {"rule": EVIL, "before": EVIL, "after": EVIL, "f2p": 1, "p2f": 0, "failing": 1, "checked": 1}],
    }
    return findings, {EVIL: f"{EVIL}\n/* {EVIL} */\n", "unused.c": EVIL}


def test_the_page_is_self_contained() -> None:
    text = render_html(sample(), sources())
    page = Elements(text)
    assert not {"src", "srcset", "action", "style", "onclick"} & page.attributes
    assert page.tags.count("script") == 2
    assert re.findall(r'href="([^"]*)"', text) == ["data:,"]
    assert "http" not in text.replace("http-equiv", "")


def test_every_line_of_the_sample_is_there_with_its_marks() -> None:
    text = render_html(sample(), sources())
    assert text.count('<div class="l ') == sum(source.count("\n") for source in sources().values())
    assert '<div class="l h9 sl" id="l0-40"><i>1-3</i><b>40</b>' in text
    assert '<div class="l h9 sl sy" id="l1-44">' in text


def test_stack_and_standard_error_are_there() -> None:
    page = build_page(sample(), sources())
    assert page.stack == [("main at src/ferry.c:44", "src/ferry.c:44"), ("begin", "")]
    assert page.errors == ["ferry: lane 1 is full", "... 7 lines left out ...", r"ferry: \x1b[31mlate\x1b[0m"]
    text = render_html(sample(), sources())
    assert 'data-place="src/ferry.c:44"' in text and "ferry: lane 1 is full" in text


def test_hostile_text_stays_text() -> None:
    text = render_html(*evil_findings())
    page, plain = Elements(text), Elements(render_html(sample(), sources()))
    assert "img" not in page.tags
    assert page.tags.count("script") == 2
    assert page.attributes <= plain.attributes
    assert "49" not in text.replace("{{ 7*7 }}", "")
    assert not set("\x1b\u202e\udc80") & set(text)
    assert page.data["entries"][0]["file"].startswith("</script><img src=x")


def test_data_cannot_end_its_element() -> None:
    text = render_html(*evil_findings())
    inside = text[text.index('id="data">') + len('id="data">') :]
    assert not set("<>&") & set(inside[: inside.index("</script>\n<script>")])


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
    assert len(page.data["slice"]) == bounds.SLICE_LINES
    assert sum(len(file.lines) for file in page.files) <= bounds.ALL_LINES
    assert all(len(file.lines) <= bounds.FILE_LINES for file in page.files)
    first = page.data["slice"]["f1.c:1"]
    variables = first["values"]["variables"]
    assert (len(variables), first["values"]["more"]) == (bounds.NAMES, 60 - bounds.NAMES)
    assert sum(len(v["values"]) for v in variables) == bounds.VALUES
    assert all(v["more"] > 0 for v in variables)
    assert (len(first["edges"]), first["more"]) == (bounds.EDGES, 499 - bounds.EDGES)
    assert f"{len(scores) - 200:,} ranked statements beyond the first 200" in page.left_out
    assert "1,999 slice lines beyond the first 1,000" in page.left_out
    assert len(render_html(findings, text)) < 12_000_000


def test_ranks_beyond_the_list_are_known_for_shown_lines() -> None:
    findings = Findings("t", "s", rank({Statement("a.c", n): -float(n) for n in range(1, 301)}))
    page = build_page(findings, {"a.c": "x;\n" * 300})
    assert page.data["ranks"]["a.c:250"] == ["250", "-250"]
    assert "a.c:200" not in page.data["ranks"]


def test_missing_sources_are_named() -> None:
    page = build_page(sample(), {"src/deck.c": sources()["src/deck.c"]})
    assert [file.name for file in page.files] == ["src/deck.c"]
    assert "src/ferry.c: its source is not available" in page.left_out


def test_findings_without_anything_make_a_page() -> None:
    assert "Whence" in render_html(Findings("t", "s"), {})


def test_a_form_feed_ends_no_line() -> None:
    page = build_page(Findings("t", "s", rank({Statement("a.c", 2): 1.0})), {"a.c": "int a;\x0c\nint b;\r\n"})
    assert page.files[0].lines == {1: r"int a;\x0c", 2: "int b;"}


@given(
    lines=st.integers(0, 400),
    interesting=st.sets(st.integers(-5, 410), max_size=30),
    whole=st.integers(0, 60),
    limit=st.integers(0, 200),
)
def test_excerpts_cover_the_file_and_show_what_matters(
    lines: int, interesting: set[int], whole: int, limit: int
) -> None:
    stretches = excerpt(lines, interesting, whole=whole, limit=limit)
    numbers = [n for s in stretches for n in range(s.first, s.last + 1)]
    assert numbers == list(range(1, lines + 1))
    assert all(a.shown != b.shown for a, b in pairwise(stretches))
    shown = {n for s in stretches if s.shown for n in range(s.first, s.last + 1)}
    wanted = {n for n in interesting if 1 <= n <= lines}
    assert wanted <= shown
    assert lines <= whole or len(shown) <= max(limit, 2 * len(wanted))


@given(st.lists(st.text(st.characters(), max_size=30) | st.sampled_from(['"a', "/*", "*/", "#if 0", "'\\"])))
def test_highlighting_changes_no_text(lines: list[str]) -> None:
    clean = [source_line(line) for line in lines]
    shown = highlight(clean)
    assert [html.unescape(re.sub(r'</?span(?: class="[a-z]")?>', "", line)) for line in shown] == clean


def test_highlighting_knows_c() -> None:
    line = highlight(['if (n > 10) return "x"; // why'])[0]
    for part in ('<span class="k">if</span>', '<span class="n">10</span>', '<span class="c">// why</span>'):
        assert part in line


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
    assert build_page(found, sources()).since[0] == "1 of 4 changes since <u>v1 makes `one` fail:"
    text = render_html(found, sources())
    assert r"    - \x1b[1m&lt;i&gt;" in text and "&lt;b&gt;.c:3" in text and "the case passes" in text
    assert set(Elements(text).tags) == set(Elements(render_html(sample(), sources())).tags)
