"""Which lines of a long file to show: those around interesting ones, with the rest folded away."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

#: Lines shown before and after an interesting one; the first that keeps the excerpt within its limit is used.
CONTEXTS = (20, 8, 3, 0)


@dataclass(slots=True, frozen=True)
class Stretch:
    """Lines ``first`` to ``last`` (1-based, both included), either shown or folded away."""

    first: int
    last: int
    shown: bool

    def __len__(self) -> int:
        return self.last - self.first + 1


def excerpt(lines: int, interesting: Collection[int], *, whole: int, limit: int) -> list[Stretch]:
    """Stretches that cover a file of so many lines in order, shown and folded ones in turn.

    A file of at most ``whole`` lines is shown entirely. Of a longer one each interesting line is shown, with
    as much context as keeps the number of shown lines within ``limit``, or none.
    """
    if lines <= whole:
        return [Stretch(1, lines, True)] if lines else []
    kept = sorted(line for line in interesting if 1 <= line <= lines)
    for context in CONTEXTS:
        windows = _windows(kept, context, lines)
        if sum(last - first + 1 for first, last in windows) <= limit:
            break
    return _with_gaps(windows, lines)


def _windows(kept: list[int], context: int, lines: int) -> list[tuple[int, int]]:
    """Merged windows around the kept lines; a gap of one line is not worth folding."""
    windows: list[tuple[int, int]] = []
    for line in kept:
        first, last = max(1, line - context), min(lines, line + context)
        if windows and first <= windows[-1][1] + 2:
            windows[-1] = (windows[-1][0], last)
        else:
            windows.append((first, last))
    return windows


def _with_gaps(windows: list[tuple[int, int]], lines: int) -> list[Stretch]:
    stretches: list[Stretch] = []
    following = 1
    for first, last in windows:
        if following < first:
            stretches.append(Stretch(following, first - 1, False))
        stretches.append(Stretch(first, last, True))
        following = last + 1
    if following <= lines:
        stretches.append(Stretch(following, lines, False))
    return stretches
