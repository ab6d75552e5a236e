"""Rules told as changes of source: the words, the edited lines, and that an edited program does what the rule did."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from trace_readers import subject_of

from whence.alter.changes import EVENT, Batch, Op, Verdict
from whence.alter.describe import Describer
from whence.alter.profile import Profile
from whence.alter.session import Session
from whence.build.toolchain import find_toolchain
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.techniques.rules.candidates import Candidates, Family, Rule, change_records
from whence.techniques.rules.suggestions import Suggestion, Suggestions

TEXT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define LIMIT 10
#define TWICE(x) ((x) * 2)
enum color { RED = 3, BLUE };
struct point { int x; double y; };
static int calls;
static int score(int a, unsigned b, struct point *p, const char *s, double d)
{
    int x = 10, t = 0, list[8] = {4, 1, 7};
    for (int i = 0; i < a && t < 1000; i++) {
        t += p->x * 3;
        if (s[i % 3] == 'a' || (x > 4 && 5 < x))
            x = t - i;
        else if (!x)
            x = -t;
        list[i % 8] += x + a * 2;
    }
    while (b-- > 0 && b < 20)
        t += b & 1;
    switch (x % 3) {
    case 1: t = RED; break;
    case 2: t++; break;
    default: t = x ? a : t;
    }
    calls++;
    if (d < 1.5)
        return t + list[1] * 2;
    p->y = d * 2.0;
    p->x += 5;
    return t + list[0] - (a + x) % LIMIT;
}
static int pick(const char *word, int fallback)
{
    int length = (int)strlen(word), low, high, seen;
    low = high = 2;
    for (seen = 1, low = 4; seen < low; seen++)
        high--;
    if (length > 3 && word[0] != 'z')
        return length;
    return fallback;
}
static void report(const struct point *p)
{
    printf("%d  %.1f\n", p->x, p->y);
}
int main(int argc, char **argv)
{
    struct point q = { 1, 2 };
    int n = atoi(argv[1]), k = 2;
    double scale = n > 3 ? 2.5 : 0.5;
    k = pick(argv[2], 4) + k;
    printf("%d\n", score(n, 2, &q, argv[2], scale));
    report(&q);
    if (score(k, 5, &q, "xyz", 1.5))
        report(&q);
    if (!pick(argv[2], n < 5))
        report(&q);
    printf("calls %d, %d\n", calls, TWICE(k));
    return n == 6 ? BLUE : 0;
}
"""
CASES = (("3", "abc"), ("6", "zebra"), ("0", "q"), ("2", "hello"), ("3", "aab"))

# Edited lines of rules, each made from the line's site and the change alone.
EDITS = [
    "int x = 11, t = 0, list[8] = {4, 1, 7};",
    "for (int i = 0; i <= a && t < 1000; i++) {",
    "for (int i = 0; i < a && t < 999; i++) {",
    "for (int i = 1; i < a && t < 1000; i++) {",
    "for (int i = 0; i < x && t < 1000; i++) {",
    "for (int i = 0; i < a && t < 1000; i += 2) {",
    "t += p->x + 3;",
    "t -= p->x * 3;",
    "t += (p->x + 1) * 3;",
    "t += -(p->x * 3);",
    "if (s[i % 3] == 'b' || (x > 4 && 5 < x))",
    "if (s[i % 3] != 'a' || (x > 4 && 5 < x))",
    "if (s[i % 4] == 'a' || (x > 4 && 5 < x))",
    "if (s[i % 3] == 'a' || (1 && 5 < x))",
    "if (s[i % 3] == 'a' || (x > 4 && 6 < x))",
    "x = t;",
    "else if (x)",
    "list[i % 8] += x + a * 3;",
    "while (b-- > 0 && b != 20)",
    "t += b | 1;",
    "case 1: t = 4; break;",
    "case 1:; break;",
    "case 2: t--; break;",
    "default: t = x ? a - 1 : t;",
    "if (d <= 1.5)",
    "return t + list[1] * 3;",
    "p->y = d * 3.0;",
    "p->x += 6;",
    "return t + list[0] - (a - x) % LIMIT;",
    "return t + list[0] - (a + x) % 11;",
    "if (length > 3 && word[0] == 'z')",
    "return length - 1;",
    "for (seen = 1, low = 5; seen < low; seen++)",
    "for (seen = 2, low = 4; seen < low; seen++)",
    r'printf("%d  %.1f\n", -p->x, p->y);',
    "k = pick(argv[2], 5) + k;",
    "k = (pick(argv[2], 4), 1) + k;",
    "k = 0 + k;",
    r'printf("%d\n", score(n, 3, &q, argv[2], scale));',
    r'if ((score(k, 5, &q, "xyz", 1.5), 0))',
    r'if (!score(k, 5, &q, "xyz", 1.5))',
    "if (pick(argv[2], n < 5))",
    "if (!(pick(argv[2], n < 5) + 1))",
    "return n == 5 ? BLUE : 0;",
    "for (int i = 0; i < a || t < 1000; i++) {",
    "if (s[i % 3] == 'a' || (x > 4 || 5 < x))",
    "while (b-- > 0 || b < 20)",
    "if (length > 3 || word[0] != 'z')",
]

