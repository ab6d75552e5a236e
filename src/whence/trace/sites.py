"""The static sites of a trace's events."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.trace.kernels import lean


@lean
def sites_of(events: Any, segments: Any, static: Any, wanted: NDArray[np.int64], found: NDArray[np.int32]) -> None:
    """Fill in the sites of some events; ``static`` are the plan's segments."""
    for number in range(len(wanted)):
        row = events[wanted[number]].segment
        found[number] = static[segments[row].id].site_start + wanted[number] - segments[row].event


@lean
def every_site(segments: Any, static: Any, found: NDArray[np.int32]) -> None:
    """Fill in the sites of all events."""
    for row in range(len(segments)):
        first, site = np.int64(segments[row].event), static[segments[row].id].site_start
        end = np.int64(segments[row + 1].event) if row + 1 < len(segments) else np.int64(len(found))
        for event in range(first, end):
            found[event] = site + event - first


@lean
def executions(sites: NDArray[np.int32], seen: NDArray[np.int32], starts: NDArray[np.bool_]) -> None:
    """Mark in ``starts`` where, in events of a line in order of time, an execution begins: where a site comes again.

    ``seen`` has a zero for each site.
    """
    number = 0
    for k in range(len(sites)):
        if number == 0 or seen[sites[k]] == number:
            number += 1
            starts[k] = True
        seen[sites[k]] = number
