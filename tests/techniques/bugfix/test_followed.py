"""The pointers that a place follows, and the checks of them that are tried."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.followed import MOST, followed
from whence.techniques.bugfix.suspects import Suspects

LIST = """\
#include <stddef.h>
struct node { int key, all[4]; struct node *next; };
int first(struct node **of, int key);
static int is(const struct node *node, int key)
{
    return node->next->key == key;
}
static void step(struct node **at, struct node *other)
{
    other->key += (*at)->all[2];
    *at = (*at)->next;
}
"""


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ("a->b->c + d", ["a->b", "a"]),
        ("*p++ + *q", ["q"]),  # what is asked for once more must not change it
        ("f(a)->b + c", []),
        ("text[i] + row[j]", ["text"]),  # a row is an array
        ("s.t->u", ["s.t"]),
        ("&a + *&b", []),
        ("a->x + b->x + c->x + d->x", ["a", "b", "c", "d"]),
        (" + ".join(f"{name}->x" for name in "abcde"), []),
    ],
)
def test_what_is_followed_can_be_asked_for_once_more(text: str, pointers: list[str]) -> None:
    source = CSource(f"int f(void) {{ return {text}; }}".encode())
    assert followed(source, source.statements[0], {"row"}) == pointers and len(pointers) <= MOST


def lines(line: int) -> list[str]:
    """What a line of LIST becomes, by its likeliest edits first."""
    source = CSource(LIST.encode())
    suspects = Suspects({"l.c": FileCandidates(source, "l.c")}, [("l.c", line)], {})
    return [edited(source, edit).decode().split("\n")[line - 1].strip() for edit in suspects.edits()]


def test_a_check_stands_in_front_of_what_it_keeps_from_being_followed() -> None:
    found = lines(6)
    for pointer in ("node", "node->next"):
        assert f"return {pointer} != NULL && node->next->key == key;" in found[:40]
        assert f"return {pointer} == NULL || node->next->key == key;" in found


def test_a_statement_is_done_only_where_its_pointers_lead_somewhere_or_left_before() -> None:
    source = CSource(LIST.encode())
    suspects = Suspects({"l.c": FileCandidates(source, "l.c")}, [("l.c", 11)], {})
    found = [" ".join(edited(source, edit).decode().split()) for edit in suspects.edits()]
    for text in ("if (*at != NULL)", "if (at != NULL)", "if (at == NULL) return;", "if (*at == NULL) return;"):
        assert any(f"{text} *at = (*at)->next;" in one for one in found)
