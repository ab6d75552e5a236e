"""Which clang compiles and links, and the flags that make it an ordinary one.

Key idea: the package ``ziglang`` holds a whole clang, and it is used in one of two ways.

- ``zig clang`` is the plain clang driver. It takes headers, start files and linker from the system, so it is
  used where the system can build C programs at all. It compiles exactly as any clang does.
- ``zig cc`` brings a C library and a linker along, for machines without them. It has surprises, each of which
  would make the plain program differ from what gcc or clang build: it tunes for the build machine's
  processor, adds traps for undefined behaviour and a stack protector to unoptimised code, defines ``NDEBUG``
  and refuses ``__DATE__`` in optimised code. Flags in front of the user's take that back. (It also shows a
  source's warnings only until it has compiled that source once.)

What older C allows, and newer clangs refuse by default, is a warning here, as most users' compilers have it: programs
that are diagnosed are often old.

This module is imported by ``whence-cc`` on every compiler call, hence no dataclass and no ``pathlib`` here.
"""
# ruff: noqa: PTH100, PTH110, PTH111, PTH113, PTH118, PTH120

from __future__ import annotations

import os
import sys

from whence.errors import BuildError

# A contracted multiply-add rounds once instead of twice; without it the -O0 IR and the plain program agree.
_PLAIN_FLAGS = {
    "zig": (
        "-fno-sanitize=all",
        "-fno-stack-protector",
        "-mcpu=baseline",
        "-UNDEBUG",
        "-Wno-date-time",
        "-ffp-contract=off",
    ),
    "clang": ("-ffp-contract=off",),
}
# Errors of newer clangs that have always been warnings elsewhere. A user's own -Werror= comes later, so it counts.
_OLD_C = tuple(
    f"-Wno-error={name}"
    for name in (
        "implicit-function-declaration",
        "implicit-int",
        "int-conversion",
        "incompatible-function-pointer-types",
        "incompatible-pointer-types",
    )
)
_OLD_C_BUNDLED = ("-Wno-error=return-mismatch",)  # older clangs warn of a name they do not know
_GCC_TRIPLES = ("linux-gnu", "redhat-linux", "suse-linux", "pc-linux-gnu", "unknown-linux-gnu")
_versions: dict[tuple[str, ...], str] = {}  # of the commands of compilers
_OLDEST, _NEWEST = 15, 22  # typed pointers before; newer than llvmlite after


def _makes_errors(arguments: list[str]) -> bool:
    """Whether a call has warnings, and makes all of them errors: the last word on that counts."""
    words = [word for word in arguments if word in ("-Werror", "-Wno-error")]
    return "-w" not in arguments and words[-1:] == ["-Werror"]


class Toolchain:
    """A C compiler driver: ``kind`` is ``clang`` or ``zig`` (``zig cc``), ``command`` the words that start
    it.
    """

    __slots__ = ("command", "kind")

    def __init__(self, kind: str, command: tuple[str, ...]) -> None:
        self.kind = kind
        self.command = command

    def __repr__(self) -> str:
        return f"Toolchain({self.kind!r}, {self.command!r})"

    def _flags(self, arguments: list[str]) -> tuple[str, ...]:
        """Flags that go before the user's.

        Under a plain ``-Werror`` what other compilers warn of is an error to them, too: by that configure scripts ask
        for functions, and an optimising clang needs neither a declaration nor the function where it knows its result.
        """
        if _makes_errors(arguments):
            return _PLAIN_FLAGS[self.kind]
        bundled = _OLD_C_BUNDLED if self.command[0].endswith("/zig") else ()
        return (*_PLAIN_FLAGS[self.kind], *_OLD_C, *bundled)

    def call(self, arguments: list[str]) -> list[str]:
        """The full command line that compiles or links as the user's ``arguments`` ask.

        Only link-time optimisation is left out: its objects are not ELF files, and need a plug-in of the
        linker.
        """
        end = ["-fno-lto"] if any(a.startswith("-flto") for a in arguments) else []
        return [*self.command, *self._flags(arguments), *arguments, *end]

    def environment(self) -> dict[str, str]:
        """The environment of a compiler call; zig's caches live in Whence's own folder."""
        environment = dict(os.environ)
        if self.kind == "zig":
            for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
                environment.setdefault(name, os.path.join(whence_home(), "zig"))
        return environment

    @property
    def version(self) -> str:
        """The version of clang, such as ``22.1.8``; a process asks each compiler once. Raises ``BuildError`` if it
        does not run.
        """
        if self.command not in _versions:
            _versions[self.command] = _ask_version(self)
        return _versions[self.command]

    def check(self) -> None:
        """Raise ``BuildError`` unless LLVM can read what this clang writes."""
        major = self.version.partition(".")[0]
        if not major.isdigit() or not _OLDEST <= int(major) <= _NEWEST:
            raise BuildError(
                f"{self.command[0]} is clang {self.version}; Whence needs clang {_OLDEST} to {_NEWEST}",
                "unset WHENCE_CLANG to use the bundled clang, or name another one",
            )