# What must not be offered: the shape of the expression, or what it does besides, would be another.
WRONG = (
    "list[i % 8] += x * a * 2;",  # (x * (a * 2)) is meant
    "return t + list[0] * (a + x) % LIMIT;",  # (t + list[0]) * ... is meant
    "k = k;",  # pick() would not be called
    'printf("calls %d, %d\\n", calls, TWICE(k + 1));',  # what the macro makes of it is not known
    "double scale = n > 4 ? 2.5 : 0.5",  # without its end
    "if (s[i % 3] == 'a' && (x > 4 && 5 < x))",  # the right operand is not one condition
    "low = high = 3;",  # low would be another, too
    "if (!(!pick(argv[2], n < 5)))",  # nobody would write it
    "if (!pick(argv[2], !(n < 5)))",  # the condition is not what the argument is
)


@cache
def suggestions() -> tuple[list[tuple[Rule, Suggestion]], dict[str, list[Rule]]]:
    """All rules of the program with what they stand for; and the rules by their edited line."""
    subject = subject_of(TEXT)
    sites, describer = subject.alter_plan.sites, Describer(subject)
    candidates = Candidates(subject, Profile.of(sites, [np.zeros(0, EVENT)]))
    found_pairs, by_line = Suggestions(describer), defaultdict(list)
    told = [
        (rule, found_pairs.of(rule))
        for site in np.flatnonzero(describer.statements >= 0).tolist()
        for rule in candidates.of(site)
    ]
    for rule, suggestion in told:
        if suggestion.after is not None:
            by_line[suggestion.after].append(rule)
    return told, by_line


def words() -> set[str]:
    return {suggestion.words for _, suggestion in suggestions()[0]}


@pytest.mark.parametrize("line", EDITS)
def test_edited_lines(line):
    assert line in suggestions()[1]


@pytest.mark.parametrize("line", WRONG)
def test_lines_that_would_not_do_what_the_rule_did(line):
    assert line not in suggestions()[1]


def test_the_line_before_stands_in_the_source():
    lines = [line.strip() for line in TEXT.splitlines()]
    for _, suggestion in suggestions()[0]:
        assert suggestion.before == lines[suggestion.statement.line - 1]
        assert suggestion.after != suggestion.before


def test_most_rules_have_an_edited_line():
    told, _ = suggestions()
    assert sum(suggestion.after is not None for _, suggestion in told) > 0.7 * len(told)


