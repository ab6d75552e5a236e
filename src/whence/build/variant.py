"""Variants of a captured program: rewritten IR compiled to objects and linked by the recorded link line.
 Key idea: an object is stored under a hash of all that went into it (text, flags, compiler), so a variant
whose modules have been compiled before is only linked. LLVM verifies each new text before clang sees it. IR
is always compiled by the bundled clang, which reads what llvmlite prints; the link is done by the compiler
that linked the program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from signal import SIGKILL

from whence.build.capture import Capture
from whence.build.compilers import Compilers, check, run
from whence.build.ir import verify
from whence.build.relink import link_arguments
from whence.build.scratch import scratch
from whence.build.store import Store, is_sealed, seal, sha256
from whence.build.toolchain import Toolchain, find_toolchain, whence_home
from whence.errors import ProgramError

Progress = Callable[[int, int], None]

# The IR has said already what the program means; unused flags of the driver are nobody's concern here.
_IR_FLAGS = ("-O1", "-fPIC", "-w", "-Qunused-arguments")
# Bytes of text in a variant; a larger one is hardly optimised, which takes a third of the time. Its runs take a little
# more. Shells of frames (#1000000 and above, ``probe/frame.py``) are what they always are.
OPTIMISED = 1_000_000
_FUNCTIONS = re.compile(r"^(attributes #\d{1,6} = \{(?!.* (?:optsize|minsize|optnone) ).* noinline) ", re.MULTILINE)
# What optimising may take: seconds of the processor, and bytes of text for each second more. Of functions with
# thousands of jumps, such as generators of scanners write, it takes minutes.
LEAST, USUAL = 4.0, 400_000
OF_EDITS = ("choose.c", "observe.c")  # in probe/edits
_RUNTIME_FLAGS = ("-O2", "-g0", "-fPIC", "-std=gnu17", "-include", "base/sections.h")
# What is linked from elsewhere may have debug information, and valgrind gives up on clang's. (Zig would take the
# symbols too.)
_WITHOUT_DEBUG = {"clang": ("-Wl,--strip-debug",), "zig": ()}
# What the runtime's wrappers of library functions call, whether or not the program links it.
_RUNTIME_LIBRARIES = ("-lm", "-lpthread", "-ldl")
RUNTIME = Path(__file__).parent.parent / "probe" / "runtime"
_kept_objects: dict[tuple[str, tuple[str, ...], bool], list[Path]] = {}  # of the runtime, by home, compiler and main


def build_variant(
    capture: Capture,
    kind: str,
    texts: Sequence[str],
    runtime_objects: Sequence[Path],
    out: Path,
    progress: Progress | None = None,
) -> Path:
    """Compile and link a variant of the captured program; returns ``out``.

    ``kind`` names the variant in messages, ``texts`` holds the IR of each of ``capture.modules`` in their
    order, ``progress`` is told (modules done, modules in all). Raises ``ProgramError`` if LLVM refuses a text
    and ``BuildError`` with the linker's first message if the link fails.
    """
    if len(texts) != len(capture.modules):
        raise ValueError(f"{len(texts)} texts for {len(capture.modules)} modules")
    names = [module.name for module in capture.modules]
    objects = compile_texts(texts, names, progress)
    link(capture, kind, [*objects, *runtime_objects], out)
    return out


def compile_texts(texts: Sequence[str], names: Sequence[str], progress: Progress | None = None) -> list[Path]:
    """Objects made from the texts of modules, in their order, on all processors; errors say the module's
    name.
    """
    if sum(map(len, texts)) > OPTIMISED:
        texts = [_FUNCTIONS.sub(r"\1 optnone ", text) for text in texts]
    compilers, jobs = Compilers(find_toolchain("bundled")), dict[int, Future[Path]]()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number in sorted(range(len(texts)), key=lambda n: -len(texts[n])):  # what takes long begins first
            jobs[number] = pool.submit(_compile_text, compilers, texts[number], names[number])
        try:
            for done, job in enumerate(as_completed(jobs.values()), 1):
                job.result()
                if progress:
                    progress(done, len(jobs))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            compilers.end()
    return [jobs[number].result() for number in range(len(texts))]


def _compile_text(compilers: Compilers, text: str, name: str) -> Path:
    def write(source: Path) -> None:
        try:
            verify(text)
        except ProgramError as error:
            raise ProgramError(f"{name}: {error}") from error
        source.write_text(text, errors="surrogateescape")

    content = text.encode(errors="surrogateescape")
    return _object(compilers, _IR_FLAGS, content, ".ll", write, LEAST + len(content) / USUAL)


def compile_c(
    toolchain: Toolchain,
    source: Path,
    flags: Sequence[str],
    out: Path | None = None,
    *,
    root: Path | None = None,
    headers: bytes | None = None,
) -> Path:
    """Compile a C file of Whence's own into an object; stored by its content and that of all headers below ``root``
    (its folder, where none is given), which it includes by their paths from there; ``headers`` is their hash, where
    that is known.

    The object is also copied to ``out`` if that is given. Raises ``BuildError`` with clang's first message.
    """
    root = root or source.parent
    name = source.relative_to(root).as_posix()
    parts = [name.encode(), headers or _headers(root), source.read_bytes()]

    def write(copy: Path) -> None:
        copy.write_bytes(f'#include "{name}"\n'.encode())

    found = _object(Compilers(toolchain), (*flags, f"-I{root}"), b"\0".join(parts), ".c", write)
    if out is not None:
        out.write_bytes(found.read_bytes())
        return out
    return found


def _headers(root: Path) -> bytes:
    """A hash of all headers below a folder of Whence's own."""
    return sha256(b"\0".join(path.read_bytes() for path in sorted(root.rglob("*.h")))).encode()