def whence_home() -> str:
    """The folder of Whence's store and caches: ``$WHENCE_HOME``, or ``whence`` in the user's cache folder."""
    home = os.environ.get("WHENCE_HOME")
    if home:
        return os.path.abspath(home)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "whence")


def find_toolchain(setting: str | None = None) -> Toolchain:
    """The compiler to use: ``setting``, else ``$WHENCE_CLANG`` (a path or name of a clang), else the bundled
    one.

    ``zig`` names the bundled one. Raises ``BuildError`` if there is no such program.
    """
    choice = setting or os.environ.get("WHENCE_CLANG") or "bundled"
    if choice in ("bundled", "zig"):
        return _bundled(choice)
    found = _which(choice)
    if found is None:
        raise BuildError(f"no compiler {choice!r} was found", "set WHENCE_CLANG to the path of a clang 15 to 22")
    return Toolchain("clang", (found,))


def _bundled(choice: str) -> Toolchain:
    # Looked up on the path of imports: running `python -m ziglang` would start Python a second time.
    for folder in sys.path:
        zig = os.path.join(folder, "ziglang", "zig")
        if os.access(zig, os.X_OK):
            break
    else:
        raise BuildError("the bundled compiler (the package ziglang) is not installed", "pip install ziglang==0.17.0")
    machine = os.uname().machine
    if choice == "zig" or not _system_builds_c(machine):
        return Toolchain("zig", (zig, "cc"))
    resources = os.path.join(os.path.dirname(zig), "lib")
    return Toolchain("clang", (zig, "clang", "-resource-dir", resources, f"--target={machine}-linux-gnu"))


def _system_builds_c(machine: str) -> bool:
    """Whether there are glibc's headers and start files, gcc's support library, and a linker."""
    start_files = (f"/usr/lib/{machine}-linux-gnu/crt1.o", "/usr/lib64/crt1.o", "/usr/lib/crt1.o")
    return (
        os.path.exists("/usr/include/stdio.h")
        and any(map(os.path.exists, start_files))
        and any(map(os.path.isdir, (f"/usr/lib/gcc/{machine}-{name}" for name in _GCC_TRIPLES)))
        and _which("ld") is not None
    )


def own_compiler(names: tuple[str, ...] = ("cc", "gcc"), but: str = "") -> str | None:
    """The path of the compiler that the user has beside ``whence-cc``, by whatever name that is called; or None.

    It is the first one found of ``names``, and another one than ``but``.
    """
    others = (os.path.realpath(sys.argv[0]), os.path.realpath(but))
    return next(filter(None, (_which(name, others) for name in names)), None)


def _which(name: str, others: tuple[str, ...] = ()) -> str | None:
    """The path of a program that is none of the ``others``."""
    folders = [""] if os.sep in name else os.environ.get("PATH", os.defpath).split(os.pathsep)
    for folder in folders:
        path = os.path.abspath(os.path.join(folder, name))
        if os.path.isfile(path) and os.access(path, os.X_OK) and os.path.realpath(path) not in others:
            return path
    return None


def _ask_version(toolchain: Toolchain) -> str:
    import re
    import subprocess

    command = [*toolchain.command, "--version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, env=toolchain.environment(), check=False)
    except OSError as error:
        raise BuildError(f"{toolchain.command[0]} cannot be run: {error.strerror}") from error
    found = re.search(r"clang version (\d+(?:\.\d+)*)", answer.stdout)
    if found is None:
        raise BuildError(f"{toolchain.command[0]} is not a clang", "set WHENCE_CLANG to a clang 15 to 22")
    return found.group(1)
