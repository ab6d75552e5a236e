"""``whence-cc``: the drop-in compiler. It runs clang on the user's own command line and keeps the IR beside
it.

Key ideas:

- The user's command runs as it came, so output, diagnostics, dependency files and status are clang's own.
  Whatever builds no part of a program (``-E``, ``-M``, ``--version``, probes of autoconf and CMake) replaces
  this process.
- ``-c``: each C source is compiled to IR at the same time as the plain compile runs; the finished object gets
  a section that names the IR (see ``records.py``).
- A link gets one more, tiny object with the record of the link; sources in the same call are compiled to IR
  first, and their records go into that object.
- Capturing can fail, the build cannot: what went wrong is recorded in the object and told by
  ``read_executable``. What the user's own compiler takes is built: under -Werror clang's warnings are no errors
  then, strict C is GNU's where only that is taken, and what clang does not compile that compiler does, without being
  captured.
- C++ is compiled by the user's own compiler, which is said. Called by the name of a C++ compiler (``whence build``
  gives it those) it leaves all to that one, but records links, so that the C parts of a mixed program are captured.

Start-up time is paid hundreds of times by a configure script, hence no dataclass, no ``pathlib``, no
``subprocess``.
"""
# ruff: noqa: PTH100, PTH108, PTH109, PTH110, PTH113, PTH119, PTH123

from __future__ import annotations

import contextlib
import os
import signal
import sys

from whence.build.flags import OPTIMISED, CommandLine, Input, as_gnu, is_optimised, without_werror
from whence.build.linked import keep_files, source_object
from whence.build.records import Record, append_section, relocatable
from whence.build.store import Store, encode, read, sha256
from whence.build.toolchain import Toolchain, find_toolchain, own_compiler
from whence.errors import BuildError, WhenceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

_PROBES = ("conftest.", "CMakeCCompilerId.")
_PROBE_FOLDERS = ("/CMakeScratch/", "/CMakeTmp", "/CompilerIdC", "/meson-private/")
_MACHINES = {"x86_64": 62, "aarch64": 183}  # e_machine of a link record's object
_FALLEN_BACK = "WHENCE_FALLEN_BACK"  # the user's own compiler, set for it, which may be a script that calls us
_CPLUSPLUS = ("c++", "g++", "clang++")
_CPLUSPLUS_LIBRARIES = ("-lstdc++", "-lm")  # that a C++ compiler links by itself
WITHOUT_OPENMP = "the bundled clang has no OpenMP runtime: leave -fopenmp out, or name one that has it in WHENCE_CLANG"
_ENVIRONMENT = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "COMPILER_PATH")


def main() -> int:
    """The console script: compile as clang would, capture the IR, return clang's exit status."""
    arguments = sys.argv[1:]
    try:
        toolchain = find_toolchain()
        own = _own_cplusplus()
    except WhenceError as error:
        print(f"whence-cc: error: {error}", file=sys.stderr)
        return 1
    line = CommandLine([*arguments, *(_CPLUSPLUS_LIBRARIES if own else ())])
    if not worth_capturing(line):
        command = [own, *arguments] if own else toolchain.call(arguments)
        os.execve(command[0], command, _environment_of(toolchain, own))
    with _children_end_with_us():
        return Call(toolchain, line, arguments, own).run()


def _own_cplusplus() -> str:
    """The user's own C++ compiler, where we are called by the name of one; else empty."""
    name = os.path.basename(sys.argv[0])
    if not name.endswith("++"):
        return ""
    own = own_compiler((name, *_CPLUSPLUS), os.environ.get(_FALLEN_BACK, ""))
    if own is None:
        raise BuildError("there is no C++ compiler in the path; Whence brings one for C alone")
    return own


def _environment_of(toolchain: Toolchain, own: str) -> dict[str, str]:
    """The environment of clang, or of the user's own compiler."""
    return toolchain.environment() | ({_FALLEN_BACK: own} if own else {})


