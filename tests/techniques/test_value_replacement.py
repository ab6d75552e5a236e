"""Value Replacement on tiny programs whose pairs are known by hand, and the search against a twin of figure 4.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_readers import subject_of

from whence.alter.changes import EVENT, NOWHERE, RESULT, Observed, Results, Verdict
from whence.alter.profile import Profile
from whence.alter.streams import Request
from whence.alter.work import Work
from whence.errors import SubjectError
from whence.findings import Findings
from whence.probe.sites import Form, Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.runs import coverage, run_all
from whence.subject.subject import with_cases
from whence.techniques.value_replacement.mapping_pairs import Search, Searched, Settings
from whence.techniques.value_replacement.ranking import KINDS, search, values, what_was_found, what_was_searched
from whence.techniques.value_replacement.targets import Plan, Target
from whence.techniques.value_replacement.weights import weighed


@dataclass
class Tried:
    """A program with what the search of its failing cases found."""

    text: str
    searched: Searched
    findings: Findings

    def line(self, part: str) -> int:
        return next(n for n, source in enumerate(self.text.splitlines(), 1) if part in source)

    def pairs(self, part: str) -> list[dict[str, Any]]:
        """The pairs on the line that holds ``part``."""
        return [pair for pair in self.findings.parts["pairs"] if pair["line"] == self.line(part)]

    def found(self, part: str) -> list[tuple[str, str, str]]:
        """Name, original and alternate of the exact pairs there."""
        return [(p["name"], p["original"], p["alternate"]) for p in self.pairs(part) if not p["relaxed"]]

    def entry(self, part: str) -> Any:
        return next(e for e in self.findings.ranking if e.statement.line == self.line(part))

    @property
    def lines(self) -> set[int]:
        return {pair["line"] for pair in self.findings.parts["pairs"] if not pair["relaxed"]}


def tried(
    text: str,
    right: Mapping[str, str],
    settings: Settings | None = None,
    ties: str | None = None,
    plain: bool = False,
) -> Tried:
    """Search a program; ``right`` maps arguments to the right output."""
    return _tried(text, tuple(right.items()), settings or Settings(), ties, plain)


@cache
def _tried(text: str, right: tuple[tuple[str, str], ...], settings: Settings, ties: str | None, plain: bool) -> Tried:
    cases = [Case(words, tuple(words.split()), expected=Expected(out.encode())) for words, out in right]
    subject = with_cases(subject_of(text), cases)
    runs = run_all(subject)
    assert not runs.left_out
    failing = [runs.tested[row].case for row in runs.failing]
    passing = [runs.tested[row].case for row in runs.passing]
    with Work(subject, workers=1, fresh=True) as work:
        searched = search(subject, failing, passing, work, settings)
        return Tried(text, searched, values(subject, searched, coverage(subject, runs), ties, plain))


HEAD = "#include <stdio.h>\n#include <stdlib.h>\n"

# The tenth ticket is to be cheap as well.
TICKETS = (
    HEAD
    + """\
int main(int argc, char **argv)
{
    int tickets = atoi(argv[1]);
    int price = 3;
    if (tickets < 10)
        price = 5;
    printf("%d\\n", price);
    return 0;
}
"""
)
TICKETS_RIGHT = {"10": "5\n", "4": "5\n", "30": "3\n"}


def test_a_wrong_comparison() -> None:
    found = tried(TICKETS, TICKETS_RIGHT)
    assert set(found.found("if (tickets")) == {("the condition tickets < 10", "false", "true"), ("tickets", "10", "4")}
    assert ("tickets", "10", "4") in found.found("int tickets")
    assert ("price", "3", "5") not in found.found("int price")  # that store has had no other value
    assert ("price", "3", "5") in found.found("printf")
    assert found.lines == {found.line(part) for part in ("int tickets", "if (tickets", "printf")}
    ranks = {e.statement.line: (e.rank, e.rank_worst) for e in found.findings.ranking}
    assert ranks[found.line("if (tickets")] == (1, 1)  # which the other outcome of a branch mends
    assert ranks[found.line("printf")] == (2, 2) and ranks[found.line("int tickets")] == (3, 3)  # what `atoi` gives
    equal = {
        e.statement.line: (e.rank, e.rank_worst) for e in tried(TICKETS, TICKETS_RIGHT, ties="op2").findings.ranking
    }
    assert equal[found.line("int tickets")] == equal[found.line("printf")] == (2, 3)
    assert {e.statement.line for e in found.findings.ranking if e.evidence["branches"]} == {found.line("if (tickets")}


def test_the_sentence_has_the_values() -> None:
    entry = tried(TICKETS, TICKETS_RIGHT).entry("if (tickets")
    start = "line 7: with the condition `tickets < 10` true instead of false the output is right; executed by"
    assert entry.evidence["text"].startswith(start)
    assert (entry.evidence["pairs"], entry.evidence["searched"]) == (1, 1)


# Speeds above 40 are to be charged, not only those above 50.
SPEEDS = (
    HEAD
    + """\
