"""Benchmarks use the library, but for those whose subject is a part of Whence; the lists are in bench/__init__.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import INSIDE, JOINING, PARTS
from tests.test_layers import imported

BENCH = Path(__file__).resolve().parents[2] / "bench"
LIBRARY = (
    *("whence.project", "whence.findings", "whence.errors", "whence.investigation"),
    *("whence.subject.runs", "whence.subject.coverage", "whence.probe.instrument"),  # what an investigation holds
)
TECHNIQUES = ("whence.techniques", "whence.diagnosis")


def modules() -> list[tuple[str, str]]:
    """All benchmarks by name, with their sources."""
    paths = [(path.relative_to(BENCH).with_suffix("").parts, path) for path in sorted(BENCH.rglob("*.py"))]
    names = (".".join(part for part in parts if part not in ("__init__", "__main__")) for parts, _ in paths)
    return [(name, path.read_text()) for name, (_, path) in zip(names, paths, strict=True)]


def is_in(target: str, rooms: tuple[str, ...]) -> bool:
    """Whether a module is one of these, or in one of these folders."""
    return any(target == room or target.startswith(f"{room}.") for room in rooms)


def complaints(name: str, source: str) -> list[str]:
    """The imports that a benchmark may not have."""
    found = set(imported(source))
    if name in INSIDE:
        own = f"whence.techniques.{INSIDE[name]}"
        return [t for t in found if is_in(t, TECHNIQUES) and not is_in(t, (own,)) and not own.startswith(f"{t}.")]
    if is_in(name, JOINING):
        return [target for target in found if is_in(target, TECHNIQUES[:1])]
    if is_in(name, PARTS):
        return [target for target in found if is_in(target, TECHNIQUES)]
    return [t for t in found if not is_in(t, LIBRARY) and t.removeprefix("whence.") not in _offered()]


def _offered() -> list[str]:
    import whence

    return list(whence.__all__)


@pytest.mark.parametrize(("name", "source"), modules(), ids=[name or "bench" for name, _ in modules()])
def test_benchmarks_stay_above_what_they_measure(name: str, source: str) -> None:
    assert complaints(name, source) == []


def test_an_import_below_the_library_is_seen() -> None:
    assert complaints("effect", "from whence.techniques.spectrum import spectrum") != []
    assert complaints("effect", "def f():\n    from whence.alter.work import Work") != []
    assert complaints("alter", "from whence.diagnosis.locate import Locate") != []
    assert complaints("causes", "from whence.techniques.rules.rules import rules") != []
    assert complaints("ranking.learn", "from whence.techniques.rules.rules import rules") != []
    assert complaints("ranking.learn", "from whence.diagnosis.locate import Locate") == []
    assert complaints("effect", "import whence\nfrom whence.findings import Entry") == []


def test_the_lists_name_benchmarks_that_there_are() -> None:
    names = [name for name, _ in modules()]
    assert {*PARTS, *INSIDE} <= set(names)
    for name in (*PARTS, *INSIDE):  # and that need it
        sources = [source for other, source in modules() if is_in(other, (name,))]
        assert any(not is_in(target, LIBRARY) for source in sources for target in imported(source)), name
