"""The static plan says of every site what it is, where its values come from, and who controls its block."""

from __future__ import annotations

import numpy as np
from snippets import Snippet, program, snippet

from whence.probe.layout import ACCESSES, Kind
from whence.probe.library import numbers
from whence.probe.plan import ADDRESS, CALLS, ENTRY, FIRST, FRAME, NO_CALLEE, OPAQUE, RETURNS, SAME_BLOCK, UNKNOWN
from whence.program.cfg import control_dependence

CODE = """
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <search.h>
static jmp_buf place;
int used(int n) { return n; }
int (*pointer)(int) = used;
int odd(int n) { return setjmp(place) + n; }
int main(int count, char **arguments) {
    int total = used(count) + pointer(2) + odd(3);
    if (count > 9)
        hcreate(3);
    return total + (int)strlen(arguments[0]) * 0;
}
"""


def made() -> Snippet:
    return snippet(CODE, "-fno-builtin")


def callees(made: Snippet) -> list[int]:
    sites = made.subject.plan.sites[:-1]
    return sites["callee"][sites["kind"] == Kind.CALL].tolist()


def test_callees_are_functions_library_functions_or_unknown():
    subject = made().subject
    functions = {ref.name: ref.id for ref in subject.program.functions}
    assert callees(made()) == [
        -2 - numbers()["_setjmp"] if "_setjmp" in numbers() else NO_CALLEE,
        functions["used"],
        NO_CALLEE,
        functions["odd"],
        NO_CALLEE,
        -2 - numbers()["strlen"],
    ]


def test_flags_of_segments():
    subject = made().subject
    plan, program = subject.plan, subject.program
    rows = plan.segments[:-1]
    entries = {program.functions[r["function"]].name: int(r["flags"]) for r in rows if r["flags"] & ENTRY}
    assert entries["used"] & (ADDRESS | FRAME) == ADDRESS
    assert entries["odd"] & (ADDRESS | FRAME) == FRAME
    assert entries["main"] & (ADDRESS | FRAME) == 0
    for row, after in zip(rows, plan.segments[1:], strict=True):
        kinds = plan.sites["kind"][row["site_start"] : after["site_start"]].tolist()
        assert bool(row["flags"] & CALLS) == (kinds[-1:] == [Kind.CALL])
        assert bool(row["flags"] & RETURNS) == (kinds[-1:] == [Kind.RET])
        assert bool(row["flags"] & ENTRY) <= bool(row["flags"] & FIRST)
    unknown = [(row["flags"] & UNKNOWN != 0, row["flags"] & OPAQUE != 0) for row in rows]
    before = [number for number, (named, _) in enumerate(unknown) if named]
    assert all(unknown[number + 1][1] for number in before)
    assert sum(opaque for _, opaque in unknown) == len(before) + 1  # and behind the call through a pointer


def test_accesses_repeat_the_sites_that_touch_memory():
    for name in ("structures", "variadic", "atomics"):
        plan = program(name).snippet.subject.plan
        rows = plan.segments[:-1]
        found = [
            int(row["site_start"] + access["site"])
            for row, after in zip(rows, plan.segments[1:], strict=True)
            for access in plan.accesses[row["access_start"] : after["access_start"]]
        ]
        assert found == np.flatnonzero(np.isin(plan.sites["kind"][:-1], list(ACCESSES))).tolist()
        assert plan.accesses["units"].tolist() == plan.sites["units"][found].tolist()


def test_controls_are_control_dependence_in_the_programs_numbers():
    subject = program("goto_into_loop").snippet.subject
    plan = subject.plan
    for ref in subject.program.functions:
        for number, parents in enumerate(control_dependence(ref.function), ref.first_block):
            start, end = plan.blocks["control_start"][number : number + 2]
            assert plan.controls["block"][start:end].tolist() == [ref.first_block + p for p in parents]


def test_references_within_a_block_go_backwards_and_name_a_site_of_it():
    for name in ("conditionals", "callbacks", "setjmp_same_function"):
        plan = program(name).snippet.subject.plan
        blocks = plan.segments["block"][plan.sites["segment"][:-1]]
        for site in range(len(plan.sites) - 1):
            for ref in plan.refs[plan.sites["ref_start"][site] : plan.sites["ref_start"][site + 1]]:
                if ref["outer"] == SAME_BLOCK:
                    assert ref["target"] < site
                    assert blocks[ref["target"]] == blocks[site]


def test_a_phi_refers_by_predecessor():
    plan = program("conditionals").snippet.subject.plan
    phis = np.flatnonzero(plan.sites["kind"] == Kind.PHI)
    refs = [plan.refs[plan.sites["ref_start"][p] : plan.sites["ref_start"][p + 1]] for p in phis]
    assert len(phis)
    assert all((r["pred"] >= 0).all() for r in refs)


def test_statics_of_equal_names_are_told_apart():
    subject = program("equal_statics").snippet.subject
    functions = subject.program.functions
    step = [ref.id for ref in functions if ref.name == "step"]
    calls = [c for c in callees(program("equal_statics").snippet) if c in step]
    assert len(step) == 3
    assert {functions[c].module for c in calls} == {0, 1, 2}


def test_bitwise_equal_plans_for_equal_programs():
    case = program("variadic").snippet
    again = snippet(case.files["variadic.c"])
    assert again is not case
    for left, right in zip(case.subject.plan, again.subject.plan, strict=True):
        assert (left == right).all()
