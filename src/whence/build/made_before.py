"""What a build made before with another compiler, so that whence-cc gets to make it anew.

A build makes what is older than its sources. Where a program was built by hand before, or a file of it since, all of
that is up to date, and nothing, or not all, is captured. Such objects and the program are moved aside while the build
runs again; what it has not made anew by then is put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from whence.build.capture import Capture, read_executable, real_executable
from whence.build.programs import files_below
from whence.build.records import read_records
from whence.build.store import Store, sha256
from whence.errors import BuildError

KIND = "foreign"  # in the store
OBJECT, LISTED, SOURCE = ".o", ".lo", ".c"  # LISTED: what libtool says of an object, or of two


def made_before(program: Path, folder: Path) -> tuple[Capture | None, list[Path]]:
    """What a program holds (None: nothing that can be analysed), and what whence-cc has to make anew for more of it.

    That is the program, and objects that a C source of the folder has the name of. None, where all is captured, or what
    is not is what came of making it anew (``keep_in_mind``).
    """
    store = Store()
    try:
        capture = read_executable(program, store)
    except BuildError:
        capture = None
    objects = [] if capture and not capture.foreign else list(_not_captured(folder, store))
    if capture and not objects:
        return capture, []
    found = [*objects, *dict.fromkeys((program, real_executable(program)))]
    is_known = Path(store.path(KIND, _key(found), ".json")).is_file()
    return capture, [] if is_known else found


def keep_in_mind(files: Sequence[Path]) -> None:
    """Keep that these files came of a build that was to make all anew: the build calls another compiler for them."""
    Store().write_entry(KIND, _key(files), {"files": [str(path) for path in files]})


def _key(files: Sequence[Path]) -> str:
    return sha256("".join(sha256(path.read_bytes()) for path in files if path.is_file()).encode())


def _not_captured(folder: Path, store: Store) -> Iterator[Path]:
    """The objects that a C source of the folder has the name of, and that say nothing of their IR, or of one that is
    gone.
    """
    files = list(files_below(folder))
    sources = {path.stem for path in files if path.suffix == SOURCE}
    objects = {path for path in files if path.suffix == OBJECT and _names(path.stem) & sources}
    foreign = {path for path in objects if not _is_captured(path, store)}
    yield from sorted(foreign)
    for path in files:
        own = path.with_suffix(OBJECT)
        if path.suffix == LISTED and foreign & {own, own.parent / ".libs" / own.name}:
            yield path


def _names(stem: str) -> set[str]:
    """The names of sources that an object may come of: ``p-main.o`` of ``main.c``, as automake calls it, too."""
    parts = stem.split("-")
    return {"-".join(parts[start:]) for start in range(len(parts))}


def _is_captured(path: Path, store: Store) -> bool:
    try:
        with path.open("rb") as file:
            records = read_records(file)
    except OSError:
        return True  # which is no business of ours
    entries = [Path(store.path("captures", one.entry, ".json")) for one in records if one.kind == "module"]
    return bool(records) and all(map(Path.is_file, entries))


@contextmanager
def aside(files: Sequence[Path], folder: Path) -> Iterator[None]:
    """Have files out of the way, in their file system; those that are not made anew meanwhile are there again after."""
    with TemporaryDirectory(prefix=".whence-", dir=folder) as kept:
        places = [(path, Path(kept, str(number))) for number, path in enumerate(files)]
        try:
            for path, place in places:
                path.rename(place)
            yield
        finally:
            _put_back(places)


def _put_back(places: Iterable[tuple[Path, Path]]) -> None:
    for path, place in places:
        if place.exists() and not path.exists():
            place.rename(path)
