"""Instances with the same effect: who leads whom, and that altered runs agree."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from snippets import snippet

from whence.alter.changes import Batch, Observed
from whence.alter.describe import Describer
from whence.alter.profile import Profile
from whence.alter.session import Session
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.techniques.value_replacement.targets import Plan, Target

CODE = """\
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static int total;
static int half(int n)
{
    if (n % 2)
        return -1;
    int h = n / 2;
    return h;
}
static int (*chosen)(int) = half;
static int depth(int n)
{
    int d = n > 0 ? depth(n - 1) : 0;
    return d + 1;
}
static int kept(int n)
{
    total = n;
    return total;
}
static void fill(int *to, int n) { *to = n; }
static int jumps(int n)
{
    jmp_buf place;
    int tries = n;
    if (setjmp(place) == 0 && tries > 0)
        longjmp(place, 1);
    return tries;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), out = 0, seen;
    int a = half(n);
    if (a > 3)
        out = a;
    for (int i = 0; i < 3; i++)
        out += chosen(i);
    seen = out;
    fill(&seen, seen + 1);
    out += depth(seen % 4) + kept(n) + total + jumps(argc);
    printf("%d %d\\n", out, half(seen));
    return 0;
}
"""
CASE = Case("case", ("10",), expected=Expected(b""))


class Seen:
    """One observed run of the program, with what may be asked of it."""

    def __init__(self) -> None:
        subject = snippet(CODE).subject
        self.describer = Describer(subject)
        with Session(subject, CASE) as session:
            observed: Observed = session.observe()
        self.target = Target(Plan.of(subject), CASE, observed)
        self.subject = subject

    def find(self, text: str, role: Role, what: str, occurrence: int = 0) -> int:
        """The event of a site on the line that holds ``text``."""
        line = next(n for n, source in enumerate(CODE.splitlines(), 1) if text in source)
        sites = self.describer.sites
        wanted = [
            s
            for s in range(len(sites))
            if sites[s]["role"] == role and self.describer.what(s) == what and self.line(s) == line
        ]
        return int(np.flatnonzero(np.isin(self.target.sites, wanted))[occurrence])

    def line(self, site: int) -> int:
        location = self.subject.program.location(int(self.describer.sites[site]["instruction"]))
        return location.line if location else 0

    def leader(self, event: int) -> int:
        return int(self.target.leader[event])


@cache
def seen() -> Seen:
    return Seen()


def test_a_value_that_is_returned_stored_and_tested_is_one() -> None:
    store = seen().find("int h = n / 2", Role.STORE, "h")
    returned = seen().find("return h", Role.STORE, "what is returned by half()")
    result = seen().find("int a = half", Role.RESULT, "the result of half()")
    kept = seen().find("int a = half", Role.STORE, "a")
    tested = seen().find("if (a > 3)", Role.LOAD, "a")
    assert seen().leader(seen().find("return h", Role.LOAD, "h")) == store
    assert seen().leader(returned) == returned  # the load before it changes h, too
    assert {seen().leader(e) for e in (result, kept, tested)} == {returned}


def test_a_later_load_is_not_the_store() -> None:
    again = seen().find("out = a;", Role.LOAD, "a")
    assert seen().leader(again) == again


def test_the_loop_variable_is_tested_as_it_was_counted() -> None:
    counted = seen().find("for (int i", Role.STORE, "i", 1)
    tested = seen().find("for (int i", Role.LOAD, "i")
    events = seen().target.events
    first = min(e for e in np.flatnonzero(seen().target.leader == counted).tolist() if e != counted)
    assert events[first]["clock"] == events[counted]["clock"] + 1
    assert seen().leader(tested) == seen().find("for (int i", Role.STORE, "i")


@pytest.mark.parametrize(
    ("text", "role", "what"),
    [
        ("return total", Role.LOAD, "total"),  # a global: others may read it in between
        ("fill(&seen, seen + 1)", Role.LOAD, "seen"),  # its address is known elsewhere
        ("out += chosen", Role.RESULT, "the result of chosen()"),  # the call does not say whom it calls
        ("setjmp(place) == 0 &&", Role.LOAD, "tries"),  # it may be read once more after the jump
    ],
)
def test_what_may_have_another_effect_is_its_own(text: str, role: Role, what: str) -> None:
    event = seen().find(text, role, what)
    assert seen().leader(event) == event


def test_a_result_stands_for_the_return_of_a_global() -> None:
    """The load before that return is none of them: it changes the global, too."""
    leader = seen().leader(seen().find("jumps(argc);", Role.RESULT, "the result of kept()"))
    assert leader == seen().find("return total", Role.RETURN, "what is returned by kept()")


def test_a_leader_comes_first_and_has_the_same_value_and_type() -> None:
    target: Any = seen().target
    sites = target.plan.sites[target.sites]
    led = np.flatnonzero(target.leader != np.arange(len(target.events)))
    assert len(led) > 20
    assert (target.leader[led] < led).all()
    assert (target.values[target.leader[led]] == target.values[led]).all()
    for name in ("form", "width"):
        assert (sites[name][target.leader[led]] == sites[name][led]).all()


def test_altered_runs_agree() -> None:
    """Every follower and its leader, given the same other value, do the same to the run."""
    target = seen().target
    led = np.flatnonzero(target.leader != np.arange(len(target.events)))
    profile = Profile.of(target.plan.sites, [target.events])
    found = profile.alternates(target.sites[led], target.values[led], neighbours=True)
    rows, columns = np.nonzero(found.valid)
    events, values = led[rows], found.values[rows, columns]
    with Session(seen().subject, CASE) as session:
        mine = session.run(Batch.single(target.changes(events, values)), outputs=True)
        leaders = session.run(Batch.single(target.changes(target.leader[events], values)), outputs=True)
    assert len(events) > 100
    assert mine.outputs == leaders.outputs
    for name in ("verdict", "status", "signal", "length"):
        assert (mine.records[name] == leaders.records[name]).all()
