"""How code over traces is compiled: once for a machine, and without counts of references where no array is made.

Compiled code holds that of the kernels it calls, but Numba looks at the one file that a kernel stands in to tell
whether it is stale. So all of it is kept in a folder named by the contents of every file that kernels are made from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import njit

from whence.build.toolchain import whence_home
from whence.probe import layout, plan

F = TypeVar("F", bound=Callable[..., Any])


def _sources_hash() -> str:
    """A hash of the files that kernels, and the constants in them, come from."""
    digest = hashlib.sha256()
    for path in (*sorted(Path(__file__).parent.glob("*.py")), Path(layout.__file__), Path(plan.__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


CACHE = Path(whence_home()) / "kernels" / _sources_hash()
numba.config.CACHE_DIR = str(CACHE)  # type: ignore[attr-defined]


def lean(function: F) -> F:
    """Compile a function that makes no array: tables are passed to it without counting references to each.

    For functions that run once an event the counting would take several times longer than their work.
    """
    compiled: F = njit(cache=True, _nrt=False)(function)  # type: ignore[call-overload]
    return compiled