def runtime_sources(*, with_main: bool = True) -> list[Path]:
    """The files of Whence's runtime (``probe/runtime``): with its ``main.c``, or for programs whose ``main`` is foreign
    with ``without_main.c``.
    """
    unused = "without_main.c" if with_main else "main.c"
    return [path for path in sorted(RUNTIME.rglob("*.c")) if path.name != unused]


def runtime_objects(toolchain: Toolchain | None = None, *, with_main: bool = True) -> list[Path]:
    """The objects of ``runtime_sources``, in their order; a process looks them up by their contents once.

    Raises ``BuildError`` with clang's first message if one does not compile.
    """
    chosen = toolchain or find_toolchain("bundled")
    key = whence_home(), chosen.command, with_main
    kept = _kept_objects.get(key, [])
    if not kept or not all(is_sealed(str(path)) for path in kept):
        kept = _kept_objects[key] = _compiled_objects(chosen, with_main)
    return list(kept)


def _compiled_objects(chosen: Toolchain, with_main: bool) -> list[Path]:
    headers = _headers(RUNTIME)

    def compiled(source: Path) -> Path:
        return compile_c(chosen, source, _RUNTIME_FLAGS, root=RUNTIME, headers=headers)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(compiled, runtime_sources(with_main=with_main)))


def choosing_objects() -> list[Path]:
    """The objects that choose one of the edits in a program when it starts, or observe it, and its fork server.

    They are linked with ``edited.WRAPS``. Raises ``BuildError`` with clang's first message if one does not compile.
    """
    chosen = find_toolchain("bundled")
    objects = [o for o, s in zip(runtime_objects(chosen), runtime_sources(), strict=True) if s.name != "main.c"]
    main = compile_c(chosen, RUNTIME / "server" / "main.c", (*_RUNTIME_FLAGS, "-Dmain=__wrap_main"), root=RUNTIME)
    own = [compile_c(chosen, RUNTIME.parent / "edits" / name, ("-O2", "-g0", "-fPIC")) for name in OF_EDITS]
    return [*own, main, *objects]


def _object(
    compilers: Compilers,
    flags: tuple[str, ...],
    content: bytes,
    suffix: str,
    write: Callable[[Path], None],
    processor: float | None = None,
) -> Path:
    """The stored object for this content, compiled if there is none; ``write`` makes the file to compile.

    It is not optimised where that takes more than so many seconds of the ``processor``.
    """
    store, toolchain = Store(), compilers.toolchain
    key = sha256(b"\0".join([content, *(f.encode() for f in toolchain.call([*flags, toolchain.version]))]))
    path = Path(store.path("objects", key, ".o"))
    if is_sealed(str(path)):
        return path
    source, target = Path(store.temporary(suffix)), Path(store.temporary(".o"))
    try:
        write(source)
        arguments, folder = [*flags, "-c", str(source), "-o", str(target)], Path.cwd()
        done = compilers.call(arguments, folder, processor=processor)
        if processor is not None and done.returncode == -SIGKILL:
            done = compilers.call([*arguments, "-O0"], folder)
        check(done, "compile a variant")
        seal(str(target))
        store.adopt(str(target), str(path))
    finally:
        source.unlink(missing_ok=True)
        target.unlink(missing_ok=True)
    return path


def link(
    capture: Capture,
    kind: str,
    objects: Sequence[Path],
    out: Path,
    options: Sequence[str] = (),
    deadline: float = float("inf"),
) -> None:
    """Link objects in place of the program's captured modules; ``out`` (sealed) appears only when that is done.

    ``options`` are added to the recorded ones. Raises what ``run`` raises.
    """
    record = capture.link
    out = out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    with scratch("link") as place:
        arguments, folder = link_arguments(capture, objects, part, Path(place))
        arguments += [*options, *_RUNTIME_LIBRARIES, *_WITHOUT_DEBUG[record.toolchain.kind]]
        try:
            run(record.toolchain, arguments, folder, f"link the {kind} variant", record.environment, deadline)
            seal(str(part))
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)
