"""The terminal report: content and order, hostile text, colour, width, ties."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_sample import at, sample, sources
from rich.console import Console

from whence.findings import Compared, Findings, Statement, Symptom, plural, rank
from whence.report.heat import heats
from whence.report.terminal import make_console, print_findings, print_slice
from whence.report.text import clip, score_text, source_line, value_text, visible


def lookup(file: str, line: int) -> str | None:
    lines = sources().get(file, "").splitlines()
    return lines[line - 1] if 0 < line <= len(lines) else None


def printed(findings: Findings, show: Any = print_findings, source: Any = lookup, **options: Any) -> str:
    out = io.StringIO()
    show(findings, source, console=make_console(options.pop("width", 100), out), **options)
    return out.getvalue()


def test_parts_come_in_order() -> None:
    text = printed(sample())
    order = [
        "wrong output: line 1 of the output",
        "--> src/ferry.c:44:13",
        "most suspicious statements by locate, 10 of 27:",
        "src/deck.c:40  score 0.338",
        "| return -1;",
        "= the vehicle was refused here",
        "17 statements not shown, 3 of them tied with the last one here",
        "what was done:",
        "captured 2 modules, ran 212 cases (208 passed, 4 failed)",
        "next:",
        "whence slice ferry src/deck.c:28:rest  where `rest` came from",
    ]
    positions = [text.index(part) for part in order]
    assert positions == sorted(positions)


def test_reasons_are_lines_of_their_own_and_few() -> None:
    place = Statement("a.c", 1)
    reasons = ["strongest", "second", "third", "fourth", "fifth", "sixth"]
    entry = {place: {"text": "; ".join(reasons), "reasons": [{"technique": "t", "text": one} for one in reasons]}}
    shown = printed(Findings("t", "s", rank({place: 1.0}, entry))).splitlines()
    told = [line.strip(" =") for line in shown if "  = " in line]
    assert told == ["strongest", "second", "third", "fourth", "2 more reasons with --json"]
    one = {place: {"text": '`for (;; )` ran; "a; b" was printed'}}
    text = printed(Findings("t", "s", rank({place: 1.0}, one)))
    assert "  = `for (;; )` ran\n" in text and '  = "a; b" was printed\n' in text


@given(st.lists(st.integers(1, 400), min_size=1, max_size=8), st.integers(20, 140))
def test_evidence_takes_five_lines_at_most(lengths: list[int], width: int) -> None:
    place = Statement("a.c", 1)
    entry = {place: {"text": "; ".join(("word " * length)[:length].strip() or "x" for length in lengths)}}
    lines = printed(Findings("t", "s", rank({place: 1.0}, entry)), width=width).splitlines()
    first = next(number for number, line in enumerate(lines) if "  = " in line)
    assert 1 <= len(lines[first:]) <= 5


def test_the_lines_that_differ_stand_below_the_symptom() -> None:
    symptom = Symptom("wrong-output", "line 2 is wrong", compared=Compared(1, ("a", "\tx\x1b[2J"), ("a", "    y")))
    lines = printed(Findings("t", "s", symptom=symptom)).splitlines()
    assert lines[1:3] == ["  expected    2 |     y", r"  printed     2 |     x\x1b[2J"]


def test_places_are_links_on_a_terminal_only(tmp_path: Path) -> None:
    (tmp_path / "a b.c").write_text("x;\n")
    found = Findings("t", "s", rank({Statement("a b.c", 1): 1.0, Statement("gone.c", 1): 0.5}))
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, color_system="standard")
    print_findings(found, lookup, console=console, folder=tmp_path)
    assert f"{tmp_path.as_uri()}/a%20b.c#1\x1b\\" in out.getvalue()
    assert out.getvalue().count("\x1b]8;id=") == 1
    assert "\x1b" not in printed(found, folder=tmp_path)


def test_a_terminal_gets_no_line_that_is_too_long_and_a_pipe_whole_sentences() -> None:
    found = Findings("t", "s", summary=["word " * 40 + "end"])
    out = io.StringIO()
    print_findings(found, lookup, console=Console(file=out, force_terminal=True, width=60, color_system=None))
    assert max(map(len, out.getvalue().splitlines())) <= 60
    assert "word " * 40 + "end" in printed(found, width=60)


def test_warnings_stand_above_everything_and_remarks_are_counted_where_techniques_were_joined() -> None:
    findings = replace(sample(), warnings=["src/deck.c changed"], remarks=["first remark", "second remark"])
    text = printed(findings)
    assert text.startswith("warning: src/deck.c changed\n")
    assert text.index("ran 212 cases") < text.index("first remark") < text.index("second remark")
    brief = printed(replace(findings, brief=True))
    assert "first remark" not in brief and "2 more remarks with --json" in brief


def test_ties_are_ranges() -> None:
    lines = printed(sample()).splitlines()
    assert sum(line.startswith("  1-3  src/") for line in lines) == 3
    assert sum(line.startswith(" 4-13  src/") for line in lines) == 7


def test_the_symptom_is_underlined() -> None:
    text = printed(sample())
    source = next(line for line in text.splitlines() if line.startswith(" 44 | "))
    marks = text.splitlines()[text.splitlines().index(source) + 1]
    assert marks[len(" 44 | ") :].startswith("^" * 32 + " wrote byte 6")


def test_stack_and_standard_error_stand_below_the_symptom() -> None:
    lines = [line.strip() for line in printed(sample()).splitlines()]
    start = lines.index("process: ferry (the second of 2 that ran)")
    assert lines[start + 1 : start + 6] == [
        "stack: main at src/ferry.c:44",
        "begin",
        "standard error: ferry: lane 1 is full",
        "... 7 lines left out ...",
        r"ferry: \x1b[31mlate\x1b[0m",
    ]


def test_a_slice_shows_standard_error_too(capsys) -> None:
    print_slice(sample(), lambda *_: "text", console=make_console(100))
    assert "standard error: ferry: lane 1 is full" in capsys.readouterr().out


def test_a_column_is_found_behind_tabs_and_wide_bytes() -> None:
    line = '\t\tputs("é\x1b"); bad();'
    column = len(line[: line.index("bad")].encode()) + 1
    symptom = Symptom("crash", "t", Statement("a.c", 1), details={"column": column, "length": 3})
    shown = printed(Findings("t", "s", symptom=symptom), source=lambda *_: line).splitlines()
    source = next(number for number, text in enumerate(shown) if "bad()" in text)
    assert shown[source + 1].index("^^^") == shown[source].index("bad")


def test_sentences_are_broken_at_the_width_and_places_are_not() -> None:
    lines = printed(sample(), width=50).splitlines()
    entries = lines[lines.index(next(line for line in lines if "most suspicious" in line)) + 1 :]
    assert all(len(line) <= 50 for line in entries if line.startswith("       "))
    assert "         `lane` is -1" in entries
    assert "       = executed by 4 of 4 failing and 31 of 208" in entries
    deep = "very/long/path/" * 8 + "a.c"
    assert f"{deep}:7  score" in printed(Findings("t", "s", rank({Statement(deep, 7): 1.0})), width=50)


def test_limit_and_everything_shown() -> None:
    assert "1 of 27:" in printed(sample(), limit=1)
    everything = printed(sample(), limit=100)
    assert "all 27:" in everything
    assert "not shown" not in everything


def test_an_empty_ranking_says_so() -> None:
    assert "locate ranked no statement" in printed(Findings("locate", "ferry"))


def test_missing_source_is_named() -> None:
    assert "(source not available)" in printed(sample(), source=lambda *_: None)


def test_hostile_text_stays_text() -> None:
    evil = "\x1b]8;;http://evil\x07\x1b[2J[bold]x[/bold]\u202e\udc80\r"
    place = Statement(evil, 3)
    ranking = rank({place: 1.0}, {place: {"text": evil}})
    findings = Findings("t", "s", ranking, Symptom("crash", evil, place), [evil])
    findings.parts = {
        "slice": [
            {
                "file": evil,
                "line": 3,
                "depth": 0,
                "instances": 1,
                "values": [{"clock": 1, "name": evil, "value": evil, "role": "read"}],
                "edges": [{"to_file": evil, "to_line": 3, "kind": "data", "name": evil, "value": evil}],
            }
        ],
        "criterion": {"file": evil, "line": 3, "direction": "backward", "text": evil},
        "next": [{"command": evil, "why": evil}],
    }
    for show in (print_findings, print_slice):
        text = printed(findings, show, source=lambda *_: evil, width=400)
        assert not set("\x1b\x07\r\u202e\udc80") & set(text)
        assert "[bold]x[/bold]" in text
        assert r"\x1b]8;;http://evil\x07" in text


def test_no_colour_when_piped_and_none_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in printed(sample())
    for value, coloured in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", value)
        out = io.StringIO()
        console = Console(file=out, force_terminal=True, width=100, color_system="256", markup=False)
        print_findings(sample(), lookup, console=console)
        assert ("\x1b[1;31m" in out.getvalue()) is coloured


def test_a_narrow_encoding_is_served() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    findings = replace(sample(), summary=["Ärger — 漢字"])
    print_findings(findings, lookup, console=make_console(80, out))
    out.flush()
    assert rb"\xc4rger \u2014 \u6f22\u5b57" in raw.getvalue()


def test_slice_lists_lines_by_depth_with_values_and_edges() -> None:
    text = printed(sample(), print_slice)
    title = "backward slice from src/ferry.c:44 (the first wrong byte of the output): 18 lines in 2 files"
    assert title in text
    assert "   8  src/deck.c:28  2 times\n      | if (rest > most) {\n      = rest = 0, most = 0\n" in text
    assert "     <- data    src/deck.c:27  rest = 0\n" in text
    depths = [int(line.split()[0]) for line in text.splitlines() if line[:4].strip().isdigit()]
    assert len(depths) == 18
    assert depths == sorted(depths)


def test_a_long_slice_is_cut_with_a_note() -> None:
    text = printed(sample(), print_slice, limit=3)
    assert "15 lines of the slice farther away not shown" in text
    assert at("deck.c", "int most = 0;").line == 25
    assert "src/deck.c:25" not in text


def test_a_forward_slice_points_forward() -> None:
    findings = sample()
    findings.parts["criterion"]["direction"] = "forward"
    text = printed(findings, print_slice)
    assert "forward slice from" in text
    assert "     -> data    src/deck.c:27" in text


@given(st.text(st.characters()))
def test_visible_text_is_printable_and_printable_text_is_unchanged(text: str) -> None:
    assert visible(text).isprintable()
    assert visible(visible(text)) == visible(text)
    assert source_line(text).isprintable()


def test_small_texts() -> None:
    assert [plural(1, "case"), plural(2000, "case")] == ["1 case", "2,000 cases"]
    assert [score_text(s) for s in (0.8944, 1.0, -0.25, 20164.0)] == ["0.894", "1", "-0.25", "20,164"]
    assert clip("abcdef", 4) == "abcd... (2 more characters)"
    assert [value_text(v) for v in (None, True, -1, "'a'\n")] == ["unknown", "true", "-1", "'a'\\n"]


@given(st.dictionaries(st.integers(1, 50), st.floats(-10, 10), min_size=1))
def test_heat_is_a_scale_in_the_order_of_the_ranking(scores: dict[int, float]) -> None:
    ranking = rank({Statement("a.c", n): score for n, score in scores.items()})
    result = heats(ranking)
    assert all(0 <= heat <= 1 for heat in result)
    assert result == sorted(result, reverse=True)
    assert result[0] == 1


def suggested(line: int, **values: Any) -> dict[str, Any]:
    """A rule of the part ``rules`` as far as reports look at it."""
    rule = {"file": "a.c", "line": line, "rule": "`<=` instead of `<` in `i < n`", "before": "i < n", "after": "i <= n"}
    return rule | {"f2p": 2, "p2f": 0, "failing": 2, "checked": 3} | values


def test_suggested_changes() -> None:
    first = suggested(7, confirmed=True)
    others = [
        suggested(6, p2f=1),
        suggested(7, rule="other"),
        suggested(8, checked=0, alike=[10, 2000]),
        suggested(5, clean=False),
    ]
    rules = [first, suggested(9, after=None, f2p=1), *others]
    text = printed(Findings("rules", "p", rank({Statement("a.c", 7): 1.0}), parts={"rules": rules}))
    shown = [line.strip() for line in text[text.index("suggested changes") :].splitlines() if line.strip()]
    assert shown == [
        "suggested changes, the best one of a statement, all 3:",
        "a.c:7",
        "- i < n",
        "+ i <= n",
        "= repairs 2 of 2 failing cases, breaks none of 3 passing",
        "a.c:9",
        "`<=` instead of `<` in `i < n`",
        "= in altered runs: repairs 1 of 2 failing cases, breaks none of 3 passing",
        "a.c:8",
        "- i < n",
        "+ i <= n",
        "= in altered runs: repairs 2 of 2 failing cases",
        "= no passing case to check it on",
        "= no run that was looked at tells which number from 10 to 2,000 is right",
    ]


def test_only_the_first_suggested_changes_are_shown() -> None:
    text = printed(Findings("rules", "p", parts={"rules": [suggested(line) for line in range(1, 10)]}))
    assert "statement, 5 of 9:" in text and text.count("    + i <= n") == 5


def _chain(*lines: int, gap: int = 0, incomplete: str = "") -> str:
    """How a chain with steps on some lines is shown."""
    steps = [
        {
            "file": "src/deck.c",
            "line": line,
            "call": "",
            "text": f"step {n}",
            "reference": "",
            "leads_to": [],
            "event": n,
        }
        for n, line in enumerate(lines)
    ]
    findings = replace(
        sample(), technique="chain", parts={"chain": {"steps": steps, "gap": gap, "incomplete": incomplete}}
    )
    return printed(findings)


def test_many_steps_of_a_chain_at_one_place_are_told_by_the_first_and_the_last() -> None:
    text = _chain(12, 40, 40, 40, 40, 40, 12)
    assert [word for word in ("step 0", "step 1", "step 2", "step 4", "step 5", "step 6") if word in text] == [
        "step 0",
        "step 1",
        "step 5",
        "step 6",
    ]
    assert "3 more steps there" in text
    few = _chain(12, 40, 40, 40, 12)
    assert all(f"step {n}" in few for n in range(5)) and "more steps" not in few


def test_a_gap_of_a_chain_stands_where_it_is() -> None:
    lines = _chain(12, 40, 41, gap=1).splitlines()
    (gap,) = [n for n, line in enumerate(lines) if "was not looked at" in line]
    first, second = (next(n for n, line in enumerate(lines) if f"step {k}" in line) for k in (0, 1))
    assert first < gap < second
    assert "was not looked at" not in _chain(12, 40, 41)


def test_an_empty_chain_says_what_that_means() -> None:
    assert "even with the reference run's values" in _chain()
    assert "even with" not in _chain(incomplete="its time is over")
