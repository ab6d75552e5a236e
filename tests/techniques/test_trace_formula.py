"""Correction sets: against brute force over what is dropped, known answers, right values, consistency."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from cause_trees import failing
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import SubjectError
from whence.formula.decide import Status
from whence.formula.encoder import Encoder
from whence.formula.rewriting import Rewriting
from whence.formula.smt import script
from whence.formula.terms import Terms
from whence.techniques.formula_based.consistency import Consistency
from whence.techniques.formula_based.correction_sets import Candidates, Groups, correction_sets
from whence.techniques.formula_based.correction_values import correction_values
from whence.techniques.formula_based.explanation import explain
from whence.techniques.formula_based.localisation import Options, search
from whence.techniques.formula_based.ranking import findings
from whence.techniques.formula_based.templates import Templates
from whence.techniques.formula_based.trace_formula import FailingRun, TraceFormula, branch_formula, symptom_formula

GROUPS = 6
CORES = st.lists(st.frozensets(st.integers(0, GROUPS - 1), min_size=1), max_size=6)

# The price of a parcel: two parts that are both wrong by the same constant, and one that cannot matter.
PARCEL = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]);
    int base = weight * 3; /* BASE */
    int extra = weight + 4; /* EXTRA */
    int unused = weight - 1; /* UNUSED */
    int price = base + extra; /* PRICE */
    printf("%d %d\\n", base, price); /* PRINT */
    return 0;
}
"""

# A discount from ten pieces on: the test asks for more than ten.
DISCOUNT = """\
#include <stdio.h>
#include <stdlib.h>
static int limit = 10;
int main(int argc, char **argv)
{
    int pieces = atoi(argv[1]);
    int percent = 0;
    int counted = pieces + 0; /* COUNTED */
    if (counted > limit) /* TEST */
        percent = 15; /* PERCENT */
    printf("%d\\n", percent * pieces); /* PRINT */
    return 0;
}
"""

# The rate is looked up by an index; the index is wrong.
TABLE = """\
#include <stdio.h>
#include <stdlib.h>
static const int rates[4] = {3, 5, 9, 20};
int main(int argc, char **argv)
{
    int zone = atoi(argv[1]);
    int index = zone - 1; /* INDEX */
    int rate = rates[index]; /* RATE */
    printf("%d\\n", rate); /* PRINT */
    return 0;
}
"""


# ---- Sets ------------------------------------------------------------------------------------------------------------


def by_cores(cores: list[Groups]):
    """A question whose formula can hold exactly if something of each core is dropped."""

    def question(dropped: Groups) -> tuple[Status, Groups]:
        missed = [core for core in cores if not core & dropped]
        return (Status.UNSATISFIABLE, missed[-1]) if missed else (Status.SATISFIABLE, frozenset())

    return question


def least(cores: list[Groups], size: int) -> set[Groups]:
    """All minimal sets of at most ``size`` groups that hit all cores, by trying."""
    every = [frozenset(s) for n in range(size + 1) for s in itertools.combinations(range(GROUPS), n)]
    hitting = [s for s in every if all(core & s for core in cores)]
    return {s for s in hitting if not any(other < s for other in hitting)}


@given(CORES, st.integers(1, 3))
def test_all_minimal_sets_are_found_smallest_first(cores, size):
    found = correction_sets(by_cores(cores), [0.0] * GROUPS, size)
    expected = least(cores, size)
    if frozenset() in expected:
        assert found.possible and not found.sets
        return
    assert set(found.sets) == expected and len(found.sets) == len(expected)
    assert [len(s) for s in found.sets] == sorted(len(s) for s in found.sets)


@given(CORES)
def test_every_minimal_hitting_set_is_among_the_candidates(cores):
    candidates, found = Candidates([0.0] * GROUPS, 3), set()
    for core in cores:
        candidates.hit(core)
    while (first := candidates.first()) is not None:
        found.add(first)
        candidates.leave(first)
    assert least(cores, 3) <= found and all(core & s for core in cores for s in found)


def test_lighter_sets_come_first():
    found = correction_sets(by_cores([frozenset({0, 1, 2})]), [0.9, 0.1, 0.5], 1)
    assert found.sets == [frozenset({1}), frozenset({2}), frozenset({0})]


def test_what_is_not_answered_is_named_and_goes_on():
    def question(dropped: Groups) -> tuple[Status, Groups]:
        if dropped == {0}:
            return Status.UNKNOWN, frozenset()
        return by_cores([frozenset({0, 1})])(dropped)

    found = correction_sets(question, [0.0] * 2, 2)
    assert (found.sets, found.undecided) == ([frozenset({1})], [frozenset({0})])


