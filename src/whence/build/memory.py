"""Where the plain program keeps its variables: what the stack frames and the data of variants are laid out by.

Key idea: the compiler itself says it, in LLVM's text of the state behind the layout of frames (MIR), where each stack
object has its place below the canonical frame address: the stack pointer before the call that entered the function.
Without optimisation that is asked of the captured IR, whose static allocas are the first objects, in their order. What
was optimised is compiled from its source again, if that is what it was, and debug information tells which variable an
object is; one of an inlined function stands at the same distance from the return address as in the function that took
it in. It tells as well which static variables are left.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from whence.build.capture import Capture, CapturedModule
from whence.build.compilers import run
from whence.build.flags import CommandLine, is_optimised
from whence.build.store import Store, sha256
from whence.build.toolchain import find_toolchain
from whence.errors import BuildError

_MIR = ("-w", "-Qunused-arguments", "-S", "-mllvm", "-stop-after=prologepilog")
_UNOPTIMISED = ("-O0", "-g0", "-fPIC", *_MIR)
_OPTIMISED = ("-g", "-fno-discard-value-names", *_MIR)
_NAME = re.compile(r"name: +['\"]?(.*?)['\"]?$")
_OBJECT = re.compile(
    r"  - \{ id: (\d+),(?: name: (.*?),)? type: ([\w-]+), offset: (-?\d+), size: (\d+), alignment: (\d+),"
)
_GUARD = "StackGuardSlot"  # the stack protector's own, which stands before all others
_RETURN_ADDRESS = 8


@dataclass(slots=True)
class Frame:
    """A function's frame in the plain program; all distances are bytes below the canonical frame address.

    ``top`` is where the area of the locals begins: below it lie the return address, perhaps the frame pointer, and a
    stack protector's ``guard``. ``objects`` maps the number of a static alloca, in order of the function's text, to the
    place of its first byte; ``variables`` does so for variables of optimised code, as ``name:line``. Those that are
    missing lie elsewhere. ``alignment`` is the largest that one of them asks for.
    """

    top: int
    guard: bool = False
    alignment: int = 16
    objects: dict[int, int] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)

    @property
    def has_pointer(self) -> bool:
        """Whether the frame pointer lies behind the return address."""
        return self.top - 8 * self.guard > _RETURN_ADDRESS


Frames = dict[str, Frame]  # by the function's name in its module


@dataclass(slots=True)
class Memory:
    """What is known of one module: its functions' frames, and which ``variables`` of the module's exist (None: all)."""

    frames: Frames
    variables: frozenset[str] | None = None


UNKNOWN = Memory({})


def read_memory(capture: Capture) -> list[Memory]:
    """The memory of each captured module. Raises ``BuildError`` with the compiler's message."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(lambda module: _of_module(capture, module), capture.modules))


def _of_module(capture: Capture, module: CapturedModule) -> Memory:
    """One module's memory, from the store where it has been asked for before."""
    store = Store()
    flags = " ".join([*_UNOPTIMISED, *_OPTIMISED, find_toolchain("bundled").version, *module.arguments])
    key = sha256(f"{module.hash} {flags} {Path(__file__).read_text()}".encode())
    try:
        return _decoded(store.read_entry("memory", key))
    except FileNotFoundError:
        memory = Memory(_unoptimised(module, store))
    if is_optimised(module.arguments) and (better := _optimised(capture, module, store)):
        memory = Memory(memory.frames | better.frames, better.variables)
    store.write_entry("memory", key, _encoded(memory))
    return memory


def _encoded(memory: Memory) -> dict[str, Any]:
    frames = {name: asdict(frame) for name, frame in memory.frames.items()}
    return {"frames": frames, "variables": None if memory.variables is None else sorted(memory.variables)}


