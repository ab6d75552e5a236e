"""Altered runs for tests: sites chosen by line, role and C text; changes of them; what a session makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from snippets import Snippet

from whence.alter.changes import CHANGE, EVERY, Batch, Observed, Op, Results, Way
from whence.alter.describe import Describer
from whence.alter.session import Session
from whence.probe.sites import Form, Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.subject import Subject

WAYS = (Way.SNAPSHOT, Way.FORK, Way.RESTART)
COMPUTED = {Op.OPERATOR, Op.LEFT_ADD, Op.RIGHT_ADD, Op.LEFT_SET, Op.RIGHT_SET}


@cache
def describer(made: Snippet) -> Describer:
    """What tells the sites of a snippet in C."""
    return Describer(made.subject)


def sites_at(made: Snippet, line: int, role: Role, text: str | None = None) -> list[int]:
    """The sites of a role on a line of the main file, in order of text; with ``text`` those of that value in C."""
    subject, found = made.subject, []
    for number in np.flatnonzero(subject.alter_plan.sites["role"] == role).tolist():
        place = subject.program.location(int(subject.alter_plan.sites["instruction"][number]))
        if place is None or place.line != line or not place.file.endswith(made.main):
            continue
        if text is None or text in describer(made).what(number):
            found.append(number)
    return found


def site_at(made: Snippet, line: int, role: Role, text: str | None = None) -> int:
    """The only such site."""
    found = sites_at(made, line, role, text)
    texts = [describer(made).what(s) for s in sites_at(made, line, role)]
    assert len(found) == 1, f"{len(found)} sites {role.name} {text!r} on line {line}: {texts}"
    return found[0]


def bits(value: float, form: int, width: int) -> int:
    """A number as the bits of a value of this form and width."""
    if form == Form.FLOAT:
        return int(np.array(value, np.float32 if width == 32 else np.float64).view(f"u{width // 8}"))
    return int(value) & (1 << width) - 1


def change(
    subject: Subject,
    site: int,
    op: Op,
    value: float = 0,
    *,
    clock: int = EVERY,
    flags: int = 0,
    guard: float = 0,
    operation: int | None = None,
    address: int = 0,
    size: int = 0,
) -> NDArray[np.void]:
    """One change (an array of length 1). Numbers are given as they are meant: of the site's form and width."""
    row = subject.alter_plan.sites[site]
    form, width = int(row["form"]), int(row["width"])
    made = np.zeros(1, CHANGE)
    made["clock"], made["site"], made["block"], made["op"], made["flags"] = clock, site, row["block"], op, flags
    made["width"] = 1 if row["role"] == Role.COMPARE and op not in COMPUTED else width
    made["form"] = form
    adds_double = form == Form.FLOAT and op in (Op.ADD, Op.LEFT_ADD, Op.RIGHT_ADD)
    made["value"] = bits(value, form, 64 if adds_double or op in (Op.POKE, Op.MEMBER) else width)
    made["guard"] = bits(guard, form, width)
    made["operation"] = row["operation"] if operation is None else operation
    made["address"], made["size"] = address, size
    return made


def case_of(stdin: bytes = b"", *arguments: str, expected: bytes = b"", status: int = 0) -> Case:
    """A case that expects this output."""
    return Case("case", arguments, stdin, expected=Expected(expected, None, status))


def altered(
    made: Snippet, case: Case, changes: list[NDArray[np.void]], way: Way, **options: Any
) -> tuple[Results, Session]:
    """The results of continuations, each a list of changes, with all outputs."""
    with Session(made.subject, case, way) as session:
        return session.run(Batch.of(changes), outputs=True, **options), session


@contextmanager
def session(made: Snippet, case: Case, way: Way = Way.AUTO) -> Iterator[Session]:
    """An open session."""
    with Session(made.subject, case, way) as opened:
        yield opened


def instances(observed: Observed, site: int) -> list[int]:
    """The clocks of a site's instances."""
    events = observed.events
    return [int(clock) for clock in events["clock"][events["site"] == site]]
