"""Encodings of recorded runs, for the tests of formulas: compared with what was recorded, in a domain of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from snippets import Snippet

from whence.formula.arrays import evaluate
from whence.formula.encoder import Inputs, encode
from whence.formula.encoding import Encoding
from whence.formula.floats import is_nan
from whence.probe.layout import Kind
from whence.trace.trace import Trace


def encoding_of(
    made: Snippet,
    *arguments: str,
    stdin: bytes = b"",
    cut: Collection[Kind] = (),
    events: Iterable[int] | None = None,
) -> tuple[Trace, Encoding]:
    """A recorded run of a snippet, encoded."""
    trace = made.trace(*arguments, stdin=stdin)
    return trace, encode(trace, Inputs(arguments, stdin), events, cut)


def wrong_instances(encoding: Encoding) -> list[int]:
    """Events whose terms, evaluated as arrays, have another value than the recorded one, or none."""
    values = {s: np.array([encoding.evaluation.value(s) or 0], object) for s in encoding.symbols}
    terms = {t for i in encoding.instances for t in (i.term, i.meaning, *(p for p, _ in i.pointers)) if t >= 0}
    found = evaluate(encoding.terms, terms, values)
    wrong = []
    for instance in encoding.instances:
        pairs = [(t, instance.value) for t in (instance.term, instance.meaning) if instance.value is not None]
        for term, value in (*pairs, *instance.pointers):
            if encoding.evaluation.value(term) is None or not _same(
                int(found[term][0]), value, encoding.terms.widths[term]
            ):
                wrong.append(instance.event)
    return wrong


def _same(found: int, expected: int | None, width: int) -> bool:
    nans = width in (32, 64) and expected is not None and is_nan(found, width) and is_nan(expected, width)
    return found == expected or nans


def results(trace: Trace, encoding: Encoding, line: int, kind: Kind) -> list[int | None]:
    """The values in the run of the instances of a kind on a line, in order."""
    return [encoding.evaluation.value(t) for t in terms_at(trace, encoding, line, kind)]


def terms_at(trace: Trace, encoding: Encoding, line: int, kind: Kind) -> list[int]:
    """The terms of the instances of a kind on a line, in order."""
    found = []
    for instance in encoding.instances:
        place = trace.location(instance.event)
        if place is not None and place.line == line and trace.kind(instance.event) is kind:
            found.append(instance.term)
    return found
