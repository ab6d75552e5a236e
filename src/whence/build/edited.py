"""The program as the user builds it, but with another text of one source file: for trying a change of the source.

Key idea: nothing of the user's is written. The compiler is called as it was recorded, with the user's own flags, and
an overlay of its view of the file system shows it the new text under the source's own name, so that ``__FILE__`` and
headers beside the source are what they were. All other modules are taken from the build's objects where these are
still there, and compiled again where they are not; then they are linked like a variant.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from whence.build.archive import is_archive, members
from whence.build.capture import Capture, CapturedModule
from whence.build.compilers import Compilers, first_message
from whence.build.flags import CommandLine
from whence.build.records import names_whole_module, read_records
from whence.build.store import sha256
from whence.build.variant import choosing_objects, link
from whence.errors import BuildError

_OPTIMISED = ("-O2", "-g0")
# What says that code is wrong, and not that it could be written better.
_STYLE = ("parentheses", "unused", "misleading-indentation", "deprecated-non-prototype", "unknown-warning-option")
_WARNED = ("-Wall", *(f"-Wno-{kind}" for kind in _STYLE), "-Wno-error", "-fsyntax-only")
_WARNING = re.compile(r"^(.+?):(\d+):\d+: (warning|note): (.+?)(?: \[-W([^\]]*)\])?$", re.MULTILINE)
_SILENCED = "initialize the variable"  # words of the note that names a declaration without a value
QUICKLY = ("-O0", "-g0")  # by which a module is compiled in the least time, in place of the user's own level
WRAPS = tuple(f"-Wl,--wrap={name}" for name in ("main", "signal", "sigaction"))  # by what probe/edits defines
_GONE = "the program's source is gone"


@dataclass(frozen=True, slots=True)
class Warned:
    """One warning of the compiler: the ``file`` and line, its ``kind`` (the option that asks for it) and its words.

    ``declared``: the line of the same file where that is declared which is used without a value; 0 for all others.
    """

    file: Path
    line: int
    kind: str
    text: str
    declared: int = 0


class DoesNotCompile(BuildError):
    """The compiler refuses the changed text; the message is its own."""


Including = Callable[[Path], Collection[int]]  # the modules, by number, that a header is part of


class Rebuild:
    """Builds of one captured program with changed texts, in the folder ``scratch``; threads may share it.

    Without ``including`` no header can be changed.
    """

    def __init__(self, capture: Capture, scratch: Path, including: Including = lambda header: ()) -> None:
        self._capture, self._scratch, self._including = capture, scratch, including
        self._objects: dict[str, Path] | None = None  # plain ones, by the hash of the module
        self._lock = Lock()

    def build(
        self,
        source: Path,
        text: bytes,
        name: str,
        deadline: float = float("inf"),
        flags: Sequence[str] = (),
        chooses: bool = False,
        last: Sequence[str] = (),
    ) -> Path:
        """The executable with ``text`` in place of what the file ``source`` holds; files of this build bear ``name``.

        ``flags``: further ones for this file, and ``last`` such as come behind its own. ``chooses``: the text holds
        many edits (``program/schemata.py``), of which the environment of a run chooses one; the executable has a fork
        server. Raises DoesNotCompile with the compiler's message (all of them in the hint), BuildError where no module
        was made from this file or something else of the program cannot be built any more, TimeoutError where it is not
        linked by ``deadline`` (of ``time.monotonic``).
        """
        objects = self.objects(source, text, name, deadline, flags, last)
        return self.linked(objects, name, deadline, chooses)

    def objects(
        self,
        source: Path,
        text: bytes,
        name: str,
        deadline: float = float("inf"),
        flags: Sequence[str] = (),
        last: Sequence[str] = (),
    ) -> dict[str, Path]:
        """The objects of the modules that are made from the file ``source``, with another text, by their hash.

        Raises what ``build`` raises.
        """
        changed = {self._capture.modules[number].hash for number in self._made_from(source)}
        return self._compiled(self._overlay({source: text}, name), changed, name, deadline, flags, last)

    def version(self, texts: Mapping[Path, bytes], name: str, deadline: float = float("inf")) -> Path:
        """The executable with these texts in place of what the files hold, of which some may be headers.

        Where one is a header, or another file that is no module of its own, all modules are compiled again. Raises what
        ``build`` raises.
        """
        changed = {module.hash for module in self._capture.modules if Path(module.source) in texts}
        if texts.keys() - {Path(module.source) for module in self._capture.modules}:
            changed = {module.hash for module in self._capture.modules}
        return self.linked(self._compiled(self._overlay(texts, name), changed, name, deadline), name, deadline)

    def _compiled(
        self,
        overlay: Path,
        changed: Set[str],
        name: str,
        deadline: float,
        flags: Sequence[str] = (),
        last: Sequence[str] = (),
    ) -> dict[str, Path]:
        """The objects of the ``changed`` modules (by their hash), compiled with an overlay."""
        found = {}
        for number, module in enumerate(self._capture.modules):
            if module.hash in changed:
                found[module.hash] = self._scratch / f"{name}-{number}.o"
                self._compile(module, found[module.hash], deadline, overlay, flags, last)
        return found

    def linked(
        self, changed: Mapping[str, Path], name: str, deadline: float = float("inf"), chooses: bool = False
    ) -> Path:
        """The executable with ``changed`` objects in place of those of modules, by their hash; as ``build`` else."""
        modules = enumerate(self._capture.modules)
        objects = [changed.get(module.hash) or self._plain(number, deadline) for number, module in modules]
        out = self._scratch / name
        if chooses:
            link(self._capture, "edited", [*objects, *choosing_objects()], out, WRAPS, deadline)
        else:
            link(self._capture, "edited", objects, out, deadline=deadline)
        return out

    def code(self, source: Path, text: bytes, name: str, deadline: float = float("inf")) -> bytes:
        """What an optimising compiler makes of the file with this text: texts that do the same mostly have the same.

        Source: Papadakis et al.: Trivial compiler equivalence, 2015. Raises what ``build`` raises.
        """
        module = self._capture.modules[self._made_from(source)[0]]
        out = self._scratch / f"{name}.o"
        self._compile(module, out, deadline, self._overlay({source: text}, name), last=_OPTIMISED)
        return out.read_bytes()

    def warned(
        self, source: Path, text: bytes, name: str, deadline: float = float("inf"), further: Sequence[str] = ()
    ) -> list[Warned]:
        """What clang warns of in the file with this text, with ``further`` options. Raises what ``build`` raises."""
        module = self._capture.modules[self._made_from(source)[0]]
        out, overlay = self._scratch / f"{name}.o", self._overlay({source: text}, name)
        found: list[Warned] = []
        said = self._compile(module, out, deadline, overlay, last=further, warns=True)
        for file, line, what, words, kind in _WARNING.findall(said):
            if what == "warning":
                found.append(Warned(Path(module.directory, file), int(line), kind, words))
            elif found and words.startswith(_SILENCED) and Path(module.directory, file) == found[-1].file:
                found[-1] = replace(found[-1], declared=int(line))
        return found

    def capture(self, source: Path, text: bytes, name: str, deadline: float = float("inf")) -> Capture:
        """The captured program with this text in place of what the file ``source`` holds, as variants are made of it.

        The new IR lies in the scratch folder. Raises what ``build`` raises.
        """
        overlay = self._overlay({source: text}, name)
        modules = list(self._capture.modules)
        for number in self._made_from(source):
            module, out = modules[number], self._scratch / f"{name}-{number}.bc"
            self._compile(module, out, deadline, overlay, to_ir=True)
            arguments = [*_seeing(overlay), *module.arguments]
            modules[number] = replace(module, hash=sha256(out.read_bytes()), bitcode=out, arguments=arguments)
        return replace(self._capture, modules=modules)

    def _made_from(self, source: Path) -> list[int]:
        """The numbers of the modules that a file is compiled into."""
        own = [number for number, module in enumerate(self._capture.modules) if Path(module.source) == source]
        if not (found := own or sorted(self._including(source))):
            raise BuildError(f"no module of the program is known to be made from {source.name}")
        return found

    def _overlay(self, texts: Mapping[Path, bytes], name: str) -> Path:
        """The file that tells the compiler of the new texts."""
        overlay, roots = self._scratch / f"{name}.json", []
        for number, (source, text) in enumerate(texts.items()):
            content = self._scratch / f"{name}-{number}{source.suffix}"
            content.write_bytes(text)
            roots.append({"name": str(source), "type": "file", "external-contents": str(content)})
        view = {"version": 0, "case-sensitive": "true", "use-external-names": False, "roots": roots}
        overlay.write_text(json.dumps(view))
        return overlay

    # ---- Plain objects -----------------------------------------------------------------------------------------------

    def _plain(self, number: int, deadline: float) -> Path:
        """The object of a module as the user's build makes it, which is made at the first time where it is gone."""
        module = self._capture.modules[number]
        with self._lock:
            if self._objects is None:
                self._objects = dict(self._built())
            if module.hash not in self._objects:
                out = self._scratch / f"plain-{number}.o"
                self._compile(module, out, deadline)
                self._objects[module.hash] = out
            return self._objects[module.hash]

    def _built(self) -> Iterator[tuple[str, Path]]:
        """The objects of the build that are still there, with the hash of the one module that each holds."""
        link_record = self._capture.link
        for number, name in enumerate(link_record.files):
            path = Path(link_record.directory, name)
            if not path.is_file():
                continue
            if not is_archive(path):
                yield from _hashed(path.read_bytes(), path)
                continue
            for member in members(path):
                copy = self._scratch / f"member-{number}-{member.start}.o"
                for digest, _ in _hashed(member.read(), copy):
                    copy.write_bytes(member.read())
                    yield digest, copy

    def _compile(
        self,
        module: CapturedModule,
        out: Path,
        deadline: float,
        overlay: Path | None = None,
        flags: Sequence[str] = (),
        last: Sequence[str] = (),
        to_ir: bool = False,
        warns: bool = False,
    ) -> str:
        """Compile a module by its recorded call, with further flags in front of its own and behind them.

        Returns what the compiler said; it ``warns`` where that is asked for, and then makes nothing.
        """
        line = CommandLine(module.arguments)
        source = next((i for i in line.sources if i.absolute(module.directory) == module.source), None)
        if source is None or not Path(module.directory).is_dir() or not Path(module.source).is_file():
            raise BuildError(_GONE, "build the program again")
        own = line.ir_arguments(source, str(out)) if to_ir else line.object_arguments(source, str(out))
        if warns:
            own = [word for word in own if word != "-w"] + [*_WARNED]
        arguments = [*_seeing(overlay), *flags, *own, *last]
        compilers = Compilers(self._capture.toolchain)
        done = compilers.call(arguments, Path(module.directory), self._capture.link.environment, deadline)
        if done.returncode:
            kind = DoesNotCompile if overlay else BuildError
            raise kind(first_message(done.stderr), done.stderr.strip())
        return done.stderr


def _seeing(overlay: Path | None) -> list[str]:
    """The words that let the compiler see an overlay."""
    return ["-Xclang", "-ivfsoverlay", "-Xclang", str(overlay)] if overlay is not None else []


def _hashed(content: bytes, path: Path) -> Iterator[tuple[str, Path]]:
    """The hash of the module that an object is made of, with its path; nothing where it holds anything else."""
    if names_whole_module(io.BytesIO(content)):
        keys = [record.digest for record in read_records(io.BytesIO(content)) if record.kind == "module"]
        if len(keys) == 1:
            yield keys[0], path
