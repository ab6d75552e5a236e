"""How each command of Whence is called on a subject: words, variations that take turns, and its budget."""

from __future__ import annotations

from pathlib import Path

from bench.soak.subjects import Laid
from whence.cli import COMMANDS

SERVERS = ("mcp", "lsp", "dap", "serve")  # commands that do what they are asked until they are told to end
CALLED = tuple(command for command in COMMANDS if command not in SERVERS)
ALONE = ("init", "doctor", "build", "env", "ci")  # commands without cases of the command line, and without a budget
VARIATIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "locate": ((), ("--html", "{scratch}/page.html"), ("--fresh", "--workers", "1"), ("--no-alter",)),
    "slice": ((), ("--implicit",), ("--data-only",), ("--window", "1M")),
    "rules": ((), ("--pairs",), ("--everywhere",)),
    "values": ((), ("--sets",), ("--full",), ("--plain",)),
    "switch": ((), ("--order", "last"), ("--first",)),
    "formula": ((), ("--method", "ofc"), ("--method", "bugassist", "--size", "3")),
    "invariants": ((), ("--kinds", "all"), ("--paper",)),
    "faults": ((), ("--technique", "full"), ("--clusters", "0.9")),
    "spectrum": ((), ("--level", "branch"), ("--formula", "op2")),
    "reduce": ((), ("--close",), ("--reference", "{reference}"), ("--close", "--reference", "{reference}")),
    "record": ((), ("--trace-limit", "1M"), ("--output", "{scratch}/kept.trace")),
}


def words_for(command: str, laid: Laid, budget: str, scratch: Path) -> list[str]:
    """The words of a call, without the program's own name; ``scratch`` is for what it writes where it is told to."""
    if command in ALONE:
        folder = laid.words if "-C" in laid.words else []
        words = {
            "init": [str(scratch / "fresh")],
            "build": ["echo", "built"],
            "ci": ["--failures", "1", "--budget", budget, "--sarif", str(scratch / "found.sarif"), *folder],
        }
        return [command, *words.get(command, [])]
    seed = laid.generated.seed
    choices = VARIATIONS.get(command, ((),))
    places = {"scratch": str(scratch), "reference": str(laid.reference)}
    words = [command, *(word.format(**places) for word in choices[seed // 7 % len(choices)])]
    words += ["--budget", budget]
    words += ["--state", str(scratch / "state.json")] if command == "faults" else []
    words += ["--into", str(scratch / command)] if command in ("cases", "gdb") else []
    words += [] if is_text(command, seed) else ["--json"]
    return [*words, *laid.words]


def is_text(command: str, seed: int) -> bool:
    """Whether a call prints text; the others print JSON."""
    return command in (*ALONE, "cases") or (seed + CALLED.index(command)) % 3 == 0


def budget_of(words: list[str], budget: float) -> float | None:
    """The budget in seconds that a call was given, or None."""
    return budget if "--budget" in words and words[0] not in ALONE else None
