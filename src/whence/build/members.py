"""Captured members of archives that the program does without, but not its variants.

Key idea: an optimised program needs no definition of what was inlined everywhere, or called in dead code alone. A
variant is not optimised before it is instrumented, so its link would take the archive's member as it is, and what
that does would not be seen. So these members count as modules of the program.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from whence.build.archive import is_archive, members
from whence.build.ir import global_names
from whence.build.mend import kept_file
from whence.build.records import Record, names_whole_module, read_records
from whence.build.store import Store, is_sound
from whence.build.symbols import defined_globals, mentioned


def wanted_members(
    executable: Path, folder: str, files: Mapping[str, str], modules: Sequence[Record], store: Store
) -> list[Record]:
    """Records of captured archive members that define what ``modules`` name and the program does not have.

    ``files`` are those of the link in ``folder``. The linker would take these members for a variant, and what they need
    in turn. Raises ``BuildError`` where an archive can be found neither in the store nor in its place.
    """
    archives, others = _sorted(folder, files, store)
    known = mentioned(executable.read_bytes()).union(*map(defined_globals, others))
    present = {record.digest for record in modules}
    offers = [(r, names - known) for r, names in _offers(archives, files, store) if r.digest not in present]
    if not any(names for _, names in offers):
        return []
    needs: set[str] = set()
    for record in modules:
        needs |= _take(record, known, store)
    found: list[Record] = []
    while chosen := next((offer for offer in offers if offer[1] & (needs - known)), None):
        record, names = chosen
        if is_sound(store.bitcode(record.digest), record.digest):
            found.append(record)
            needs |= _take(record, known, store)
        known |= names  # without IR it stays what it is in the archive
    return found


def _take(record: Record, known: set[str], store: Store) -> set[str]:
    """What a module names without defining it; what it defines is known from now on."""
    named, defined = global_names(Path(store.bitcode(record.digest)).read_bytes())
    known |= defined
    return named


def _sorted(folder: str, files: Mapping[str, str], store: Store) -> tuple[dict[str, Path], list[bytes]]:
    """Where the link's archives are kept, and the contents of its other objects without IR."""
    archives, others = {}, []
    for name, digest in files.items():
        if digest and name.endswith((".a", ".o", ".lo")):
            path = kept_file(store, digest, Path(folder, name))
            if is_archive(path):
                archives[name] = path
            elif not read_records(io.BytesIO(content := path.read_bytes())):
                others.append(content)
    return archives, others


def member_contents(name: str, path: Path, files: Mapping[str, str], store: Store) -> Iterator[tuple[str, bytes]]:
    """The members of an archive of a link, kept at ``path``, by name; those of a thin one are files of the link."""
    for member in members(path):
        digest = files.get(os.path.join(os.path.dirname(name), member.name))  # noqa: PTH118, PTH120
        yield member.name, Path(store.file(digest)).read_bytes() if digest and member.path != path else member.read()


def _offers(archives: Mapping[str, Path], files: Mapping[str, str], store: Store) -> Iterator[tuple[Record, set[str]]]:
    """Each captured member with the names that it defines."""
    for name, path in archives.items():
        for _, content in member_contents(name, path, files, store):
            if names_whole_module(io.BytesIO(content)):  # with further parts it stays as it is
                yield read_records(io.BytesIO(content))[0], defined_globals(content)