int main(int argc, char **argv)
{
    int limit = 50;
    int speed = atoi(argv[1]);
    if (speed > limit)
        printf("charge\\n");
    else
        printf("fine\\n");
    return 0;
}
"""
)
SPEEDS_RIGHT = {"45": "charge\n", "60": "charge\n", "20": "fine\n"}


def test_a_wrong_constant_has_its_pair_where_it_is_used() -> None:
    """Section 2.2.2: a constant has no alternates."""
    found = tried(SPEEDS, SPEEDS_RIGHT)
    assert found.found("int limit") == []
    assert ("speed", "45", "60") in found.found("if (speed")


def test_neighbours_give_a_constant_alternates() -> None:
    found = tried(SPEEDS, SPEEDS_RIGHT, Settings(neighbours=True))
    assert found.found("int limit") == [("limit", "50", "0")]


# Debts are to stay as they are: `if (y < 0) return x;` is missing.
LEDGER = (
    HEAD
    + """\
static int grown(int x, int y)
{
    if (y == 0)
        return 0;
    return x + 1;
}
int main(int argc, char **argv)
{
    printf("%d\\n", grown(atoi(argv[1]), atoi(argv[2])));
    return 0;
}
"""
)


def test_missing_code_has_its_pair_nearby() -> None:
    found = tried(LEDGER, {"5 -1": "5\n", "7 7": "8\n", "4 2": "5\n"})
    assert ("x", "5", "4") in found.found("return x + 1")


# The fee is to be taken away.
BALANCE = (
    HEAD
    + """\
int main(int argc, char **argv)
{
    int paid = atoi(argv[1]), fee = atoi(argv[2]);
    int left = paid + fee;
    printf("%d\\n", left);
    return 0;
}
"""
)
BALANCE_RIGHT = {"5 5": "0\n", "20 4": "16\n", "0 0": "0\n", "7 0": "7\n"}  # the first two fail


def test_two_failing_runs_of_which_one_has_a_pair() -> None:
    found = tried(BALANCE, BALANCE_RIGHT)
    assert [p["case"] for p in found.pairs("int left")] == ["5 5"]
    evidence = found.entry("int left").evidence
    assert (evidence["pairs"], evidence["searched"], evidence["consistent"]) == (1, 2, False)
    assert "1 of 2 failing runs have such a pair" in evidence["text"]
    assert any("1 of 2 failing runs have none" in line for line in found.findings.summary)


def test_the_same_change_in_all_failing_runs_is_consistent() -> None:
    """Every fee of 3 is to be 2: the same difference mends both runs, and 2 is a value of the profile."""
    text = BALANCE.replace("paid + fee", "paid + (fee > 2 ? 3 : fee)")
    found = tried(text, {"5 3": "7\n", "9 4": "11\n", "0 2": "2\n", "3 0": "3\n", "7 0": "7\n", "11 0": "11\n"})
    evidence = found.entry("int left").evidence
    assert evidence["pairs"] == 2 and evidence["same_change"] == 2 and evidence["consistent"]


# A kind of 2 is to have the lower factor, as 3 has.
FACTORS = (
    HEAD
    + """\
