"""A solver that is missing is told in one line."""

from __future__ import annotations

import pytest

from whence.errors import UsageError
from whence.formula import solvers


def test_every_solver_is_there():
    for module in solvers.PACKAGES:
        assert solvers.load(module).__name__ == module


def test_a_missing_solver_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setitem(solvers.PACKAGES, "no_such_solver", "no-such-solver")
    with pytest.raises(UsageError, match="the solver no-such-solver cannot be loaded") as told:
        solvers.load("no_such_solver")
    assert told.value.hint == "pip install no-such-solver"
