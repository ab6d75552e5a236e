"""Cause trees of small programs: known answers, least cores, the first step, Algorithm 3 done naively."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace
from typing import Any

import pytest
import z3
from cause_trees import Failing, Tree, failing

from whence.errors import SubjectError
from whence.findings import Findings, Statement
from whence.formula.encoder import encode
from whence.formula.goals import Goal, Goals
from whence.formula.smt import Smt
from whence.probe.layout import Kind
from whence.techniques.cause_tree import findings as findings_of_trees
from whence.techniques.cause_tree.findings import Built, Options, build, causes
from whence.techniques.cause_tree.weakest_precondition import Preconditions
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences

# A fee by axles, dearer for long vehicles (from three axles on, which the test gets wrong) and by day.
TOLL = """\
#include <stdio.h>
#include <stdlib.h>
static int rate = 2; /* RATE */
int main(int argc, char **argv)
{
    int axles = atoi(argv[1]); /* AXLES */
    int night = atoi(argv[2]); /* NIGHT */
    int fee = 5;
    int lanes = axles * 7;
    if (axles > 3) /* LONG */
        rate = 4;
    if (night < 1) /* DAY */
        fee = 7; /* SEVEN */
    fee += axles * rate; /* SUM */
    if (lanes > 90)
        puts("wide");
    printf("fee %d\\n", fee); /* PRINT */
    return 0;
}
"""

# Which of two thresholds a level has passed: one who is above the upper one cannot be below the lower.
TANK = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int level = atoi(argv[1]) + 1; /* LEVEL */
    int alarm = 0;
    if (level > 80) /* HIGH */
        alarm = 2; /* ALARM */
    if (level < 20) /* LOW */
        alarm = 1;
    printf("%d\\n", alarm); /* PRINT */
    return 0;
}
"""

# The best offer of several, by a function; the loop leaves the last one out.
AUCTION = """\
#include <stdio.h>
#include <stdlib.h>
static int offers[8];
static int better(int left, int right)
{
    if (left >= right) /* COMPARE */
        return left;
    return right; /* RIGHT */
}
static int best(int count)
{
    int found = 0;
    for (int i = 0; i < count - 1; i++) /* LOOP */
        found = better(found, offers[i]); /* CALL */
    return found;
}
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        offers[i - 1] = atoi(argv[i]); /* READ */
    printf("%d\\n", best(argc - 1)); /* PRINT */
    return 0;
}
"""

SMALL = {
    "toll": (TOLL, ("3", "0"), "fee 17\n"),
    "tank": (TANK, ("90",), "1\n"),
    "auction": (AUCTION, ("3", "5", "9"), "9\n"),
}


def small(name: str) -> Failing:
    text, arguments, right = SMALL[name]
    return failing(text, *arguments, stdout=right)


@pytest.fixture(params=SMALL)
def program(request) -> Failing:
    return small(request.param)


# ---- Known answers ---------------------------------------------------------------------------------------------------


def test_the_root_holds_what_the_wrong_value_came_from():
    toll = small("toll")
    tree = toll.built()
    assert tree.lines(tree.root) == {toll.line(mark) for mark in ("PRINT", "SUM", "AXLES", "SEVEN", "RATE")}
    assert tree.explanation.contradiction(tree.root) == "`fee` had to be 17, but `fee` was 13"


def test_direct_and_indirect_conditions_are_the_children():
    """The day rate was given, the dear rate was not; the test of `lanes` has no part in it."""
    toll = small("toll")
    tree = toll.built()
    assert tree.levels() == {toll.line("DAY"): 1, toll.line("LONG"): 1}
    long, day = tree.at(toll.line("LONG")), tree.at(toll.line("DAY"))
    assert (long.indirect, day.indirect) == (True, False)
    assert tree.lines(long) == {toll.line("LONG"), toll.line("AXLES")}
    assert tree.explanation.contradiction(long) == "`axles > 3` had to be true, but `axles` was 3"
    assert tree.explanation.contradiction(day) == "`night < 1` had to be false, but `night` was 0"


