"""Verdicts that hang on the user's locale or time zone, which runs do not have."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder, whence, write

from whence.subject.own_environment import own_variables

HOUR = """\
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv)
{
    time_t start = 0;
    printf("%d\\n", localtime(&start)->tm_hour + argc - 1);
    return 0;
}
"""
CASES = ("--fails", "", "--expect", "19\n")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, {}),
        ({"LANG": "C", "TZ": "UTC"}, {}),
        ({"LANG": "de_DE.UTF-8", "TZ": "EST5"}, {"LC_ALL": "de_DE.UTF-8", "TZ": "EST5"}),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, {}),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "C.UTF-8"}),
    ],
)
def test_only_what_is_otherwise_than_in_runs_is_looked_at(
    environment: dict[str, str], expected: dict[str, str]
) -> None:
    assert own_variables(environment) == expected


def test_a_case_that_would_pass_in_the_users_time_zone_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = subject_folder("zone", hour_c=HOUR)
    monkeypatch.setenv("TZ", "EST5")
    (warning,) = whence(folder, "spectrum", "hour.c", *CASES, "--json").json["warnings"]
    assert warning.startswith("with TZ=EST5, as in your environment, `fails 1` would pass; runs have TZ=UTC ")
    assert 'environment = {TZ = "EST5"}' in warning
    for zone in ("EST6", "UTC"):  # it fails there as well
        monkeypatch.setenv("TZ", zone)
        assert whence(folder, "spectrum", "hour.c", *CASES, "--json").json["warnings"] == []


def test_a_failure_that_needs_the_users_time_zone_is_told_where_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = subject_folder("zone", hour_c=HOUR)
    monkeypatch.setenv("TZ", "EST5")
    done = whence(folder, "locate", "hour.c", "--fails", "", "--expect", "0\n", "--fails", "x", "--expect", "1\n")
    assert done.status == 2 and "with TZ=EST5, as in your environment, `fails 1`, `fails 2` would fail" in done.err


def test_what_the_configuration_sets_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = subject_folder("zone-set", hour_c=HOUR)
    monkeypatch.setenv("TZ", "EST5")
    write(folder / "whence.toml", '[program]\nsources = ["hour.c"]\n[cases]\nenvironment = {TZ = "EST6"}\n')
    done = whence(folder, "locate", "--no-alter", *CASES, "--json").json
    assert done["warnings"] == [] and done["symptom"]["text"].startswith('line 1 of standard output is "18"')
