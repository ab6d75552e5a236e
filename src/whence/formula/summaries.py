"""Results of library functions as terms: exact for every content of the bytes that the run's call looked at.

A summary gets the arguments and the texts that the call read, each a list of bytes as terms, and answers candidates for
the result; a library may choose between several (``strcmp`` gives a difference or a sign). Where the bytes read do not
decide the result, it is the one for a text that ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from whence.formula.intrinsics import absolute
from whence.formula.terms import Term, Terms

Text = Sequence[Term]
Summary = Callable[[Terms, Sequence[Term], Sequence[Text]], list[Term]]


def _is(terms: Terms, byte: Term, character: str) -> Term:
    return terms.equal(byte, terms.constant(ord(character), terms.widths[byte]))


def _within(terms: Terms, value: Term, first: int, last: int) -> Term:
    """Whether a number lies in a range, both ends included."""
    width = terms.widths[value]
    return terms.both(
        [
            terms.apply("ule", 1, terms.constant(first, width), value),
            terms.apply("ule", 1, value, terms.constant(last, width)),
        ]
    )


def _any(terms: Terms, conditions: Sequence[Term]) -> Term:
    found = terms.constant(0, 1)
    for condition in conditions:
        found = terms.apply("or", 1, found, condition)
    return found


# ---- Strings ---------------------------------------------------------------------------------------------------------


def _length(terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]) -> list[Term]:
    """strlen: the place of the first zero."""
    (text,) = texts
    found = terms.constant(len(text), 64)
    for place in reversed(range(len(text))):
        found = terms.choose(_is(terms, text[place], "\0"), terms.constant(place, 64), found)
    return [found]


def _span(within: bool) -> Summary:
    """strspn, strcspn: the place of the first byte that is not, or is, in a set; the end of the text is never."""

    def measure(terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]) -> list[Term]:
        if len(texts) != 2:
            return []
        members, text = texts  # in this order: what may be in the set is looked at first
        found = terms.constant(len(text), 64)
        for place in reversed(range(len(text))):
            byte = text[place]
            same = [terms.both([terms.equal(byte, m), terms.negate(_is(terms, m, "\0"))]) for m in members]
            member = _any(terms, same)
            stops = terms.negate(member) if within else _any(terms, [member, _is(terms, byte, "\0")])
            found = terms.choose(stops, terms.constant(place, 64), found)
        return [found]

    return measure


def _comparison(ends_at_zero: bool) -> Summary:
    """strcmp, memcmp: the difference of the first bytes that differ, or its sign."""

    def compare(terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]) -> list[Term]:
        left, right = texts if texts else ((), ())
        zero = terms.constant(0, 32)
        difference, sign = zero, zero
        for a, b in reversed(list(zip(left, right, strict=True))):
            same, less = terms.equal(a, b), terms.apply("ult", 1, a, b)
            here = terms.apply("sub", 32, terms.resize(a, 32), terms.resize(b, 32))
            if ends_at_zero:
                end = _is(terms, a, "\0")
                difference, sign = terms.choose(end, zero, difference), terms.choose(end, zero, sign)
            ahead = terms.choose(less, terms.constant(-1, 32), terms.constant(1, 32))
            difference, sign = terms.choose(same, difference, here), terms.choose(same, sign, ahead)
        return [difference, sign]

    return compare


def _search(terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]) -> list[Term]:
    """strchr: where a character first stands, its end being one; NULL if nowhere."""
    (text,), wanted = texts, terms.resize(arguments[1], 8)
    found = terms.constant(0, 64)
    for place in reversed(range(len(text))):
        here = terms.apply("add", 64, arguments[0], terms.constant(place, 64))
        found = terms.choose(_is(terms, text[place], "\0"), terms.constant(0, 64), found)
        found = terms.choose(terms.equal(text[place], wanted), here, found)
    return [found]


def _number(width: int, base: int | None, terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]) -> list[Term]:
    """atoi and strtol of decimal numbers: white space, a sign, digits.

    Texts that the result's width cannot hold wrap, where the library saturates.
    """
    if base is not None and terms.value(arguments[base]) != 10:
        return []
    text = texts[0] if texts else ()
    zero, one = terms.constant(0, 1), terms.constant(1, 1)
    started, ended, negative, value = zero, zero, zero, terms.constant(0, 64)
    for byte in text:
        digit = terms.apply("and", 1, _within(terms, byte, ord("0"), ord("9")), terms.negate(ended))
        space = _any(terms, [_is(terms, byte, " "), _within(terms, byte, 9, 13)])
        minus = _is(terms, byte, "-")
        sign = terms.both([_any(terms, [minus, _is(terms, byte, "+")]), terms.negate(started)])
        skipped = terms.both([space, terms.negate(started)])
        amount = terms.apply("sub", 64, terms.resize(byte, 64), terms.constant(ord("0"), 64))
        longer = terms.apply("add", 64, terms.apply("mul", 64, value, terms.constant(10, 64)), amount)
        value = terms.choose(digit, longer, value)
        negative = terms.choose(terms.apply("and", 1, sign, minus), one, negative)
        ended = _any(terms, [ended, terms.negate(_any(terms, [digit, sign, skipped]))])
        started = _any(terms, [started, terms.negate(skipped)])
    signed = terms.choose(negative, terms.apply("sub", 64, terms.constant(0, 64), value), value)
    return [terms.resize(signed, width)]


# ---- Characters ------------------------------------------------------------------------------------------------------

_UPPER, _LOWER, _DIGIT = (ord("A"), ord("Z")), (ord("a"), ord("z")), (ord("0"), ord("9"))
_HEX = ((ord("A"), ord("F")), (ord("a"), ord("f")))
_PUNCTUATION = ((33, 47), (58, 64), (91, 96), (123, 126))
_CLASSES: dict[str, tuple[int, tuple[tuple[int, int], ...]]] = {  # bit in glibc's table, ranges of ASCII
    "isupper": (0x100, (_UPPER,)),
    "islower": (0x200, (_LOWER,)),
    "isalpha": (0x400, (_UPPER, _LOWER)),
    "isdigit": (0x800, (_DIGIT,)),
    "isxdigit": (0x1000, (_DIGIT, *_HEX)),
    "isspace": (0x2000, ((9, 13), (32, 32))),
    "isprint": (0x4000, ((32, 126),)),
    "isgraph": (0x8000, ((33, 126),)),
    "isblank": (0x1, ((9, 9), (32, 32))),
    "iscntrl": (0x2, ((0, 31), (127, 127))),
    "ispunct": (0x4, _PUNCTUATION),
    "isalnum": (0x8, (_UPPER, _LOWER, _DIGIT)),
}


def _in_class(name: str, terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]) -> list[Term]:
    """isdigit and its kin, in the C locale: glibc's bit of the class, or 1."""
    bit, ranges = _CLASSES[name]
    member = _any(terms, [_within(terms, arguments[0], *r) for r in ranges])
    return [terms.choose(member, terms.constant(n, 32), terms.constant(0, 32)) for n in (bit, 1)]


