"""Groups of failing runs that seem to have one cause, so that several faults can be worked on side by side.

Each failing run gives a ranking by itself. Two runs are similar where the Jaccard similarity of their sets of most
suspicious statements reaches a threshold; a group is what is connected by similarity, and has a ranking of its own.

Source: Jeffrey's dissertation (2009), section 3.2.3, which takes up the second technique of "Debugging in Parallel".
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

from whence.diagnosis.multiple_faults.minimal_full_partial import RankedList, Run, Statements, Version, entries, ranked
from whence.findings import Entry

THRESHOLD = 0.5  # T: how similar two rankings have to be

Item = TypeVar("Item", bound=Hashable)


def clusters(runs: Mapping[str, Run], version: Version, threshold: float = THRESHOLD) -> list[dict[str, Run]]:
    """The groups of failing runs, the largest first; each is a part of ``runs`` in the order of ``runs``.

    ``threshold`` lies between 0 and 1; at 0 all runs are one group.
    """
    leading = {case: most_suspicious(ranked({case: run}, version)) for case, run in runs.items()}
    group = {case: {case} for case in runs}
    for a, b in combinations(runs, 2):
        if group[a] is not group[b] and similarity(leading[a], leading[b]) >= threshold:
            group[a] |= group[b]
            group.update(dict.fromkeys(group[b], group[a]))
    distinct = {id(members): members for members in group.values()}.values()
    groups = sorted(distinct, key=len, reverse=True)
    return [{case: run for case, run in runs.items() if case in members} for members in groups]


def clusters_part(groups: Sequence[Mapping[str, Run]], version: Version) -> list[dict[str, Any]]:
    """The part ``clusters`` of findings (docs/json.md): each group's cases, and the ranking made from them alone."""
    return [
        {"cases": list(group), "ranking": [_entry(e) for e in entries(ranked(group, version), group)]}
        for group in groups
    ]


def _entry(entry: Entry) -> dict[str, Any]:
    place = {"file": entry.statement.file, "line": entry.statement.line}
    return (
        place
        | {"rank": entry.rank, "rank_worst": entry.rank_worst, "score": entry.score}
        | {"evidence": entry.evidence}
    )


def most_suspicious(ranking: RankedList) -> Statements:
    """The statements with a pair; where none has one, those that share the first place by Tarantula."""
    with_pair = frozenset(r.statement for r in ranking if r.runs)
    return with_pair or frozenset(r.statement for r in ranking if r.tarantula == ranking[0].tarantula)


def similarity(a: frozenset[Item], b: frozenset[Item]) -> float:
    """Jaccard similarity: the size of the intersection over that of the union; 0 for two empty sets."""
    return len(a & b) / len(a | b) if a or b else 0.0
