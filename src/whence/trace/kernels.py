"""How code over traces is compiled: once for a machine, and without counts of references where no array is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def lean(function: F) -> F:
    """Compile a function that makes no array: tables are passed to it without counting references to each.

    For functions that run once an event the counting would take several times longer than their work.
    """
    compiled: F = njit(cache=True, _nrt=False)(function)  # type: ignore[call-overload]
    return compiled