@pytest.mark.parametrize(
    "text",
    [
        "`<=` instead of `<` in `i < a`",
        "`p->x + 1` instead of `p->x`",
        "`11` instead of `10` in `x`",
        "`'b'` instead of `'a'` in `s[i % 3] == 'a'`",
        "the condition `x > 4` is always true",
        "the condition `length > 3` is negated",
        "the switch on `x % 3` always goes to case 2",
        "leave out `calls = calls + 1;`",
        "leave out `report(&q);`",
        "`x` instead of `a`",
        "`1` as the result of `pick(argv[2], 4)`",
        "`0` instead of the call `pick(argv[2], 4)`",
        "`5` instead of `4` as an argument of `pick()`",
        "`b < 20` computed with signed numbers",
        "`||` instead of `&&` between `x > 4` and `5 < x`",
    ],
)
def test_words(text):
    assert text in words()


@pytest.mark.parametrize(
    ("text", "takes_away"),
    [
        ("the condition `x > 4` is always true", True),
        ("the condition `length > 3` is negated", False),
        ("leave out `calls = calls + 1;`", True),
        ("leave out `report(&q);`", True),
        ("`1` as the result of `pick(argv[2], 4)`", True),
        ("`5` instead of `4` as an argument of `pick()`", False),
        ("`11` instead of `10` in `x`", False),
        ("`<=` instead of `<` in `i < a`", False),
        ("`x` instead of `a`", False),
        ("`p->x + 1` instead of `p->x`", False),
        ("`0` instead of `p->x`", True),
    ],
)
def test_what_leaves_something_out_is_known(text: str, takes_away: bool) -> None:
    found = {suggestion.takes_away for _, suggestion in suggestions()[0] if suggestion.words == text}
    assert found == {takes_away}


SMALL = """\
int main(int argc, char **argv)
{
    unsigned char level = 3;
    char sign = '-';
    if (argc > 2)
        level = 2;
    return level + (sign == *argv[1]);
}
"""


@pytest.mark.parametrize(
    ("line", "value", "after"),
    [
        (6, 1, "level = 1;"),
        (6, 200, "level = 200;"),
        (6, 0, r"level = '\0';"),
        (4, 43, "char sign = '+';"),
        (4, 10, r"char sign = '\n';"),
        (4, 2, "char sign = 2;"),
        (4, 255, "char sign = -1;"),
    ],
)
def test_only_characters_that_texts_have_are_written_as_such(line, value, after):
    subject = subject_of(SMALL)
    describer = Describer(subject)
    stores = np.flatnonzero((subject.alter_plan.sites["role"] == Role.STORE) & (describer.statements >= 0)).tolist()
    stores = [site for site in stores if describer.statement(site).line == line]
    suggestion = Suggestions(describer).of(Rule(stores[0], Family.VALUE, Op.SET, value))
    assert suggestion.after == after


CHOOSING = """\
struct cell { int value; };
static int chosen(struct cell **top, int yes, int no)
{
    yes = (--*top)->value ? yes : no;
    yes += no && (*top)->value ? 1 : 2;
    return (*top)->value ? yes : no ? 3 : 4;
}
int main(int argc, char **argv)
{
    struct cell cells[2] = {{argc}}, *top = cells + 1;
    return chosen(&top, 1, argv != 0);
}
"""


def test_the_condition_before_a_question_mark_is_negated_where_it_is_one_and_the_only_one():
    subject = subject_of(CHOOSING)
    describer = Describer(subject)
    branches = np.flatnonzero((subject.alter_plan.sites["role"] == Role.BRANCH) & (describer.statements >= 0)).tolist()
    told = [Suggestions(describer).of(Rule(site, Family.BRANCH, Op.NOT)) for site in branches]
    lines = {line: {one.after for one in told if one.statement.line == line} for line in (4, 5, 6)}
    assert lines[4] == {"yes = !(--*top)->value ? yes : no;"}
    assert "yes += !(no && (*top)->value) ? 1 : 2;" not in lines[5]
    assert not any("!(no" in (after or "") for after in lines[6])


CALLS = """\
struct pair { int first, second; };
#define CLEAR(pair) set(pair, 0)
static void set(struct pair *pair, int value) { pair->first = value; }
int main(int argc, char **argv)
{
    struct pair pair = {argc, 2};
    set(&pair, 2 + sizeof pair);
    set ( &pair,
          argc);
    CLEAR(&pair);
    return pair.first + (*argv)[0];
}
"""


