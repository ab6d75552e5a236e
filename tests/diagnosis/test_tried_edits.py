"""Edits of the source as rules: what is tried, how it is told, and that the place that lacks something comes first."""

from __future__ import annotations

import time
from dataclasses import replace
from math import sqrt

import pytest
from cli_tool import subject_folder

import whence
from whence.diagnosis.edit_search import EditSearch
from whence.diagnosis.edits_alone import EditsAlone
from whence.diagnosis.locate_steps import CALLERS, FIRST, alternated, with_callers
from whence.diagnosis.tried_edits import best_edits, edits_asked_for, has_clean, has_sure, tried_edits
from whence.findings import Entry, Findings, Statement, Symptom
from whence.program.c_source import CSource
from whence.program.source_edits import Kind, Part, SourceEdit, edited, edited_line
from whence.program.token_changes import c_tokens
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.runs import run_all
from whence.subject.subject import Subject, subject_from_sources
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.knowledge import SHIPPED, load
from whence.techniques.bugfix.likelihood import fixes_made
from whence.techniques.bugfix.suspects import Suspects

# The count of equal characters is not begun anew with another one.
RUNS = """\
#include <stdio.h>
static int longest, count;
static char previous;
static void begin(void)
{
    longest = 0;
    count = 0;
    previous = 0;
}
static void take(char c)
{
    if (c == previous)
        count++;
    else {
        previous = c;
    }
    if (count > longest)
        longest = count;
}
int main(int argc, char **argv)
{
    begin();
    for (const char *p = argc > 1 ? argv[1] : ""; *p; p++)
        take(*p);
    printf("%d\\n", longest + 1);
    return 0;
}
"""
GAP = RUNS[: RUNS.index("previous = c;")].count("\n") + 1
MADE = fixes_made(load(SHIPPED))
FAILS, PASSES = {"aabb": "2\n", "aabbcc": "2\n", "aabbbb": "4\n"}, ("ab", "aaab", "abbb", "a")
# A number below 0 does not begin the count anew.
COUNTS = """\
#include <stdio.h>
#include <stdlib.h>
static int sum, count;
static void take(int value)
{
    sum += value;
    count++;
}
int main(int argc, char **argv)
{
    for (int n = 1; n < argc; n++)
        take(atoi(argv[n]));
    printf("%d %d\\n", sum, count);
    return 0;
}
"""
# Bodies in one line and in several, with and without braces, a last statement, labels, an `else` that is another's.
SHAPES = """\
int g(int a, int b)
{
    int sum = 0;
    if (a > b) sum = a; else sum = b;
    for (int i = 0; i < a; i++)
        sum += i;
    while (b > 0) { b--; sum++; }
    switch (a) {
    case 1: sum = 3; break;
    default:
        if (b)
            sum--;
        else
            sum++;
    }
    if (a > 2 &&
        b < 4)
        sum = 0;
    return sum;
}
"""