static double scaled(double base, int kind)
{
    double factor = 1.5;
    if (kind > 2)
        factor = 1.25;
    return base * factor;
}
int main(int argc, char **argv)
{
    int kind = atoi(argv[2]);
    double base = atof(argv[1]);
    printf("%.3f\\n", scaled(base, kind));
    printf("%.3f\\n", scaled(base + 1, kind));
    return 0;
}
"""
)
FACTORS_RIGHT = {"2 2": "2.500\n3.750\n", "4 3": "5.000\n6.250\n", "8 1": "12.000\n13.500\n"}


def test_a_pair_that_corrects_the_first_wrong_line_is_relaxed() -> None:
    found = tried(FACTORS, FACTORS_RIGHT)
    at_fault = [p for p in found.pairs("if (kind") if p["name"] == "the condition kind > 2"]
    assert [(p["relaxed"], p["occurrence"], p["instances"]) for p in at_fault] == [(True, 1, 2)]
    assert ("kind", "2", "3") in found.found("int kind =")
    entry = found.entry("if (kind")
    assert (entry.evidence["pairs"], entry.evidence["relaxed"]) == (0, 1)
    assert "(1st of 2 times) the first wrong line of the output is right" in entry.evidence["text"]
    first, second = found.entry("int kind ="), found.entry("double base =")
    assert first.rank < entry.rank < second.rank or second.evidence["relaxed"]


def test_relaxed_pairs_count_less_than_exact_ones() -> None:
    alike = dict.fromkeys(("same_change", *KINDS), 0) | {"failing": 1, "passing": 1}
    exact, relaxed = ({**alike, "pairs": one, "relaxed": 1 - one, "used": one} for one in (1, 0))
    assert weighed(exact, 1, 1, 1) > weighed(relaxed, 1, 1, 1) > weighed({**relaxed, "relaxed": 0}, 1, 1, 1)
    found = tried(FACTORS, FACTORS_RIGHT, ties="op2")
    for entry in found.findings.ranking:
        whole = entry.evidence["pairs"] + 0.5 * entry.evidence["relaxed"]
        assert whole <= entry.score < whole + 0.5


# Nothing but addresses and what is the same in all cases leads to the output.
WORDS = (
    HEAD
    + """\
int main(int argc, char **argv)
{
    const char *word = "left";
    puts(word);
    return 0;
}
"""
)


def test_without_pairs_the_ranking_is_that_of_the_ties_and_it_says_why() -> None:
    for ties in ("tarantula", "op2"):
        found = tried(WORDS, {"1": "right\n", "2": "left\n"}, ties=ties)
        assert found.searched.pairs.size == 0 and found.findings.parts["pairs"] == []
        assert {e.evidence["pairs"] for e in found.findings.ranking} == {0}
        (why,) = [line for line in found.findings.remarks if "of itself `whence values` ranks as" in line]
        assert f"ranks as {ties} does" in why and "addresses" in why and "the same in all cases" in why
        assert found.searched.pointers > 0 and found.searched.lonely > 0


def test_a_search_that_came_to_no_run_says_so_and_nothing_of_values() -> None:
    assert what_was_found(Searched([])) == "no failing run was searched for pairs: the time was up"
    assert what_was_searched(Searched([])) == []


def order_of(entry: Any, plain: bool) -> tuple[float, ...]:
    """What ranks an entry."""
    notes = entry.evidence
    if plain:
        return notes["pairs"], 0.0, notes["suspiciousness"]
    runs = notes["pairs"] + 0.5 * notes["relaxed"]
    return runs, notes["same_change"], notes["branches"], notes["suspiciousness"]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("ties", ["tarantula", "op2"])
def test_the_ranking_is_by_runs_then_the_same_change_then_branches_then_the_formula(ties: str, plain: bool) -> None:
    for text, right in ((BALANCE, BALANCE_RIGHT), (FACTORS, FACTORS_RIGHT), (TICKETS, TICKETS_RIGHT)):
        ranking = tried(text, right, ties=ties, plain=plain).findings.ranking
        keys = [order_of(entry, plain) for entry in ranking]
        assert keys == sorted(keys, reverse=True)
        for entry, key in zip(ranking, keys, strict=True):
            assert (entry.rank, entry.rank_worst) == (keys.index(key) + 1, len(keys) - keys[::-1].index(key))


def test_without_a_formula_statements_are_weighed_and_the_sources_own_orders_its_plain_ranking() -> None:
    for plain, formula in ((False, "op2"), (True, "tarantula")):
        mine, other = (tried(TICKETS, TICKETS_RIGHT, ties=ties, plain=plain) for ties in (None, formula))
        assert {str(e.evidence) for e in mine.findings.ranking} == {str(e.evidence) for e in other.findings.ranking}
        ranked = [[e.statement for e in found.findings.ranking] for found in (mine, other)]
        assert (ranked[0] == ranked[1]) == plain


@pytest.mark.parametrize(("text", "right"), [(TICKETS, TICKETS_RIGHT), (SPEEDS, SPEEDS_RIGHT)])
def test_the_reduced_search_finds_the_statements_of_the_full_one(text: str, right: dict[str, str]) -> None:
    low, high = min(right, key=int), max(right, key=int)
    more = {str(int(low) - n): right[low] for n in range(3)} | {str(int(high) + n): right[high] for n in range(5)}
    reduced, full = tried(text, right | more), tried(text, right | more, Settings(full=True))
    assert reduced.lines == full.lines
    assert reduced.searched.altered < full.searched.altered <= full.searched.possible
    assert reduced.searched.possible == full.searched.possible


def test_the_full_search_finds_what_lies_between_the_spanning_values() -> None:
    right = {"20 4": "16\n", "0 0": "0\n", "16 0": "16\n", "18 0": "18\n", "90 0": "90\n"}
    assert ("left", "24", "16") not in tried(BALANCE, right).found("int left")
    assert ("left", "24", "16") in tried(BALANCE, right, Settings(full=True)).found("int left")


# The product is meant, not the sum: only another pair of width and height can mend the print.
AREAS = (
    HEAD
    + """\
