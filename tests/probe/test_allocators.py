"""The texts that name a program's own allocators."""

from __future__ import annotations

import pytest

from whence.probe.allocators import Allocator, parse_allocators


def test_arguments_are_told_by_their_names() -> None:
    assert parse_allocators("take(pool, size) array(count, size) give(pointer)") == (
        Allocator("take", size=1),
        Allocator("array", size=1, count=0),
        Allocator("give", pointer=0),
    )


@pytest.mark.parametrize("text", ["take", "take(size", "take(what)", "take(size) give", "take(size), give(pointer)"])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"functions with their arguments|an argument of"):
        parse_allocators(text)
