"""The runtime's layers, as ``docs/runtime.md`` has them: nothing includes or calls upwards, no files call in a circle.

What a file calls is what its object leaves undefined and another object of the runtime defines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from whence.build.toolchain import find_toolchain
from whence.build.variant import RUNTIME, compile_c, runtime_objects, runtime_sources

PAGE = Path(__file__).parents[2] / "docs/runtime.md"
Edges = set[tuple[str, str]]


class Layers:
    """The table of the page: the layer of each file, and what each layer may use."""

    def __init__(self, page: str) -> None:
        lines = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ") and ".c`" in line]
        rows = [[cell.strip() for cell in line] for line in lines]
        self.below = {row[0]: set(filter(None, row[1].split(", "))) for row in rows}
        self.of: dict[str, str] = {}
        for name, _, headers, files, _ in rows:
            for path in re.findall(r"`([^`]+)`", headers + files):
                assert path not in self.of, f"{path} stands in two layers"
                self.of[path] = name
        order = list(TopologicalSorter(self.below).static_order())  # raises CycleError
        self.allowed: dict[str, set[str]] = {}
        for name in order:
            self.allowed[name] = {name}.union(*(self.allowed[below] for below in self.below[name]))

    def upward(self, edges: Edges) -> list[str]:
        """The edges that lead to a layer on which the file's own does not stand."""
        return sorted(f"{a} -> {b}" for a, b in edges if self.of[b] not in self.allowed[self.of[a]])


def included(sources: Iterable[Path], root: Path) -> Edges:
    """(file, header) of every ``#include "..."``."""
    pairs = ((path, found) for path in sources for found in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M))
    return {(path.relative_to(root).as_posix(), header) for path, header in pairs}


def symbols(path: Path) -> tuple[set[str], set[str]]:
    """What an object defines for others, and what it leaves undefined."""
    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        found = [s for s in table.iter_symbols() if s["st_info"]["bind"] != "STB_LOCAL" and s.name]
    undefined = {s.name for s in found if s["st_shndx"] == "SHN_UNDEF"}
    return {s.name for s in found} - undefined, undefined


def called(objects: Mapping[str, Path]) -> Edges:
    """(file, file) of every use of a symbol that another file defines."""
    tables = {name: symbols(path) for name, path in objects.items()}
    owner = {symbol: name for name, (defined, _) in tables.items() for symbol in defined}
    uses = {(name, owner[symbol]) for name, (_, undefined) in tables.items() for symbol in undefined if symbol in owner}
    return {(a, b) for a, b in uses if a != b}


def circle(edges: Edges) -> list[str]:
    """Files that call each other in a circle, if any do."""
    graph: dict[str, set[str]] = {}
    for a, b in edges:
        graph.setdefault(a, set()).add(b)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


@pytest.fixture(scope="module")
def layers() -> Layers:
    return Layers(PAGE.read_text())


@pytest.fixture(scope="module")
def objects() -> dict[str, Path]:
    """The object of each file."""
    found: dict[str, Path] = {}
    for with_main in (True, False):
        names = [path.relative_to(RUNTIME).as_posix() for path in runtime_sources(with_main=with_main)]
        found |= dict(zip(names, runtime_objects(with_main=with_main), strict=True))
    return found


def test_every_file_stands_in_one_layer(layers: Layers) -> None:
    assert sorted(layers.of) == sorted(p.relative_to(RUNTIME).as_posix() for p in RUNTIME.rglob("*.[ch]"))


def test_nothing_includes_upwards(layers: Layers) -> None:
    edges = included(sorted(RUNTIME.rglob("*.[ch]")), RUNTIME)
    assert len(edges) > 60
    assert layers.upward(edges) == []


def test_nothing_calls_upwards_and_nothing_in_a_circle(layers: Layers, objects: dict[str, Path]) -> None:
    edges = called(objects)
    assert ("alter/snapshot.c", "base/system_call.c") in edges and ("library/string.c", "record/effects.c") in edges
    assert layers.upward(edges) == []
    assert circle(edges) == []


def test_its_names_are_no_programs(objects: dict[str, Path]) -> None:
    """A program that has a function of the same name could not be linked with it."""
    names = {symbol for path in objects.values() for symbol in symbols(path)[0]}
    assert {name for name in names if not re.match("(__)?whence_", name)} == {"main"}


def test_a_call_upwards_is_seen(layers: Layers, objects: dict[str, Path], tmp_path: Path) -> None:
    """One like those that once made a circle of twelve files."""
    source = tmp_path / "snapshot.c"
    source.write_text("void whence_change_way(long); void whence_snapshot_stop(void) { whence_change_way(1); }")
    planted = objects | {"alter/snapshot.c": compile_c(find_toolchain("bundled"), source, ["-O2"])}
    assert layers.upward(called(planted)) == ["alter/snapshot.c -> alter/verdict.c"]


def test_a_circle_within_a_layer_is_seen(layers: Layers, objects: dict[str, Path], tmp_path: Path) -> None:
    source = tmp_path / "undo.c"
    code = "void whence_put_back(void); void whence_take_back(void) { whence_put_back(); }"
    source.write_text(f"{code} void whence_keep_offset(void) {{}}")
    edges = called(objects | {"alter/undo.c": compile_c(find_toolchain("bundled"), source, ["-O2"])})
    assert layers.upward(edges) == []
    assert {"alter/undo.c", "alter/backups.c"} <= set(circle(edges))


def test_an_include_upwards_is_seen(layers: Layers, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    planted = tmp_path / "base/clock.c"
    planted.write_text('#include <time.h>\n#include "base/base.h"\n#include "alter/control.h"\n')
    assert layers.upward(included([planted], tmp_path)) == ["base/clock.c -> alter/control.h"]
