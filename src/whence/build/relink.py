"""The recorded link line with variant objects in place of what they were compiled from.

Key idea: the variant objects come first on the line, and the link is done in a folder that holds what the store kept
of the program's own link, under the names that the line has for it: the folder of the build may be gone or changed.
Sources and objects that were captured are left out; what was not captured stays where it was on the line. A static
archive stays too: it is searched for what is still undefined, which a captured member never provides, since its variant
has defined that already. Two things need care, because the linker would take a captured definition twice: archives
under ``--whole-archive`` (replaced by their members that are not captured), and what ``ld -r`` or ``objcopy`` made of
captured and other parts, also within archives, seen by a symbol that no variant object defines (replaced by a copy in
which every definition is weak, so that the variant's wins; a captured constructor would run twice there).

A shared library of the build that was captured, too, becomes a part of the variant: in its place stands what its own
link had beside captured modules.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path

from whence.build.archive import is_archive, members
from whence.build.capture import Capture
from whence.build.flags import CommandLine, Input, split_option
from whence.build.linked import (
    WHOLE_MODULE,
    LinkerWord,
    library_files,
    linker_words,
    passed_on,
    source_object,
    takes_next,
)
from whence.build.mend import kept_file
from whence.build.records import names_whole_module, read_records
from whence.build.store import Store
from whence.build.symbols import defined_globals, weakened
from whence.errors import BuildError

_DROPPED = frozenset(("-o", "-x", "-MF", "-MT", "-MQ", "-MJ", "-s", "-c", "-save-temps", "-v", "--verbose"))
_DROPPED_STARTS = ("-M", "-g", "-save-temps=", "-flto", "-ftime-trace", "-fprofile-", "--coverage")
# What makes a shared library of a link.
_OF_LIBRARIES = ("-shared", "-fPIC", "-fpic", "-fPIE", "-fpie", "-pie", "-rdynamic")
_LINKER_OF_LIBRARIES_WORDS = (
    "-soname --soname -h --version-script --dynamic-list --retain-symbols-file -Bsymbolic -Bsymbolic-functions "
    "--no-undefined -z"
)
_LINKER_OF_LIBRARIES = frozenset(_LINKER_OF_LIBRARIES_WORDS.split())
# Options of the linker that strip, or write to other places than the program.
_LINKER_DROPPED_WORDS = (
    "-s -S --strip-all --strip-debug -M --print-map --trace -t -Map --Map --dependency-file --out-implib --cref"
)
_LINKER_DROPPED = frozenset(_LINKER_DROPPED_WORDS.split())
# The program's own link has found everything that its shared libraries need; here they may not find each other.
_LIBRARIES_ARE_COMPLETE = "-Wl,--allow-shlib-undefined"


def link_arguments(capture: Capture, objects: Sequence[Path], out: Path, scratch: Path) -> tuple[list[str], Path]:
    """Arguments that link ``objects`` (the variant's and the runtime's) like the captured program into ``out``.

    Returns them and the folder in which they hold, which is made below ``scratch``. Raises ``BuildError`` where a file
    of the link can be found neither in the store nor in its place.
    """
    defined = set[str]().union(*(defined_globals(o.read_bytes()) for o in objects))
    link = _Relink(capture, defined, scratch)
    return [*map(str, objects), *link.arguments(), _LIBRARIES_ARE_COMPLETE, "-o", str(out)], link.folder


class _Relink:
    """One walk over the link line, in order; of a library it gives what goes into a program that holds it."""

    def __init__(self, capture: Capture, defined: set[str], scratch: Path, is_library: bool = False) -> None:
        self.link, self.libraries, self.is_library = capture.link, capture.libraries, is_library
        self.line = CommandLine(capture.link.arguments)
        self.store = Store()
        self.sources = {module.source for module in capture.modules}
        self.defined = defined
        self.root = scratch / "root"  # stands for the root of the file system
        self.folder = self._below_root(self.link.directory)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.whole = False  # --whole-archive is in force
        self.search: list[str] = []  # -L folders so far
        self.parts: list[str] = []  # what -Xlinker gave of an option that is not complete yet
        self.copies = 0

    def arguments(self) -> list[str]:
        for name, digest in self.link.files.items():
            if digest != WHOLE_MODULE:
                self._place(name, kept_file(self.store, digest, Path(self.link.directory, name)))
        inputs = {i.position: i for i in self.line.inputs}
        options = dict(self.line.options)
        kept: list[str] = []
        for position in sorted({*inputs, *options}):
            if position in inputs:
                kept += self._input(inputs[position])
            else:
                kept += self._option(self.line.arguments[position : options[position]])
        return kept

    # ---- Files -------------------------------------------------------------------------------------------------------

    def _below_root(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def _place(self, name: str, content: Path) -> None:
        """Let a file of the link appear under its name."""
        place = self._placed(name)
        is_inside = Path(os.path.normpath(place)).is_relative_to(self.root)  # ``..`` may lead out of everything
        if is_inside and not os.path.lexists(place):
            os.makedirs(place.parent, exist_ok=True)  # noqa: PTH103 (which knows what to do with ``..``)
            place.symlink_to(content)

    def _placed(self, name: str) -> Path:
        return self._below_root(name) if name.startswith("/") else self.folder / name

    def _word(self, name: str) -> str:
        """A file's name for this link: the absolute name of a file that was kept is another one here.

        The program may bear the name of a shared library, and needs it there when it runs: that one is used in place.
        """
        if self.is_library and not name.startswith("/"):  # the link is not done in its folder
            return str(self._placed(name) if self.link.files.get(name) else Path(self.link.directory, name))
        if not name.startswith("/") or not self.link.files.get(name):
            return name
        return name if ".so" in Path(name).name and Path(name).is_file() else str(self._below_root(name))

    def _content(self, name: str) -> bytes:
        return self._placed(name).read_bytes()

    # ---- Options -----------------------------------------------------------------------------------------------------

    def _option(self, words: list[str]) -> list[str]:
        word, (name, value) = words[0], split_option(words)
        parts = passed_on(words)
        if parts is not None:
            return self._passed_on(parts)
        if name in _DROPPED or word.startswith(_DROPPED_STARTS) or (self.is_library and word in _OF_LIBRARIES):
            return []
        if name == "-L":
            return self._folder(value)
        if name == "-T":
            return ["-T", self._word(value)]
        if name == "-l":
            return self._library(words, value)
        if name == "-B":
            return ["-B" + os.path.join(self.link.directory, value)]  # noqa: PTH118 (a prefix, not a folder)
        # Zig strips what is linked for size.
        return ["-O2"] if word in ("-Os", "-Oz") else words

    def _passed_on(self, parts: list[str]) -> list[str]:
        """What -Wl and -Xlinker pass on; an option may stand in one of them and its value in the next."""
        parts, self.parts = self.parts + parts, []
        if parts and takes_next(parts[-1]):
            self.parts = [parts.pop()]
        return [kept for word in linker_words(parts) for kept in self._linker(word)]

    def _linker(self, word: LinkerWord) -> list[str]:
        if word.name in ("--whole-archive", "--no-whole-archive"):
            self.whole = word.name == "--whole-archive"
        if word.name in _LINKER_DROPPED or (self.is_library and word.name in _LINKER_OF_LIBRARIES):
            return []
        if word.name == "-L":
            return self._folder(word.value)
        if word.name == "-l":
            return self._library(["-l" + word.value], word.value)
        if not word.name:
            return self._file(word.value)
        if word.reads:
            return [f"-Wl,{word.name},{self._word(word.value)}"]
        return ["-Wl," + ",".join(word.words)]

    def _folder(self, name: str) -> list[str]:
        """A folder of libraries: what was kept of it, then itself for what was not."""
        self.search.append(name)
        own = str(self._placed(name)) if name.startswith("/") or self.is_library else name
        return [f"-L{own}", f"-L{Path(self.link.directory, name)}"]

    # ---- Inputs ------------------------------------------------------------------------------------------------------

    def _input(self, given: Input) -> list[str]:
        if given.kind == "object":
            return self._file(given.path)
        if given.absolute(self.link.directory) in self.sources:
            return []
        return self._file(source_object(given.path))

    def _file(self, name: str) -> list[str]:
        if name in self.libraries:
            return self._of_library(name)
        digest = self.link.files.get(name)
        if digest == WHOLE_MODULE:
            return []
        if digest is None:  # not kept: it is the system's
            path = Path(self.link.directory, name)
            if not path.is_file():
                raise BuildError(f"{path} was linked into the program and is gone", "build the program again")
            return [str(path)]
        if is_archive(self._placed(name)):
            return self._archive(name, [self._word(name)])
        return self._object(name)

    def _object(self, name: str) -> list[str]:
        content = self._content(name)
        kept = self._foreign(content)
        if kept == content:
            return [self._word(name)]
        return [self._copy(Path(name).name, kept)] if kept else []

    def _library(self, words: list[str], library: str) -> list[str]:
        found = next((name for name in library_files(self.search, library) if name in self.link.files), None)
        if found in self.libraries:
            return self._of_library(found)
        return self._archive(found, words) if found and is_archive(self._placed(found)) else words

    def _of_library(self, name: str) -> list[str]:
        """What the link of a captured shared library had beside captured modules."""
        self.copies += 1
        place = self.root.parent / f"library-{self.copies}"
        place.mkdir()
        return _Relink(self.libraries[name], self.defined, place, True).arguments()

    def _archive(self, name: str, words: list[str]) -> list[str]:
        """An archive: itself, unless the linker might take something of its captured members twice."""
        own = [(member, member.read()) for member in members(self._placed(name))]
        if self.whole and any(_is_captured(content) for _, content in own):
            return [self._copy(member.name, kept) for member, content in own if (kept := self._foreign(content))]
        mixed = [(member, content) for member, content in own if self._is_mixed(content)]
        if not mixed or mixed[0][0].path != self._placed(name):  # a thin archive has no members to be changed
            return words
        patched = bytearray(self._content(name))
        for member, content in mixed:
            patched[member.start : member.start + member.size] = weakened(content)
        return [self._copy(Path(name).name, bytes(patched))]

    def _foreign(self, content: bytes) -> bytes:
        """What is needed of an object beside the variant's: all, nothing, or what gives way to it."""
        if not _is_captured(content):
            return content
        return weakened(content) if self._is_mixed(content) else b""

    def _is_mixed(self, content: bytes) -> bool:
        """Whether an object has captured parts and others."""
        is_whole = names_whole_module(io.BytesIO(content))
        return not is_whole and _is_captured(content) and not defined_globals(content) <= self.defined

    def _copy(self, name: str, content: bytes) -> str:
        self.copies += 1
        path = self.root.parent / f"{self.copies}-{name}"
        path.write_bytes(content)
        return str(path)


def _is_captured(content: bytes) -> bool:
    """Whether an object holds a captured module."""
    return any(record.kind == "module" for record in read_records(io.BytesIO(content)))
