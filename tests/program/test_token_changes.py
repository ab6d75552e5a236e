"""What changed between two pieces of C: enough to make one of the other, and no more where something was put in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from whence.program.token_changes import c_tokens, changed_tokens, token_changes

PIECES = st.lists(st.sampled_from(["a", "b", "(", ")", "1", "+", ";"]), max_size=8).map(lambda p: " ".join(p).encode())


@given(PIECES, PIECES)
def test_the_changes_lead_from_one_text_to_the_other(old: bytes, new: bytes) -> None:
    made, at, tokens = list[str](), 0, c_tokens(old)
    for change in token_changes(old, new):
        assert change.old or change.new
        made += [*tokens[at : len(change.before)], *change.new]
        at = len(change.before) + len(change.old)
        assert (*change.before, *change.old, *change.behind) == tuple(tokens)
    assert [*made, *tokens[at:]] == c_tokens(new)


@given(PIECES, PIECES, PIECES)
def test_what_is_put_in_and_taken_out_is_all_that_changes(before: bytes, added: bytes, behind: bytes) -> None:
    without, with_it = before + b" " + behind, b" ".join((before, added, behind))
    for old, new in ((without, with_it), (with_it, without)):
        if old.strip() and new.strip():
            assert changed_tokens(old, new) == len(c_tokens(added))


def test_a_pair_of_braces_is_put_in_as_one() -> None:
    (change,) = token_changes(b"(a) x", b"(b) (a) x")
    assert change.new == ("(", "b", ")")
    (change,) = token_changes(b"x (a)", b"x (a) (b)")
    assert change.new == ("(", "b", ")")
