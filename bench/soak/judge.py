"""What must hold of a command that has run, and what did not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jsonschema

from whence.report.json import SCHEMA_PATH

OWN_FORMS = ("record", "reduce", "gdb")  # commands whose JSON is of a form of their own
FACTOR = 1.1  # of the budget
MEMORY = 6 << 30  # bytes that a command may take in all: two subjects of 2 GiB each, and Whence
BROKEN = re.compile(r"internal error|Traceback \(most recent|Exception ignored|Fatal Python error")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
COMPLAINT = re.compile(r"^(?:whence|Error): ", re.M)
HELP = re.compile(r"^(?:  help: |Usage: |Try ')", re.M)


@dataclass(slots=True)
class Ran:
    """A command that has run: what was asked, what it printed, and what the keeper says."""

    command: str
    budget: float | None
    beside: float  # seconds that a start and a build of the program took beside it, which no budget counts
    text: bool
    out: str
    err: str
    answer: dict[str, Any]
    changed: list[str] = field(default_factory=list)  # files of the subject's folder


def violations(ran: Ran) -> Iterator[str]:
    """What did not hold, each as ``class: detail``."""
    answer = ran.answer
    if answer["ended"]:
        yield f"ended by the watchdog: {answer['ended']}"
    elif answer["status"] not in (0, 1, 2):
        yield f"status: {answer['status']}"
    for place, text in (("output", ran.out), ("errors", ran.err)):
        if found := BROKEN.search(text):
            yield f"internal: {_line_of(text, found.start())}"
        if found := CONTROL.search(text):
            yield f"control character: {found[0]!r} in its {place}"
    yield from (f"process left: {one}" for one in answer["processes"])
    yield from (f"file left: {one}" for one in [*answer["memory"], *answer["temporary"]])
    yield from (f"folder changed: {one}" for one in ran.changed)
    if answer["shared_bytes"] and not answer["memory"]:
        yield f"memory left: {answer['shared_bytes']:,} bytes in files without a name"
    if answer["peak"] > MEMORY:
        yield f"memory: {answer['peak'] >> 20:,} MiB"
    if ran.budget is not None and answer["seconds"] > FACTOR * ran.budget + ran.beside:
        allowed = f"{FACTOR * ran.budget:.1f} + {ran.beside:.1f}"
        yield f"budget: {answer['seconds']:.1f} s, {allowed} were allowed"
    if not answer["ended"]:
        yield from _ill_formed(ran)


def _line_of(text: str, place: int) -> str:
    return text[text.rfind("\n", 0, place) + 1 :].partition("\n")[0][:300]


def _ill_formed(ran: Ran) -> Iterator[str]:
    """What is wrong with the form of what was printed."""
    status, complaints = ran.answer["status"], len(COMPLAINT.findall(ran.err))
    if status == 2 or (status == 1 and complaints and not ran.out):
        if complaints != 1 or ran.out:
            yield f"complaint: not one line: {(ran.out + ran.err)[:300]!r}"
        elif not HELP.search(ran.err):
            yield f"complaint: no help: {ran.err.strip()[:300]}"
    elif status in (0, 1):
        if not ran.out.strip():
            yield f"empty: nothing printed with status {status}"
        elif not ran.text:
            yield from _wrong_json(ran)


def _wrong_json(ran: Ran) -> Iterator[str]:
    try:
        found = json.loads(ran.out)
    except ValueError as error:
        yield f"json: {error}"
        return
    if ran.command in OWN_FORMS:
        return
    try:
        jsonschema.validate(found, _schema())
    except jsonschema.ValidationError as error:
        yield f"json: {error.message[:200]}"
    if not found.get("ranking") and not found.get("summary"):
        yield "empty: no ranking and no summary"


@cache
def _schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(SCHEMA_PATH.read_text())
    return found
