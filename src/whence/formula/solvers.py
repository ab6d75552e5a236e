"""The solvers' packages, and one clear line where one of them is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from whence.errors import UsageError

PACKAGES = {"bitwuzla": "bitwuzla", "z3": "z3-solver", "pysat.solvers": "python-sat"}


def load(module: str) -> Any:
    """A solver's module. Raises UsageError where it cannot be loaded."""
    try:
        return import_module(module)
    except ImportError as error:
        package = PACKAGES[module]
        raise UsageError(f"the solver {package} cannot be loaded: {error}", f"pip install {package}") from error
