"""The tree of causes in a real browser: it opens and closes, leads to lines, and hides what is fine."""

from __future__ import annotations

from typing import Any

from tests.report.test_browser import browser, pytestmark, visit  # noqa: F401
from tests.report.test_tree import SOURCE, small


def test_causes_lead_to_their_lines(visit: Any) -> None:  # noqa: F811
    at = visit(small(), {"p.c": SOURCE})
    at.page.click(".tree > .causes > .cause > details > .causes [data-place='p.c:3']")
    assert at.place == "p.c:3"


def test_a_fine_cause_disappears_with_what_only_it_led_to(visit: Any) -> None:  # noqa: F811
    at = visit(small(), {"p.c": SOURCE})
    cause = at.page.locator(".cause[data-cause='p.c:2']")
    child = cause.locator(".cause[data-cause='p.c:1']")
    cause.locator(":scope > details > summary > span").click()
    assert child.is_visible()
    cause.locator(":scope > details > .tools > .fine").click()
    assert not child.is_visible() and at.page.locator(".cause[data-cause='p.c:3']").is_visible()
    cause.locator(":scope > details > .tools > .fine").click()
    assert child.is_visible()


def test_lines_marked_as_fine_are_listed_and_come_back(visit: Any) -> None:  # noqa: F811
    at = visit(small(), {"p.c": SOURCE})
    line = at.page.locator(".from[data-cause='p.c:1']")
    at.page.locator(".cause[data-cause='p.c:2'] > details > summary > span").click()
    line.locator(".fine").click()
    assert not line.is_visible() and at.page.locator("#marked").inner_text().startswith("Marked as fine: p.c:1")
    at.page.click("#marked .fine")
    assert line.is_visible() and not at.page.locator("#marked").is_visible()


def test_the_tree_is_walked_by_keys(visit: Any) -> None:  # noqa: F811
    at = visit(small(), {"p.c": SOURCE})
    child = at.page.locator(".cause[data-cause='p.c:2'] .cause[data-cause='p.c:1']")
    at.page.locator(".cause > details > summary").first.focus()
    at.page.keyboard.press("ArrowDown")
    assert at.place == "p.c:2" and not child.is_visible()
    at.page.keyboard.press("ArrowRight")
    assert child.is_visible()
    at.page.keyboard.press("ArrowRight")
    assert at.place == "p.c:1"
    at.page.keyboard.press("ArrowLeft")
    assert at.place == "p.c:2"
    at.page.keyboard.press("f")
    assert not child.is_visible()
    at.page.keyboard.press("f")
    assert child.is_visible()
    at.page.keyboard.press("ArrowLeft")
    assert not child.is_visible()
    at.page.keyboard.press("ArrowUp")
    assert at.place == "p.c:4"