# What is left of the quota is more than its type holds.
QUOTA = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static short rounds;
static int left(int quota, const char *word)
{
    signed char used = strlen(word) * rounds;
    return quota - used;
}
int main(int argc, char **argv)
{
    rounds = atoi(argv[1]);
    printf("%d\\n", left(200, argc > 2 ? argv[2] : ""));
    return 0;
}
"""
NARROW = QUOTA[: QUOTA.index("signed char")].count("\n") + 1


def quota() -> Subject:
    folder = subject_folder("edits-quota", quota_c=QUOTA)
    fails = {"50 four": "0\n", "13 overflowing": "57\n", "9 aaaaaaaaaaaaaaaa": "56\n"}
    cases = [Case(a, tuple(a.split()), expected=Expected(o.encode())) for a, o in fails.items()]
    cases += [Case(a, tuple(a.split())) for a in ("3 one", "0 zero", "1 overflowing", "30 four")]
    return subject_from_sources([folder / "quota.c"], [], cases, replace(Subject.limits, time=5.0))


def subject(name: str) -> Subject:
    folder = subject_folder(f"edits-{name}", runs_c=RUNS)
    cases = [Case(a, (a,), expected=Expected(o.encode())) for a, o in FAILS.items()]
    cases += [Case(a, (a,)) for a in PASSES]
    return subject_from_sources([folder / "runs.c"], [], cases, replace(Subject.limits, time=5.0))


def counts() -> Subject:
    folder = subject_folder("edits-counts", counts_c=COUNTS)
    fails = {"1 2 -3": "0 0\n", "4 -1": "3 0\n", "-5 7 9": "11 2\n"}
    cases = [Case(a, tuple(a.split()), expected=Expected(o.encode())) for a, o in fails.items()]
    cases += [Case(a, tuple(a.split())) for a in ("2 3 5", "5 1 4", "2 0 3", "4")]
    return subject_from_sources([folder / "counts.c"], [], cases, replace(Subject.limits, time=5.0))


def edits_of(text: str) -> tuple[CSource, list[SourceEdit]]:
    source = CSource(text.encode())
    lines = [("g.c", line) for line in range(1, text.count("\n") + 1)]
    return source, list(Suspects({"g.c": FileCandidates(source, "g.c")}, lines, {}).edits())


def replaced(text: str, number: int, line: bytes) -> bytes:
    lines = text.encode().split(b"\n")
    lines[number - 1] = line
    return b"\n".join(lines)


def test_the_one_line_of_an_edit_is_the_edited_source_but_for_braces() -> None:
    source, edits = edits_of(SHAPES)
    kinds = set()
    for edit in edits:
        if (found := edited_line(source, edit)) is None:
            continue
        number, before, after = found
        kinds.add((edit.parts[0].kind, edit.parts[0].listed))
        assert SHAPES.encode().split(b"\n")[number - 1] == before
        texts = [c_tokens(text) for text in (replaced(SHAPES, number, after), edited(source, edit))]
        one, other = ([token for token in tokens if token not in "{}"] for tokens in texts)
        if edit.parts[0].kind is Kind.DELETE:  # an empty statement stands for it
            assert sorted(one) == sorted([*other, ";"]) or one == other, after
        else:
            assert one == other, after
    around = {(kind, listed) for kind in (Kind.BEFORE, Kind.BEHIND, Kind.GUARD) for listed in (True, False)}
    assert kinds >= around - {(Kind.BEHIND, False)} | {(Kind.REPLACE, True)}


def test_what_no_line_shows_alone_has_none() -> None:
    source = CSource(SHAPES.encode())
    start = SHAPES.index("if (b)")
    end = SHAPES.index("sum++;\n    }\n    if") + len("sum++;")
    behind = Part(Kind.BEHIND, start, end, b"a = 0;", listed=False)
    for parts in ((behind,), (Part(Kind.DELETE, start, end),), (behind, behind)):
        assert edited_line(source, SourceEdit("g.c", 11, parts)) is None


def test_a_statement_that_breaks_passing_cases_gets_the_condition_that_it_lacks() -> None:
    program = counts()
    runs = run_all(program)
    ranking = [Entry(Statement("counts.c", line), 1.0, 1, 1) for line in (7, 6, 13)]
    tried = tried_edits(program, runs, ranking, runs.failing, time.monotonic() + 200, MADE)
    rules = {row["rule"] for row in tried.rows if row["line"] == 7}
    assert "`if (value < 0) count = 0;` put in behind it" in rules
    assert all("count = 0" in row["rule"] for row in tried.rows)  # what sets it without a condition breaks some


def test_a_value_that_was_made_to_fit_is_doubtful_and_does_not_end_the_search() -> None:
    text = """\
