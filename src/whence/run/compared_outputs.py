"""What a test compared outputs with: each invocation's part of a file, and the part of the right file for it; and files
that invocations wrote by themselves, with the right ones.

Many invocations may write to one file, with headings of the test between them. The lines of the file and of the one
that it was compared with are matched; a part begins and ends where lines that are not in doubt do. Where three lines
stand in the place of three others, each is taken for the one that was wanted in its place: most wrong outputs have as
many lines as the right ones.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from difflib import SequenceMatcher

from whence.run.invocations import Invocation

MOST_LINES = 20_000
UNMATCHED = -1


def right_outputs(invocations: Sequence[Invocation], judge: Invocation) -> Iterator[tuple[Invocation, bytes]]:
    """Invocations whose output ``judge``, a run of ``cmp`` or ``diff``, compared, each with what is right for it.

    Where both files hold outputs, and differ, nothing tells which one is right.
    """
    operands = _operands(judge)
    contents = [judge.content(operand) for operand in operands]
    before = [one for one in invocations if one.order < judge.order]
    for here, there in ((0, 1), (1, 0)) if len(contents) == 2 else ():
        actual, right = contents[here], contents[there]
        if actual is None or right is None:
            continue
        other = judge.path(operands[there])
        if judge.status and any(one.output == other and one.stdout and _is_part(one, right) for one in before):
            continue
        path = judge.path(operands[here])
        parts = [one for one in before if one.output == path and _is_part(one, actual)]
        if parts:
            yield from _answering(parts, actual, right)
        elif whole := _last_with(before, actual):
            yield whole, right if whole.stdout == actual or not whole.stdout else _ending_as(whole.stdout, right)


def right_files(invocations: Sequence[Invocation], judge: Invocation) -> Iterator[tuple[Invocation, str, bytes]]:
    """Invocations that wrote a file which ``judge`` compared, each with its name for that, and what is right for it.

    Where invocations wrote both of the files, nothing tells which one is right.
    """
    operands = _operands(judge)
    writers = [_writer(invocations, judge, operand) for operand in operands]
    for here, there in ((0, 1), (1, 0)) if len(operands) == 2 else ():
        writer, right = writers[here], judge.content(operands[there])
        if writer is not None and writers[there] is None and right is not None:
            yield writer, os.path.relpath(judge.path(operands[here]), writer.folder), right


def _operands(judge: Invocation) -> list[str]:
    return [word for word in judge.words[1:] if word == "-" or not word.startswith("-")][-2:]


def _writer(invocations: Sequence[Invocation], judge: Invocation, operand: str) -> Invocation | None:
    """The last one that wrote a file before it was compared, if it still is as that left it."""
    path, content = judge.path(operand), judge.content(operand)
    writers = [one for one in invocations if one.order < judge.order and path in one.written]
    return writers[-1] if writers and writers[-1].written[path].read_bytes() == content else None


def _is_part(one: Invocation, content: bytes) -> bool:
    """Whether the output still stands where it was written."""
    return content[one.offset : one.offset + len(one.stdout)] == one.stdout


def _last_with(invocations: Sequence[Invocation], output: bytes) -> Invocation | None:
    """The invocation that wrote this into a pipe, as far as that can be told; an empty output may be anybody's but
    where there is one such, or the last one is.

    A shell that holds an output in a variable drops the line ends behind it, and writes one again.
    """
    text = output.rstrip(b"\n")
    found = [one for one in invocations if one.stdout.rstrip(b"\n") == text and not one.output]
    is_clear = bool(text) or len(found) == 1 or (bool(found) and found[-1] is invocations[-1])
    return found[-1] if found and is_clear else None


def _ending_as(output: bytes, right: bytes) -> bytes:
    """What is right with as many line ends behind it as an output has."""
    return right.rstrip(b"\n") + output[len(output.rstrip(b"\n")) :]


def _answering(parts: Sequence[Invocation], actual: bytes, right: bytes) -> Iterator[tuple[Invocation, bytes]]:
    """The parts of one file whose counterpart in the other is not in doubt, with that."""
    lines, others = actual.splitlines(keepends=True), right.splitlines(keepends=True)
    if len(lines) + len(others) > MOST_LINES:
        return
    starts = {0: 0}  # line numbers by their offsets
    at = 0
    for number, line in enumerate(lines, 1):
        at += len(line)
        starts[at] = number
    ranges = [(one, starts.get(one.offset), starts.get(one.offset + len(one.stdout))) for one in parts]
    edges = Counter(edge for _, first, end in ranges for edge in {first, end})
    inside = {line for _, first, end in ranges if first is not None and end is not None for line in range(first, end)}
    matched = _matched(lines, others, inside)
    for one, first, end in ranges:
        if first is None or end is None:
            continue
        there_first = _first_there(first, matched, edges[first] == 1)
        there_end = _end_there(end, matched, edges[end] == 1, len(others))
        if there_first is not None and there_end is not None and there_first <= there_end:
            yield one, b"".join(others[there_first:there_end])


def _matched(lines: list[bytes], others: list[bytes], inside: Container[int]) -> list[int]:
    """For each line the number of the one that answers to it, or ``UNMATCHED``: an equal one, or where as many lines
    of outputs (``inside``) differ as stand there instead, the one in its place.
    """
    matched = [UNMATCHED] * len(lines)
    for tag, start, end, there, there_end in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
        if end - start == there_end - there and (tag == "equal" or all(line in inside for line in range(start, end))):
            matched[start:end] = range(there, there_end)
    return matched


def _first_there(first: int, matched: list[int], is_alone: bool) -> int | None:
    """Where the counterpart of a part begins: behind a line of the test's own, where no other part begins or ends
    (``is_alone``), or where no line is missing.
    """
    before = matched[first - 1] if first else -1
    if before == UNMATCHED and first:
        return None
    is_adjacent = first < len(matched) and matched[first] == before + 1
    return before + 1 if is_alone or is_adjacent else None


def _end_there(end: int, matched: list[int], is_alone: bool, total: int) -> int | None:
    """Where the counterpart of a part ends."""
    after = matched[end] if end < len(matched) else total
    if after == UNMATCHED:
        return None
    is_adjacent = end > 0 and matched[end - 1] == after - 1
    return after if is_alone or is_adjacent else None