int main(int argc, char **argv)
{
    int wide = atoi(argv[1]), high = atoi(argv[2]);
    printf("%d\\n", wide + high);
    return 0;
}
"""
)
AREAS_RIGHT = {"3 3": "9\n", "4 5": "20\n", "2 2": "4\n", "0 0": "0\n"}


def test_whole_sets_of_values() -> None:
    """Definition 2: all values of the statement's instance change at once."""
    assert tried(AREAS, AREAS_RIGHT).found("printf") == []
    for full in (False, True):
        found = tried(AREAS, AREAS_RIGHT, Settings(sets=True, full=full))
        (pair,) = [p for p in found.pairs("printf") if p["case"] == "3 3"]
        changes = [pair, *pair["further"]]
        named = [(c["name"], c["original"], c["alternate"]) for c in changes]
        assert named[:2] == [("wide", "3", "4"), ("high", "3", "5")]
        assert "with `wide` 4 instead of 3, `high` 5 instead of 3" in found.entry("printf").evidence["text"]


# The first line is wrong for 10; what follows takes long, and nothing there can take it back.
LATER = TICKETS.replace(
    "    return 0;",
    """    int sum = 0;
    for (int i = 0; i < tickets; i++)
        sum += helper(i);
    printf("%d\\n", sum);
    return 0;""",
).replace("int main", "static int helper(int i) { return 2 * i; }\nint main")
LATER_RIGHT = {"10": "5\n90\n", "4": "5\n12\n", "30": "3\n870\n"}


def test_what_comes_after_the_first_wrong_output_is_left_out() -> None:
    found = tried(LATER, LATER_RIGHT)
    (target,) = found.searched.targets
    late = {found.searched.targets[0].plan.sites["instruction"][site] for site in target.sites[target.late].tolist()}
    assert len(target.late) > 30 and late
    lines = {target.statements[event] for event in target.late.tolist()}
    assert not lines & set(found.searched.pairs["statement"].tolist())
    assert found.lines == {found.line(part) for part in ("if (tickets", '"%d\\n", price')}  # other tickets, other sum
    assert any("behind the first wrong output" in line for line in found.findings.remarks)


def test_calls_inside_the_block_that_printed_are_not_late() -> None:
    """The call of `five` stands in the block that prints, and its own blocks have later clocks than that."""
    text = HEAD + (
        "static int five(int n) { if (n < 10) return 5; return 3; }\n"
        "int main(int argc, char **argv)\n{\n    int n = atoi(argv[1]);\n"
        '    printf("%d\\n", five(n));\n    printf("%d\\n", n);\n    return 0;\n}\n'
    )
    found = tried(text, {"10": "5\n10\n", "4": "5\n4\n", "30": "3\n30\n"})
    assert ("the condition n < 10", "false", "true") in found.found("five(int n)")
    assert len(found.searched.targets[0].late) > 0


