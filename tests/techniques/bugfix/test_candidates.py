"""Candidate edits: what they may name, and in which order they come."""

from __future__ import annotations

from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FileCandidates, ordered

TEXT = """\
static int declared(int n);
static int first(int n)
{
    int twice = n + n, rest = n;
    rest -= twice;
    return rest;
}
static int declared(int n) { return first(n) + 1; }
static int second(int n) { return declared(n) - 1; }
"""


def edits_on(line: int) -> set[bytes]:
    source = CSource(TEXT.encode())
    return {edited(source, edit).split(b"\n")[line - 1] for _, edit in FileCandidates(source, "a.c").on(line)}


def test_no_function_is_called_before_it_is_declared() -> None:
    assert b"static int declared(int n) { return declared(n) + 1; }" in edits_on(8)
    assert not any(b"second(" in text for text in edits_on(8))
    assert any(b"first(n) - 1" in text for text in edits_on(9))


def test_no_variable_is_used_in_its_own_first_value() -> None:
    found = edits_on(4)
    assert b"    int twice = n - n, rest = n;" in found and b"    int twice = n + n, rest = twice;" in found
    assert not any(b"twice = twice" in text or b"rest = rest" in text for text in found)


def test_edits_come_once_and_the_first_statement_comes_first() -> None:
    source = CSource(TEXT.encode())
    edits = list(ordered({"a.c": FileCandidates(source, "a.c")}, [("a.c", 5), ("a.c", 6), ("b.c", 1)]))
    assert len({(edit.file, edit.parts) for edit in edits}) == len(edits) > 20
    assert edits[0].line == 5 and {edit.line for edit in edits} == {5, 6}


def test_the_nearest_numbers_of_the_same_function_come_first() -> None:
    others = "".join(f"static int f{n}(int n) {{ return n + {n} + {n}; }}\n" for n in range(100, 130))
    many = "".join(f" n += {n};" for n in [*range(50, 60)] * 2)
    source = CSource((others + f"static int mod(int n) {{{many} return n / 36 + n % 30; }}\n").encode())
    (text,) = [text for text in source.text.split(b"\n") if b"mod" in text]
    line = source.text.split(b"\n").index(text) + 1
    found = {edited(source, edit).split(b"\n")[line - 1] for _, edit in FileCandidates(source, "a.c").on(line)}
    assert text.replace(b"% 30", b"% 36") in found
