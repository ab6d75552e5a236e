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
from numba import njit, types
from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

from whence.build.store import is_sealed, sealed
from whence.build.toolchain import whence_home
from whence.probe import layout, plan, pointers, steps, synchronisation
from whence.trace.compiling import compile_apart
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


_Dispatcher: Any = Dispatcher  # has no types


class _Lean(_Dispatcher):  # type: ignore[misc]
    """A function that compiled code calls, compiled once for all integers; ``called`` is the one that Python calls.

    Numba would compile it anew for each constant and each width of integer that it is given, and each time make the
    code that takes its tables out of Python's objects, which costs more than the function: that was 105 seconds of
    processor time for the passes that decode, slice, and check memory and races, and is 39 this way.
    """

    called: Any

    def get_call_template(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """What numba asks for at a call in compiled code: integers are passed as ``int64``, but for ``uint64``."""
        return super().get_call_template(tuple(map(_widened, args)), {key: _widened(kws[key]) for key in kws})

    def __call__(self, *args: Any) -> Any:
        """A call by Python; the first one on a machine waits until another process has compiled the kernel."""
        if not self.called.overloads and not is_kept(self):
            compile_apart(self.called, tuple(map(self.called.typeof_pyval, args)), lambda: is_kept(self))
        return self.called(*args)


def _widened(given: Any) -> Any:
    """The type that an argument is passed as."""
    plain = types.unliteral(given)  # type: ignore[no-untyped-call]
    return types.int64 if isinstance(plain, types.Integer | types.Boolean) and plain != types.uint64 else given


def is_kept(kernel: Any) -> bool:
    """Whether a kernel has been compiled for Python and kept before, or is kept nowhere."""
    place = kernel.called.stats.cache_path
    function = kernel.py_func
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}"
    return place is None or any(Path(place).glob(f"{name}-*.nbc"))


def lean(function: F) -> F:
    """Compile a function that makes no array: tables are passed to it without counting references to each.

    For functions that run once an event the counting would take several times longer than their work. What
    Python calls is kept, with all that it calls in turn.
    """
    made: Any = njit(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]
    made.__class__ = _Lean
    made.called = _called(function)
    found: F = made
    return found


def _called(function: Callable[..., Any]) -> Any:
    """What Python calls."""
    compiled: Any = njit(cache=True, _nrt=False, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]
    kept, own = compiled._cache, compiled._cache._impl
    kept._cache_file = _Sealed(kept.cache_path, own.filename_base, own.locator.get_source_stamp())
    return compiled