def test_a_deadline_ends_the_search():
    found = correction_sets(by_cores([frozenset({0, 1})]), [0.0] * 2, 2, deadline=0.0)
    assert found.stopped and not found.sets


# ---- Rewriting -------------------------------------------------------------------------------------------------------


def test_rewriting_replaces_symbols_and_folds():
    terms = Terms()
    x, y = terms.symbol(32), terms.symbol(32)
    both = terms.apply("add", 32, terms.apply("mul", 32, x, y), x)
    rewriting = Rewriting(terms)
    rewriting.put(x, terms.constant(3, 32))
    half = rewriting.of(both)
    assert list(terms.symbols([half])) == [y]
    rewriting = Rewriting(terms)
    rewriting.put(x, terms.constant(3, 32))
    rewriting.put(y, terms.constant(5, 32))
    assert terms.value(rewriting.of(both)) == 18


# ---- Formulas --------------------------------------------------------------------------------------------------------


class Small:
    """The formula of a small program's failing run."""

    def __init__(self, text: str, argument: str, stdout: str) -> None:
        self.failing = failing(text, argument, stdout=stdout)
        reader, recording = self.failing.reader, self.failing.recording
        encoder = Encoder(reader.trace.program, reader.trace.plan)
        self.run = FailingRun(reader, recording, self.failing.symptom, encoder)

    @property
    def formula(self) -> TraceFormula:
        return symptom_formula(self.run, 10.0)

    def lines(self, formula: TraceFormula, size: int = 2) -> list[set[int]]:
        """The correction sets as lines."""
        found = formula.sets(size, [0.0] * len(formula.statements))
        assert not found.undecided
        return [{formula.statements[group].line for group in groups} for groups in found.sets]

    def line(self, mark: str) -> int:
        return self.failing.line(mark)

    def texts(self, formula: TraceFormula) -> dict[int, str]:
        """What is told of each set of one statement."""
        found = formula.sets(1, [0.0] * len(formula.statements))
        return {
            formula.statements[next(iter(groups))].line: explain(
                self.failing.reader, correction_values(formula, groups)
            )
            for groups in found.sets
        }


def dropped_by_trying(formula: TraceFormula, size: int) -> list[set[int]]:
    """The minimal correction sets by asking about each set of statements."""
    groups = range(len(formula.statements))
    found: list[Groups] = []
    for count in range(1, size + 1):
        for some in map(frozenset, itertools.combinations(groups, count)):
            if not any(known <= some for known in found) and formula.question(some)[0] is Status.SATISFIABLE:
                found.append(some)
    return [{formula.statements[group].line for group in some} for some in found]


@pytest.mark.parametrize(
    ("text", "argument", "stdout"), [(PARCEL, "5", "15 30\n"), (PARCEL, "5", "14 24\n"), (TABLE, "1", "9\n")]
)
def test_sets_are_those_found_by_trying(text, argument, stdout):
    small = Small(text, argument, stdout)
    assert sorted(map(sorted, small.lines(small.formula))) == sorted(map(sorted, dropped_by_trying(small.formula, 2)))


def test_the_sets_of_a_wrong_sum():
    small = Small(PARCEL, "5", "15 30\n")
    found = small.lines(small.formula, 1)
    assert {min(lines) for lines in found} == {small.line("EXTRA"), small.line("PRICE")}
    texts = small.texts(small.formula)
    assert texts[small.line("EXTRA")] == "`extra` had to be 15 here, `weight + 4` gave 9"
    assert texts[small.line("PRICE")] == "`price` had to be 30 here, `base + extra` gave 24"
    assert small.line("UNUSED") not in texts


def test_a_wrong_index_is_among_the_sets():
    small = Small(TABLE, "1", "9\n")
    texts = small.texts(small.formula)
    assert texts[small.line("INDEX")] == "`index` had to be 2 here, `zone - 1` gave 0"
    assert texts[small.line("RATE")] == "`rate` had to be 9 here, `rates[index]` gave 3"


def test_reading_the_input_is_nobodys_fault():
    small = Small(PARCEL, "5", "15 30\n")
    assert small.line("weight = atoi") not in {s.line for s in small.formula.statements}