#include <stdio.h>
static int step = 5, rest = 12;
static void show(int turn) { printf("%d\\n", turn + step + rest); }
int main(int argc, char **argv)
{
    if (argv[argc - 1][0] == 'a')
        show(0);
    else
        show(1);
    return 0;
}
"""
    folder = subject_folder("edits-fitted", step_c=text)
    cases = [Case("a", ("a",), expected=Expected(b"54\n")), Case("b", ("b",), expected=Expected(b"18\n"))]
    program = subject_from_sources([folder / "step.c"], [], cases, replace(Subject.limits, time=5.0))
    runs = run_all(program)
    pair = {"further": False, "relaxed": False, "file": "step.c", "line": 7, "name": "step", "alternate": "42"}
    ranking = [Entry(Statement("step.c", line), 1.0, 1, 1) for line in (7,)]
    tried = tried_edits(program, runs, ranking, runs.failing, time.monotonic() + 20, MADE, [pair])
    row = next(row for row in tried.rows if "step = 42;" in row["rule"])
    assert row["doubt"] == "its value was made to fit these cases" and row["f2p"] == 1 and row["line"] == 7
    assert tried.tried > 60 and all(other["cost"] <= row["cost"] for other in tried.rows if not other["doubt"])


def test_an_edit_that_mends_the_first_failing_cases_alone_counts_for_less_and_ends_nothing() -> None:
    text = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int base = atoi(argv[1]), by = atoi(argv[2]), sum = base;
    if (by > 0)
        sum = base - 1;
    printf("%d\\n", sum);
    return argc > 3;
}
"""
    folder = subject_folder("edits-further", sum_c=text)
    ones, others = [f"{base} 1" for base in range(10, 15)], ["40 2", "50 3", "60 4"]
    right = {args: str(sum(map(int, args.split()))) for args in (*ones, *others)}
    cases = [Case(a, tuple(a.split()), expected=Expected(f"{o}\n".encode())) for a, o in right.items()]
    cases += [Case(a, tuple(a.split())) for a in ("7 0", "8 -1")]
    program = subject_from_sources([folder / "sum.c"], [], cases, replace(Subject.limits, time=5.0))
    runs = run_all(program)
    rows = [row for row in runs.failing if runs.tested[row].case.name in ones]
    ranking = [Entry(Statement("sum.c", 7), 1.0, 1, 1)]
    tried = tried_edits(program, runs, ranking, rows, time.monotonic() + 200, MADE)
    row = next(row for row in tried.rows if row["after"] == "sum = base + 1;")
    assert (row["f2p"], row["failing"], row["p2f"], row["checked"]) == (5, 8, 0, 2)
    assert row["score"] == pytest.approx(sqrt(5 / 8), abs=1e-6) and row["cases"] == ones
    assert tried.passing == sum(row["score"] == 1 for row in tried.rows) and tried.tried > 300
    clean = {"family": "branch", "score": 1.0, "checked": 2, "doubt": ""}
    assert not has_clean([row]) and best_edits([row]) == [row] and not best_edits([row, clean])
    assert has_sure([clean | {"takes_away": False}]) and not has_sure([clean | {"takes_away": True}])


# The refunds of one customer are taken off what the next one pays. A rule can add them where a sale is taken.
TILL = """\
#include <stdio.h>
#include <stdlib.h>
struct till { int items, sold, refunds; };
static struct till till;
static void open_till(void)
{
    till.sold = till.items = 0;
}
int main(int argc, char **argv)
{
    open_till();
    for (int i = 1; i < argc; i++) {
        int amount = atoi(argv[i]);
        if (amount == 0) {
            printf("%d for %d\\n", till.sold - till.refunds, till.items);
            open_till();
        } else if (amount < 0)
            till.refunds -= amount;
        else {
            till.items++;
            till.sold += amount;
        }
    }
    return 0;
}
"""


def test_what_the_text_asks_for_is_tried_and_comes_first_though_a_rule_is_sure() -> None:
    folder = subject_folder("edits-till", till_c=TILL)
    fails, passes = [("10 -4 0 7 0", "6 for 1\n7 for 1\n")], ["10 0 7 0", "10 -4 0"]
    with whence.open_sources([folder / "till.c"], fails=fails, passes=passes) as project:
        found = project.find(whence.Locate(), 120.0)
    assert has_sure(rule for rule in found.parts["rules"] if rule["family"] != "edit")
    first = found.ranking[0].statement
    (told,) = [rule for rule in found.parts["rules"] if rule.get("asked_for")]
    assert (first.line, told["line"], told["after"]) == (7, 7, "till.sold = till.items = 0; till.refunds = 0;")

    cases = [
        Case(args, tuple(args.split()), expected=Expected(out.encode())) for args, out in (*fails, ("9 0", "9 for 1\n"))
    ]
    program = subject_from_sources([folder / "till.c"], [], cases, replace(Subject.limits, time=5.0))
    runs, ranking = run_all(program), [Entry(Statement("till.c", 7), 1.0, 1, 1)]
    tried = edits_asked_for(program, runs, ranking, runs.failing, time.monotonic() + 60, MADE)
    assert (tried.tried, tried.passing, [row["asked_for"] for row in tried.rows]) == (1, 1, [True])
    elsewhere = [Entry(Statement("till.c", 13), 1.0, 1, 1)]
    assert edits_asked_for(program, runs, elsewhere, runs.failing, time.monotonic() + 60, MADE).tried == 0


