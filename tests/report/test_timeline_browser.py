"""The timeline in a real browser: any instant by click, slider and keys, values of that time, and who wrote them."""

from __future__ import annotations

from typing import Any

from report_sample import at as line_at
from report_sample import sample, sources

from tests.report.test_browser import browser, pytestmark, visit  # noqa: F401
from tests.report.test_html import EVIL, evil_findings
from whence.report.html import render_html
from whence.report.text import visible


def instant(event: int, text: str, call: int, *values: list[Any]) -> list[Any]:
    return [event, 0, line_at("deck.c", text).line, call, event // 2, list(values)]


def timeline(**changed: Any) -> dict[str, Any]:
    """Two calls of ``choose``, in each of which ``most`` is given a value and compared."""
    first, last = (["most", "0", "written", None], ["rest", "120", "read", None])
    return {
        "events": 100,
        "steps": 4,
        "is_whole": True,
        "files": ["src/deck.c"],
        "calls": [["deck_place", 0, 0, 99], ["choose", 1, 10, 40], ["choose", 1, 50, 90]],
        "undrawn": 0,
        "open": [-1, 0, 0],
        "instants": [
            instant(10, "int most = 0;", 1, first),
            instant(20, "if (rest > most)", 1, last, ["most", "0", "read", 0]),
            instant(50, "int most = 0;", 2, ["most", "7", "written", None]),
            instant(60, "if (rest > most)", 2, last, ["most", "7", "read", 2], ["used", "1", "read", "src/deck.c:47"]),
        ],
    } | changed


def beside(at: Any, text: str) -> str:
    """What is told beside a line; empty: nothing."""
    return str(at.page.locator(f"#l0-{line_at('deck.c', text).line}").inner_text())


def test_an_instant_has_the_values_of_its_time(visit: Any) -> None:  # noqa: F811
    at = visit(sample(), sources(), timeline=timeline())
    at.page.locator("#calls").scroll_into_view_if_needed()
    at.page.wait_for_selector(".call")
    assert at.page.locator(".call").all_inner_texts() == ["deck_place", "choose", "choose"]
    box = at.page.locator("#calls").bounding_box()
    at.page.mouse.click(box["x"] + 0.65 * box["width"], box["y"] + 25)
    at.page.wait_for_selector(".l.now")
    assert at.page.locator("#now").inner_text().startswith("Instant 4 of 4, event 60 of 100, clock 30: src/deck.c:28")
    assert at.place == "src/deck.c:28" and "most = 7" in beside(at, "int most = 0;")
    at.keys(",", ",")
    at.page.wait_for_function("() => document.querySelector('#now').textContent.startsWith('Instant 2')")
    assert "most = 0" in beside(at, "int most = 0;") and "rest = 120" in beside(at, "if (rest > most)")
    at.keys(",")
    at.page.wait_for_function("() => document.querySelector('#now').textContent.startsWith('Instant 1')")
    assert "rest" not in beside(at, "if (rest > most)").partition(")")[2]  # it was not executed yet
    at.page.click(".leave")
    assert at.page.locator(".l.now").count() == 0


def test_a_value_leads_to_the_instant_that_wrote_it(visit: Any) -> None:  # noqa: F811
    at = visit(sample(), sources(), timeline=timeline())
    at.page.fill("#instant", "0")  # which has no range before the timeline was looked at
    at.page.wait_for_selector(".l.now")
    at.page.fill("#instant", "3")
    at.page.wait_for_selector("#now-values [data-instant='2']")
    at.page.click("#now-values [data-instant='2']")
    at.page.wait_for_function("() => document.querySelector('#now').textContent.startsWith('Instant 3')")
    assert at.place == "src/deck.c:25"
    at.keys(".")
    at.page.wait_for_selector("#now-values [data-place='src/deck.c:47']")
    assert "an instant that was left out" in at.page.locator("#now-values").inner_text()
    at.page.click("#now-values [data-place='src/deck.c:47']")
    assert at.place == "src/deck.c:47"


def test_zooming_shows_short_calls(visit: Any) -> None:  # noqa: F811
    calls = [["main", 0, 0, 99_999], ["short", 1, 10, 12]]
    at = visit(sample(), sources(), timeline=timeline(events=100_000, calls=calls))
    at.page.fill("#instant", "0")
    at.page.wait_for_selector(".l.now")
    assert at.page.locator(".call").all_inner_texts() == ["main"]
    for _ in range(9):
        at.page.click("#zoom-in")
    assert at.page.locator(".call").all_inner_texts() == ["main", "short"]


def test_hostile_names_and_values_stay_text(visit: Any) -> None:  # noqa: F811
    findings, text = evil_findings()
    hostile = [0, 0, 1, 0, 0, [[EVIL, EVIL, "read", EVIL]]]
    drawn = timeline(files=[EVIL], calls=[[EVIL, 0, 0, 99]], open=[-1], instants=[hostile])
    at = visit(findings, text, timeline=drawn)
    at.page.fill("#instant", "0")
    at.page.wait_for_selector(".l.now")
    assert at.page.evaluate("window.pwned === undefined") and at.page.locator("img").count() == 0
    assert at.page.locator(".call").inner_text() == visible(EVIL)
    assert visible(EVIL) in at.page.locator("#now-values").inner_text()


def test_what_is_left_out_is_said() -> None:
    page = render_html(sample(), sources(), timeline(is_whole=False, steps=5000, undrawn=1200))
    assert "Of 5,000 instants the page has 4:" in page and "1,200 short or deep calls are not drawn." in page
    assert 'id="timeline"' not in render_html(sample(), sources())
