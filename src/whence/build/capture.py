"""What a finished program was made of: its captured modules in link order, and how it was linked.
 Key idea: everything is read back from the executable itself (the section ``.whence``) and the store, so a
program may be copied, installed or stripped, and its parts may come through static archives and ``ld -r``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.build.archive import is_archive
from whence.build.flags import CommandLine
from whence.build.ir import global_names
from whence.build.members import member_contents, wanted_members
from whence.build.mend import kept_bitcode, kept_file
from whence.build.records import Record, read_records
from whence.build.store import Store
from whence.build.toolchain import Toolchain, find_toolchain
from whence.errors import BuildError

_HOW_TO = (
    "build it anew with whence-cc: whence build -- make, ./configure CC=whence-cc, or -DCMAKE_C_COMPILER=whence-cc"
)


@dataclass(slots=True)
class CapturedModule:
    """A module of the program.

    ``name`` is unique in the program (the source's path below ``directory`` where it lies there), ``source``
    the absolute path of the source, ``directory`` the folder it was compiled in, ``hash`` the SHA-256 of the
    bitcode, ``bitcode`` where that lies, ``arguments`` the compiler call.
    """

    name: str
    source: str
    hash: str
    bitcode: Path
    directory: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class LinkRecord:
    """How the program was linked: ``arguments`` (response files expanded) given to the compiler in ``directory``.

    ``files`` are what the link read and the store keeps: under their names on the command line their digests.
    """

    directory: str
    arguments: list[str]
    output: str
    toolchain: Toolchain
    environment: dict[str, str]
    files: dict[str, str]


@dataclass(slots=True)
class Capture:
    """All that is known of one executable's build.

    ``modules`` are the program's own, then those of ``libraries``: shared ones of the build, by their names on the link
    line. ``uncaptured`` names each source or object without IR, with the reason; ``foreign`` are the objects among
    them, and the archives of the build, that another compiler has made, or a part of.
    """

    executable: Path
    modules: list[CapturedModule]
    link: LinkRecord
    uncaptured: list[str]
    libraries: dict[str, Capture] = field(default_factory=dict)
    foreign: list[Path] = field(default_factory=list)

    @property
    def toolchain(self) -> Toolchain:
        """The compiler that linked the program."""
        return self.link.toolchain


def read_executable(path: Path | str, store: Store | None = None) -> Capture:
    """Read back what ``path`` (an executable, a shared library, or libtool's script for one) was built from.

    Raises ``BuildError`` if the file cannot be read or nothing of it was captured, and says how to build it.
    """
    store = store or Store()
    executable = real_executable(Path(path))
    records = _records(executable)
    named = [record for record in records if record.kind == "module"]
    uncaptured = [f"{r.path}: {r.key}" for r in records if r.kind == "missing"]
    if not named:
        reason = f" ({uncaptured[0]})" if uncaptured else ""
        raise BuildError(f"{path} holds no captured IR{reason}", _HOW_TO)
    link = _link_record(path, records, store)
    modules = [_module(record, store, link.toolchain) for record in named]
    needed = wanted_members(executable, link.directory, link.files, named, store)
    modules += [_module(record, store, link.toolchain) for record in needed]
    libraries, left_out = _libraries(link, modules, store)
    modules += [module for library in libraries.values() for module in library.modules]
    _make_unique(modules)
    foreign = {**_foreign_objects(link, store), **_foreign_archives(link, store)}
    uncaptured += [*(f"{path}: {what}" for path, what in foreign.items()), *left_out]
    return Capture(executable, modules, link, uncaptured, libraries, list(foreign))


def real_executable(path: Path) -> Path:
    """The executable behind libtool's wrapper script, or ``path`` itself; raises ``BuildError`` if
    unreadable.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise BuildError(f"{path} cannot be read: {error.strerror}") from error
    if not start.startswith(b"#!") or b"libtool" not in start:
        return path
    for name in (path.name, "lt-" + path.name):
        candidate = path.parent / ".libs" / name
        if candidate.is_file():
            return candidate
    raise BuildError(f"{path} is libtool's script, but there is no program in {path.parent / '.libs'}", "run make")


def _libraries(
    link: LinkRecord, modules: Sequence[CapturedModule], store: Store
) -> tuple[dict[str, Capture], list[str]]:
    """The captured shared libraries that a link names, as they are now where they are still there, as programs run.

    Also returns why others count as uncaptured: of two definitions of a name the program's own would be called.
    """
    found: dict[str, Capture] = {}
    left_out: list[str] = []
    taken: set[str] | None = None
    seen = {module.hash for module in modules}
    for name, digest in link.files.items():
        if ".so" not in Path(name).name or not digest:
            continue
        built = Path(link.directory, name)
        path = built if built.is_file() else kept_file(store, digest, built)
        if not any(record.kind == "module" for record in _records(path)):
            continue
        library = read_executable(path, store)
        if seen.issuperset(module.hash for module in library.modules):
            continue  # another name of the same
        taken = _defined(modules) if taken is None else taken
        defined = _defined(library.modules)
        if shared := sorted(taken & defined):
            left_out.append(f"{name}: it defines {shared[0]}, as the program does, and is taken as it is")
            continue
        taken |= defined
        seen |= {module.hash for module in library.modules}
        found[name] = library
        left_out += library.uncaptured
    return found, left_out


def _defined(modules: Sequence[CapturedModule]) -> set[str]:
    """The names that modules define for others."""
    return set[str]().union(*(global_names(module.bitcode.read_bytes())[1] for module in modules))


def _records(executable: Path) -> list[Record]:
    with executable.open("rb") as file:
        return read_records(file)


def _module(record: Record, store: Store, toolchain: Toolchain) -> CapturedModule:
    try:
        entry = store.read_entry("captures", record.entry)
    except OSError as error:
        raise BuildError(f"the IR of {record.path} is no longer in {store.root}", "build the program again") from error
    bitcode = kept_bitcode(store, record.digest, entry, toolchain)
    return CapturedModule(record.path, record.path, record.digest, bitcode, entry["directory"], entry["arguments"])


def _link_record(path: Path | str, records: list[Record], store: Store) -> LinkRecord:
    keys = [r.key for r in records if r.kind == "link"]
    if not keys:
        raise BuildError(f"{path} was not linked by whence-cc", "let the build link through its C compiler, whence-cc")
    try:
        entry = store.read_entry("links", keys[-1])
    except OSError as error:
        raise BuildError(f"the link of {path} is no longer in {store.root}", "build the program again") from error
    return LinkRecord(
        entry["directory"],
        entry["arguments"],
        entry["output"],
        _toolchain(entry["toolchain"]),
        entry["environment"],
        entry["files"],
    )


def _toolchain(entry: dict[str, Any]) -> Toolchain:
    """The recorded toolchain; the bundled one is found anew, since a virtual environment may have moved."""
    command = tuple(entry["command"])
    return Toolchain(entry["kind"], command) if Path(command[0]).is_file() else find_toolchain("bundled")


def _make_unique(modules: list[CapturedModule]) -> None:
    """Shorten the names to paths below the build's folders; number the modules made from one source."""
    seen: dict[str, int] = {}
    for module in modules:
        source, folder = Path(module.source), Path(module.directory)
        name = str(source.relative_to(folder)) if source.is_relative_to(folder) else module.source
        seen[name] = seen.get(name, 0) + 1
        module.name = name if seen[name] == 1 else f"{name}#{seen[name]}"


def _foreign_objects(link: LinkRecord, store: Store) -> dict[Path, str]:
    """Objects named on the link line that say nothing of their origin, with what is to be said of them."""
    inputs = [i.path for i in CommandLine(link.arguments).inputs if i.kind == "object"]
    objects = [(p, link.files.get(p)) for p in inputs if re.search(r"\.l?o$", p)]
    paths = [(Path(link.directory, name), Path(store.file(digest))) for name, digest in objects if digest]
    return {path: "not compiled by whence-cc" for path, kept in paths if kept.is_file() and not _records(kept)}


def _foreign_archives(link: LinkRecord, store: Store) -> dict[Path, str]:
    """Archives of the build with members that say nothing of their origin; those of the system are no part of it."""
    found = dict[Path, str]()
    for name, digest in link.files.items():
        path = Path(link.directory, name)
        is_own = not Path(name).is_absolute() or path.is_relative_to(link.directory)
        if name.endswith(".a") and digest and is_own and is_archive(kept := kept_file(store, digest, path)):
            contents = member_contents(name, kept, link.files, store)
            silent = [member for member, content in contents if not read_records(io.BytesIO(content))]
            if silent:
                found[path] = f"{len(silent)} of its objects not compiled by whence-cc ({silent[0]})"
    return found