# The rest of a line without a blank is followed, though there is none.
REST = """\
#include <stdio.h>
#include <string.h>
static int is_long(const char *line)
{
    const char *rest = strchr(line, ' ');
    return rest[1] && rest[2];
}
int main(int argc, char **argv)
{
    printf("%s\\n", is_long(argv[1]) ? "long" : "short");
    return argc > 2;
}
"""


def test_the_line_that_crashed_is_tried_first_and_also_where_a_rule_is_sure() -> None:
    folder = subject_folder("edits-pointed", rest_c=REST)
    cases = [Case(a, (a,), expected=Expected(f"{o}\n".encode())) for a, o in (("ab", "short"), ("a bc", "long"))]
    program = subject_from_sources([folder / "rest.c"], [], cases, replace(Subject.limits, time=5.0))
    runs, at = run_all(program), Statement("rest.c", 6)
    ranking = [Entry(Statement("rest.c", line), 1.0, 1, 1) for line in (10, 6)]
    end = time.monotonic() + 60
    assert not edits_asked_for(program, runs, ranking, runs.failing, end, MADE).rows
    tried = edits_asked_for(program, runs, ranking, runs.failing, end, MADE, [at])
    assert "return rest != NULL && rest[1] && rest[2];" in {row["after"] for row in tried.rows if row["checked"]}
    assert {row["line"] for row in tried.rows} == {6} and not any(row["asked_for"] for row in tried.rows)


# A share is cut to a whole number.
SHARE = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int all = atoi(argv[1]), share = all / 4.0;
    printf("%.2f each\\n", share + 0.0);
    return argc == 1;
}
"""


def test_a_type_that_loses_a_part_of_a_value_is_tried_though_a_rule_is_clean() -> None:
    folder = subject_folder("edits-share", share_c=SHARE)
    cases = [Case(n, (n,), expected=Expected(out.encode())) for n, out in (("8", "2.00 each\n"), ("5", "1.25 each\n"))]
    program = subject_from_sources([folder / "share.c"], [], cases, replace(Subject.limits, time=5.0))
    runs, ranking = run_all(program), [Entry(Statement("share.c", 6), 1.0, 1, 1)]
    tried = edits_asked_for(program, runs, ranking, runs.failing, time.monotonic() + 60, MADE)
    (row,) = [row for row in tried.rows if row["family"] == "edit"]
    assert (row["line"], row["asked_for"], row["checked"]) == (5, True, 1)
    assert row["after"] == "double all = atoi(argv[1]), share = all / 4.0;"


def test_a_fix_has_the_condition_too() -> None:
    program = counts()
    search = EditSearch(program, run_all(program), time.monotonic() + 200, MADE)
    search.run([Entry(Statement("counts.c", line), 1.0, 1, 1) for line in (7, 6, 13)])
    assert any("+    if (value < 0) count = 0;" in mending.diff for mending in search.passing)


def test_conditions_of_a_statement_begin_with_the_limit_that_it_may_be() -> None:
    source, edits = edits_of(SHAPES)
    edit = next(e for e in edits if e.parts[0].text == b"sum = a;" and e.parts[0].kind is Kind.BEFORE)
    under = list(FileCandidates(source, "g.c").guarded(edit))
    assert [e.parts[0].text for e in under[:2]] == [b"if (sum > a) sum = a;", b"if (sum < a) sum = a;"]
    assert len({e.parts for e in under}) == len(under) > 20 and not list(
        FileCandidates(source, "g.c").guarded(under[0])
    )


def test_the_missing_statement_is_a_rule_of_the_place_of_the_gap() -> None:
    program = subject("rule")
    runs = run_all(program)
    ranking = [Entry(Statement("runs.c", line), 1.0, 1, 1) for line in (GAP, GAP - 2, GAP + 3)]
    tried = tried_edits(program, runs, ranking, runs.failing, time.monotonic() + 200, MADE)
    best = {(row["line"], row["rule"]): row for row in tried.rows}
    row = best[GAP, "`count = 0;` put in before it"]
    assert (row["before"], row["after"]) == ("previous = c;", "count = 0; previous = c;")
    assert (row["f2p"], row["failing"], row["p2f"], row["score"]) == (3, 3, 0, 1.0) and row["checked"] == 4
    assert all(row["p2f"] == 0 for row in tried.rows) and tried.passing >= 1 and tried.tried > 100
    assert all(sum(r["line"] == line for r in tried.rows) <= 3 for line, _ in best)


def test_a_wider_type_is_a_rule_of_the_declaration() -> None:
    program = quota()
    runs = run_all(program)
    ranking = [Entry(Statement("quota.c", line), 1.0, 1, 1) for line in (NARROW + 1, NARROW, NARROW + 5)]
    tried = tried_edits(program, runs, ranking, runs.failing, time.monotonic() + 200, MADE)
    first = tried.rows[0]
    assert (first["line"], first["rule"]) == (NARROW, "`int` instead of `signed char`")
    assert first["after"] == "int used = strlen(word) * rounds;"
    assert (first["f2p"], first["failing"], first["p2f"], first["score"], first["checked"]) == (3, 3, 0, 1.0, 4)


def test_a_wider_type_of_a_member_is_told_though_no_statement_stands_there() -> None:
    text = """\