def test_a_case_that_passes_when_it_is_observed_is_an_error() -> None:
    cases = [Case("4", ("4",), expected=Expected(b"5\n"))]
    subject = with_cases(subject_of(TICKETS), cases)
    with Work(subject, workers=1, fresh=True) as work, pytest.raises(SubjectError, match="no failing run can be"):
        search(subject, cases, [], work)


# ---- Against a twin --------------------------------------------------------------------------------------------------

ROLES = (Role.STORE, Role.LOAD, Role.BRANCH, Role.ARGUMENT, Role.COMPARE)


class Nothing:
    """No instance has the effect of another one."""

    def leaders(self, events: Any) -> Any:
        return np.arange(len(events))


@dataclass
class Oracle:
    """Stands in for the work: a change mends its run if it is listed."""

    mends: Mapping[tuple[int, int, int], int]  # clock, site and value: 1 passes, 2 corrects the first wrong line
    asked: list[tuple[str, int, int, int]] = field(default_factory=list)
    stopped: str = ""

    def run(self, requests: Sequence[Request]) -> list[Results]:
        return [self._run(request) for request in requests]

    def _run(self, request: Request) -> Results:
        records = np.zeros(len(request.batch), RESULT)
        for record, change in zip(records, request.batch.changes, strict=True):
            key = (int(change["clock"]), int(change["site"]), int(change["value"]))
            self.asked.append((request.case.name, *key))
            kind = self.mends.get(key, 0)
            record["verdict"] = Verdict.PASS if kind == 1 else Verdict.WRONG_OUTPUT
            record["first_wrong"] = NOWHERE if kind == 1 else 9 if kind == 2 else 0
        return Results(records)


@st.composite
def worlds(draw: Any) -> Any:
    """Sites of a few statements, some runs (lists of site and value), and which changes mend them."""
    sites = draw(
        st.lists(st.tuples(st.integers(-1, 3), st.sampled_from(ROLES), st.integers(0, 1)), min_size=1, max_size=6)
    )
    event = st.tuples(st.integers(0, len(sites) - 1), st.integers(0, 5))
    runs = draw(st.lists(st.lists(event, max_size=15), min_size=1, max_size=3))
    key = st.tuples(st.integers(0, 14), st.integers(0, len(sites) - 1), st.integers(0, 5))
    return sites, runs, draw(st.dictionaries(key, st.integers(1, 2), max_size=25))


def plan_of(sites: list[tuple[int, Role, int]]) -> Plan:
    """A plan of 32-bit sites: statement, role, and whether an argument is a constant."""
    names = ["role", "form", "width", "constant", "block"]
    table = np.array([(r, Form.INTEGER, 32, c, 0) for _, r, c in sites], [(n, "u1") for n in names])
    return Plan(table, np.array([s for s, _, _ in sites], np.int32), Nothing())  # type: ignore[arg-type]


def target_of(plan: Plan, number: int, run: list[tuple[int, int]]) -> Target:
    events = np.array([(clock, value, site, 0) for clock, (site, value) in enumerate(run)], EVENT)
    result = np.zeros((), RESULT)
    result["length"], result["verdict"] = len(run), Verdict.WRONG_OUTPUT
    case = Case(str(number), expected=Expected(b"one\ntwo\nthree\n"))
    return Target(plan, case, Observed(events, result, False))


def twin(plan: Plan, runs: list[list[tuple[int, int]]], mends: Any, prunes: bool, full: bool) -> list[set[int]]:
    """Figure 4.2 (without pruning: its lines 15 and 16 left out), or figure 2.2, one replacement after the other."""
    seen: dict[int, set[int]] = {}
    for run in runs:
        for site, value in run:
            seen.setdefault(site, set()).add(value)
    found: list[set[int]] = []
    working = {int(plan.statements[site]) for site, _ in runs[0] if plan.is_searched[site]}
    for run in runs:
        mended: set[int] = set()
        for clock, (site, value) in enumerate(run):
            statement = int(plan.statements[site])
            if not plan.is_searched[site] or (prunes and not full and statement not in working):
                continue
            others = sorted(seen[site] - {value})
            sides = [o for o in others if o < value], [o for o in others if o > value]
            chosen = others if full else {pick(side) for side in sides if side for pick in (min, max)}
            if any(mends.get((clock, site, other)) == 1 for other in chosen):
                mended.add(statement)
        found.append(mended)
        if mended:
            working &= mended
    return found


