"""What makes a build call ``whence-cc`` in place of its compiler: an environment, and files for CMake and Meson."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from whence.build.toolchain import own_compiler, whence_home
from whence.errors import BuildError

CMAKE, MESON = "whence.cmake", "whence.ini"


def compiler_names(but: Path) -> tuple[str, ...]:
    """The names by which builds call a C compiler; and a C++ compiler, which links programs that have C parts, as far
    as there is one of that name, ``but`` for our own.
    """
    machine = f"{os.uname().machine}-linux-gnu"
    cplusplus = ("c++", "g++", "clang++", f"{machine}-g++")
    return "cc", "gcc", "clang", f"{machine}-gcc", *(name for name in cplusplus if own_compiler((name,), str(but)))


class BuildEnvironment:
    """The files that lead builds to ``whence-cc``, in a folder of Whence's own; made where they are not there.

    Raises BuildError where the compiler is not installed, or the files cannot be written.
    """

    def __init__(self) -> None:
        self.compiler = Path(sys.executable).with_name("whence-cc")
        if not os.access(self.compiler, os.X_OK):
            raise BuildError(f"there is no {self.compiler}", "install Whence again: pip install whence")
        self.folder = Path(whence_home()) / "env"
        try:
            self._make()
        except OSError as error:
            raise BuildError(f"cannot write in {self.folder}: {error.strerror}", "set WHENCE_HOME") from error

    @property
    def programs(self) -> Path:
        """The folder in which every name of a C or C++ compiler is ``whence-cc``."""
        return self.folder / "bin"

    @property
    def cmake(self) -> Path:
        """A toolchain file for CMake."""
        return self.folder / CMAKE

    @property
    def meson(self) -> Path:
        """A native file for Meson."""
        return self.folder / MESON

    def variables(self, given: Mapping[str, str]) -> dict[str, str]:
        """The environment of a build, made of the ``given`` one."""
        folders = [path for path in given.get("PATH", os.defpath).split(os.pathsep) if path != str(self.programs)]
        return {**given, "CC": str(self.compiler), "PATH": os.pathsep.join([str(self.programs), *folders])}

    def _make(self) -> None:
        self.programs.mkdir(parents=True, exist_ok=True)
        for name in compiler_names(self.compiler):
            place = self.programs / name
            if not place.is_symlink() or place.readlink() != self.compiler:
                place.unlink(missing_ok=True)
                place.symlink_to(self.compiler)
        self.cmake.write_text(f'set(CMAKE_C_COMPILER "{self.compiler}")\n')
        self.meson.write_text(f"[binaries]\nc = '{self.compiler}'\n")
