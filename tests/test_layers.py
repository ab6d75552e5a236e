"""The line of docs/architecture.md: what a module imports stands before it, and no technique imports another."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "whence"


def floors() -> dict[str, int]:
    """The folders by their place in the line."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "─>" in line)
    groups = [part.split(", ") for part in line.strip().split(" ─> ")]
    return {name.strip(): floor for floor, names in enumerate(groups) for name in names}


def imported(source: str) -> Iterator[str]:
    """The modules of the package that a source imports, also where only types need them."""
    for node in ast.walk(ast.parse(source)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        yield from (name for name in names if re.match(r"whence\.\w", name))


def room(module: str, depth: int) -> str:
    """The folder, or the single module, of a technique (depth 2) or of a floor (depth 1)."""
    return ".".join(module.split(".")[1 : 1 + depth])


def complaints(module: str, source: str, line: dict[str, int]) -> list[str]:
    """The imports of a module that lead up or aside, out of ``report``, or from one technique to another."""
    own, found = room(module, 1), []
    for target in imported(source):
        other = room(target, 1)
        if other not in line or own not in line:
            continue
        if other != own and (line[other] >= line[own] or own == "report"):
            found.append(f"{module} imports {target}, which does not stand before it")
        elif own == other == "techniques" and target.count(".") > 1 and room(target, 2) != room(module, 2):
            found.append(f"{module} imports {target}, another technique")
    return found


def modules() -> list[tuple[str, Path]]:
    """All modules of the package, by name."""
    return [(".".join(p.relative_to(ROOT / "src").with_suffix("").parts), p) for p in sorted(PACKAGE.rglob("*.py"))]


def test_the_line_names_every_folder() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(floors())


@pytest.mark.parametrize("folder", sorted(floors()))
def test_what_is_imported_stands_below(folder: str) -> None:
    inside = [(name, path) for name, path in modules() if room(name, 1) == folder]
    found = [line for name, path in inside for line in complaints(name, path.read_text(encoding="utf-8"), floors())]
    assert not found, "\n".join(found)


def test_an_import_upward_and_one_of_another_technique_are_seen() -> None:
    source = "def f():\n    from whence.techniques.spectrum import spectrum\n    import whence.cli.options\n"
    assert complaints("whence.techniques.spectrum", source, floors()) == [
        "whence.techniques.spectrum imports whence.cli.options, which does not stand before it"
    ]
    assert len(complaints("whence.techniques.cause_tree.tree", source, floors())) == 3  # module and name, and upward
    assert len(complaints("whence.subject.runs", source, floors())) == 3


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = {name.removesuffix(".__init__"): path for name, path in modules()}
    graph = {
        name: {target for target in imported(path.read_text(encoding="utf-8")) if target in known and target != name}
        for name, path in known.items()
    }
    for name, targets in graph.items():  # a folder's own module is not what an import of a module in it means
        graph[name] = {target for target in targets if not any(other.startswith(f"{target}.") for other in targets)}
    assert circle(graph) == []


def test_a_circle_is_seen() -> None:
    assert sorted(circle({"one": {"two"}, "two": {"one"}, "three": {"one"}})[1:]) == ["one", "two"]


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules each of which imports the next one, and the last one the first; none where there is no such circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []
