"""Values that were compared with hardly any good run, for want of time, tell little; coverage is that of all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cli_tool import subject_folder

from whence.diagnosis.combined_ranking import SEPARATES
from whence.investigation.investigation import Investigation
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.initial_values import InitialValues
from whence.subject.subject import Subject, subject_from_sources
from whence.techniques.likely_invariants import technique

TEXT = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n > 40)
        n--;
    printf("%d\\n", n);
    return 0;
}
"""
PASSING = 30


@pytest.mark.parametrize(("good", "is_told"), [(1, False), (2, False), (3, True), (PASSING, True)])
def test_a_comparison_with_hardly_any_of_many_good_runs_separates_nothing(
    monkeypatch: pytest.MonkeyPatch, good: int, is_told: bool
) -> None:
    folder, collect = subject_folder("few-compared", few_c=TEXT), technique.collect
    cases = [Case("fails", ("41",), expected=Expected(b"41\n"))]
    cases += [Case(f"passes {n}", (str(n),)) for n in range(PASSING)]

    def some(*given: Any, **options: Any) -> Any:
        found = collect(*given, **options)
        return replace(found, good=found.good[:good])

    monkeypatch.setattr(technique, "collect", some)
    subject = subject_from_sources([folder / "few.c"], [], cases, replace(Subject.limits, time=5.0))
    with Investigation(subject) as investigation:
        rows = investigation.failing_rows()
        found = technique.compared_values(investigation, rows, 60.0, InitialValues(subject))
    known = [entry.evidence for entry in found.ranking]
    assert all(one["passing_total"] == PASSING for one in known)
    assert any(one["predicate"] >= SEPARATES for one in known) is is_told
    assert found.summary[0] == f"compared the values of 1 failing and {good} passing runs"
