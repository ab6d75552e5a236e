"""The tree of causes in a real browser: it opens and closes, leads to lines, and hides what is fine."""

from __future__ import annotations

from typing import Any

from test_report_browser import browser, pytestmark, visit  # noqa: F401
from test_report_tree import SOURCE, small


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
    cause.locator(":scope > details > summary > .fine").click()
    assert not child.is_visible() and at.page.locator(".cause[data-cause='p.c:3']").is_visible()
    cause.locator(":scope > details > summary > .fine").click()
    assert child.is_visible()
