from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_readers import reader_of

from whence.dependence import slices
from whence.dependence.criteria import Criterion, parse_criterion, start_at
from whence.dependence.slices import by_line, compute
from whence.errors import UsageError
from whence.findings import Statement
from whence.techniques import slicing
from whence.techniques.slicing import line_values, slice_findings

PROGRAM = """\
#include <stdio.h>
static int total;
static int add(int value)
{
    total += value;
    return total;
}
int main(int argc, char **argv)
{
    int unused = argc, last = 0;
    for (int i = 0; i < 60; i++) {
        last = add(i);
        unused++;
    }
    printf("%d\\n", last);
    return 0;
}
"""


@pytest.fixture(scope="module")
def reader():
    return reader_of(PROGRAM)


names = st.text("abz_./-0", min_size=1).filter(lambda text: not text.endswith(":"))


@given(names, st.integers(1, 10**6), st.text("ab_>.[]0-", max_size=5), st.integers(0, 99))
def test_criteria_are_read_back(file, line, variable, occurrence):
    text = f"{file}:{line}" + (f":{variable}" if variable else "") + (f"@{occurrence}" if occurrence else "")
    assert parse_criterion(text) == Criterion(Statement(file, line), variable, occurrence or -1)


@pytest.mark.parametrize("text", ["", "a.c", "a.c:", ":3", "a.c:x", "a.c:0", "a.c:3@0", "a.c:3@x"])
def test_wrong_criteria(text):
    with pytest.raises(UsageError):
        parse_criterion(text)


def test_start_at_an_execution(reader):
    first, last = (start_at(reader, parse_criterion(text)) for text in ("p.c:5@1", "p.c:5"))
    assert (first.text, last.text) == ("time 1 of 60", "the last of 60 times")
    assert first.event < last.event and len(first.references) == len(last.references)


def test_start_at_a_variable_prefers_its_write(reader):
    start = start_at(reader, parse_criterion("p.c:5:total@2"))
    assert len(start.references) == 1
    assert reader.action(start.event) == "gave `total` the value 1"


def test_start_by_the_end_of_a_path(reader):
    with pytest.raises(UsageError, match=r"no statement of 'x/p.c'"):
        start_at(reader, parse_criterion("x/p.c:5"))


def brute_force(reader, found):
    """Lines of the slice with least depth, events and most instances of a site, by looking at each event."""
    lines = {}
    for event in found.events.tolist():
        statement = reader.statement(event)
        if statement is not None:
            depth, events = int(found.event_depth[event]) - 1, lines.setdefault(statement, [])
            events.append((depth, event, reader.trace.site(event)))
    return lines


def test_by_line_is_what_each_event_says(reader):
    start = start_at(reader, parse_criterion("p.c:15:last"))
    found = compute(reader.trace, start.references)
    lines, expected = by_line(reader, found), brute_force(reader, found)
    assert set(lines.statements) == set(expected)
    assert lines.depths.tolist() == sorted(lines.depths.tolist())
    rows = zip(lines.statements, lines.depths.tolist(), lines.instances.tolist(), lines.events, strict=True)
    for statement, depth, instances, events in rows:
        every = expected[statement]
        assert depth == min(d for d, _, _ in every)
        sites = [site for _, _, site in every]
        assert instances == max(sites.count(site) for site in set(sites))
        depths = sorted(d for d, _, _ in every)[: slices.EVENTS_A_LINE]
        assert sorted((found.event_depth[events] - 1).tolist()) == depths
        assert np.all(np.diff(events) > 0)


def test_what_does_not_matter_is_left_out(reader):
    findings, _ = slice_findings(reader, "p", start_at(reader, parse_criterion("p.c:15:last")))
    lines = {at["line"] for at in findings.parts["slice"]}
    assert {5, 6, 11, 12} <= lines and 13 not in lines
    assert findings.ranking[0].statement.line == 15


def test_values_are_the_last_ones_without_repetition(reader):
    values = line_values(reader, reader.events_of(Statement("p.c", 5)).tolist())
    assert len(values) == slicing.VALUES_A_LINE
    assert values[-1] | {"clock": 0} == {"clock": 0, "name": "total", "value": "1770", "role": "written"}
    clocks = [value["clock"] for value in values]
    assert clocks == sorted(clocks)


def edges_of(findings):
    lines = findings.parts["slice"]
    return {(at["line"], e["to_line"], e["kind"], e["name"], e["value"]) for at in lines for e in at["edges"]}


def test_edges_name_what_was_passed(reader):
    findings, _ = slice_findings(reader, "p", start_at(reader, parse_criterion("p.c:15:last")))
    edges = edges_of(findings)
    assert (12, 6, "data", "return value", "1770") in edges
    assert (5, 12, "call", "add()", None) in edges
    assert (12, 11, "control", "i < 60", "true") in edges


def test_data_alone(reader):
    findings, _ = slice_findings(reader, "p", start_at(reader, parse_criterion("p.c:15:last")), control=False)
    assert {kind for _, _, kind, _, _ in edges_of(findings)} == {"data"}


def test_forward_edges_lead_on(reader):
    findings, _ = slice_findings(reader, "p", start_at(reader, parse_criterion("p.c:5@60")), forward=True)
    assert {(a, b) for a, b, *_ in edges_of(findings)} == {(5, 6), (6, 12), (12, 15)}


def test_lines_are_there_without_time_for_their_values(reader):
    start = start_at(reader, parse_criterion("p.c:15"))
    whole, late = (slice_findings(reader, "p", start, deadline=end)[0] for end in (float("inf"), 0.0))
    rows, bare = whole.parts["slice"], late.parts["slice"]
    assert [(row["line"], row["depth"], row["instances"]) for row in rows] == [
        (row["line"], row["depth"], row["instances"]) for row in bare
    ]
    assert any(row["values"] for row in rows) and not any(row["values"] or row["edges"] for row in bare)
    assert f"what {len(rows)} lines read and wrote was not looked up for lack of time" in late.summary[-1]
