"""Bug-fix descriptions (definition 11): what a change of the source is called, from the most general words on.

Source: Jeffrey's dissertation (2009), section 8.2.2 and table 8.2: one fix has several descriptions, such as "change an
operator", "change a comparison operator" and "change < into <=". They are made from the tokens that changed, so that
what a developer did, a candidate edit and the knowledge base speak of the same things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from whence.program.token_changes import Change, token_changes

COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!="))
_GROUPS = {
    "comparison": COMPARING,
    "logical": frozenset(("&&", "||")),
    "arithmetic": frozenset(("+", "-", "*", "/", "%")),
    "bit": frozenset(("&", "|", "^", "<<", ">>")),
    "assignment": frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--")),
}
_OPERATORS = frozenset().union(*_GROUPS.values())
_TYPES = frozenset(
    [
        "char",
        "short",
        "int",
        "long",
        "signed",
        "unsigned",
        "float",
        "double",
        "bool",
        "_Bool",
        "size_t",
        "ssize_t",
        "void",
        "const",
    ]
)
_NAME, _NUMBER = re.compile(r"[A-Za-z_]\w*"), re.compile(r"\.?\d.*|'.*'")
_NAMED_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
_WHOLE = re.compile(r"(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)[uUlL]*")
_FRACTION = re.compile(r"((?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)[fFlL]?")
_LEAVING = frozenset(("return", "break", "continue", "goto"))
_BRACES = frozenset("{}")

OTHER = "change an expression"


def describe(old: bytes, new: bytes) -> list[str]:
    """The descriptions of the fix that makes one piece of C from another, general ones first; none where C is equal."""
    changes = [_without_braces(change) for change in token_changes(old, new)]
    changes = [change for change in changes if change.old or change.new]
    if _is_move(changes):
        return ["change the order of statements", "move a statement"]
    found = [text for change in changes for text in _of(change)]
    return list(dict.fromkeys(found or ([OTHER] if changes else [])))


def _without_braces(change: Change) -> Change:
    """The change without braces at its ends, which come with other changes."""

    def stripped(words: tuple[str, ...]) -> tuple[str, ...]:
        while words and words[-1] in _BRACES:
            words = words[:-1]
        while words and words[0] in _BRACES:
            words = words[1:]
        return words

    ends = {*change.old[:1], *change.old[-1:], *change.new[:1], *change.new[-1:]}
    return change if _BRACES.isdisjoint(ends) else change._replace(old=stripped(change.old), new=stripped(change.new))


def _is_move(changes: Sequence[Change]) -> bool:
    """Whether what was taken away in one place was put in at another."""
    if len(changes) != 2 or ";" not in (*changes[0].old, *changes[0].new):
        return False
    first, second = changes
    taken, put = (first.old, second.new) if first.old else (second.old, first.new)
    return sorted(taken) == sorted(put) and not (first.old and first.new)


def _of(change: Change) -> Iterator[str]:
    old, new = change.old, change.new
    if len(old) == len(new) == 1:
        yield from _one_token(change)
    elif not old:
        yield from _added(new, change)
    elif not new:
        yield from _dropped(old, change)
    elif set(old) <= _TYPES and set(new) <= _TYPES:
        yield "change a type"
    elif all(_NUMBER.fullmatch(word) or word == "-" for word in (*old, *new)):
        yield from _constant("".join(old), "".join(new))
    elif new[-1:] == (";",) and old[-1:] == (";",):
        yield "replace a statement"
    elif new[0] == "!" or old[0] == "!":
        yield "negate a condition"
    else:
        yield OTHER


# ---- One token -------------------------------------------------------------------------------------------------------


def _one_token(change: Change) -> Iterator[str]:
    old, new = change.old[0], change.new[0]
    if old in _OPERATORS and new in _OPERATORS:
        yield "change an operator"
        for name, group in _GROUPS.items():
            if old in group and new in group:
                yield f"change {'an' if name[0] == 'a' else 'a'} {name} operator"
        yield f"change {old} into {new}"
    elif old in _TYPES or new in _TYPES:
        yield "change a type"
        yield f"change {old} into {new}"
    elif _is_constant(old) and _is_constant(new):
        yield from _constant(old, new)
    elif _NAME.fullmatch(old) and _NAME.fullmatch(new):
        if change.behind[:1] == ("(",):
            yield "call another function"
        elif change.before[-1:] in (("->",), (".",)):
            yield "use another member"
        else:
            yield "use another variable"
    elif _is_constant(old) or _is_constant(new):
        yield "change a constant"
        yield "use a variable instead of a constant" if _is_constant(old) else "use a constant instead of a variable"
    else:
        yield OTHER


def _is_constant(word: str) -> bool:
    return bool(_NUMBER.fullmatch(word) or _NAMED_CONSTANT.fullmatch(word) or word.startswith('"'))


def _constant(old: str, new: str) -> Iterator[str]:
    yield "change a constant"
    if _NAMED_CONSTANT.fullmatch(old) and _NAMED_CONSTANT.fullmatch(new):
        yield "use another named constant"
    one, two = _number(old), _number(new)
    if one is not None and two is not None and one != two:
        yield f"{'increase' if two > one else 'decrease'} a constant"
        if abs(two - one) == 1:
            yield f"{'increase' if two > one else 'decrease'} a constant by 1"


def _number(text: str) -> float | None:
    """The value of a number as C spells it; None: it is none."""
    if whole := _WHOLE.fullmatch(text):
        is_octal = whole[1].isdigit() and whole[1].startswith("0")
        return float(int(whole[1], 8 if is_octal else 0))
    fraction = _FRACTION.fullmatch(text)
    return float(fraction[1]) if fraction else None


# ---- Added and dropped -----------------------------------------------------------------------------------------------


def _added(new: tuple[str, ...], change: Change) -> Iterator[str]:
    if ";" in new:
        yield "add a statement"
        if new[0] == "if":
            yield "add a check"
            if _LEAVING & set(new):
                yield "add a check that leaves early"
        else:
            yield f"add {_kind(new)}"
    elif new[0] in ("if", "else"):
        yield "add a condition"
        yield "guard a statement"
    elif operator := _joins(new):
        yield "add a condition"
        yield "narrow a condition" if operator == "&&" else "widen a condition"
    elif new[0] == "!" or new[-1] == "!":
        yield "negate a condition"
    elif new[0] == "(" and new[-1] == ")" and set(new[1:-1]) <= _TYPES | {"*"}:
        yield "add a cast"
    elif sign := _signed(new):
        yield from _term("add", sign, new, change)
    elif "=" in new[:1]:
        yield "initialise a variable"
    else:
        yield OTHER


def _dropped(old: tuple[str, ...], change: Change) -> Iterator[str]:
    if ";" in old:
        yield "remove a statement"
        yield "remove a check" if old[0] == "if" else f"remove {_kind(old)}"
    elif old[0] in ("if", "else"):
        yield "drop a condition"
        yield "do a statement always"
    elif operator := _joins(old):
        yield "drop a condition"
        yield "widen a condition" if operator == "&&" else "narrow a condition"
    elif old[0] == "!" or old[-1] == "!":
        yield "negate a condition"
    elif old[0] == "(" and old[-1] == ")" and set(old[1:-1]) <= _TYPES | {"*"}:
        yield "drop a cast"
    elif sign := _signed(old):
        yield from _term("drop", sign, old, change)
    else:
        yield OTHER


def _joins(words: tuple[str, ...]) -> str:
    """The operator by which a condition joins another one; empty: none."""
    return next((word for word in (words[0], words[-1]) if word in ("&&", "||")), "")


def _signed(words: tuple[str, ...]) -> str:
    """The operator that a term brings with it; empty: none."""
    return next((word for word in (words[0], words[-1]) if word in _GROUPS["arithmetic"]), "")


def _term(verb: str, sign: str, words: tuple[str, ...], change: Change) -> Iterator[str]:
    yield f"{verb} a term"
    if sign in "+-":
        grows = (sign == "+") == (verb == "add")
        yield "increase a value" if grows else "decrease a value"
        if len(words) == 2 and "1" in words:
            yield f"{verb} {sign} 1"


def _kind(words: tuple[str, ...]) -> str:
    """What a statement is, with its article."""
    if words[0] in _LEAVING:
        return f"a {words[0]}"
    if any(word in _GROUPS["assignment"] for word in words):
        return "an assignment"
    if len(words) > 1 and _NAME.fullmatch(words[0]) and words[1] == "(":
        return "a call"
    return "a declaration" if words[0] in _TYPES else "another statement"