def test_a_contradiction_on_the_way_ends_the_walk():
    """That the level is below 20 contradicts that it was found above 80, whatever it was computed from."""
    tank = small("tank")
    tree = tank.built()
    low = tree.at(tank.line("LOW"))
    assert tank.line("LEVEL") not in tree.lines(low)
    core = low.causes[0].contradiction.core
    assert [tree.explanation.assumption(a) for a in core] == [f"`level > 80` true on line {tank.line('HIGH')}"]
    assert "it cannot be together with `level > 80` true" in tree.explanation.contradiction(low)
    high = tree.at(tank.line("HIGH"))
    assert tank.line("LEVEL") in tree.lines(high) and high.causes[0].contradiction.core == ()


def test_instances_of_a_loop_are_one_node():
    auction = small("auction")
    tree = auction.built()
    loop, compare = tree.at(auction.line("LOOP")), tree.at(auction.line("COMPARE"))
    assert len(loop.instances) == 3 and len(compare.instances) == 2
    assert sum(tree.condition(node) == auction.line("LOOP") for node in tree.nodes) == 1
    assert any(note.startswith("stands for 3 instances") for note in tree.explanation.notes(loop))
    apart = auction.built(loops=False)
    assert sum(apart.condition(node) == auction.line("LOOP") for node in apart.nodes) == 3


def test_calls_that_led_to_an_event_are_among_the_lines():
    text = (
        "#include <stdio.h>\nstatic int at;\nstatic void next(void)\n{\n    at++; /* ADD */\n}\n"
        "static void skip(void)\n{\n    next(); /* NEXT */\n}\nint main(void)\n{\n    next();\n"
        '    skip(); /* SKIP */\n    printf("%d\\n", at); /* PRINT */\n    return 0;\n}\n'
    )
    program = failing(text, stdout="1\n")
    tree = program.built()
    marks = {program.line(mark): number for number, mark in enumerate(("PRINT", "ADD", "NEXT", "SKIP"), 1)}
    ways = {line.statement.line: len(line.way) for line in tree.explanation.lines(tree.root)}
    assert {line: ways[line] for line in marks} == marks


def test_conditions_of_correct_functions_lead_to_their_callers():
    auction = small("auction")
    tree = auction.built(correct=frozenset({"better"}))
    assert auction.line("COMPARE") not in tree.levels()
    assert tree.levels()[auction.line("LOOP")] == 1


def test_fine_lines_disappear_with_what_only_they_led_to():
    auction = small("auction")
    before = auction.built()
    fine = frozenset({Statement("p.c", auction.line("COMPARE"))})
    after = auction.built(fine=fine)
    assert auction.line("COMPARE") in before.levels()
    assert auction.line("COMPARE") not in {*after.levels(), *itertools.chain(*map(after.lines, after.nodes))}
    assert auction.line("LOOP") in after.levels()
    tank = small("tank")
    alone = tank.built(fine=frozenset({Statement("p.c", tank.line("LOW"))}))
    assert tank.line("LOW") not in alone.levels() and tank.line("HIGH") in alone.levels()


def test_findings_rank_by_level_then_by_lines_to_read():
    toll = small("toll")
    findings = causes(toll.reader, toll.symptom, toll.recording)
    keys = [(e.evidence["level"], e.evidence["lines_to_read"]) for e in findings.ranking]
    assert keys == sorted(keys) and keys[0] == (0, 1)
    assert findings.ranking[0].statement.line == toll.line("PRINT")
    assert {e.statement.line for e in findings.ranking if e.evidence["level"] == 1} == {
        toll.line(mark) for mark in ("LONG", "DAY", "NIGHT")
    }


def test_nodes_are_opened_on_demand():
    auction = small("auction")
    tree = auction.built(depth=0).built.tree
    assert [node.children is None for node in tree.nodes] == [False] + [True] * (len(tree.nodes) - 1)
    child = tree.nodes[0].children[0]
    assert tree.open(child) is child.children and child.causes


# ---- What the paper's algorithms promise -----------------------------------------------------------------------------


def answered(tree: Tree) -> list[tuple[Preconditions, Goal, object]]:
    """The goals of a tree that have a condition, with a walk that leaves nothing out, and the answers."""
    path = tree.built.path
    everything = Preconditions(path, tree.built.decider, prunes=False)
    return [(everything, c.goal, c.contradiction) for node in tree.nodes for c in node.causes if c.goal.term >= 0]


