"""The recorded link line with variant objects in place of what they were compiled from.
 Key idea: the variant objects come first on the line. Sources and objects that were captured are left out;
what was not captured stays where it was. A static archive stays too: it is searched for what is still
undefined, which a captured member never provides, since its variant has defined that already. Two things need
care, because the linker would take a captured definition twice: archives under ``--whole-archive`` (replaced
by their uncaptured members), and objects made by ``ld -r`` from captured and other parts, seen by a symbol
that no variant object defines (replaced by a copy in which every definition is weak, so that the variant's
wins; a captured constructor would run twice there).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from whence.build.archive import is_archive, members
from whence.build.capture import Capture
from whence.build.flags import CommandLine, Input, split_option
from whence.build.records import read_records
from whence.build.symbols import defined_globals, weakened
from whence.errors import BuildError

_DROPPED = frozenset(("-o", "-MF", "-MT", "-MQ", "-MJ", "-s", "-c", "-save-temps", "-v", "--verbose"))
_DROPPED_STARTS = ("-M", "-g", "-save-temps=", "-flto", "-ftime-trace", "-fprofile-", "--coverage")
# Options of the linker that strip, or write to other places than the program; then those with a value.
_LINKER_DROPPED = frozenset(("-s", "-S", "--strip-all", "--strip-debug", "-M", "--print-map", "--trace", "-t"))
_LINKER_DROPPED_VALUES = ("-Map", "--Map", "--dependency-file", "--out-implib", "--cref")


def link_arguments(capture: Capture, objects: Sequence[Path], out: Path, scratch: Path) -> list[str]:
    """Arguments that link ``objects`` (the variant's and the runtime's) like the captured program into
    ``out``.

    Patched copies of objects and members go to the folder ``scratch``. Raises ``BuildError`` where an input
    of the link no longer exists.
    """
    surgery = _Surgery(capture, objects, scratch)
    return [*map(str, objects), *surgery.arguments(), "-o", str(out)]


class _Surgery:
    """One walk over the link line, in order."""

    def __init__(self, capture: Capture, objects: Sequence[Path], scratch: Path) -> None:
        self.line = CommandLine(capture.link.arguments)
        self.folder = Path(capture.link.directory)
        self.sources = {module.source for module in capture.modules}
        self.defined = set[str]().union(*(defined_globals(o.read_bytes()) for o in objects))
        self.scratch = scratch
        self.whole = False  # --whole-archive is in force
        self.search: list[Path] = []  # -L folders so far
        self.copies = 0

    def arguments(self) -> list[str]:
        inputs = {i.position: i for i in self.line.inputs}
        options = dict(self.line.options)
        kept: list[str] = []
        for position in sorted({*inputs, *options}):
            if position in inputs:
                kept += self._input(inputs[position])
            else:
                kept += self._option(self.line.arguments[position : options[position]])
        return kept

    def _option(self, words: list[str]) -> list[str]:
        word, (name, value) = words[0], split_option(words)
        if name in _DROPPED or word.startswith(_DROPPED_STARTS):
            return []
        if word.startswith("-Wl,") or name == "-Xlinker":
            return self._linker(word.split(",")[1:] if name != "-Xlinker" else [value])
        if name == "-L":
            self.search.append(self.folder / value)
        if name == "-l" and self.whole:
            return self._whole_library(words, value)
        # Zig strips what is linked for size.
        return ["-O2"] if word in ("-Os", "-Oz") else words

    def _linker(self, words: list[str]) -> list[str]:
        kept = []
        rest = iter(words)
        for word in rest:
            if word in ("--whole-archive", "--no-whole-archive"):
                self.whole = word == "--whole-archive"
            if word in _LINKER_DROPPED_VALUES:
                next(rest, None)
            elif word not in _LINKER_DROPPED and not word.startswith(tuple(n + "=" for n in _LINKER_DROPPED_VALUES)):
                kept.append(word)
        return ["-Wl," + ",".join(kept)] if kept else []

    def _whole_library(self, words: list[str], name: str) -> list[str]:
        for folder in self.search:
            path = folder / f"lib{name}.a"
            if path.is_file():
                return self._archive(path, words)
        return words

    def _input(self, given: Input) -> list[str]:
        path = self.folder / given.path
        if given.kind != "object":
            return [] if given.absolute(str(self.folder)) in self.sources else [given.path]
        if not path.is_file():
            raise BuildError(f"{path} was linked into the program and is gone", "build the program again")
        if is_archive(path):
            return self._archive(path, [given.path]) if self.whole else [given.path]
        return self._object(path, given.path)

    def _object(self, path: Path, word: str) -> list[str]:
        content = path.read_bytes()
        if not _is_captured(content):
            return [word]
        if defined_globals(content) <= self.defined:
            return []
        return [self._copy(path.name, weakened(content))]

    def _archive(self, path: Path, words: list[str]) -> list[str]:
        """An archive that is linked as a whole: its uncaptured members, or itself if it has no others."""
        contents = [(member.name, member.read()) for member in members(path)]
        kept = [(name, content) for name, content in contents if not _is_captured(content)]
        return words if len(kept) == len(contents) else [self._copy(*member) for member in kept]

    def _copy(self, name: str, content: bytes) -> str:
        self.copies += 1
        path = self.scratch / f"{self.copies}-{name}"
        path.write_bytes(content)
        return str(path)


def _is_captured(content: bytes) -> bool:
    """Whether an object holds a captured module."""
    return any(record.kind == "module" for record in read_records(io.BytesIO(content)))
