"""What a link reads beside the modules that are captured: found on its command line, kept in the store.

Key idea: a program outlives the folder it was built in. So the link stores by content whatever a later link of a
variant needs: objects without IR, archives (with the members of thin ones), shared libraries of the build, scripts of
the linker. What belongs to the system stays there. An object that is all IR needs no copy.

This module is imported by ``whence-cc`` on every compiler call, hence no dataclass and no ``pathlib`` here.
"""
# ruff: noqa: PTH113, PTH118, PTH120, PTH123

from __future__ import annotations

import os

from whence.build.flags import CommandLine, split_option
from whence.build.records import names_whole_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.build.store import Store

WHOLE_MODULE = ""  # stands for the digest of an object that is nothing but a captured module
_SYSTEM = ("/lib", "/usr/lib", "/usr/local/lib")
# Options of the linker whose value is a file that it reads; then those whose value is anything else.
_FILES_WORDS = (
    "-T --script --default-script -dT --version-script --dynamic-list --retain-symbols-file -R --just-symbols "
    "--export-dynamic-symbol-list --symbol-ordering-file --section-ordering-file"
)
_FILES = frozenset(_FILES_WORDS.split())
_OTHER_VALUES_WORDS = (
    "-l -L -rpath --rpath -rpath-link --rpath-link -soname --soname -h -z -e --entry -u --undefined -m -Map --Map "
    "--dependency-file --out-implib -dynamic-linker --dynamic-linker -I --defsym --wrap -y --trace-symbol "
    "-init -fini -f -F -plugin -a -A -b --format --oformat -o -Ttext -Tdata -Tbss --sysroot"
)
_OTHER_VALUES = frozenset(_OTHER_VALUES_WORDS.split())


class LinkerWord:
    """One option of the linker, or one file: ``name`` (empty for a file), ``value``, and the ``words`` it came as.

    ``reads``: its value is a file that the linker reads.
    """

    __slots__ = ("name", "reads", "value", "words")

    def __init__(self, words: list[str]) -> None:
        self.words = words
        word = words[0]
        self.name, _, self.value = word.partition("=") if word.startswith("-") else ("", "", word)
        if len(words) == 2:
            self.value = words[1]
        elif word[:2] in ("-l", "-L", "-T") and len(word) > 2:
            self.name, self.value = word[:2], word[2:]
        self.reads = not self.name or self.name in _FILES


def takes_next(part: str) -> bool:
    """Whether the value of this option of the linker is the next word."""
    return part in _FILES or part in _OTHER_VALUES


def linker_words(parts: list[str]) -> list[LinkerWord]:
    """What is passed on to the linker, one option or file at a time."""
    found, position = [], 0
    while position < len(parts):
        end = position + (2 if takes_next(parts[position]) else 1)
        found.append(LinkerWord(parts[position:end]))
        position = end
    return found


def passed_on(words: list[str]) -> list[str] | None:
    """What one option of the compiler passes on to the linker; None if it is no such option."""
    if words[0].startswith("-Wl,"):
        return words[0].split(",")[1:]
    return words[1:] if words[0] == "-Xlinker" else None


def source_object(path: str) -> str:
    """The name of the object that stands for a source without IR."""
    return f"{path}.o"


def keep_files(line: CommandLine, folder: str, store: Store) -> dict[str, str]:
    """Store what a link in ``folder`` reads; returns the digest of each file under its name on the command line.

    Files that cannot be read are left out: the linker complains about them itself.
    """
    kept: dict[str, str] = {}
    for name in _names(line):
        path = os.path.join(folder, name)
        if name not in kept and not path.startswith(_SYSTEM) and os.path.isfile(path):
            _keep(name, path, store, kept)
    return kept


def _keep(name: str, path: str, store: Store, kept: dict[str, str]) -> None:
    try:
        with open(path, "rb") as file:
            if names_whole_module(file):
                kept[name] = WHOLE_MODULE
                return
            file.seek(0)
            content = file.read()
        kept[name] = store.keep(content)
    except OSError:
        return
    if content.startswith(b"!<thin>\n"):
        _keep_members(name, path, store, kept)


def _keep_members(name: str, path: str, store: Store, kept: dict[str, str]) -> None:
    from pathlib import Path

    from whence.build.archive import members

    for member in members(Path(path)):
        try:
            kept[os.path.join(os.path.dirname(name), member.name)] = store.keep(member.read())
        except OSError:
            continue


def _names(line: CommandLine) -> Iterator[str]:
    """Names of files that the link may read, as the command line gives them."""
    libraries: list[str] = []
    folders: list[str] = []
    parts: list[str] = []
    yield from (i.path for i in line.inputs if i.kind == "object")
    for first, last in line.options:
        words = line.arguments[first:last]
        name, value = split_option(words)
        parts += passed_on(words) or []
        if name in ("-l", "-L"):
            (libraries if name == "-l" else folders).append(value)
        elif name == "-T":
            yield value
    for word in linker_words(parts):
        if word.name in ("-l", "-L"):
            (libraries if word.name == "-l" else folders).append(word.value)
        elif word.reads:
            yield word.value
    for library in libraries:
        yield from library_files(folders, library)


def library_files(folders: list[str], library: str) -> list[str]:
    """The names of files that ``-l`` looks for in these folders, in order."""
    names = [library[1:]] if library.startswith(":") else [f"lib{library}.so", f"lib{library}.a"]
    return [os.path.join(folder, name) for folder in folders for name in names]
