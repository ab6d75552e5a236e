"""A question that a tool asks, as it is handed to the process that answers it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

CASES = "Cases"  # what is asked where no technique is: the cases and their verdicts


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the program in the current folder.

    ``technique`` is the name of one of the library's (docs/library.md), or CASES; ``options`` are its fields.
    ``case``: the failing case to explain (None: the one with the shortest run). ``budget``: seconds of wall time.
    """

    technique: str
    budget: float
    options: Mapping[str, Any] = field(default_factory=dict)
    case: str | None = None

    def to_text(self) -> str:
        """The question as a line of JSON."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def of_text(cls, text: str) -> Self:
        """The question that ``to_text`` wrote; lists become the tuples that techniques have."""
        found = json.loads(text)
        options = {name: tuple(v) if isinstance(v, list) else v for name, v in found.pop("options").items()}
        return cls(options=options, **found)
