"""The statements with a pair in each of some failing cases: what the techniques for several faults search.

The search is that of value replacement (``pairs.py``), but a statement stays in it even where another failing run has
no pair there: with several faults runs fail for different reasons, which the reduced search of figure 4.2 leaves out.

Where two faults spoil a run at once, no change at one place mends it. So a run without a pair counts with its relaxed
pairs, which correct the first wrong line of its output.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from whence.alter.profile import Profile
from whence.techniques.pairs import Search, Settings
from whence.techniques.several import Statements
from whence.techniques.targets import Plan, Target

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject


def statements_with_pairs(subject: Subject, runs: Runs, names: Collection[str], work: Work) -> dict[str, Statements]:
    """For each of the named failing cases its statements with a pair.

    Values to try are those of all cases in ``runs``. A search that was stopped (``work.stopped``) gives what it found.
    """
    plan = Plan.of(subject)
    cases = [tested.case for tested in runs.tested]
    observed = work.observe(cases)
    profile = Profile.of(plan.sites, [run.events for run in observed])
    chosen = [(case, run) for case, run in zip(cases, observed, strict=True) if case.name in names]
    targets = [Target(plan, case, run) for case, run in sorted(chosen, key=lambda pair: pair[1].length)]
    found = Search(targets, profile, work, Settings(prunes=False)).run()
    statements = subject.places.statements
    return {
        target.case.name: frozenset(
            statements[n] for n in found.statements(number) or found.statements(number, relaxed=True)
        )
        for number, target in enumerate(targets)
    }
