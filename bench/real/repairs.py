"""Do the changes that ``whence locate`` suggests hold in the source? Each is made there, and all cases are run.

The program is built with gcc in a tree of its own, so that nothing of Whence decides: neither its compiler nor its
runner. A suggestion holds where as many failing cases pass, and no more passing ones fail, than it says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.real.faults import Case, Fault, planted
from bench.real.programs import ensure_built, make
from whence.errors import BuildError

SHOWN = 10  # of the first statements with a suggestion, the best one
SECONDS = 5.0  # of a case; what takes longer does not end


@dataclass(frozen=True, slots=True)
class Repair:
    """A suggested change, and how many cases it mends and breaks: as said, and in the source (None: not compiled).

    ``confirmed``: what the report itself says of it in the source (None: that this is not known).
    """

    place: str
    before: str
    after: str
    confirmed: bool | None
    said: tuple[int, int]
    found: tuple[int, int] | None

    @property
    def holds(self) -> bool:
        """Whether the source does what the suggestion says."""
        return self.found is not None and self.found[0] >= self.said[0] and self.found[1] <= self.said[1]

    def shown(self) -> str:
        """One line."""
        found = "does not compile" if self.found is None else f"mends {self.found[0]}, breaks {self.found[1]}"
        said = f"said to mend {self.said[0]} and break {self.said[1]}"
        known = {True: "confirmed", False: "refuted", None: "not tried"}[self.confirmed]
        return f"{self.place}: `{self.before}` -> `{self.after}` ({known}): {said}; {found}"


def suggestions(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The first changes that a report suggests, the best one of a statement, that are an edit of a line.

    It suggests none that breaks passing cases or misuses memory (``report/text.py``).
    """
    best: dict[tuple[str, int], Mapping[str, Any]] = {}
    for rule in report.get("rules", []):
        if rule["f2p"] and not rule["p2f"] and rule.get("clean") is not False:
            best.setdefault((rule["file"], rule["line"]), rule)
    return [rule for rule in list(best.values())[:SHOWN] if rule["after"] is not None]


def tried(fault: Fault, work: Path, rules: Sequence[Mapping[str, Any]]) -> list[Repair]:
    """Make each change in the faulty source, and run all cases."""
    if not rules:
        return []
    plain = ensure_built(fault.recipe, work, "gcc", "gcc") / fault.executable
    tree = ensure_built(fault.recipe, work, "gcc-g-O2", "gcc")
    with planted(fault, tree):
        before = failures(fault, plain, tree / fault.executable)
        return [_tried(fault, plain, tree, rule, before) for rule in rules]


def failures(fault: Fault, plain: Path, executable: Path) -> list[bool]:
    """Whether each case (failing ones first) gives something else than the program without the fault."""
    cases: Sequence[Case] = (fault.failing, *fault.also_failing, *fault.passing)
    return [case.run(executable, SECONDS) != case.run(plain, SECONDS) for case in cases]


def _tried(fault: Fault, plain: Path, tree: Path, rule: Mapping[str, Any], before: Sequence[bool]) -> Repair:
    path = tree / rule["file"]
    text = path.read_bytes()
    try:
        path.write_bytes(_edited(text, rule["line"], rule["before"], rule["after"]))
        make(fault.recipe, tree)
        after = failures(fault, plain, tree / fault.executable)
        pairs = list(zip(before, after, strict=True))
        found = pairs.count((True, False)), pairs.count((False, True))
    except BuildError:
        found = None
    finally:
        path.write_bytes(text)
    said = rule["f2p"], rule["p2f"]
    place = f"{rule['file']}:{rule['line']}"
    return Repair(place, rule["before"], rule["after"], rule.get("confirmed"), said, found)


def _edited(text: bytes, line: int, before: str, after: str) -> bytes:
    """The source with one line changed; raises ``BuildError`` where the line is another one."""
    lines = text.decode("latin-1").split("\n")
    if before not in lines[line - 1]:
        raise BuildError(f"line {line} does not hold {before!r}")
    lines[line - 1] = lines[line - 1].replace(before, after, 1)
    return "\n".join(lines).encode("latin-1")
