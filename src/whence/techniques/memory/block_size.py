"""What made a block of the heap as large as it is: where an access goes beyond it, the size may be what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.dependence.slices import by_line, compute
from whence.findings import Statement, plural
from whence.run.evidence import Evidence
from whence.subject.memory_check import Checked, Error, Kind
from whence.subject.trace_reader import TraceReader, callee_of
from whence.trace import objects

if TYPE_CHECKING:
    from whence.subject.subject import Subject

MOST = 4  # statements that a size comes from, the nearest ones
OF_SIZE = {"realloc": 1, "reallocarray": 1}  # of an allocator the first argument that has to do with the size; else 0


@dataclass(frozen=True, slots=True)
class Sizing:
    """A statement that made a block, or that its size comes from, and the sentence that says so."""

    statement: Statement
    text: str


def sizings(subject: Subject, checked: Checked, error: Error) -> list[Sizing]:
    """What made the block that an access went beyond the end of, the call first, then what its size comes from.

    Empty for every other error.
    """
    row = checked.table[error.object]
    is_beyond = error.address + error.length > int(row["base"]) + error.size
    if error.kind is not Kind.BOUNDS or row["kind"] != objects.HEAP or row["parent"] or not is_beyond:
        return []
    reader, made = TraceReader(subject, checked.trace), int(row["declared"])
    arguments = Evidence(checked.trace).arguments(made)[OF_SIZE.get(callee_of(reader.static(made)), 0) :]
    lines = by_line(reader, compute(checked.trace, [argument + 1 for argument in arguments], control=False))
    where, block = reader.statement(error.event), f"the block of {plural(error.size, 'byte')}"
    access = f"the {'write' if error.writes else 'read'} on {where.file}:{where.line}" if where else "the access"
    call = reader.statement(made)
    found = [Sizing(call, f"{block} that {access} goes beyond was made here")] if call else []
    others = [statement for statement in lines.statements if statement != call][:MOST]
    return found + [Sizing(at, f"the size of {block}, which {access} goes beyond, comes from here") for at in others]