def satisfiable(tree: Tree, conjuncts: list[int]) -> bool:
    """As z3 says, without anything of ``decide``."""
    domain = Smt(tree.built.path.terms)
    solver = z3.Solver(ctx=domain.context)
    solver.add(*domain.bools(conjuncts))
    return solver.check() == z3.sat


def test_least_cores_lose_their_contradiction_with_any_conjunct(program):
    tree = program.built(depth=6)
    for _, goal, found in answered(tree):
        path = tree.built.path
        conjuncts = path.unfold([goal.term, *(a.term for a in found.core)], found.step)
        assert not satisfiable(tree, conjuncts)
        for k in range(1, len(conjuncts)):
            assert satisfiable(tree, conjuncts[:k] + conjuncts[k + 1 :])
        if found.core:
            assert satisfiable(tree, conjuncts[1:])


def test_steps_are_the_first_unsatisfiable_ones(program):
    """By asking at every event, with all that holds on the way; or that step excludes no transforming instance."""
    tree = program.built(depth=6)
    path = tree.built.path
    for everything, goal, found in answered(tree):
        symbols = list(path.terms.symbols([goal.term]))
        first = next(
            step
            for step in range(goal.event, -2, -1)
            if not satisfiable(tree, everything.precondition(goal, symbols, step)[1])
        )
        assert found.is_decided
        assert found.step == first or (found.complete and first <= path.first_definition(symbols))


def test_the_run_itself_meets_all_but_the_goals(program):
    tree = program.built(depth=6)
    path = tree.built.path
    value = path.encoding.evaluation.value
    assert all(value(assumption.term) == 1 for assumption in path.assumptions)
    assert all(value(goal.term) == 0 for _, goal, _ in answered(tree))


def naive(tree: Tree, program: Failing) -> dict[int, int]:
    """Algorithm 3 by sets and lists: the level of each critical branch instance."""
    trace, reader = program.recording.trace, program.reader
    built, influence = tree.built, tree.built.tree.influence
    levels: dict[int, int] = {}
    silent = influence.silent(program.symptom, program.recording)
    pending = [(cause, 0) for cause in tree.root.causes]
    while pending:
        cause, level = pending.pop(0)
        events, work = set(), [cause.goal.event + 1, *(a.event + 1 for a in cause.contradiction.core)]
        cells = set()
        while work:
            reference = work.pop()
            if reference in cells:
                continue
            cells.add(reference)
            if reference > 0:
                events.add(reference - 1)
            work += [target for target, _ in dependences(trace.plan, trace.columns, reference, control=False)]
        core = [reader.trace.kind(a.event) is Kind.BRANCH for a in cause.contradiction.core]
        if not cause.contradiction.complete and core and all(core):
            events = {event for event in events if event >= cause.contradiction.step}
        conditions = {a.event for a in cause.contradiction.core if reader.trace.kind(a.event) is Kind.BRANCH}
        for event in events:
            at = event
            while at >= 0 and (at == event or trace.kind(at) is not Kind.BRANCH):
                edges = dependences(trace.plan, trace.columns, at + 1)
                at = next((t - 1 for t, kind in edges if kind in (Edge.CONTROL, Edge.CALL)), -1)
            conditions |= {at} - {-1}
        conditions |= set(influence.indirect(cause.found, cause.events).tolist())
        conditions |= set() if level else set(silent)
        for branch in sorted(conditions & built.path.branches):
            if branch not in levels:
                levels[branch] = level + 1
                goal = built.tree._goals.otherwise(branch)
                pending.append((built.tree._answer(goal, branch + 1), level + 1))
    return levels


def test_the_tree_is_that_of_the_naive_algorithm(program):
    tree = program.built(depth=50, loops=False)
    expected = naive(tree, program)
    root = {cause.goal.event for cause in tree.root.causes}
    assert {node.event: node.level for node in tree.nodes[1:]} == {
        event: level for event, level in expected.items() if event not in root
    }