#include <stdio.h>
#include <stdlib.h>
struct stock {
    signed char left;
};
int main(int argc, char **argv)
{
    struct stock stock = { 0 };
    for (int i = 1; i < argc; i++)
        stock.left += atoi(argv[i]);
    printf("%d\\n", stock.left);
    return 0;
}
"""
    folder = subject_folder("edits-member", stock_c=text)
    cases = [Case("fails", ("70", "71"), expected=Expected(b"141\n"))]
    cases += [Case(f"passes {n}", (str(n), "7")) for n in range(4)]
    program = subject_from_sources([folder / "stock.c"], [], cases, replace(Subject.limits, time=5.0))
    runs = run_all(program)
    assert not [one for one in program.places.statements if one.line == 4]
    ranking = [Entry(Statement("stock.c", line), 1.0, 1, 1) for line in (11, 10)]
    tried = tried_edits(program, runs, ranking, runs.failing, time.monotonic() + 200, MADE)
    found = [(row["line"], row["after"]) for row in tried.rows]
    assert (4, "int left;") in found and all(line in (4, 10, 11) for line, _ in found)


def test_wider_types_come_before_other_edits_that_need_a_build() -> None:
    source = CSource(QUOTA.encode())
    lines = [("q.c", line) for line in range(1, QUOTA.count("\n") + 1)]
    files = {"q.c": FileCandidates(source, "q.c")}
    wider = [edited(source, edit) for edit in Suspects(files, lines, {}).wider_types()]
    changes = (("signed char", "int"), ("signed char", "unsigned char"), ("short", "int"))
    assert sorted(wider) == sorted(QUOTA.replace(*change).encode() for change in changes)
    every = list(Suspects(files, lines, {}).alone())
    assert [edited(source, edit) for edit in every[:3]] == wider and len(every) > 10
    assert len({edit.parts for edit in every}) == len(every)


def test_edits_by_themselves_that_there_is_no_time_for() -> None:
    program = quota()
    runs = run_all(program)
    file = FileCandidates(CSource(QUOTA.encode()), "quota.c")
    edits = [edit for _, edit in file.alone(NARROW)]
    late, alone = (EditsAlone(program, runs, {"quota.c": file.source}) for _ in range(2))
    assert not list(late.passing(edits, time.monotonic())) and late.is_late and not late.tried
    texts = [edited(file.source, edit) for edit in alone.passing(edits, time.monotonic() + 100)]
    assert QUOTA.replace("signed char", "int").encode() in texts and len(texts) < len(edits)
    assert alone.tried == len(edits) and not alone.is_late


def located(name: str, **how: object) -> Findings:
    folder = subject_folder(f"edits-{name}", runs_c=RUNS)
    with whence.open_sources([folder / "runs.c"], fails=list(FAILS.items()), passes=list(PASSES)) as project:
        return project.find(whence.Locate(**how), 120.0)  # type: ignore[arg-type]


def test_locate_has_the_gap_first_with_the_statement_that_is_missing_there() -> None:
    found = located("first")
    assert found.ranking[0].statement == Statement("runs.c", GAP)
    first = next(rule for rule in found.parts["rules"] if rule["line"] == GAP)
    assert first["family"] == "edit" and first["confirmed"] and first["after"] == "count = 0; previous = c;"
    assert any("edits of the source" in line for line in found.summary)


OCTAL = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int number = atoi(argv[argc - 1]), shift = 9;
    while (shift >= 0) {
        if (number >> shift) {
            while (shift >= 0) {
                putchar('0' + (number >> shift & 7));
                shift -= 3;
            }
        } else {
        } /* shift -= 3; */
    }
    return 0;
}
"""


