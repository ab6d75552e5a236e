"""How long altered runs may get: as long as passing ones do, however short or endless the failing run is."""

from __future__ import annotations

import time

import numpy as np
import pytest
from altering import WAYS, change, instances, session, site_at, sites_at
from hypothesis import given
from hypothesis import strategies as st
from snippets import Snippet, snippet

from whence.alter.changes import Batch, Op, Verdict, Way
from whence.alter.faithful import FailureSignature
from whence.alter.session import ENDLESS, HANGING, Session
from whence.alter.streams import Request
from whence.alter.work import Work
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.outcome import Expected, Kind, Outcome
from whence.subject.runs import Runs, Tested, like_in_coverage, run_all
from whence.subject.subject import with_cases

EARLY = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    long count = atoi(argv[1]) * 20000L, sum = 0;
    if (argc > 2) // wrong
        return 1;
    for (long i = 0; i < count; i++)
        sum += i & 3;
    printf("%ld\n", sum);
    return 0;
}
"""

ENDING_LATE = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    long last = atoi(argv[1]), i = 0;
    while (i != last)
        i = i + 2; // odd numbers are passed over
    printf("%ld\n", i);
    return 0;
}
"""
HANGS = FailureSignature(Kind.TIMEOUT)


@pytest.fixture(scope="module")
def early() -> Snippet:
    return snippet(EARLY)


@pytest.fixture(scope="module")
def hanging() -> Snippet:
    return snippet(ENDING_LATE)


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_ended_early_may_take_as_long_as_a_passing_one(early: Snippet, way: Way) -> None:
    case = Case("case", ("2", "x"), expected=Expected(b"60000\n"))
    batch = Batch.single(change(early.subject, site_at(early, 7, Role.BRANCH), Op.SET, 0))
    for reach, verdict in ((0, Verdict.TIMEOUT), (60000, Verdict.PASS)):
        with Session(early.subject, case, way, reach=reach) as opened:
            assert opened.run(batch).records["verdict"].tolist() == [verdict]


def test_the_lengths_of_passing_runs_are_learned_from_their_coverage(early: Snippet) -> None:
    cases = [
        Case("fails", ("2", "x"), expected=Expected(b"60000\n")),
        Case("passes", ("1",), expected=Expected(b"30000\n")),
    ]
    subject = with_cases(early.subject, cases)
    batch = Batch.single(change(subject, site_at(early, 7, Role.BRANCH), Op.SET, 0))
    for runs, verdict in ((None, Verdict.TIMEOUT), (run_all(subject), Verdict.PASS)):
        with Work(subject, runs, workers=1, fresh=True) as work:
            (found,) = work.run([Request(cases[0], batch)])
        assert found.records["verdict"].tolist() == [verdict]


