"""What a test may have wanted an invocation to print: texts that its scripts hold, or that it printed when it failed.

Shells, Perl and Python compare texts by themselves, so what they compared an output with is not seen. But it stands in
the script, between quotes or as a document, or the failing test shows it, as a difference or beside what it got. Which
one it was is found by telling the test so (``subject/told.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from whence.run.invocations import Invocation

QUOTED = re.compile(rb"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'", re.S)
DOCUMENT = re.compile(rb"<<-?\s*[\"'\\]?(\w+)[\"']?[^\n]*\n(.*?)^\s*\1$", re.S | re.M)
ESCAPED = re.compile(rb"\\([\"\\$`])")
# Characters as C, Python and `printf` name them.
NAMED = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|([abfnrtv\\\"']))")
CHARACTERS = dict(zip(b"abfnrtv\\\"'", b"\a\b\f\n\r\t\v\\\"'", strict=True))
HUNK = re.compile(rb"^@@ .*\n((?:[ +-].*\n?|\n)+)", re.M)
LONGEST = 4096  # bytes of a text that is compared with an output
LIKE = 0.5  # part of two texts that is equal where one may have been wanted instead of the other
MOST_ALIKE = 2  # texts that one invocation may have been wanted to print


def texts_in(script: bytes) -> Iterator[bytes]:
    """The texts between quotes in a script or in what a test printed, and its documents (``<<``).

    Where a text names characters (``\\n``) it may stand for these, as what Python prints of one does.
    """
    for found in QUOTED.finditer(script):
        written = found[2] if found[1] is None else found[1]
        plain = written if found[1] is None else ESCAPED.sub(rb"\1", written)
        yield plain
        if (named := NAMED.sub(_named, written)) != plain:
            yield named
    for document in DOCUMENT.finditer(script):
        yield document[2]


def _named(found: re.Match[bytes]) -> bytes:
    """The character that is named."""
    number, octal, letter = found.groups()
    if letter is not None:
        return bytes([CHARACTERS[letter[0]]])
    return bytes([int(number, 16) if number is not None else int(octal, 8) & 255])


def shown_instead(one: Invocation, output: bytes) -> Iterator[tuple[bytes, bool]]:
    """The output of an invocation with what a difference in ``output`` has in the place of a part of it, and whether
    that is all of it.
    """
    for hunk in HUNK.finditer(output):
        lines = hunk[1].splitlines(keepends=True)
        old, new = (b"".join(line[1:] for line in lines if line[:1] in (b" ", side)) for side in (b"-", b"+"))
        for here, there in ((new, old), (old, new)):
            if here and here in one.stdout and here != there:
                yield one.stdout.replace(here, there, 1), here == one.stdout


def wanted(invocations: Sequence[Invocation], texts: Iterable[bytes], output: bytes) -> list[tuple[Invocation, bytes]]:
    """Invocations with what may have been wanted of each instead of its output, the likeliest first.

    ``texts`` are those of the test's script: an output that is among them is taken for right. ``output`` is what the
    test has printed. Of an invocation texts in that come first, and then such as no other one gave.
    """
    known, printed = _stripped(texts), _stripped(texts_in(output))
    given = {one.stdout.strip() for one in invocations}
    found: dict[tuple[str, bytes], tuple[float, Invocation, bytes]] = {}
    for one in invocations:
        got = one.stdout.strip()
        for text, _ in shown_instead(one, output):
            found[one.order, text] = 2.0, one, text
        if not got or got in known or len(got) > LONGEST:
            continue
        shown = got in output or got in printed  # a test that complains of an output may print it
        alike = _alike(got, known | printed)
        first = sorted(alike, key=lambda found: (found[1] in printed, found[1] not in given, found), reverse=True)
        for likeness, text in first[:MOST_ALIKE]:
            ending = one.stdout[len(one.stdout.rstrip()) :]
            found.setdefault((one.order, text), (likeness + shown, one, text + ending))
    ordered = sorted(found.values(), key=lambda item: (-item[0], item[1].order))
    return [(one, text) for _, one, text in ordered]


def _stripped(texts: Iterable[bytes]) -> set[bytes]:
    return {stripped for text in texts if (stripped := text.strip()) and len(text) <= LONGEST}


def _alike(got: bytes, texts: Iterable[bytes]) -> Iterator[tuple[float, bytes]]:
    matcher = SequenceMatcher(b=got.decode("latin-1"), autojunk=False)
    for text in texts:
        matcher.set_seq1(text.decode("latin-1"))
        is_near = text != got and matcher.real_quick_ratio() > LIKE and matcher.quick_ratio() > LIKE
        if is_near and (ratio := matcher.ratio()) > LIKE:
            yield ratio, text