def test_pruning_changes_no_tree(program):
    trees = [program.built(depth=4, prunes=prunes) for prunes in (True, False)]
    told = [tree.explanation.part(tree.built.tree.opened(4)) for tree in trees]
    for node in itertools.chain(*told):
        node["core"] = len(node["core"])  # of equally small cores any may be found
        node["contradiction"] = node["contradiction"].split(";")[0]
    assert told[0] == told[1]


def test_slicing_first_changes_no_condition(program):
    """It may change a core: what is outside of the slice cannot contradict a goal."""
    sliced, whole = (program.built(depth=4, slices=slices) for slices in (True, False))
    assert sliced.levels() == whole.levels()
    assert sliced.built.encoded <= whole.built.encoded


# ---- Missing statements ----------------------------------------------------------------------------------------------

# A queue of two: the count is not taken down when the first one leaves. And a bit that is set in the wrong element.
QUEUE = """\
#include <stdio.h>
#include <stdlib.h>
struct queue { int first, last, count; };
static struct queue queues[2];
static int flags[4];
static void enter(struct queue *q)
{
    q->last++;
    q->count++;
}
static void leave(struct queue *q)
{
    q->first++; /* FIRST */
}
static void set(int *table, int number)
{
    table[number] = 1; /* SET */
}
int main(int argc, char **argv)
{
    int *heap = calloc(4, sizeof *heap);
    enter(&queues[0]);
    enter(&queues[1]);
    leave(&queues[0]); /* LEAVE */
    queues[1].first = 7; /* OTHER */
    set(heap, 2); /* CALL */
    flags[2] = 1; /* FLAG */
    printf("%d %d %d\\n", queues[0].count, heap[1], flags[1]);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("right", "marks", "deed"),
    [
        ("0 0 0\n", ("FIRST", "LEAVE"), "gave `q->first` the value 1, and left `queues[0].count`"),
        ("1 1 0\n", ("SET", "CALL"), "gave `table[number]` the value 1, and left `heap[1]`"),
        ("1 0 1\n", ("FLAG",), "gave `flags[2]` the value 1, and left `flags[1]`"),
    ],
)
def test_what_was_stored_beside_a_value_is_a_neighbour(right, marks, deed):
    program = failing(QUEUE, stdout=right)
    tree = program.built()
    beside = [line for line in tree.explanation.lines(tree.root) if line.beside >= 0]
    assert {program.line(mark) for mark in marks} <= {line.statement.line for line in beside}
    assert program.line("/* OTHER */") not in {line.statement.line for line in beside} or right == "0 0 0\n"
    assert deed in {tree.explanation.action(line) for line in beside}


def test_neighbours_count_to_the_next_level():
    program = failing(QUEUE, stdout="1 0 1\n")
    findings = causes(program.reader, program.symptom, program.recording)
    levels = {entry.statement.line: entry.evidence["level"] for entry in findings.ranking}
    assert levels[program.line("FLAG")] == 1 and levels[program.line("printf")] == 0


# ---- Symptoms --------------------------------------------------------------------------------------------------------


def body(text: str) -> str:
    return f"#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n{text}"


def test_a_failed_assertion_had_to_hold():
    text = body(
        "int main(int n, char **v)\n{\n    int k = atoi(v[1]);\n    k = k / 2; /* HALF */\n    assert(k > 4);\n}\n"
    )
    tree = failing(text, "9").built()
    assert tree.explanation.contradiction(tree.root) == "`k > 4` had to be true, but `k` was 4"
    assert failing(text, "9").line("HALF") in tree.lines(tree.root)


def test_a_wrong_status_had_to_be_the_expected_one():
    """Twice a number is never odd, whatever the number is."""
    text = body("int main(int n, char **v)\n{\n    int left = n - 1; /* LEFT */\n    return left * 2; /* END */\n}\n")
    for status, impossible in ((1, True), (4, False)):
        program = failing(text, "a", status=status)
        tree = program.built()
        assert tree.root.causes[0].goal.text == f"the status had to be {status}"
        assert tree.lines(tree.root) == {program.line(mark) for mark in ("END", "LEFT")}
        assert (
            "no value that flows into it could make it so" in tree.explanation.contradiction(tree.root)
        ) == impossible


def test_a_null_pointer_had_to_be_another():
    text = body(
        "struct node { int value; struct node *next; };\nint main(int n, char **v)\n{\n"
        "    struct node last = {4, 0}; /* LAST */\n    struct node *at = &last;\n"
        '    at = at->next; /* STEP */\n    printf("%d\\n", at->value);\n    return 0;\n}\n'
    )
    program = failing(text, stdout="4\n")
    tree = program.built()
    assert tree.root.causes and tree.root.causes[0].goal.text == "`at` had to be another value"
    assert program.line("STEP") in tree.lines(tree.root)


def test_a_divisor_had_to_be_another_and_its_test_to_go_elsewhere():
    text = body(
        "int main(int n, char **v)\n{\n    int k = atoi(v[1]); /* K */\n    if (k > 3) /* TEST */\n"
        "        return 7 / (k - 4);\n    return 0;\n}\n"
    )
    program = failing(text, "4")
    tree = program.built()
    assert tree.root.causes[0].goal.text == "`k` had to be another value"
    assert program.line("K") in tree.lines(tree.root) and program.line("TEST") in tree.levels()


def test_a_library_call_that_crashed_leads_to_its_argument():
    text = body(
        "int main(int n, char **v)\n{\n    char *name = getenv(v[1]); /* NAME */\n"
        '    printf("%lu\\n", strlen(name));\n    return 0;\n}\n'
    )
    program = failing(text, "NO_SUCH_VARIABLE", stdout="3\n")
    tree = program.built()
    assert program.line("NAME") in tree.lines(tree.root)


def test_missing_output_had_to_be_decided_for():
    text = body(
        'int main(int n, char **v)\n{\n    int limit = atoi(v[1]); /* LIMIT */\n    puts("begin");\n'
        '    if (limit > 5) /* TEST */\n        puts("more");\n    return 0;\n}\n'
    )
    program = failing(text, "5", stdout="begin\nmore\n")
    tree = program.built()
    assert program.line("TEST") in tree.lines(tree.root) and program.line("LIMIT") in tree.lines(tree.root)
    assert "`limit > 5` had to be true" in tree.explanation.goal(tree.root)


@pytest.mark.parametrize(
    ("format", "type", "value", "right", "goal"),
    [
        ("%x", "int", "atoi(v[1]) + 16", "1b\n", "`shown` had to be 1b"),
        ("%c", "char", "v[1][0] + 1", "2\n", "`shown` had to be '2'"),
        ("%5d", "int", "-atoi(v[1])", "   -7\n", "`shown` had to be -7"),
        ("%ld", "long", "atol(v[1]) << 33", "12\n", "`shown` had to be 12"),
        ("%.1f", "double", "atof(v[1]) / 2", "4.5\n", "`shown` had to be 4.5"),
    ],
)
def test_the_right_value_is_read_from_the_expected_output(format, type, value, right, goal):
    text = body(
        f"int main(int n, char **v)\n{{\n    {type} shown = {value}; /* VALUE */\n"
        f'    printf("{format}\\n", shown);\n    return 0;\n}}\n'
    )
    program = failing(text, "8", stdout=right)
    tree = program.built()
    assert tree.root.causes[0].goal.text == goal
    assert program.line("VALUE") in tree.lines(tree.root)


SIGN = """\
#include <stdio.h>
#include <stdlib.h>
static void show(int letter)
{
    putchar(letter);
}
static void (*out)(int) = show;
int main(int argc, char **argv)
{
    int number = atoi(argv[1]);
    int minus = number > 0; /* MINUS */
    if (number == 77)
        puts("never"); /* BEFORE */
    fputs("x", stdout);
    if (minus) /* TEST */
        out('-');
    out('0' + abs(number));
    return 0;
}
"""


def test_output_that_is_missing_in_front_leads_to_what_skipped_it():
    """Here through a pointer; what could have been printed earlier was not expected there."""
    program = failing(SIGN, "-3", stdout="x-3")
    tree = program.built()
    test = tree.at(program.line("TEST"))
    assert test.level == 1 and test.indirect and program.line("MINUS") in tree.lines(test)
    assert program.line("BEFORE") - 1 not in tree.levels()


def test_a_line_that_is_expected_later_leads_to_what_skipped_the_one_before():
    text = (
        "#include <stdio.h>\nint main(int argc, char **argv)\n{\n    for (int i = 1; i < 4; i++)\n"
        '        if (i != 2) /* SKIP */\n            printf("at %d\\n", i);\n    return 0;\n}\n'
    )
    program = failing(text, stdout="at 1\nat 2\nat 3\n")
    line = program.line("SKIP")
    assert (
        len(program.built().at(line).instances) == 2
    )  # that of the line that was printed, and the one that kept silent
    assert len(failing(text, stdout="at 1\nat 7\n").built().at(line).instances) == 1


def test_a_wrong_string_leads_to_what_wrote_it():
    text = body(
        'int main(int n, char **v)\n{\n    char name[9];\n    strcpy(name, n > 2 ? "long" : "short"); /* COPY */\n'
        '    printf("%s\\n", name);\n    return 0;\n}\n'
    )
    program = failing(text, "x", stdout="long\n")
    tree = program.built()
    lines = set().union(*(tree.lines(node) for node in tree.nodes))
    assert program.line("COPY") in lines


def test_a_wrong_index_is_a_cause():
    """The element that was read is right where it stands; that it was read is not."""
    text = body(
        "static int table[4] = {2, 3, 5, 7};\nint main(int n, char **v)\n{\n    int at = atoi(v[1]); /* INDEX */\n"
        '    at -= 1; /* LESS */\n    int found = table[at];\n    printf("%d\\n", found);\n    return 0;\n}\n'
    )
    program = failing(text, "2", stdout="5\n")
    tree = program.built()
    assert {program.line("INDEX"), program.line("LESS")} <= tree.lines(tree.root)


def test_a_symptom_without_a_place_is_refused():
    toll = small("toll")
    symptom = type(toll.symptom)("crash", "nobody knows where")
    with pytest.raises(SubjectError, match="no place in the trace: nobody knows where"):
        build(toll.reader, symptom, toll.recording, Options())


def test_of_long_runs_the_end_is_looked_at(monkeypatch):
    auction = small("auction")
    whole = auction.built()
    monkeypatch.setattr("whence.techniques.cause_tree.findings.MOST_EVENTS", 40)
    findings = causes(auction.reader, auction.symptom, auction.recording, Options())
    assert any("causes are looked for among the last 40" in line for line in findings.remarks)
    conditions = {node["line"] for node in findings.parts["tree"]["nodes"][1:]}
    assert conditions and conditions <= set(whole.levels())


def test_the_budget_stops_the_tree():
    auction = small("auction")
    findings = causes(auction.reader, auction.symptom, auction.recording, Options(budget=0.0))
    assert findings.parts["tree"]["stopped"] and len(findings.parts["tree"]["nodes"]) == 1
    assert any("stopped after 0 s: causes are missing" in line for line in findings.remarks)


def test_what_there_is_no_time_to_tell_is_counted(monkeypatch):
    """The tree has grown, and the time is over: the root is told."""
    toll = Failing(TOLL, "3", "0", stdout="fee 19\n")
    now = [time.monotonic()]

    def grown(*of: Any) -> Built:
        built = build(*of)
        now[0] += 61.0
        return built

    monkeypatch.setattr(findings_of_trees, "build", grown)
    monkeypatch.setattr(findings_of_trees, "time", SimpleNamespace(monotonic=lambda: now[0]))
    findings = causes(toll.reader, toll.symptom, toll.recording, Options(budget=60.0, depth=4))
    (root,) = findings.parts["tree"]["nodes"]
    assert root["children"] == [] and root["unopened"] > 0 and findings.ranking
    assert any("1 are told for lack of time" in remark for remark in findings.remarks)


def test_events_are_encoded_as_far_as_the_budget_goes(monkeypatch):
    auction = small("auction")
    monkeypatch.setattr("whence.techniques.cause_tree.findings.FIRST_EVENTS", 30)
    findings = causes(auction.reader, auction.symptom, auction.recording, Options(budget=0.0))
    assert findings.parts["tree"]["encoded"] == 30
    assert any("among the last 30, for more there was no time" in line for line in findings.remarks)
    assert auction.built().built.encoded > 30


def interrupted(findings: Findings) -> bool:
    return findings.parts["tree"]["stopped"] and "interrupted: causes are missing" in findings.remarks


def test_an_interrupt_leaves_the_tree_so_far(monkeypatch):
    auction, asked = small("auction"), []

    def otherwise(self: Goals, event: int) -> Goal:
        asked.append(event)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return right(self, event)

    right = Goals.otherwise
    whole = causes(auction.reader, auction.symptom, auction.recording, Options()).parts["tree"]["nodes"]
    monkeypatch.setattr(Goals, "otherwise", otherwise)
    findings = causes(auction.reader, auction.symptom, auction.recording, Options())
    nodes = findings.parts["tree"]["nodes"]
    assert interrupted(findings) and 1 < len(nodes) < len(whole)
    assert [node["line"] for node in nodes] == [node["line"] for node in whole[: len(nodes)]]


def test_an_interrupt_while_much_is_encoded_leaves_the_root(monkeypatch):
    auction, calls = small("auction"), []

    def encode_later(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return encode(*arguments)

    monkeypatch.setattr("whence.techniques.cause_tree.findings.FIRST_EVENTS", 30)
    monkeypatch.setattr("whence.techniques.cause_tree.findings.encode", encode_later)
    findings = causes(auction.reader, auction.symptom, auction.recording, Options())
    assert interrupted(findings) and len(findings.parts["tree"]["nodes"]) == 1


def test_a_store_behind_a_block_is_a_cause_of_a_crash():
    text = (
        "#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv)\n{\n"
        "    int count = 3; /* COUNT */\n    long *table = malloc(count * sizeof *table);\n"
        "    long *other = malloc(64);\n    for (int i = 0; i <= 4; i++) /* LOOP */\n"
        "        table[i] = 7; /* STORE */\n    free(other); /* FREE */\n    abort();\n}\n"
    )
    program = failing(text)
    tree = program.built()
    marks = {program.line(mark) for mark in ("STORE", "COUNT", "LOOP")}
    assert program.symptom.kind == "crash" and marks <= tree.lines(tree.root)
    assert "behind the block of 24 bytes that line 6 made" in tree.explanation.goal(tree.root)


def test_where_the_heap_was_overwritten_no_size_and_no_valid_pointer_had_to_be_another():
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\nstruct entry { const char *key; int length; };\n"
        "int main(int argc, char **argv)\n{\n    int count = 6;\n"
        "    struct entry *list = malloc(count * sizeof(struct entry *)); /* SIZE */\n"
        "    for (int i = 0; i < count; i++)\n        list[i].key = argv[0], list[i].length = i; /* STORE */\n"
        "    char *line = malloc(100 + count); /* SYMPTOM */\n    puts(line ? list[0].key : argv[0]);\n"
        "    return 0;\n}\n"
    )
    program = failing(text)
    tree = program.built()
    assert program.symptom.kind == "crash" and program.symptom.statement.line == program.line("SYMPTOM")
    assert {program.line(mark) for mark in ("SIZE", "STORE")} <= tree.lines(tree.root)
    told = [tree.explanation.contradiction(tree.root), *(tree.explanation.goal(node) for node in tree.built.tree.nodes)]
    assert "line 7 made" in told[0] and not any("had to be another" in sentence for sentence in told)


def test_a_library_call_that_wrote_behind_a_block_is_told_first():
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        "int main(int argc, char **argv)\n{\n    char *name = malloc(24); /* SIZE */\n"
        "    memset(name, 'x', 40); /* WRITE */\n    char *line = malloc(200 + argc); /* SYMPTOM */\n"
        "    puts(line ? name : argv[0]);\n    return 0;\n}\n"
    )
    program = failing(text)
    tree = program.built()
    assert program.symptom.statement.line == program.line("SYMPTOM")
    assert "behind the block of 24 bytes that line 6 made" in tree.explanation.goal(tree.root)
    assert {program.line("SIZE"), program.line("WRITE")} <= tree.lines(tree.root)
