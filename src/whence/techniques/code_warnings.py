"""What is odd about the text of statements that the failing run executed: what the compiler warns of, above all.

A type that is not meant, a test that is always true, a variable that is used before it has a value, code behind a jump
that nothing comes to, a case that goes on into the next one. No compiler warns of a block that stands alone.

Right programs have hardly any such lines, and these of a kind that they have again and again; so a kind counts where
few lines have it. What nearly all passing cases execute is told, and counts for nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.build.edited import Rebuild, Warned
from whence.build.scratch import scratch
from whence.errors import WhenceError
from whence.findings import Entry, Findings, Statement, rank
from whence.program.c_source import CSource

if TYPE_CHECKING:
    from whence.subject.subject import Subject

UNREACHABLE, FALLING = "unreachable-code", "implicit-fallthrough"
FURTHER = (f"-W{UNREACHABLE}", f"-W{FALLING}", "-Wunused-value")  # beside what new warnings of an edit are sought by
ALONE = Warned(Path(), 0, "block-alone", "a block stands alone: nothing decides whether it is done")
MEANT = re.compile(rb"fall", re.IGNORECASE)  # in a comment in front of a label: others may come to it
ABOVE = 3  # lines in which that stands
FILES = 24  # that are looked at, those of the first statements
USUAL = 0.8  # of the passing cases: what more of them execute was always so
FEW = 2  # lines with a warning of one kind, at most, for it to mean something
BEHIND = 0.5  # how much the declaration is to blame of what is used without a value, where the use is 1


def code_warnings(subject: Subject, executed: Sequence[Entry], deadline: float) -> Findings:
    """The statements, of those that were ``executed`` (the most suspicious first), about which something is odd.

    Their evidence has ``warned``: 1, less for where that is declared which is used without a value, and 0 for what
    nearly all passing cases execute. What cannot be compiled until ``deadline`` (of ``time.monotonic``) is left out.
    """
    known = {entry.statement: 0.0 if _is_usual(entry) else 1.0 for entry in executed}
    by_kind = defaultdict[str, dict[Statement, Warned]](dict)
    for file, one in _all(subject, list(dict.fromkeys(at.file for at in known))[:FILES], deadline):
        if (at := _blamed(file, one, known.keys())) in known:
            by_kind[one.kind].setdefault(at, one)
    few = [lines for lines in by_kind.values() if len(lines) <= FEW]
    evidence = {at: _evidence(_told(at, one), known[at]) for lines in few for at, one in lines.items()}
    for at, one in (of_line for lines in few for of_line in lines.items() if of_line[1].declared):
        text = f"declared here without a value; the compiler warns of {at.file}:{at.line}: {one.text}"
        evidence.setdefault(Statement(at.file, one.declared), _evidence(text, BEHIND * known[at]))
    return Findings("warnings", subject.name, rank({at: said["warned"] for at, said in evidence.items()}, evidence))


def _is_usual(entry: Entry) -> bool:
    """Whether nearly all passing cases execute a statement."""
    return bool(entry.evidence.get("passing", 0) > USUAL * entry.evidence.get("passing_total", 0))


def _blamed(file: str, one: Warned, known: Set[Statement]) -> Statement:
    """The statement that a warning speaks of; of code that is never come to, or once too often, the one before it."""
    is_behind = one.kind in (UNREACHABLE, FALLING)
    before = (at.line for at in known if at.file == file and at.line < one.line) if is_behind else ()
    return Statement(file, max(before, default=one.line))


def _alone(text: bytes) -> list[int]:
    """The lines of the first statements of blocks that stand alone."""
    blocks = CSource(text).blocks_alone
    return [next(n for n in block.named_children if n.type != "comment").start_point[0] + 1 for block in blocks]


def _is_meant(one: Warned, text: bytes) -> bool:
    """Whether a comment says that a case goes on into the next one."""
    lines = text.split(b"\n")[max(0, one.line - 1 - ABOVE) : one.line]
    return one.kind == FALLING and any(MEANT.search(line) for line in lines)


def _told(at: Statement, one: Warned) -> str:
    if one.kind == ALONE.kind:
        return one.text
    where = f" on line {one.line}" if at.line != one.line else ""
    return f"the compiler warns{where}: {one.text}"


def _evidence(text: str, warned: float) -> dict[str, Any]:
    return {"text": text, "reasons": [{"technique": "warnings", "text": text}], "warned": warned}


def _all(subject: Subject, files: Sequence[str], deadline: float) -> list[tuple[str, Warned]]:
    """What is odd in some files that are compiled by themselves and are as they were compiled, each with its file."""
    changed, sources = set(subject.places.changed_files()), {module.source for module in subject.capture.modules}
    able = [file for file in files if file not in changed and str(subject.folder / file) in sources]
    with scratch("warnings") as folder, ThreadPoolExecutor(cpu_count() or 1) as pool:
        rebuild = Rebuild(subject.capture, Path(folder))

        def warned(number: int) -> list[tuple[str, Warned]]:
            path = subject.folder / able[number]
            try:
                found = rebuild.warned(path, text := path.read_bytes(), str(number), deadline, FURTHER)
            except (WhenceError, OSError, TimeoutError):
                return []
            found += [replace(ALONE, file=path, line=line) for line in _alone(text)]
            return [(able[number], one) for one in found if one.file == path and not _is_meant(one, text)]

        return [one for of_file in pool.map(warned, range(len(able))) for one in of_file]
