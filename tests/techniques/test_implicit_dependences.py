"""Implicit dependences of tiny programs in which something is skipped: which are verified, and how slices grow."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from cli_programs import line_of
from switched import HEAD, Failed, failed

from whence.alter.session import Session
from whence.dependence.last_writes import NEVER, NO_READ, last_written
from whence.dependence.slices import by_line, compute
from whence.findings import Statement
from whence.techniques.predicate_switching.implicit_dependences import Growth, add_to, grow
from whence.techniques.slicing import slice_findings


def main(body: str, before: str = "") -> str:
    return f"{HEAD}{before}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n"


LIMIT = main(
    """
    int limit = 5, other = 1;
    if (argc > 3) /* FAULT */
        limit = 10;
    if (argc > 8)
        limit = 5;
    if (argc > 9)
        other = 2;
    printf("%d\\n", limit);
"""
)
TWICE = main(
    """
    int limit = 5, flag = 0;
    if (argc > 3) /* FAULT */
        flag = 1;
    if (flag)
        limit = 10;
    printf("%d\\n", limit);
"""
)
KILLED = main(
    """
    int limit = 5;
    if (argc > 3) /* FAULT */
        limit = 10;
    limit = 7;
    printf("%d\\n", limit);
"""
)
BY_CALL = main(
    """
    int limit = 5;
    if (argc > 3) /* FAULT */
        change(&limit);
    printf("%d\\n", limit);
""",
    """
static void set(int *place, int value)
{
    *place = value;
}
static void change(int *p)
{
    set(p, 10);
}
""",
)
BY_LIBRARY = main(
    """
    char name[8] = "low";
    if (argc > 3) /* FAULT */
        strcpy(name, "high");
    printf("%s\\n", name);
"""
)
BY_COPY = main(
    """
    struct box low = {1, 2, {3}}, high = {4, 5, {6}}, chosen = low;
    if (argc > 3) /* FAULT */
        chosen = high;
    printf("%d\\n", chosen.n);
""",
    "struct box { int n, m, a[5]; };",
)
OF_COPY = main(
    """
    struct box low = {1, 2, {3}}, chosen;
    if (argc > 3) /* FAULT */
        low.m = 9;
    chosen = low;
    printf("%d\\n", chosen.m);
""",
    "struct box { int n, m, a[5]; };",
)
MEMBER = main(
    """
    struct node *list = NULL;
    for (int i = 1; i < argc; i++) {
        struct node *node = calloc(1, sizeof *node);
        node->next = list;
        if (atoi(argv[i]) > 6) /* FAULT */
            node->mark = 3;
        list = node;
    }
    int sum = 0;
    for (; list != NULL; list = list->next)
        sum += list->mark;
    printf("%d\\n", sum);
""",
    "struct node { struct node *next; int mark; };",
)
OUTPUT = main(
    """
    if (argc > 3) /* FAULT */
        puts("more");
    if (argc > 9)
        fputs("never", stderr);
    if (argc > 1)
        puts("more");
    puts("end");
"""
)
EARLY = main(
    """
    int most = 0;
    for (int i = 1; i < argc; i++) {
        int n = atoi(argv[i]);
        if (n == 7)
            continue;
        if (n > 8) /* FAULT */
            most = n;
        if (n == 9)
            break;
    }
    printf("%d\\n", most);
