"""Values that differ when the same case is run again say nothing of why it fails."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from invariant_runs import Runs, case_of, line_of

import whence
from whence.subject.recorder import Recorder
from whence.subject.runs import run_all
from whence.subject.subject import with_cases
from whence.techniques.likely_invariants.collect import Collection, collect
from whence.techniques.likely_invariants.profile import PROFILE, Profile
from whence.techniques.likely_invariants.runs import Observer
from whence.techniques.likely_invariants.unsteady import unsteady_sites

TEXT = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int kept, before;
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    before = 1;
    kept = getpid();
    if (n > 5)
        n++;
    printf("%d\\n", n);
    return kept < before || n > 6;
}
"""
LINES = ["7", "1", "2", "3", "4"]


def collected() -> tuple[Observer, Collection]:
    made = Runs(TEXT, [], [])
    subject = with_cases(made.subject, [case_of(line) for line in LINES])
    runs = run_all(subject)
    with Recorder(subject) as recorder:
        observer = Observer(subject, recorder)
        return observer, collect(observer, runs, runs.failing, 8)


def values_on(observer: Observer, run: Profile, line: int) -> list[int]:
    """How many values are known of each site of a line."""
    numbers = observer.subject.plan.sites["instruction"]
    places = observer.subject.places
    statements = [
        places.statements[n] if (n := places.numbers[numbers[site]]) >= 0 else None for site in run.rows["site"]
    ]
    return [int(row["known"]) for row, at in zip(run.rows, statements, strict=True) if at and at.line == line]


def test_process_numbers_are_not_compared_and_all_else_is() -> None:
    observer, found = collected()
    assert found.left_out and found.left_out[0].startswith("not compared, since they differ when the failing case")
    unsteady, steady = line_of(TEXT, "kept = getpid"), line_of(TEXT, "before = 1")
    for run in (*found.failing, *found.good):
        assert set(values_on(observer, run.profile, unsteady)) == {0}
        assert 1 in values_on(observer, run.profile, steady)
        assert all(run.profile.rows["count"] > 0)  # that the line was executed is known
    first = found.failing[0]
    sites = first.profile.rows["site"][first.profile.rows["known"] == 0]
    assert not first.readings.state[np.isin(first.readings.sites, sites)].any()
    touched = np.isin(observer.pairs["first"], sites) | np.isin(observer.pairs["second"], sites)
    assert touched.any() and not first.profile.orders[touched].any() and first.profile.orders[~touched].any()


def test_no_reason_speaks_of_a_process_number(tmp_path) -> None:
    (tmp_path / "p.c").write_text(TEXT)
    with whence.open_sources([tmp_path / "p.c"], fails=[("7", "7\n")], passes=LINES[1:]) as project:
        findings = project.find(whence.LikelyInvariants(generate=False), 60.0)
    texts = [str(entry.evidence.get("text")) for entry in findings.ranking]
    assert any("`n`" in text for text in texts) and not any("getpid" in text or "kept" in text for text in texts)


def profile(values: dict[int, int]) -> Profile:
    rows = np.zeros(len(values), PROFILE)
    for row, site in zip(rows, sorted(values), strict=True):
        row["site"], row["count"], row["low"], row["known"] = site, 1, values[site], 1
    return Profile(rows, np.zeros(0, np.uint8))


@given(st.dictionaries(st.integers(0, 20), st.integers(0, 3)), st.dictionaries(st.integers(0, 20), st.integers(0, 3)))
def test_sites_that_differ(first: dict[int, int], again: dict[int, int]) -> None:
    wanted = sorted(site for site in first.keys() | again.keys() if first.get(site) != again.get(site))
    assert unsteady_sites(profile(first), profile(again)).tolist() == wanted
    assert not len(unsteady_sites(profile(first), profile(first)))
