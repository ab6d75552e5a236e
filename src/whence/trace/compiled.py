"""How numba makes machine code of kernels: kept in a cache that is safe, and small.

Numba trusts what it finds in its cache, and a damaged file would end the program. So files end with a hash of their
content, and what is damaged is compiled again.

Compiled code holds that of the kernels it calls, but Numba looks at the one file that a kernel stands in to tell
whether it is stale. So all of it is kept in a folder named by the contents of every file that kernels are made from.

It is made for what all processors of a kind can do, which costs 2 to 6 % of the speed, and its folder names no place of
the machine: so a wheel can bring it along, and nothing is compiled at the first use.
"""

from __future__ import annotations

import hashlib
import io
import platform
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numba
from llvmlite import binding
from numba import njit, types
from numba.core import caching, event
from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

from whence.build.store import is_sealed, sealed
from whence.probe import layout, operations, plan, pointers, steps, synchronisation
from whence.trace.compiling import PACKAGE, kernels_folder, lay_kernels, shipped_kernels
from whence.trace.undisturbed import signals_deferred

LEAST = {"x86_64": ("x86-64", "")}  # by machine the processor and the features that code is made for; else this one's


def _sources_hash() -> str:
    """A hash of the files that kernels, and the constants in them, come from, and of what code is made for."""
    made_for = f"{numba.__version__} {sys.implementation.cache_tag} {platform.machine()} {' '.join(PROCESSOR)}"
    digest = hashlib.sha256(made_for.encode())
    others = (Path(str(module.__file__)) for module in (layout, operations, plan, pointers, steps, synchronisation))
    for path in (*sorted(Path(__file__).parent.glob("*.py")), *others):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> tuple[str, str]:
    """The name and the features of the processor that code is made for."""
    own = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    return LEAST.get(platform.machine(), own)


PROCESSOR = _processor()
CACHE = kernels_folder() / _sources_hash()
with suppress(OSError):  # no room: what is needed is compiled
    lay_kernels(shipped_kernels() / f"{CACHE.name}.tar.xz", CACHE)
numba.config.CPU_NAME, numba.config.CPU_FEATURES = PROCESSOR  # type: ignore[attr-defined]
numba.config.CACHE_DIR = str(CACHE)  # type: ignore[attr-defined]
numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.Locator"  # type: ignore[attr-defined]

_Locator: Any = caching.UserProvidedCacheLocator  # has no types


class Locator(_Locator):  # type: ignore[misc]
    """Where Numba keeps the code of a function: in a folder named after its package, wherever that is installed."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """The name of the folder."""
        folder = Path(py_file).parent
        if folder.is_relative_to(PACKAGE):
            return ".".join(folder.relative_to(PACKAGE).parts)
        return str(super().get_suitable_cache_subpath(py_file))


class _Compiling(event.Listener):
    """Defers signals from the outermost start of compiling to its end: numba's lock tells of both."""

    def __init__(self) -> None:
        self._depth = 0
        self._deferral: AbstractContextManager[list[int]] | None = None

    def on_start(self, event: event.Event) -> None:
        """Compiling begins."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth += 1
        if self._depth == 1:
            self._deferral = signals_deferred()
            self._deferral.__enter__()

    def on_end(self, event: event.Event) -> None:
        """Compiling ends, whether it worked or not."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0 and self._deferral:
            deferral, self._deferral = self._deferral, None
            deferral.__exit__(None, None, None)


event.register("numba:compiler_lock", _Compiling())  # type: ignore[no-untyped-call]  # signals wait meanwhile

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


_CacheImpl: Any = caching.CompileResultCacheImpl  # has no types


class _Kept(_CacheImpl):  # type: ignore[misc]
    """What is kept of a kernel: its machine code.

    Numba keeps the code that it was made from as well, twice as much, for putting it into other kernels. But none calls
    what Python calls, so only the names that it defines are kept of that, which are asked for when it is loaded. The
    source with its types, which is there to be shown, is left out, too.
    """

    def reduce(self, result: Any) -> Any:
        """What is written to the file, of the result of compiling."""
        library, described, environment, signature, as_objects, lifted, _, *others = super().reduce(result)
        name, kind, (code, bitcode) = library
        library = name, kind, (code, _names_in(bitcode))
        return library, described, environment, signature, as_objects, lifted, "", *others


def _names_in(bitcode: bytes) -> bytes:
    """A module that defines the same names, and nothing behind them."""
    module = binding.parse_bitcode(bitcode)
    functions = [f'define void @"{one.name}"() {{ ret void }}' for one in module.functions if not one.is_declaration]
    variables = [f'@"{one.name}" = global i8 0' for one in module.global_variables if not one.is_declaration]
    return bytes(binding.parse_assembly("\n".join([*functions, *variables])).as_bitcode())


_FunctionCache: Any = caching.FunctionCache  # has no types


class _Ready(_FunctionCache):  # type: ignore[misc]
    """The compiled code of one function, which is loaded without what compiling needs.

    Numba would load how it compiles all that it knows first, which takes a quarter of a second; its compiler does that
    itself where it is called.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept for some types; None where nothing is."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


_Dispatcher: Any = Dispatcher  # has no types


class _Lean(_Dispatcher):  # type: ignore[misc]
    """A function that compiled code calls, compiled once for all integers.

    Numba would compile it anew for each constant and each width of integer that it is given, and each time make the
    code that takes its tables out of Python's objects, which costs more than the function: that was 105 seconds of
    processor time for the passes that decode, slice, and check memory and races, and is 39 this way.
    """

    def get_call_template(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """What numba asks for at a call in compiled code: integers are passed as ``int64``, but for ``uint64``."""
        return super().get_call_template(tuple(map(_widened, args)), {key: _widened(kws[key]) for key in kws})


def _widened(given: Any) -> Any:
    """The type that an argument is passed as."""
    plain = types.unliteral(given)  # type: ignore[no-untyped-call]
    return types.int64 if isinstance(plain, types.Integer | types.Boolean) and plain != types.uint64 else given


def callee(function: Callable[..., Any]) -> Any:
    """What compiled code calls."""
    made: Any = njit(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]
    made.__class__ = _Lean
    return made


def called(function: Callable[..., Any]) -> Any:
    """What Python calls, kept in the cache."""
    compiled: Any = njit(cache=True, _nrt=False, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]
    kept, own = compiled._cache, compiled._cache._impl
    kept.__class__, own.__class__ = _Ready, _Kept
    kept._cache_file = _Sealed(kept.cache_path, own.filename_base, own.locator.get_source_stamp())
    return compiled