def test_what_an_empty_block_lacks_is_put_in_though_runs_without_it_have_no_end() -> None:
    folder = subject_folder("edits-octal", octal_c=OCTAL)
    with whence.open_sources([folder / "octal.c"], fails=[("20", "24")], passes=["513", "4095"]) as project:
        found = project.find(whence.Locate(), 60.0)
    assert found.ranking[0].statement == Statement("octal.c", 12)
    first = next(rule for rule in found.parts["rules"] if rule["line"] == 12)
    assert first["confirmed"] and (first["rule"], first["after"]) == ("`shift -= 3;` put in", "} else { shift -= 3;")


@pytest.mark.parametrize("without", [("edits",), ("edits", "weights")])
def test_edits_can_be_left_out(without: tuple[str, ...]) -> None:
    found = located("-".join(without), without=without)
    assert all(rule["family"] != "edit" for rule in found.parts["rules"])
    assert not any("edits of the source" in line for line in found.summary)


def test_rankings_take_turns() -> None:
    one, other, third = (Entry(Statement("a.c", line), 1.0, 1, 1) for line in (1, 2, 3))
    assert alternated([one, other], [third, one, other]) == [one, third, other]


def test_open_calls_at_the_symptom_come_behind_the_first_statements() -> None:
    order = [Entry(Statement("a.c", line), 1.0, 1, 1) for line in range(1, 41)]
    calls = [{"function": "f", "file": "a.c", "line": line} for line in (2, 30, 3, 20, 40, 39)]
    calls.insert(2, {"function": "g", "file": None, "line": None})
    symptom = Symptom("crash", "crashed", details={"stack": {"first": calls, "left_out": 0, "last": []}})
    lines = [entry.statement.line for entry in with_callers(order, symptom)]
    called = [line for line in (30, 3, 20)[:CALLERS] if line > FIRST]
    assert lines == [*range(1, FIRST + 1), *called, *(n for n in range(FIRST + 1, 41) if n not in called)]
    assert with_callers(order, None) == with_callers(order, Symptom("timeout", "ran on")) == order


def test_that_there_was_no_time_for_an_edit_is_told() -> None:
    program = subject("late")
    runs = run_all(program)
    ranking = [Entry(Statement("runs.c", GAP), 1.0, 1, 1)]
    tried = tried_edits(program, runs, ranking, runs.failing, time.monotonic(), MADE)
    assert tried.told == "no edit of the source at the first 1 statement was tried in its time" and not tried.rows


# A digit too many stands in a table, whose lines hold no code.
UNITS = """\
#include <stdio.h>
#include <stdlib.h>
static const struct { char unit; long seconds; } units[] = {
    {'d', 86400}, {'h', 3600},
    {'m', 610},
    {'s', 1},
};
int main(int argc, char **argv)
{
    for (int n = 0; argc > 2 && n < 4; n++)
        if (units[n].unit == argv[2][0])
            printf("%ld\\n", atoi(argv[1]) * units[n].seconds);
    return 0;
}
"""


def test_an_edit_of_a_table_is_told_though_no_code_stands_there() -> None:
    folder, entry = subject_folder("edits-units", units_c=UNITS), Statement("units.c", 5)
    cases = [Case(a, tuple(a.split()), expected=Expected(o)) for a, o in (("1 m", b"60\n"), ("3 m", b"180\n"))]
    cases += [Case(a, tuple(a.split())) for a in ("2 d", "3 h", "5 s", "0 m")]
    program = subject_from_sources([folder / "units.c"], [], cases, replace(Subject.limits, time=5.0))
    runs = run_all(program)
    assert entry not in program.places.statements
    ranking = [Entry(at, 1.0, 1, 1) for at in (Statement("units.c", 12), entry)]
    tried = tried_edits(program, runs, ranking, runs.failing, time.monotonic() + 200, MADE)
    assert ("`60` instead of `610`", 5) in {(row["rule"], row["line"]) for row in tried.rows}
