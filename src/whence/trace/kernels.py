"""Code over traces that is compiled to machine code by numba: once for a machine, when it is first called.

Numba takes a fifth of a second to load and is not asked for before a kernel is called: the first ranking needs none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Kernel:
    """A function that makes no array: tables are passed to it without counting references to each.

    For functions that run once an event the counting would take several times longer than their work. What
    Python calls (``called``) is kept on disk, with all that it calls in turn (their ``compiled``).
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        """Numba's object for calls by compiled code."""
        from whence.trace.compiled import callee

        return callee(self.py_func)

    @cached_property
    def called(self) -> Any:
        """Numba's object for calls by Python."""
        from whence.trace.compiled import called

        return called(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """The type that numba asks for where compiled code names the kernel."""
        return self.compiled._numba_type_

    def __call__(self, *args: Any) -> Any:
        """A call by Python; the first one on a machine waits until another process has compiled the kernel."""
        compile_for(self, *args)
        return self.called(*args)


class Inlined(Kernel):
    """A kernel whose code is put in the place of each call by another one."""

    targetoptions = {"inline": "always"}  # noqa: RUF012  # what numba looks at


def compile_for(kernel: Any, *args: Any) -> None:
    """Have a kernel compiled for arguments of these types, where that has not been done on this machine."""
    if not kernel.called.overloads and not is_kept(kernel):
        from whence.trace.compiling import compile_apart

        compile_apart(kernel.called, tuple(map(kernel.called.typeof_pyval, args)), lambda: is_kept(kernel))


def is_kept(kernel: Any) -> bool:
    """Whether a kernel has been compiled for Python and kept before, or is kept nowhere."""
    place = kernel.called.stats.cache_path
    function = kernel.py_func
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}"
    return place is None or any(Path(place).glob(f"{name}-*.nbc"))


def lean(function: F) -> F:
    """Make a kernel of a function (as a decorator)."""
    return cast(F, Kernel(function))


def inlined(function: F) -> F:
    """Put a function's code in the place of its calls by kernels (as a decorator)."""
    return cast(F, Inlined(function))
