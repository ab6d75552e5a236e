"""Text of the page can be read: a contrast of 4.5 (WCAG AA) in both schemes, also on lines that are painted."""

from __future__ import annotations

import re

import pytest

from whence.report.html import TEMPLATES

STYLE = (TEMPLATES / "page.css").read_text("utf-8")
Colour = tuple[float, ...]  # red, green, blue from 0 to 1
CODE = ("ink", "keyword", "type", "string", "number")
READ = {  # text by what is behind it
    "ground": ("ink", "soft", "slice", "hot-ink", "good-ink"),
    "panel": (*CODE, "soft", "slice", "hot-ink", "good-ink"),
    "raised": ("ink", "soft", "slice"),
    "minus": ("ink", "soft", "hot-ink"),
    "plus": ("ink", "soft", "good-ink"),
}
LIGHT_AND_DARK = pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])


def colour(name: str, scheme: int) -> Colour:
    """A colour of the style in one of the schemes."""
    found = re.search(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", STYLE)
    assert found, name
    return tuple(int(found[1 + scheme][at : at + 2], 16) / 255 for at in (1, 3, 5))


def mixed(over: Colour, under: Colour, share: float) -> Colour:
    return tuple(share * a + (1 - share) * b for a, b in zip(over, under, strict=True))


def contrast(text: Colour, behind: Colour) -> float:
    """The contrast ratio of WCAG 2."""

    def luminance(parts: Colour) -> float:
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(text), luminance(behind)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@LIGHT_AND_DARK
@pytest.mark.parametrize("behind", READ)
def test_text_can_be_read(behind: str, scheme: int) -> None:
    ratios = {text: contrast(colour(text, scheme), colour(behind, scheme)) for text in READ[behind]}
    assert min(ratios.values()) >= 4.5, ratios


@LIGHT_AND_DARK
def test_code_on_painted_lines_can_be_read(scheme: int) -> None:
    shares = [int(share) / 100 for share in re.findall(r"--heat: (\d+)%", STYLE)]
    assert len(shares) == 10 and shares == sorted(shares)
    for share in shares:
        behind = mixed(colour("hot", scheme), colour("panel", scheme), share)
        ratios = {text: contrast(colour(text, scheme), behind) for text in (*CODE, "hot-ink", "slice")}
        assert min(ratios.values()) >= 4.5, (share, ratios)


@LIGHT_AND_DARK
def test_what_changed_in_a_line_can_be_read(scheme: int) -> None:
    for mark, behind, share in (("hot", "minus", 0.22), ("good-ink", "plus", 0.26), ("hot", "panel", 0.24)):
        assert contrast(colour("ink", scheme), mixed(colour(mark, scheme), colour(behind, scheme), share)) >= 4.5


@LIGHT_AND_DARK
def test_labels_can_be_read(scheme: int) -> None:
    for behind in ("hot-ink", "slice", "soft"):
        assert contrast(colour("panel", scheme), colour(behind, scheme)) >= 4.5