"""
)

VERIFIED = [
    pytest.param(LIMIT, "1 2", "10\n", "`limit` = 10", id="a local"),
    pytest.param(BY_CALL, "1 2", "10\n", "`*place` = 10", id="a call"),
    pytest.param(BY_LIBRARY, "1 2", "high\n", "`strcpy()`", id="the library"),
    pytest.param(BY_COPY, "1 2", "4\n", "on line", id="a structure"),
    pytest.param(OF_COPY, "1 2", "9\n", "`low.m` = 9", id="what is copied"),
    pytest.param(MEMBER, "3 5 4", "3\n", "`node->mark` = 3", id="a member on the heap"),
    pytest.param(EARLY, "5 7 8 4", "8\n", "`most` = 8", id="an iteration"),
]


def seconds(budget: float = 60.0) -> float:
    return time.monotonic() + budget


@cache
def grown(text: str, arguments: str, right: str, budget: float = 60.0) -> tuple[Failed, Growth]:
    found = failed(text, arguments, right)
    with Session(found.subject, found.case) as session:
        return found, grow(found.reader, found.start, session, found.symptom, deadline=seconds(budget))


def lines_of(found: Failed, growth: Growth) -> set[int]:
    return {statement.line for statement in by_line(found.reader, growth.found).statements}


def plain(found: Failed) -> set[int]:
    return {s.line for s in by_line(found.reader, compute(found.reader.trace, found.start.references)).statements}


def branches(found: Failed, growth: Growth) -> list[int]:
    """The lines of the branches of the dependences."""
    statements = [found.reader.statement(int(d.row["event"])) for d in growth.dependences]
    return [s.line for s in statements if s is not None]


# ---- What is verified ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "arguments", "right", "skipped"), VERIFIED)
def test_a_skipped_write_is_found(text, arguments, right, skipped):
    found, growth = grown(text, arguments, right)
    fault = line_of(text, "FAULT")
    assert fault not in plain(found)
    assert fault in lines_of(found, growth)
    pairs = zip(growth.dependences, branches(found, growth), strict=True)
    assert any(skipped in d.skipped for d, line in pairs if line == fault and d.strong)


def test_the_line_of_what_was_skipped_is_told():
    _, growth = grown(LIMIT, "1 2", "10\n")
    assert growth.dependences[0].skipped == f"`limit` = 10 on line {line_of(LIMIT, 'limit = 10')}"


def test_a_write_of_the_same_value_is_none():
    found, growth = grown(LIMIT, "1 2", "10\n")
    assert line_of(LIMIT, "argc > 8") not in lines_of(found, growth)
    assert (growth.candidates, growth.tried, len(growth.dependences)) == (2, 2, 1)


def test_without_verifying_it_is_taken_for_one():
    found = failed(LIMIT, "1 2", "10\n")
    growth = grow(found.reader, found.start, None, found.symptom)
    assert set(branches(found, growth)) == {line_of(LIMIT, "argc > 3"), line_of(LIMIT, "argc > 8")}


def test_what_nothing_reads_is_no_candidate():
    found = failed(LIMIT, "1 2", "10\n")
    growth = grow(found.reader, found.start, None, found.symptom)
    assert line_of(LIMIT, "argc > 9") not in lines_of(found, growth)


def test_what_is_written_again_is_no_candidate():
    _, growth = grown(KILLED, "1 2", "10\n")
    assert growth.candidates == 0 and not growth.dependences


def test_the_slice_is_grown_from_what_it_gains():
    found, growth = grown(TWICE, "1 2", "10\n")
    assert branches(found, growth) == [line_of(TWICE, "if (flag)"), line_of(TWICE, "FAULT")]
    assert [d.strong for d in growth.dependences] == [True, True]


def test_skipped_output_is_found_by_what_becomes_of_the_failure():
    found, growth = grown(OUTPUT, "1 2", "more\nmore\nend\n")
    assert line_of(OUTPUT, "FAULT") not in plain(
        found
    )  # of equal lines the first is missing, but the second one's place
    assert branches(found, growth) == [line_of(OUTPUT, "FAULT")]
    assert growth.dependences[0].skipped == "what makes the run pass"
    assert growth.candidates == 2  # what goes to another stream cannot be told from the text


def test_iterations_are_told_apart():
    """Switched in the first or second iteration, the other value is written; in that of the 8 the run passes."""
    _, growth = grown(EARLY, "5 7 8 4", "8\n")
    strong = [d for d in growth.dependences if d.strong]
    assert len(strong) == 1 and "8" in strong[0].skipped


def test_a_slice_from_elsewhere_does_not_ask_what_becomes_of_the_failure():
    found = failed(OUTPUT, "1 2", "more\nmore\nend\n")
    with Session(found.subject, found.case) as session:
        growth = grow(found.reader, found.start, session)
    assert growth.candidates == 0


def test_switches_that_crash_tell_nothing():
    text = main(
        """
    int *p = argc > 5 ? &argc : NULL, limit = 5;
    if (p != NULL)
        limit = *p;
    if (argc > 3) /* FAULT */
        limit = 10;
    printf("%d\\n", limit);
