"""Output that is no text: when it is taken for that, and how its bytes are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.run.binary import ROW, in_hexadecimal, is_binary, rows


@pytest.mark.parametrize("text", ["", "plain\r\n\tlines\f", "\x1b[2Jclear", "Ünïcödé €", "日本語" * 40])
def test_text_is_no_bytes(text: str) -> None:
    data = text.encode()
    assert not any(is_binary(data, offset) for offset in range(len(data) + 1))


def test_text_of_other_encodings_is_text() -> None:
    assert not is_binary("Größe, Länge und Höhe der Körper".encode("latin-1"), 5)


def test_bytes_are_known_where_they_are() -> None:
    data = b"a header in words\n" * 20 + bytes(range(128, 256)) + b"and words\n" * 20
    assert is_binary(b"GIF89a\x08\x00", 6) and is_binary(data, 400)
    assert not is_binary(data, 0) and not is_binary(data, len(data))


@given(st.binary(max_size=200), st.integers(0, 15), st.integers(0, 15))
def test_rows_hold_the_bytes(data: bytes, first: int, count: int) -> None:
    shown = rows(data, first, count)
    assert b"".join(bytes.fromhex(row[10 : 10 + 3 * ROW - 1]) for row in shown) == data[ROW * first :][: ROW * count]
    assert all(int(row[:8], 16) == ROW * (first + n) for n, row in enumerate(shown))


def test_a_row_shows_what_is_ascii() -> None:
    assert rows(b"GIF89a\x00\xff", 0, 1) == ("00000000  " + "47 49 46 38 39 61 00 ff".ljust(47) + "  GIF89a..",)
    assert in_hexadecimal(b"\x1f\x8b") == "0x1f 0x8b" and in_hexadecimal(bytes(20)).endswith("0x00 ...")