def worth_capturing(line: CommandLine) -> bool:
    """Whether the call builds a part of a program, rather than asking the compiler something."""
    if line.step == "other":
        return False
    if line.output is not None and (line.output == "-" or _is_special(line.output)):
        return False
    if line.step == "link" and (os.uname().machine not in _MACHINES or _is_cross(line)):
        return False
    folder = os.getcwd() + "/"
    return not (
        any(name in folder for name in _PROBE_FOLDERS)
        or any(os.path.basename(i.path).startswith(_PROBES) for i in line.inputs)
        or any(name in i.path for i in line.inputs for name in _PROBE_FOLDERS)
    )


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


def _is_cross(line: CommandLine) -> bool:
    words = {line.arguments[first] for first, _ in line.options}
    return bool(words & {"-m32", "-mx32", "-target", "--target"}) or any(w.startswith("--target=") for w in words)


class Call:
    """One compiler call that is captured. ``own``: the user's compiler that does it in the place of clang."""

    def __init__(self, toolchain: Toolchain, line: CommandLine, arguments: list[str], own: str = "") -> None:
        self.toolchain = toolchain
        self.line = line
        self.arguments = arguments
        self.own = own
        self.store = Store()
        self.environment = toolchain.environment()
        self.stdin = _standard_input() if any(i.path == "-" for i in line.sources) else None

    def run(self) -> int:
        """Do what was asked; returns the exit status."""
        captures = [] if self.own else [SourceCapture(self, i) for i in self.line.sources if i.kind == "c"]
        cplusplus = [i for i in self.line.sources if self.own or i.is_cplusplus]
        if self.line.step == "compile" and not captures and cplusplus:
            self.own = self.own or own_compiler(but=os.environ.get(_FALLEN_BACK, "")) or ""
        if cplusplus:
            by = f", compiled by {self.own}" if self.own else ""
            _note(f"{', '.join(i.path for i in cplusplus)}: C++, which is not analysed{by}")
        try:
            status = self._compile(captures) if self.line.step == "compile" else self._link(captures)
            if status and "-fopenmp" in self.arguments and self.toolchain.command[0].endswith("/zig"):
                _note(WITHOUT_OPENMP)
            return status
        finally:
            for capture in captures:
                capture.discard()

    def _compile(self, captures: list[SourceCapture]) -> int:
        limit = os.cpu_count() or 1
        for capture in captures[:limit]:
            capture.start()
        status = self._plain(self.arguments)
        if status and (self.own or not self._fall_back(captures)):
            return status
        records = _finish(captures, limit)
        for source in self.line.sources:
            self._name(source, records.get(source) or self._missing(source))
        return 0

    def _fall_back(self, captures: list[SourceCapture]) -> bool:
        """Compile by the user's own compiler what clang refuses; whether that takes it."""
        if not (compiler := self._taken_by()):
            return False
        for capture in captures:
            capture.refuse(f"clang does not compile it, {compiler} does")
        _note(f"{', '.join(source.path for source in self.line.sources)}: compiled by {compiler}, and not captured")
        return True

    def _taken_by(self) -> str | None:
        """The user's own compiler, if that does what was asked; None where it refuses that too, or there is none."""
        compiler = own_compiler()
        if compiler is None or _FALLEN_BACK in os.environ:
            return None
        environment = _environment_of(self.toolchain, compiler)
        refused = _wait(self.spawn([compiler, *self.arguments], os.memfd_create("whence-cc"), environment))
        return None if refused else compiler

    def _link(self, captures: list[SourceCapture]) -> int:
        limit = os.cpu_count() or 1
        for capture in captures[:limit]:
            capture.start()
        try:
            # A link into another object is never done again: the program's own link has all of its parts.
            files = {} if self._is_partial else keep_files(self.line, os.getcwd(), self.store)
            found = _finish(captures, limit)
            records = [found.get(source) or self._missing(source) for source in self.line.sources]
            for source, record in zip(self.line.sources, records, strict=True):
                if record.kind == "missing" and not self._is_partial:
                    self._keep_object(source, files)
            extra = self._link_object(records, files)
        except OSError:  # the link must not fail because the store cannot be written
            return self._plain(self.arguments)
        return self._plain([extra, *self.arguments])  # in front, where no -x is in force yet

    def _plain(self, arguments: list[str]) -> int:
        """Run clang as it was asked, and less strictly where it refuses what the user's own compiler takes."""
        if self.own:
            return _wait(self.spawn([self.own, *arguments], None, _environment_of(self.toolchain, self.own)))
        status = _wait(self.spawn(self.toolchain.call(arguments)))
        lenient = without_werror(arguments)
        all_ways = (
            ("these warnings are no errors, since {} has none", lenient),
            ("strict C as {} takes it", as_gnu(lenient)),
        )
        ways = [(told, way) for told, way in all_ways if way != arguments]
        if not status or not ways or not (compiler := self._taken_by()):
            return status
        for told, way in ways:
            if not _wait(self.spawn(self.toolchain.call(way), os.memfd_create("whence-cc"))):
                _note(told.format(compiler))
                return 0
        return status

    def _missing(self, source: Input) -> Record:
        reason = "assembly" if source.kind == "assembly" else "not a C source"
        return Record("missing", reason, source.absolute(os.getcwd()))

    def _name(self, source: Input, record: Record) -> None:
        """Write the record into the object made from ``source``; an object that takes none is left as it
        is.
        """
        path = self.line.output or source.object_name()
        with contextlib.suppress(OSError, ValueError), open(path, "r+b") as file:
            append_section(file, record.encode())

    @property
    def _is_partial(self) -> bool:
        return "-r" in self.line.arguments

    def _keep_object(self, source: Input, files: dict[str, str]) -> None:
        """Make an object of a source without IR, as the link itself does, and keep it among the link's ``files``."""
        temporary, diagnostics = self.store.temporary(".o"), os.memfd_create("whence-cc")
        arguments = self.line.object_arguments(source, temporary)
        try:
            if not _wait(self.spawn(self.toolchain.call(arguments), diagnostics)):
                files[source_object(source.path)] = self.store.keep(read(temporary))
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)

    def _link_object(self, records: list[Record], files: dict[str, str]) -> str:
        """Store this link's entry; returns the path of an object that names it and the sources compiled
        here.
        """
        kind = "partial" if self._is_partial else "link"
        output = os.path.abspath(self.line.output or "a.out")
        entry = {
            "directory": os.getcwd(),
            "arguments": self.line.arguments,
            "output": output,
            "kind": kind,
            "files": files,
            "toolchain": {"kind": self.toolchain.kind, "command": list(self.toolchain.command)},
            "environment": {n: os.environ[n] for n in _ENVIRONMENT if n in os.environ},
        }
        key = sha256(encode(entry))
        self.store.write_entry("links", key, entry)
        records = [*records, Record(kind, key, output)]
        content = relocatable(b"".join(r.encode() for r in records), _MACHINES[os.uname().machine])
        path = self.store.path("links", sha256(content), ".o")
        self.store.write(path, content)
        return path

    def spawn(self, command: list[str], output: int | None = None, environment: dict[str, str] | None = None) -> int:
        """Start a command, with both output streams sent to the descriptor ``output``; returns its process
        id.
        """
        actions: list[tuple[int, int, int]] = []
        if output is not None:
            actions += [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
        stdin = None
        if self.stdin is not None:  # opened anew, so that each reader has a position of its own
            stdin = os.open(f"/proc/self/fd/{self.stdin}", os.O_RDONLY)
            actions.append((os.POSIX_SPAWN_DUP2, stdin, 0))
        pid = os.posix_spawn(command[0], command, environment or self.environment, file_actions=actions)
        _running.add(pid)
        if stdin is not None:
            os.close(stdin)
        return pid


class SourceCapture:
    """The compilation of one source into the store's IR."""

    def __init__(self, call: Call, source: Input) -> None:
        self.call = call
        self.source = source
        self.path = source.absolute(os.getcwd())
        self.line = call.line
        self.temporary = ""
        self.diagnostics = -1
        self.pid = 0
        self.error = ""

    def start(self) -> None:
        """Start clang; what it says goes into memory, since the plain compile says the same."""
        if self.error:
            return
        try:
            self.temporary = self.call.store.temporary(".bc")
            arguments = self.line.ir_arguments(self.source, self.temporary)
            self.diagnostics = os.memfd_create("whence-cc")
            self.pid = self.call.spawn(self.call.toolchain.call(arguments), self.diagnostics)
        except OSError as error:
            self.error = _reason(error)

    def refuse(self, reason: str) -> None:
        """Let there be no IR, for a reason."""
        self.discard()
        self.pid, self.temporary, self.error = 0, "", reason

    def finish(self) -> Record:
        """Wait for clang, move the IR into the store and return the record that names it, or the reason for
        none.
        """
        if self._refused():
            self._try_otherwise()
        if not self.error:
            try:
                return Record("module", self._store(), self.path)
            except OSError as error:
                self.error = _reason(error)
        return Record("missing", self.error, self.path)

    def _refused(self) -> bool:
        """Wait for clang; whether it did not compile the source."""
        if not self.pid:
            return False
        pid, self.pid = self.pid, 0
        if _wait(pid):
            self.error = self._first_error()
        return bool(self.error)

    def _try_otherwise(self) -> None:
        """Compile what is refused as the plain compile would take it, with the first way that does.

        C libraries include more headers where these see that it is optimised, and GNU's C takes what strict C does not.
        """
        line, first = self.line, self.error
        optimised = [OPTIMISED, *line.arguments] if is_optimised(line.arguments) else line.arguments
        for arguments in (optimised, as_gnu(line.arguments)):
            if arguments != line.arguments:
                self.discard()
                self.line, self.error = CommandLine(arguments), ""
                self.start()
                if not self._refused():
                    return
        self.line, self.error = line, first

    def _store(self) -> str:
        store, arguments = self.call.store, self.line.arguments
        digest = store.adopt_bitcode(self.temporary)
        entry = {"source": self.path, "directory": os.getcwd(), "arguments": arguments, "hash": digest}
        key = sha256(encode(entry))
        store.write_entry("captures", key, entry)
        return f"{digest}-{key}"

    def _first_error(self) -> str:
        lines = read(f"/proc/self/fd/{self.diagnostics}").decode(errors="replace").splitlines()
        return next((text for text in lines if "error:" in text), lines[0] if lines else "clang was killed")

    def discard(self) -> None:
        """End what still runs and remove what was left behind."""
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            _wait(self.pid)
        if self.temporary:
            with contextlib.suppress(OSError):
                os.unlink(self.temporary)


def _finish(captures: list[SourceCapture], started: int) -> dict[Input, Record]:
    """Wait for all captures, of which the first ``started`` run; as each ends, the next one starts."""
    records = {}
    for index, capture in enumerate(captures):
        records[capture.source] = capture.finish()
        for following in captures[index + started : index + started + 1]:
            following.start()
    return records


def _note(text: str) -> None:
    print(f"whence-cc: note: {text}", file=sys.stderr)


def _reason(error: OSError) -> str:
    return f"the IR could not be stored: {error.strerror} ({error.filename})"


def _standard_input() -> int:
    descriptor = os.memfd_create("stdin")
    while chunk := os.read(0, 1 << 20):
        os.write(descriptor, chunk)
    return descriptor


_running: set[int] = set()


def _wait(pid: int) -> int:
    """Wait for a child; returns its exit status as a shell would see it."""
    _, status = os.waitpid(pid, 0)
    _running.discard(pid)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


@contextlib.contextmanager
def _children_end_with_us() -> Iterator[None]:
    """On a signal that ends us: end the children, let ``finally`` clauses tidy up, and die of the same
    signal.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Stopped(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    except _Stopped as stopped:
        _end(_running)
        signal.signal(stopped.number, signal.SIG_DFL)
        os.kill(os.getpid(), stopped.number)


class _Stopped(BaseException):
    def __init__(self, number: int) -> None:
        self.number = number


def _end(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    sys.exit(main())