KINDS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int table(int rows)
{
    int sum = 0;
    for (int i = 0; i < rows * 20000; i++)
        sum += i & 3;
    return sum;
}
int main(int argc, char **argv)
{
    int last = atoi(argv[2]), i = 0;
    if (!strcmp(argv[1], "table"))
        printf("%d\n", table(last));
    else {
        while (i != last)
            i++; // counted
        printf("%d\n", i + (i > 5)); // wrong
    }
    return 0;
}
"""


def test_long_runs_of_another_kind_give_no_altered_run_their_time() -> None:
    made = snippet(KINDS)
    failing = Case("fails", ("count", "7"), expected=Expected(b"7\n"))
    counts = [Case(f"count {n}", ("count", str(n)), expected=Expected(b"%d\n" % n)) for n in range(6)]
    table = Case("table", ("table", "50"), expected=Expected(b"1500000\n"))
    subject = with_cases(made.subject, [failing, *counts, table])
    line = KINDS[: KINDS.index("// counted")].count("\n") + 1
    batch = Batch.single(change(subject, site_at(made, line, Role.STORE), Op.SET, 0))  # goes round for ever
    with Work(subject, run_all(subject), workers=1, fresh=True) as work:
        for case in (failing, counts[3]):
            (found,) = work.run([Request(case, batch)])
            assert found.records["verdict"].tolist() == [Verdict.TIMEOUT]
            assert found.records["length"][0] < 20_000


@given(
    st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 2), min_size=6, max_size=6)), min_size=1, max_size=12),
    st.integers(1, 4),
)
def test_like_in_coverage_are_those_that_lack_least_of_it(rows: list[tuple[bool, list[int]]], least: int) -> None:
    verdicts = [Outcome(Kind.PASS if passed else Kind.WRONG_OUTPUT) for passed, _ in rows]
    tested = [Tested(Case("one"), None, verdict) for verdict in verdicts]  # type: ignore[arg-type]
    runs = Runs(tested, np.array([counts for _, counts in rows], np.uint32))
    executed = [{n for n, count in enumerate(counts) if count} for _, counts in rows]
    lacking = {row: len(executed[0] - executed[row]) for row in runs.passing}
    found = like_in_coverage(runs, 0, least)
    assert found == [row for row in runs.passing if sum(lacking[o] < lacking[row] for o in runs.passing) < least]


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_does_not_end_can_be_mended_late_and_is_given_up_soon(hanging: Snippet, way: Way) -> None:
    case = Case("case", ("7",), expected=Expected(b"7\n"))
    with Session(hanging.subject, case, way, HANGS, reach=100) as opened:
        begun = time.monotonic()
        observed = opened.observe()
        assert time.monotonic() - begun < hanging.subject.limits.time / 2  # it is not waited for
        assert observed.result["verdict"] == Verdict.TIMEOUT and not observed.unusable
        assert ENDLESS <= observed.length <= ENDLESS + 1
        (site,) = sites_at(hanging, 8, Role.STORE)
        *_, before, last = instances(observed, site)
        late = last + 100_000 * (last - before)  # beyond what is kept of the instances
        assert 20 * HANGING < late < ENDLESS
        changes = [change(hanging.subject, site, Op.SET, value, clock=late) for value in (7, 8)]
        always = change(hanging.subject, site, Op.SET, 7), change(hanging.subject, site, Op.ADD, 2)
        found = opened.run(Batch.of([*changes, *always])).records
    assert found["verdict"].tolist() == [Verdict.PASS, Verdict.TIMEOUT, Verdict.PASS, Verdict.TIMEOUT]
    assert late + 10 * HANGING <= found["length"][1] <= late + 10 * HANGING + 2
    assert found["length"][3] < 10 * HANGING + 20


def test_one_that_ends_only_in_the_variant_is_not_altered(hanging: Snippet) -> None:
    with session(hanging, Case("case", ("8",), expected=Expected(b"9\n"))) as opened:
        assert opened.observe(0).result["verdict"] == Verdict.WRONG_OUTPUT
    case = Case("case", ("8",), expected=Expected(b"9\n"))
    with Session(hanging.subject, case, plain=HANGS) as opened:
        assert "timeout in the program, but wrong output" in opened.observe(0).unusable


HUNGRY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int fill(long most) // in parts that are given back, in one, in one that grows, and by the break
{
    for (long done = 0; done < most; done += 1 << 20) {
        char *part = malloc(1 << 20);
        if (part)
            memset(part, 1, 64);
        free(part);
    }
    char *whole = malloc(most), *grown = realloc(malloc(1 << 20), most), *last = NULL;
    for (int i = 0; i < 8; i++)
        if ((last = malloc(100 << 10)))
            *last = 1;
    if (whole)
        memset(whole, 1, most);
    return (whole != NULL) + 2 * (grown != NULL) + 4 * (last != NULL);
}
int main(int argc, char **argv)
{
    long mebibytes = atoi(argv[1]); // mebibytes
    printf("%d\n", fill(mebibytes << 20));
    return 0;
}
"""


@pytest.mark.parametrize("way", [Way.SNAPSHOT, Way.FORK])
def test_how_much_memory_an_altered_run_may_ask_for(way: Way) -> None:
    """Ten times that of the unaltered run, or 160 MiB: what fills more is no repair, and takes seconds."""
    made = snippet(HUNGRY)
    case = Case("case", ("1",), expected=Expected(b"right\n"))
    line = HUNGRY[: HUNGRY.index("// mebibytes")].count("\n") + 1
    site = site_at(made, line, Role.STORE)
    with Session(made.subject, case, Way.AUTO if way is Way.SNAPSHOT else way) as opened:
        batch = Batch.of([change(made.subject, site, Op.SET, value) for value in (60, 1500)])
        results = opened.run(batch, outputs=True)
    assert results.outputs is not None
    assert [output for output, _ in results.outputs] == [b"7\n", b"4\n"]
    assert results.records["microseconds"][1] < 100_000 < 1_000_000 > results.records["microseconds"][0]
