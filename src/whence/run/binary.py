"""Output that is no text, told by its bytes."""

from __future__ import annotations

ROW = 16  # bytes
AROUND = 64  # bytes before and behind a place that tell whether there is text
STRANGE = 0.2  # share of them that no text has, in any encoding
_OF_TEXT = frozenset(b"\a\b\t\n\v\f\r\x1b")


def is_binary(data: bytes, offset: int) -> bool:
    """Whether what stands around a place is no text: it has null bytes, or many that UTF-8 or a terminal has not."""
    near = data[max(0, offset - AROUND) : offset + AROUND]
    if 0 in near:
        return True
    undecodable = near.decode(errors="replace").count("\N{REPLACEMENT CHARACTER}")
    control = sum(byte < ord(" ") and byte not in _OF_TEXT for byte in near)
    return undecodable + control > STRANGE * len(near)


def in_hexadecimal(data: bytes, most: int = ROW) -> str:
    """The first bytes as ``0x1f 0x8b``."""
    shown = " ".join(f"0x{byte:02x}" for byte in data[:most])
    return shown + (" ..." if len(data) > most else "")


def rows(data: bytes, first: int, count: int) -> tuple[str, ...]:
    """So many rows of ROW bytes from number ``first`` (from 0) on: the offset, the bytes, and what of them is ASCII."""
    starts = range(ROW * first, min(len(data), ROW * (first + count)), ROW)
    return tuple(_row(start, data[start : start + ROW]) for start in starts)


def _row(start: int, part: bytes) -> str:
    text = "".join(chr(byte) if ord(" ") <= byte < 127 else "." for byte in part)
    return f"{start:08x}  {part.hex(' '):<{3 * ROW - 1}}  {text}"
