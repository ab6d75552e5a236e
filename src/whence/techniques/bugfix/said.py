"""What other techniques say of a statement as situation descriptors, beyond the dissertation.

Those that were measured to help are here; docs/fix.md has what was tried.
"""

from __future__ import annotations

from whence.findings import Entry

INVARIANT = "INVARIANT-"  # begins what the steps of likely invariants are called
NEVER_PASSING, ALL_PASSING = "NO-PASSING-CASE", "ALL-PASSING-CASES"


def broken(entry: Entry) -> frozenset[str]:
    """The descriptor of how far the filters of likely invariants keep a statement; ``entry`` is of their ranking."""
    step = entry.evidence.get("step")
    return frozenset([f"{INVARIANT}{step}"]) if step else frozenset()


def executed(entry: Entry) -> frozenset[str]:
    """The descriptor of how many passing cases execute a statement; ``entry`` tells of its coverage."""
    passing, total = entry.evidence["passing"], entry.evidence["passing_total"]
    return frozenset([NEVER_PASSING] if total and not passing else [ALL_PASSING] if total and passing == total else [])