def _class_entry(terms: Terms, offset: Term, size: int) -> Term:
    """The entry of ``*__ctype_b_loc()`` at an offset in bytes: the bits of all classes."""
    character = terms.apply("ashr", 32, offset, terms.constant(1, 32))
    entry = terms.constant(0, 8 * size)
    for bit, ranges in _CLASSES.values():
        member = _any(terms, [_within(terms, character, *r) for r in ranges])
        here = terms.choose(member, terms.constant(bit, 8 * size), terms.constant(0, 8 * size))
        entry = terms.apply("or", 8 * size, entry, here)
    return entry


def _case(first: int, last: int, change: int, terms: Terms, character: Term) -> Term:
    moved = terms.apply("add", 32, character, terms.constant(change, 32))
    return terms.choose(_within(terms, character, first, last), moved, character)


def _changed_case(
    first: int, last: int, change: int, terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]
) -> list[Term]:
    """tolower, toupper, in the C locale."""
    return [_case(first, last, change, terms, arguments[0])]


def _case_entry(first: int, last: int, change: int, terms: Terms, offset: Term, size: int) -> Term:
    return _case(first, last, change, terms, terms.apply("ashr", 32, offset, terms.constant(2, 32)))


TABLES: dict[str, Callable[[Terms, Term, int], Term]] = {
    "__ctype_b_loc": _class_entry,
    "__ctype_tolower_loc": partial(_case_entry, *_UPPER, 32),
    "__ctype_toupper_loc": partial(_case_entry, *_LOWER, -32),
}


def _absolute(terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]) -> list[Term]:
    return [absolute(terms, arguments[0])]


def _float_absolute(terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]) -> list[Term]:
    width = terms.widths[arguments[0]]
    return [terms.apply("and", width, arguments[0], terms.constant((1 << width - 1) - 1, width))]


def _square_root(terms: Terms, arguments: Sequence[Term], texts: Sequence[Text]) -> list[Term]:
    return [terms.apply("fsqrt", terms.widths[arguments[0]], arguments[0])]


SUMMARIES: dict[str, Summary] = {
    "strlen": _length,
    "strspn": _span(within=True),
    "strcspn": _span(within=False),
    "strcmp": _comparison(ends_at_zero=True),
    "strncmp": _comparison(ends_at_zero=True),
    "memcmp": _comparison(ends_at_zero=False),
    "strchr": _search,
    "atoi": partial(_number, 32, None),
    "atol": partial(_number, 64, None),
    "atoll": partial(_number, 64, None),
    **dict.fromkeys(("strtol", "strtoll", "strtoul", "strtoull"), partial(_number, 64, 2)),
    **{name: partial(_in_class, name) for name in _CLASSES},
    "tolower": partial(_changed_case, *_UPPER, 32),
    "toupper": partial(_changed_case, *_LOWER, -32),
    **dict.fromkeys(("abs", "labs", "llabs", "imaxabs"), _absolute),
    **dict.fromkeys(("fabs", "fabsf"), _float_absolute),
    **dict.fromkeys(("sqrt", "sqrtf"), _square_root),
}
