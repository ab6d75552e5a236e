"""The statements with a pair in each of some failing cases: what the techniques for several faults search.

The search is that of value replacement (``pairs.py``), but a statement stays in it even where another failing run has
no pair there: with several faults runs fail for different reasons, which the reduced search of figure 4.2 leaves out.

Where two faults spoil a run at once, no change at one place mends it. So a run without a pair counts with its relaxed
pairs, which correct the first wrong line of its output.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from whence.diagnosis.multiple_faults.minimal_full_partial import Pairs
from whence.errors import SubjectError
from whence.techniques.value_replacement.mapping_pairs import Searched, Settings
from whence.techniques.value_replacement.ranking import FoundPairs, search

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject


def statements_with_pairs(subject: Subject, runs: Runs, names: Collection[str], work: Work) -> dict[str, Pairs]:
    """For each of the named failing cases its statements with a pair, and a sentence for each.

    Values to try are those of all cases in ``runs``. A case that passes when it is observed cannot be searched, and is
    left out. A search that was stopped (``work.stopped``) gives what it found, of all cases.
    """
    cases = [tested.case for tested in runs.tested]
    failing = [case for case in cases if case.name in names]
    others = [case for case in cases if case.name not in names]
    try:
        searched = search(subject, failing, others, work, Settings(neighbours=True, prunes=False))
    except SubjectError:  # none of the cases can be altered
        return {}
    found_pairs = FoundPairs(subject, searched)
    found = {
        target.case.name: _pairs(subject, searched, run, found_pairs) for run, target in enumerate(searched.targets)
    }
    return {name: found.get(name, {}) for name in names} if work.stopped else found


def _pairs(subject: Subject, searched: Searched, run: int, found_pairs: FoundPairs) -> Pairs:
    """The statements with a pair in a run; where no pair mends it, those with a relaxed one."""
    mine = np.flatnonzero(searched.pairs["run"] == run)
    exact = mine[~searched.pairs["relaxed"][mine]]
    numbers, first = np.unique(searched.pairs["statement"][exact if len(exact) else mine], return_index=True)
    chosen = (exact if len(exact) else mine)[first]
    statements = subject.places.statements
    return {statements[n]: found_pairs.pair(index) for n, index in zip(numbers.tolist(), chosen.tolist(), strict=True)}