def _decoded(entry: dict[str, Any]) -> Memory:
    frames = {name: Frame(**fields) for name, fields in entry["frames"].items()}
    for frame in frames.values():
        frame.objects = {int(number): place for number, place in frame.objects.items()}
    return Memory(frames, None if entry["variables"] is None else frozenset(entry["variables"]))


# ---- Without optimisation ----------------------------------------------------------------------------------------


def _unoptimised(module: CapturedModule, store: Store) -> Frames:
    target = Path(store.temporary(".mir"))
    arguments = [*_UNOPTIMISED, str(module.bitcode), "-o", str(target)]
    try:
        run(find_toolchain("bundled"), arguments, Path.cwd(), f"lay out {module.name}")
        with target.open(errors="surrogateescape") as lines:
            return dict(unoptimised(lines))
    finally:
        target.unlink(missing_ok=True)


@dataclass(slots=True)
class _Machine:
    """What MIR tells of one function's frame: where fixed objects end, and the others by number, name and place."""

    name: str
    fixed: int = _RETURN_ADDRESS
    alignment: int = 16
    objects: list[tuple[int, str, int]] = field(default_factory=list)

    @property
    def guard(self) -> int:
        """Where the stack protector's guard lies; 0 where there is none."""
        return next((place for _, name, place in self.objects if name == _GUARD), 0)


def unoptimised(lines: Iterable[str]) -> Iterator[tuple[str, Frame]]:
    """Names and frames of the functions in a text of MIR that was made without optimisation."""
    for found in _functions(lines):
        guard = found.guard
        frame = Frame(guard or found.fixed, bool(guard), found.alignment)
        frame.objects = {number - bool(guard): place for number, name, place in found.objects if name != _GUARD}
        yield found.name, frame


def _functions(lines: Iterable[str]) -> Iterator[_Machine]:
    """The functions in the second half of a text of MIR."""
    found, fixed = _Machine(""), False
    for line in _whole(lines):
        if line.startswith("name: ") and (match := _NAME.match(line.rstrip())):
            found = _Machine(match[1])
        elif line.startswith(("fixedStack:", "stack:")):
            fixed = line.startswith("fixed")
        elif line.startswith("  - { id: ") and (match := _OBJECT.match(line)):
            _add(found, match, fixed)
        elif line.startswith("body: ") and found.name:
            yield found
            found = _Machine("")


def _whole(lines: Iterable[str]) -> Iterator[str]:
    """The lines, where a stack object's are made one: those of a long name are broken anywhere."""
    open_object = ""
    for line in lines:
        if line.startswith("  - { id: ") or open_object:
            open_object = f"{open_object.rstrip()} {line.lstrip()}" if open_object else line
            if "}" not in line:
                continue
            line, open_object = open_object, ""
        yield line


def _add(found: _Machine, match: re.Match[str], fixed: bool) -> None:
    """Take a stack object."""
    number, name, kind, offset, _, alignment = match.groups()
    if fixed and kind == "spill-slot":
        found.fixed = max(found.fixed, -int(offset))
    elif not fixed and kind == "default":
        found.objects.append((int(number), (name or "").strip("'\""), -int(offset)))
        found.alignment = max(found.alignment, int(alignment))


# ---- Optimised ---------------------------------------------------------------------------------------------------

_GLOBAL = re.compile(r"  @(\"[^\"]*\"|[-\w$.]+) = (?!external )[^\"]*?\bglobal ")
_DEFINE = re.compile(r"  define .*?@(\"[^\"]*\"|[-\w$.]+)\(")
_DECLARED = re.compile(
    r"    +#dbg_(?:assign\(.*?, (?P<assigned>!\d+), !DIExpression\(\), !\d+, |(?:declare|value)\()"
    r"ptr %(?P<name>[-\w$.]+), (?:(?P<variable>!\d+), )?!DIExpression\((?:DW_OP_deref)?\)"
)
_NODE = re.compile(r"  (!\d+) = (?:distinct )?!DI(LocalVariable|Subprogram|LexicalBlock\w*)\((.*)\)$")
_FIELD = re.compile(r"\b(name|scope|line): (?:\"([^\"]*)\"|(!?\d+))")


