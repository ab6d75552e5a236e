"""Slices of runs that are read in windows, against those of the whole trace."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from long_runs import MIXED, ROUNDS, in_windows
from snippets import Variant, snippet

import whence
from whence.dependence.criteria import parse_criterion, start_at
from whence.errors import UsageError
from whence.findings import Findings, Statement
from whence.investigation import investigation, reading
from whence.subject import recorder
from whence.subject.trace_reader import TraceReader
from whence.techniques.slicing import long_slice_findings, slice_findings
from whence.trace.long_trace import LongTrace

LINES = MIXED.splitlines()
NEVER = float("inf")


def at(text: str, rest: str = "") -> str:
    """The criterion of the line that has a text."""
    (line,) = [number for number, found in enumerate(LINES, 1) if text in found]
    return f"snippet.c:{line}{rest}"


@cache
def readers() -> tuple[TraceReader, TraceReader]:
    """A run decoded as a whole, and read in windows."""
    made = snippet(MIXED)
    _, path = made.record(ROUNDS, "exit", variant=Variant.COMPACT)
    return TraceReader(made.subject, made.open(path)), TraceReader(made.subject, in_windows(made, path))


def windows() -> LongTrace:
    trace = readers()[1].trace
    assert isinstance(trace, LongTrace) and trace.windows > 4
    return trace


CRITERIA = (
    *(at("int kept ="), at("total = (total"), at("int here ="), at("table[i] = (", "@1"), at("table[i] = (", "@20000")),
    *(
        at("int here =", "@1500"),
        at("int here =", ":here"),
        at("int here =", ":here@900"),
        at("total = (total", ":total"),
    ),
    *(at("total = (total", ":total@31"), at("jumped += ", "@2"), at("jumped += ", ":back_with@3"), at('printf("%d')),
)


@pytest.mark.parametrize("text", CRITERIA)
def test_a_slice_starts_where_that_of_the_whole_trace_does(text: str) -> None:
    whole, long = (start_at(reader, parse_criterion(text)) for reader in readers())
    assert (long.references, long.event) == (whole.references, whole.event)


@pytest.mark.parametrize("text, words", [
    (at("int kept =", "@2"), "was reached once, not 2"),
    (at("int here =", "@100000"), "not 100000"),
    (at("int here =", ":total"), "`total` is not used on"),
    (at("int here =", ":total@3"), "`total` is not used on"),
    (at("int *nowhere"), "the run never reached"),
    (at("int *nowhere", "@4"), "the run never reached"),
])  # fmt: skip
def test_no_such_start(text: str, words: str) -> None:
    for reader in readers():
        with pytest.raises(UsageError, match=words):
            start_at(reader, parse_criterion(text))


@pytest.mark.parametrize("control", [True, False])
@pytest.mark.parametrize("text", [at('printf("%d'), at("total = (total", "@40"), at("int kept =")])
def test_lines_are_those_of_the_whole_slice(text: str, control: bool) -> None:
    whole, long = readers()
    criterion = parse_criterion(text)
    expected = slice_findings(whole, "s", start_at(whole, criterion), control=control)[0]
    found = long_slice_findings(windows(), long, "s", start_at(long, criterion), control)
    assert found.ranking == expected.ranking
    assert found.parts["criterion"]["line"] == expected.parts["criterion"]["line"]
    for row, other in zip(found.parts["slice"], expected.parts["slice"], strict=True):
        assert {**row, "edges": []} == {**other, "edges": []}  # values with their clocks, too
        assert ends(row) >= ends(other)  # more, where what was near in one window is not in the end
        assert {line for line, _ in ends(row)} <= {one["line"] for one in expected.parts["slice"]}
    assert f"in {windows().windows} windows" in found.summary[0]


def ends(row: dict[str, Any]) -> set[tuple[int, str]]:
    """Where the edges of a line lead to."""
    return {(edge["to_line"], edge["kind"]) for edge in row["edges"]}


def test_values_and_edges_of_a_line_come_from_several_windows() -> None:
    long = readers()[1]
    start = start_at(long, parse_criterion(at('printf("%d')))
    part = long_slice_findings(windows(), long, "s", start).parts["slice"]
    rows = {row["line"]: row for row in part}
    call, rounds, loop = (int(at(text).split(":")[1]) for text in ("= sum_of(", "int rounds = ", "k < rounds"))
    assert {value["role"] for value in rows[call]["values"]} == {"argument", "returned", "written"}
    (edge,) = [edge for edge in rows[call]["edges"] if edge["to_line"] == rounds]
    assert (edge["kind"], edge["name"], edge["value"]) == ("data", "start", "5")  # given at the start, in the first one
    assert ("data", "rounds") in {(edge["kind"], edge["name"]) for edge in rows[loop]["edges"]}


def test_what_there_was_no_time_for_is_said() -> None:
    long = readers()[1]
    start = start_at(long, parse_criterion(at('printf("%d')))
    every, some = (long_slice_findings(windows(), long, "s", start, True, limit) for limit in (NEVER, 0.0))
    assert 0 < len(some.ranking) < len(every.ranking)
    assert "was not looked at for lack of time" in some.summary[-1]


def test_what_was_found_before_an_interrupt_is_shown() -> None:
    long = readers()[1]
    start = start_at(long, parse_criterion(at('printf("%d')))
    told: list[str] = []

    def busy(text: str) -> None:
        told.append(text)
        if len(told) == 3:
            raise KeyboardInterrupt

    every, some = (long_slice_findings(windows(), long, "s", start, busy=watch) for watch in (lambda _: None, busy))
    assert told[0] == f"slicing window 1 of at most {windows().windows}"
    assert 0 < len(some.ranking) < len(every.ranking) and set(statements(some)) < set(statements(every))
    assert some.summary[-1].endswith("was not looked at since the command was interrupted")


def statements(found: Findings) -> list[Statement]:
    return [entry.statement for entry in found.ranking]


def test_whence_slice_reads_a_run_in_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where recordings of one MiB can be analysed as a whole."""
    (tmp_path / "mixed.c").write_text(MIXED)
    monkeypatch.setattr(recorder, "affordable", lambda: 1 << 20)
    monkeypatch.setattr(recorder, "LongTrace", partial(LongTrace, window=1))
    with whence.open_sources([tmp_path / "mixed.c"], fails=[(f"{ROUNDS} exit", "1 2\n")]) as project:
        found = project.find(whence.Slicing(), budget=300)
        assert found.symptom is not None and found.symptom.statement is not None
        assert any("events backward, in " in line and "windows" in line for line in found.summary)
        assert {row["line"] for row in found.parts["slice"]} >= {
            int(at(text).split(":")[1]) for text in ("int kept =", "int rounds =")
        }


def test_without_the_time_its_end_is_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mixed.c").write_text(MIXED)
    monkeypatch.setattr(recorder, "affordable", lambda: 1 << 20)
    monkeypatch.setattr(recorder, "LongTrace", partial(LongTrace, window=1))
    monkeypatch.setattr(reading, "AGAIN", 1e6)
    monkeypatch.setattr(investigation, "WINDOW", 1 << 20)
    with whence.open_sources([tmp_path / "mixed.c"], fails=[(f"{ROUNDS} exit", "1 2\n")]) as project:
        found = project.find(whence.Slicing(), budget=60)
        assert any(
            "to read the whole run, and slice it, there is not enough time: --budget" in line for line in found.summary
        )
        assert any("of which only the last" in line for line in found.summary)
        assert found.parts["slice"]