@given(worlds(), st.booleans(), st.booleans())
def test_the_search_finds_what_the_twin_finds(world: Any, prunes: bool, full: bool) -> None:
    sites, runs, mends = world
    plan = plan_of(sites)
    runs = sorted(runs, key=len)
    targets = [target_of(plan, number, run) for number, run in enumerate(runs)]
    profile = Profile.of(plan.sites, [target.events for target in targets])
    oracle = Oracle(mends)
    done = Search(targets, profile, oracle, Settings(prunes=prunes, full=full)).run()
    assert [done.statements(run) for run in range(len(runs))] == twin(plan, runs, mends, prunes, full)
    assert done.altered == len(oracle.asked) <= done.candidates
    for pair in done.pairs:
        event = targets[pair["run"]].events[pair["event"]]
        kind = mends[int(event["clock"]), int(event["site"]), int(pair["alternate"])]
        assert kind == (2 if pair["relaxed"] else 1)
        assert pair["statement"] == plan.statements[event["site"]] >= 0


@given(worlds())
def test_no_change_is_asked_for_twice_in_a_round_and_full_asks_for_all(world: Any) -> None:
    sites, runs, mends = world
    plan = plan_of(sites)
    targets = [target_of(plan, number, run) for number, run in enumerate(runs[:1])]
    profile = Profile.of(plan.sites, [target.events for target in targets])
    oracle = Oracle(mends)
    done = Search(targets, profile, oracle, Settings(full=True)).run()
    assert len(set(oracle.asked)) == len(oracle.asked) == done.possible


@given(worlds())
def test_rounds_hold_every_searched_event_once(world: Any) -> None:
    sites, runs, _ = world
    for run in runs:
        target = target_of(plan_of(sites), 0, run)
        rounds = list(target.rounds())
        assert sorted(np.concatenate(rounds).tolist()) == target.searched.tolist()
        for number, events in enumerate(rounds):
            last, first = (target.instances - target.occurrence)[events], target.occurrence[events] - 1
            places = [min(2 * e, 2 * s + 1) for e, s in zip(last.tolist(), first.tolist(), strict=True)]
            assert all(place.bit_length() == number for place in places)
            defining = target.plan.is_defining[target.sites[events]].tolist()
            assert defining == sorted(defining, reverse=True)


@given(worlds(), st.integers(0, 12))
def test_what_is_before_a_departure_comes_rounds_later(world: Any, departure: int) -> None:
    sites, runs, _ = world
    for number, run in enumerate(runs):
        plain = target_of(plan_of(sites), number, run)
        target = Target(plain.plan, plain.case, plain.observed, departure=departure)
        rounds = list(target.rounds())
        assert sorted(np.concatenate(rounds).tolist()) == target.searched.tolist()
        for turn, events in enumerate(rounds):
            leaders = target.leader[events]
            clocks = target.events["clock"]
            for leader in leaders.tolist():
                is_early = bool(clocks[leader] < departure)
                alike = np.flatnonzero((target.sites == target.sites[leader]) & ((clocks < departure) == is_early))
                place = int(np.searchsorted(alike, leader))
                expected = min(2 * (len(alike) - 1 - place), 2 * place + 1).bit_length() + 4 * is_early
                assert turn == expected


def test_a_stopped_search_keeps_what_it_has() -> None:
    plan = plan_of([(0, Role.STORE, 0), (1, Role.STORE, 0)])
    target = target_of(plan, 0, [(0, 1), (1, 1), (0, 2), (1, 2)])
    profile = Profile.of(plan.sites, [target.events])
    oracle = SimpleNamespace(stopped="", run=None)

    def run(requests: Sequence[Request]) -> list[Results]:
        oracle.stopped = "budget"
        return Oracle({(2, 0, 1): 1}).run(requests)

    oracle.run = run
    done = Search([target], profile, oracle, Settings()).run()
    assert done.statements(0) == {0} and done.altered == 2
