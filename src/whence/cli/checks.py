"""Checks and their reports, for ``whence doctor``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whence.errors import WhenceError


class Weakness(Exception):
    """Something that is missing, but that Whence can work without: ``hint`` says what is lost."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(slots=True, frozen=True)
class Report:
    """The result of one check: ``state`` is ``ok``, ``weak`` or ``FAIL``."""

    name: str
    state: str
    detail: str
    hint: str = ""


def run_check(name: str, check: Callable[[], str]) -> Report:
    """Return the report of one check; whatever it raises is reported, never passed on."""
    try:
        return Report(name, "ok", check())
    except Weakness as weakness:
        return Report(name, "weak", str(weakness), weakness.hint)
    except WhenceError as error:
        return Report(name, "FAIL", str(error), error.hint)
    except Exception as error:  # a broken package may raise anything
        return Report(name, "FAIL", f"{type(error).__name__}: {error}")