def test_a_call_is_told_as_it_is_written_where_its_line_shows_it():
    subject = subject_of(CALLS)
    describer = Describer(subject)
    rules = change_rules(subject, Op.SKIP)
    words = {describer.statement(rule.site).line: Suggestions(describer).of(rule).words for rule in rules}
    assert words[7] == "leave out `set(&pair, 2 + sizeof pair);`"
    assert words[10] == "leave out `set(&pair, 0);`"  # which is in the macro
    assert words[8] == "leave out `set(&pair, argc);`"  # which goes over two lines


MADE = """\
enum { FIRST, SECOND };
#define SET(part, other, value) set_##part(pair, part, other)
struct pair { int first, second; };
static void set_SECOND(struct pair *pair, int part, int value) { pair->second = part * value; }
int main(int argc, char **argv)
{
    struct pair made = {argc, 2}, *pair = &made;
    int a = argc, b = argc;
    SET(SECOND, a, b);
    set_SECOND(pair, SECOND, a);
    return pair->second + (*argv)[0];
}
"""


def test_an_argument_of_a_call_that_a_macro_makes_is_no_argument_of_the_macro() -> None:
    subject = subject_of(MADE)
    rules = change_rules(subject, Op.SET)
    told = [Suggestions(Describer(subject)).of(rule) for rule in rules]
    of_line = {line: [one for one in told if one.statement.line == line] for line in (9, 10)}
    passed = [one.after for one in of_line[9] if "as an argument of" in one.words]
    assert passed and set(passed) == {None}
    assert "set_SECOND(pair, 2, a);" in {one.after for one in of_line[10]}


def change_rules(subject, op: Op) -> list[Rule]:
    candidates = Candidates(subject, Profile.of(subject.alter_plan.sites, [np.zeros(0, EVENT)]))
    known = np.flatnonzero(Describer(subject).statements >= 0).tolist()
    return [rule for site in known for rule in candidates.of(site) if rule.op is op]


# ---- The edited program does what the rule did -----------------------------------------------------------------------


@cache
def ruled() -> dict[str, list[tuple[int, bytes, int]]]:
    """By edited line what the rule's runs gave in each case: verdict, output and status."""
    subject, by_line = subject_of(TEXT), suggestions()[1]
    records = change_records([by_line[line][0] for line in EDITS], subject.alter_plan.sites)
    found = defaultdict(list)
    for words in CASES:
        case = Case(" ".join(words), words, expected=Expected(stdout=b"none"))
        with Session(subject, case) as session:
            results = session.run(Batch.single(records), outputs=True)
        for line, record, (output, _) in zip(EDITS, results.records, results.outputs, strict=True):
            found[line].append((int(record["verdict"]), output, int(record["status"])))
    return found


@pytest.mark.parametrize("line", EDITS)
def test_a_rule_does_what_the_edited_source_does(line, tmp_path):
    number = next(s.statement.line for _, s in suggestions()[0] if s.after == line)
    text = TEXT.split("\n")
    text[number - 1] = line
    (tmp_path / "edited.c").write_text("\n".join(text))
    toolchain = find_toolchain("bundled")
    command = toolchain.call(["-w", "-O0", "-ffp-contract=off", "-o", "edited", "edited.c"])
    subprocess.run(command, cwd=tmp_path, env=toolchain.environment(), check=True)
    for words, (verdict, output, status) in zip(CASES, ruled()[line], strict=True):
        done = subprocess.run([tmp_path / "edited", *words], stdout=subprocess.PIPE, check=False, timeout=20)
        if verdict == Verdict.NOT_REACHED:
            continue
        assert verdict in (Verdict.WRONG_OUTPUT, Verdict.WRONG_STATUS)
        assert (output, status) == (done.stdout, done.returncode)


def test_every_edited_line_was_reached_in_some_case():
    reached = {line for line, runs in ruled().items() if any(verdict != Verdict.NOT_REACHED for verdict, _, _ in runs)}
    assert reached == set(EDITS)