"""
    )
    found, growth = grown(text, "1 2", "10\n")
    assert line_of(text, "p != NULL") not in branches(found, growth)
    assert line_of(text, "FAULT") in branches(found, growth)
    assert growth.tried == 2


def test_switches_that_never_end_are_cut():
    text = main(
        """
    unsigned left = argc, limit = 5;
    while (left != 0) {
        left--;
        if (left == 17)
            limit = 9;
    }
    if (argc > 3) /* FAULT */
        limit = 10;
    printf("%u\\n", limit);
"""
    )
    found, growth = grown(text, "1 2", "10\n")
    assert line_of(text, "FAULT") in branches(found, growth)


# ---- Growing ---------------------------------------------------------------------------------------------------------


def test_depths_and_ways_lead_over_the_new_edge():
    _, growth = grown(LIMIT, "1 2", "10\n")
    (dependence,) = growth.dependences
    branch, depths = int(dependence.row["event"]), growth.found.event_depth
    assert depths[branch] == depths[dependence.use] + 1
    way = list(growth.found.way(branch))
    assert way[:2] == [branch, dependence.use] and depths[way[-1]] == 1


def test_depths_of_the_plain_slice_do_not_grow():
    found, growth = grown(TWICE, "1 2", "10\n")
    before = compute(found.reader.trace, found.start.references).event_depth
    inside = before > 0
    assert (growth.found.event_depth[inside] <= before[inside]).all()
    assert (growth.found.event_depth[inside] > 0).all()


def test_without_time_nothing_is_tried():
    found, growth = grown(LIMIT, "1 2", "10\n", budget=0.0)
    assert growth.stopped and growth.tried == 0 and not growth.dependences
    assert lines_of(found, growth) == plain(found)


def test_locals_of_another_frame_are_no_candidates():
    text = main(
        """
    printf("%d\\n", low(atoi(argv[1])));
""",
        """
static int low(int n)
{
    int found = 5;
    if (n > 9)
        found = 6;
    if (n > 0)
        low(n - 1);
    return found;
}
""",
    )
    found = failed(text, "4", "0\n")
    growth = grow(found.reader, found.start, None, found.symptom)
    assert branches(found, growth).count(line_of(text, "n > 9")) == 1  # of five instances that of the outermost frame


def test_when_things_were_written():
    found = failed(BY_LIBRARY, "1 2", "high\n")
    trace = found.reader.trace
    since = last_written(trace)
    events = np.flatnonzero(since != NO_READ)
    assert len(events) and (since[events] < events).all() and (since[events] >= NEVER).all()
    (call,) = [e for e in events.tolist() if found.reader.static(e).text.startswith("printf")]
    place = found.reader.statement(int(since[call]))
    assert place == Statement("p.c", line_of(BY_LIBRARY, '"low"'))


# ---- Findings --------------------------------------------------------------------------------------------------------


def test_edges_of_the_part():
    found, growth = grown(LIMIT, "1 2", "10\n")
    findings, _ = slice_findings(found.reader, "p", found.start, found=growth.found)
    add_to(findings, found.reader, growth, compute(found.reader.trace, found.start.references))
    edges = {at["line"]: at["edges"] for at in findings.parts["slice"]}[line_of(LIMIT, "printf")]
    assert edges[0] == {
        "to_file": "p.c",
        "to_line": line_of(LIMIT, "FAULT"),
        "kind": "implicit",
        "name": "argc > 3",
        "value": "false",
        "skipped": growth.dependences[0].skipped,
    }
    part = findings.parts["implicit"]
    assert part == {"candidates": 2, "switched": 2, "verified": 1, "lines": part["lines"], "stopped": False}
    marked = {e.statement.line for e in findings.ranking if e.evidence.get("implicit")}
    assert line_of(LIMIT, "FAULT") in marked and len(marked) == part["lines"]
    assert "1 did, of which 1 makes the run pass" in findings.summary[-1]