def test_a_branch_that_had_to_go_the_other_way():
    small = Small(DISCOUNT, "10", "150\n")
    branch = min(e for e in small.run.path.branches if small.failing.reader.statement(e).line == small.line("TEST"))
    formula = branch_formula(small.run, branch, 10.0)
    texts = small.texts(formula)
    assert texts[small.line("TEST")] == "`counted > limit` had to be true here"
    assert texts[small.line("COUNTED")].startswith("`counted` could have been ")


def test_a_formula_that_contradicts_its_run_is_set_aside():
    small = Small(PARCEL, "5", "15 30\n")
    formula = small.formula
    assert not formula.contradictions
    wrong = small.run.encoding.terms.constant(0, 1)
    formula.conditions.append(wrong)
    assert formula.contradictions == [wrong]
    assert script(small.run.encoding.terms, formula.conditions).endswith("(assert\n false)\n(check-sat)\n")


def consistency(text: str, runs: list[tuple[str, str]]) -> dict[int, bool | None]:
    """Of failing runs of one program, by line: whether new values can be a function of the operands."""
    smalls = [Small(text, argument, stdout) for argument, stdout in runs]
    reader = smalls[0].failing.reader
    encoder = Encoder(reader.trace.program, reader.trace.plan)
    failing_runs = [FailingRun(s.failing.reader, s.failing.recording, s.failing.symptom, encoder) for s in smalls]
    formulas = [symptom_formula(run, 10.0) for run in failing_runs]
    answer = Consistency(encoder.state.terms, [], 10.0)
    statements = {s for formula in formulas for s in formula.statements}
    return {s.line: answer.function(s, formulas).level == 2 for s in statements}


def test_equal_operands_cannot_have_two_values():
    # 5 gives 24 now; it cannot have to be 30 and 31.
    found = consistency(PARCEL, [("5", "15 30\n"), ("5", "15 31\n")])
    assert set(found.values()) == {False}
    found = consistency(PARCEL, [("5", "15 30\n"), ("6", "18 31\n")])
    assert found[7] and found[9]


def repairs(runs: list[tuple[str, str]]) -> dict[int, list[str]]:
    """The templates that repair all failing runs of PARCEL, by line."""
    smalls = [Small(PARCEL, argument, stdout) for argument, stdout in runs]
    encoder = Encoder(smalls[0].failing.reader.trace.program, smalls[0].failing.reader.trace.plan)
    made = [FailingRun(s.failing.reader, s.failing.recording, s.failing.symptom, encoder) for s in smalls]
    formulas = [symptom_formula(run, 10.0) for run in made]
    templates = Templates(encoder.state.terms, [], 10.0)
    return {s.line: templates.repairs(s, formulas) for s in formulas[0].statements}


def test_one_constant_has_to_repair_all_runs():
    found = repairs([("5", "15 30\n"), ("6", "18 34\n")])
    assert found == {6: [], 7: ["the value + 6"], 9: ["the value + 6"]}
    assert repairs([("5", "15 30\n"), ("6", "18 35\n")]) == {6: [], 7: [], 9: []}


def test_another_operation_has_to_repair_all_runs():
    found = repairs([("5", "15 6\n"), ("6", "18 8\n")])  # a difference in place of the sum
    assert found[9] == ["`-` as the operation"]


def test_another_comparison_repairs_a_branch():
    small = Small(DISCOUNT, "10", "150\n")
    branch = min(e for e in small.run.path.branches if small.failing.reader.statement(e).line == small.line("TEST"))
    formula = branch_formula(small.run, branch, 10.0)
    templates = Templates(small.run.encoding.terms, [], 10.0)
    statement = next(s for s in formula.statements if s.line == small.line("TEST"))
    found = templates.repairs(statement, [formula])
    assert found == ["another comparison of the same values", "a side of the comparison + 1"]


def test_the_findings_hold_all_sets_with_what_is_known():
    small = Small(PARCEL, "5", "15 30\n")
    found = findings("parcel", search([small.run], [], {}, None, Options()), [])
    assert {e.statement.line for e in found.ranking} >= {small.line("EXTRA"), small.line("PRICE")}
    first = next(d for d in found.parts["diagnoses"] if d["statements"][0]["line"] == small.line("EXTRA"))
    assert first["values"] == [{"name": "extra", "was": "9", "right": "15", "only": True, "clock": 0}]
    assert (first["way"], first["switched"], first["consistent"], first["confirmed"]) == ("path", None, True, None)