def _optimised(capture: Capture, module: CapturedModule, store: Store) -> Memory | None:
    """Optimised functions and what they use; None where the source is not what it was, or the compiler cannot tell."""
    line = CommandLine(module.arguments)
    source = next((i for i in line.sources if i.absolute(module.directory) == module.source), None)
    if source is None or not Path(module.directory).is_dir():
        return None
    ir, mir = Path(store.temporary(".bc")), Path(store.temporary(".mir"))
    try:
        _compile(capture, module, line.ir_arguments(source, str(ir)))
        if sha256(ir.read_bytes()) != module.hash:
            return None
        _compile(capture, module, [*line.source_arguments(source, str(mir)), *_OPTIMISED])
        return optimised(mir.read_text(errors="surrogateescape").splitlines())
    except (BuildError, FileNotFoundError):
        return None
    finally:
        ir.unlink(missing_ok=True)
        mir.unlink(missing_ok=True)


def _compile(capture: Capture, module: CapturedModule, arguments: list[str]) -> None:
    run(capture.toolchain, arguments, Path(module.directory), f"lay out {module.name}", capture.link.environment)


def optimised(lines: list[str]) -> Memory:
    """The memory that a text of MIR with debug information tells of."""
    variables = frozenset(match[1].strip('"') for line in lines if (match := _GLOBAL.match(line)))
    return Memory(_optimised_frames(lines), variables)


def _optimised_frames(lines: list[str]) -> Frames:
    """Names and frames of the functions."""
    nodes = _nodes(lines)
    declared = _declared(lines)
    own: Frames = {}
    taken_in: Frames = {}
    for found in _functions(lines):
        own[found.name] = base = _base(found)
        shift = found.guard - base.top if found.guard else 0
        for _, name, place in found.objects:
            variable = nodes.get(declared.get(found.name, {}).get(name, ""))
            if variable is None:
                continue
            owner = _function_of(variable, nodes)
            frames = own if owner == found.name else taken_in
            frame = frames.setdefault(owner, replace(base, variables={}))
            frame.variables.setdefault(f"{variable['name']}:{variable['line']}", place - shift)
    return {**taken_in, **own}


def _base(found: _Machine) -> Frame:
    """The frame without variables. Saved registers are part of its area.

    A guard lies where a frame of no more than it can have one: with a frame pointer above it or without, whichever
    keeps everything's alignment.
    """
    top = _RETURN_ADDRESS if not found.guard else 16 if found.guard % 16 == 0 else 24
    return Frame(top, bool(found.guard), found.alignment)


def _nodes(lines: Iterable[str]) -> dict[str, dict[str, str]]:
    """Variables, blocks and functions of the debug information by number."""
    found = {}
    for line in lines:
        if match := _NODE.match(line.rstrip()):
            found[match[1]] = {name: text or number for name, text, number in _FIELD.findall(match[3])}
            found[match[1]]["kind"] = match[2]
    return found


def _declared(lines: Iterable[str]) -> dict[str, dict[str, str]]:
    """For each function the debug variable of each alloca, by its name."""
    found: dict[str, dict[str, str]] = {}
    here: dict[str, str] = {}
    for line in lines:
        if line.startswith("name: "):
            break
        if match := _DEFINE.match(line):
            here = found.setdefault(match[1].strip('"'), {})
        elif "#dbg_" in line and (match := _DECLARED.match(line)):
            here.setdefault(match["name"], match["variable"] or match["assigned"])
    return found


def _function_of(node: dict[str, str], nodes: dict[str, dict[str, str]]) -> str:
    """The name of the function in which a variable was declared."""
    while node["kind"] != "Subprogram":
        node = nodes[node["scope"]]
    return node["name"]
