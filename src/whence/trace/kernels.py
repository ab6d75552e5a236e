"""How code over traces is compiled: once for a machine, and without counts of references where no array is made.

Numba trusts what it finds in its cache, and a damaged file would end the program. So files end with a hash of their
content, and what is damaged is compiled again.

Compiled code holds that of the kernels it calls, but Numba looks at the one file that a kernel stands in to tell
whether it is stale. So all of it is kept in a folder named by the contents of every file that kernels are made from.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numba
from numba import njit
from numba.core.caching import IndexDataCacheFile

from whence.build.store import is_sealed, sealed
from whence.build.toolchain import whence_home
from whence.probe import layout, plan, pointers, steps, synchronisation
from whence.trace.undisturbed import defer_signals

F = TypeVar("F", bound=Callable[..., Any])


def _sources_hash() -> str:
    """A hash of the files that kernels, and the constants in them, come from."""
    digest = hashlib.sha256()
    others = (Path(str(module.__file__)) for module in (layout, plan, pointers, steps, synchronisation))
    for path in (*sorted(Path(__file__).parent.glob("*.py")), *others):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


CACHE = Path(whence_home()) / "kernels" / _sources_hash()
numba.config.CACHE_DIR = str(CACHE)  # type: ignore[attr-defined]
defer_signals()


_CacheFile: Any = IndexDataCacheFile  # has no types


class _Sealed(_CacheFile):  # type: ignore[misc]
    """The files of one function's compiled code, each with its hash behind what Numba reads."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BinaryIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(sealed(content.getvalue()))

    def _load_index(self) -> Any:
        return super()._load_index() if is_sealed(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not is_sealed(path):
            raise FileNotFoundError(path)  # compiled again, and written over
        return super()._load_data(name)


def is_kept(kernel: Any) -> bool:
    """Whether a kernel (numba's object) has been compiled and kept before, or is kept nowhere."""
    place = kernel.stats.cache_path
    function = kernel.py_func
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}"
    return place is None or any(Path(place).glob(f"{name}-*.nbi"))


def lean(function: F) -> F:
    """Compile a function that makes no array: tables are passed to it without counting references to each.

    For functions that run once an event the counting would take several times longer than their work.
    """
    compiled: Any = njit(cache=True, _nrt=False)(function)  # type: ignore[call-overload]
    kept, own = compiled._cache, compiled._cache._impl
    kept._cache_file = _Sealed(kept.cache_path, own.filename_base, own.locator.get_source_stamp())
    made: F = compiled
    return made