def test_where_nothing_is_found_the_summary_says_what_that_means():
    small = Small(PARCEL, "5", "15 30\n")
    found = search([small.run], [], {}, None, Options())
    one, other, *_ = found.diagnoses
    together = replace(one, statements=(*one.statements, *other.statements))

    def told(**changed: object) -> str:
        return findings("parcel", replace(found, **changed), []).summary[0]

    assert told(diagnoses=[]).startswith("formulas of 1 failing run name no statement: neither one nor a few together")
    assert "rules out none: not every question was answered in time; compared" in told(diagnoses=[], stopped=True)
    assert told(diagnoses=[], runs=[]).startswith("no formula of a failing run could be made; ")
    assert told(diagnoses=[together]).startswith("no statement can make a run right alone; 1 correction set of 1 ")


def test_without_a_place_there_is_no_formula():
    small = Small(PARCEL, "5", "15 30\n")
    reader, recording = small.failing.reader, small.failing.recording
    symptom = type(small.failing.symptom)("wrong-output", "nowhere")
    with pytest.raises(SubjectError, match="no place"):
        FailingRun(reader, recording, symptom, Encoder(reader.trace.program, reader.trace.plan))


# A price with a discount that is wrong; what is printed is rounded.
SALE = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int count = atoi(argv[1]);
    double discount = 0.5; /* DISCOUNT */
    double price = count * 0.7; /* PRICE */
    price = price * (1 - discount); /* REDUCED */
    printf("%.2f\\n", price);
    return 0;
}
"""


def test_a_printed_double_has_a_right_value():
    small = Small(SALE, "9", "5.98\n")
    (aim,) = small.run.aims
    assert aim.text.endswith("had to be 5.98")
    texts = small.texts(small.formula)
    assert texts[small.line("DISCOUNT")] == "`discount` could have been 0.05 here, it was 0.5"
    assert small.line("PRICE") in texts and small.line("REDUCED") in texts


def test_a_value_with_which_the_run_fails_all_the_same_is_told_as_such_and_another_case_by_its_name():
    small = Small(SALE, "9", "5.98\n")
    found = search([small.run], [], {}, None, Options())

    def told(confirmed: bool | None, *others: FailingRun) -> str:
        diagnoses = [replace(diagnosis, confirmed=confirmed) for diagnosis in found.diagnoses]
        repairs = {statement: ["the value - 1"] for diagnosis in diagnoses for statement in diagnosis.statements}
        known = replace(found, runs=[*others, small.run], diagnoses=diagnoses, repairs=repairs)
        joined = findings("sale", known, [])
        texts = (e.evidence["text"] for e in joined.ranking if e.statement.line == small.line("DISCOUNT"))
        text, _, repair = next(texts).partition(";")
        assert repair.startswith(" would make 1 of ") is (confirmed is not False)
        return text

    plain = "`discount` could have been 0.05 here, it was 0.5"
    assert told(None) == told(True) == plain
    assert told(False) == f"{plain} (with that alone it still fails)"
    other = Small(SALE, "8", "5.32\n").run
    assert told(None, other) == f"in the case `{small.run.recording.case.name}` {plain}"


@pytest.mark.parametrize("text", ["inf\n", "nan\n"])
def test_what_is_no_plain_number_tells_no_right_value(text):
    (aim,) = Small(SALE, "9", text).run.aims
    assert "had to be" in aim.text and "another" in aim.text


# Three times no number is 10, but for one that overflows.
TRIPLE = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]) + 1; /* WEIGHT */
    printf("%d\\n", weight * 3); /* PRICE */
    return 0;
}
"""


def test_a_value_that_only_an_overflow_makes_right_is_not_told():
    small = Small(TRIPLE, "2", "10\n")
    assert small.texts(small.formula)[small.line("WEIGHT")] == (
        "`weight` had to be another value here, `atoi(argv[1]) + 1` gave 3"
    )
    right = Small(TRIPLE, "2", "12\n")
    assert right.texts(right.formula)[right.line("WEIGHT")].startswith("`weight` had to be 4 here, ")


# A list that ends one element too early.
CHAIN = """\
#include <stdio.h>
#include <stdlib.h>
struct cell { int number; struct cell *next; };
static struct cell cells[3] = {{1, NULL}, {2, NULL}, {3, NULL}};
int main(int argc, char **argv)
{
    struct cell *at = atoi(argv[1]) > 2 ? NULL : &cells[0]; /* AT */
    printf("%d\\n", at->number);
    return 0;
}
"""


def test_a_pointer_had_to_be_another_one_whatever_that_is():
    small = Small(CHAIN, "3", "1\n")
    texts = small.texts(small.formula)
    assert texts[small.line("AT")].startswith("`at` had to be another pointer here, ")
