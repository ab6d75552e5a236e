"""The HTML page in a real browser: clicks, keys, themes, hostile text, no requests, no errors, size."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_sample import sample, sources

from tests.report.test_html import EVIL, evil_findings
from whence.findings import Findings, Statement, rank
from whence.report.html import write_html
from whence.report.text import visible

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium or chromium-browser on PATH"),
]
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-sync",
)


class Visit:
    """A page of a report, and what went wrong while it was open."""

    def __init__(self, browser: Any, findings: Findings, text: dict[str, str], folder: Path, **options: Any) -> None:
        path = folder / "report.html"
        write_html(findings, text, path, options.pop("timeline", None))
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.problems: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def keys(self, *names: str) -> None:
        for name in names:
            self.page.keyboard.press(name)

    @property
    def place(self) -> str:
        """The place whose details are shown."""
        return str(self.page.locator("#detail h2").inner_text())

    @property
    def line(self) -> str:
        """The id of the selected source line."""
        return str(self.page.locator(".l.on").get_attribute("id"))

    def style(self, selector: str, name: str) -> str:
        query = "([selector, name]) => getComputedStyle(document.querySelector(selector))[name]"
        return str(self.page.evaluate(query, [selector, name]))

    def in_view(self, selector: str) -> bool:
        box = self.page.locator(selector).bounding_box()
        frame = self.page.locator("#source").bounding_box()
        return bool(frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a report; afterwards nothing may have been loaded but the page, and nothing reported."""
    visits: list[Visit] = []

    def open_report(findings: Findings, text: dict[str, str], **options: Any) -> Visit:
        visits.append(Visit(browser, findings, text, tmp_path, **options))
        return visits[-1]

    yield open_report
    for at in visits:
        assert at.problems == []
        assert at.requests == [(tmp_path / "report.html").as_uri()]
        at.context.close()


def test_it_opens_on_the_first_statement(visit: Any) -> None:
    at = visit(sample(), sources())
    assert at.page.title() == "ferry: locate - Whence"
    assert (at.place, at.line) == ("src/deck.c:40", "l0-40")
    assert at.in_view("#l0-40")
    assert "wrong output" in at.page.locator(".symptom").inner_text()
    assert at.page.locator("#list .item").count() == 20
    at.page.click("#more")
    assert at.page.locator("#list .item").count() == 27


def test_clicking_a_line_shows_its_evidence_and_values(visit: Any) -> None:
    at = visit(sample(), sources())
    at.page.click("#l0-28 code")
    assert (at.place, at.line) == ("src/deck.c:28", "l0-28")
    text = at.page.locator("#detail").inner_text()
    assert "compared rest = 0 with most = 0 and skipped both lanes" in text
    assert "4 of 4" in text
    assert "196 of 208" in text
    assert "ranks 4-13, tied" in text
    rows = at.page.locator("#detail table").first.locator("tbody tr")
    assert rows.nth(0).locator("th").inner_text() == "rest written at src/deck.c:27"
    passing = rows.nth(1).locator("td").nth(1).locator(".chip")
    assert passing.all_inner_texts() == ["355", "310", "75", "30", "-15", "-40"]
    assert rows.nth(1).locator(".chip.new").all_inner_texts() == ["0 \u00d72"]
    assert rows.nth(3).locator(".chip.new").count() == 0


def test_values_are_not_broken_in_the_narrowest_panel(visit: Any) -> None:
    at = visit(sample(), sources())
    at.page.set_viewport_size({"width": 1600, "height": 900})
    at.page.click("#l0-28 code")
    heights = "(chips) => chips.map((chip) => chip.getClientRects().length)"
    assert set(at.page.locator("#detail table").first.locator(".chip").evaluate_all(heights)) == {1}
    tops = "(place) => place.getBoundingClientRect().height / parseFloat(getComputedStyle(place).fontSize)"
    assert at.page.locator("#detail .name .place").first.evaluate(tops) < 2  # one line


def test_a_value_leads_to_who_wrote_it(visit: Any) -> None:
    at = visit(sample(), sources())
    at.page.click("#l0-28 code")
    at.page.locator("#detail table").first.locator("tbody tr").nth(2).locator(".place").click()
    assert at.place == "src/deck.c:25"


def test_a_line_without_findings_says_so(visit: Any) -> None:
    at = visit(sample(), sources())
    at.page.click("#l0-6")
    assert "neither ranked nor in the slice" in at.page.locator("#detail").inner_text()


def test_dependences_lead_from_line_to_line_and_back(visit: Any) -> None:
    at = visit(sample(), sources())
    at.page.click("#to-symptom")
    assert (at.place, at.line) == ("src/ferry.c:44", "l1-44")
    at.page.locator("#detail .edge").first.click()
    assert at.place == "src/ferry.c:42"
    at.page.locator("#detail .edge").first.click()
    assert at.place == "src/ferry.c:41"
    users = at.page.locator("#detail h3:has-text('Used by') ~ .edge")
    assert "src/ferry.c:42" in users.first.inner_text()
    at.page.go_back()
    assert at.place == "src/ferry.c:42"


def test_keys_walk_through_the_ranking(visit: Any) -> None:
    at = visit(sample(), sources())
    at.keys("j")
    assert at.place == "src/ferry.c:43"
    at.keys("ArrowDown", "ArrowDown", "k")
    assert at.place == "src/ferry.c:44"
    at.keys("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp")
    assert at.place == "src/deck.c:40"
    at.keys("j", "Enter")
    assert at.page.evaluate("document.activeElement.id") == "detail"
    at.keys("Escape", "]")
    at.page.wait_for_selector("#l1-1")
    at.keys("[")
    at.page.wait_for_selector("#l0-1")


def test_the_slice_can_be_walked_too(visit: Any) -> None:
    at = visit(sample(), sources())
    at.keys("s")
    assert at.page.locator("#list .item").count() == 18
    assert at.page.locator("#list .where").first.inner_text() == "src/ferry.c:44"
    at.keys("k", "k", "k", "j")
    assert at.place == "src/ferry.c:42"


def test_search_finds_statements_and_source(visit: Any) -> None:
    at = visit(sample(), sources())
    at.keys("/")
    at.page.keyboard.type("needed(")
    at.page.wait_for_selector("#list .group")
    places = at.page.locator("#list .where").all_inner_texts()
    assert places == ["src/deck.c:27", "src/deck.c:41", "src/deck.c:16"]
    assert at.page.locator("#list .group").inner_text() == "1 other line of the source"
    at.keys("Enter")
    assert at.place == "src/deck.c:27"
    at.keys("/", "Escape")
    assert at.page.locator("#list .item").count() == 20
    at.keys("/")
    at.page.keyboard.type("no such text")
    assert at.page.locator("#list").inner_text() == "Nothing matches."


def test_help_opens_and_closes(visit: Any) -> None:
    at = visit(sample(), sources())
    at.keys("?")
    assert at.page.locator("#help").is_visible()
    at.keys("j")
    assert at.place == "src/deck.c:40"
    at.keys("Escape")
    assert not at.page.locator("#help").is_visible()
    at.page.click("#help-open")
    at.page.click("#help-close")
    assert not at.page.locator("#help").is_visible()


def brightness(colour: str) -> int:
    return sum(int(part) for part in colour[4:-1].split(",")[:3])


def becomes(at: Any, bright: bool) -> None:
    """Wait until the header is bright, or dark; fails after the page's time limit."""
    test = "parts => Number(parts[0]) + Number(parts[1]) + Number(parts[2])"
    sign = "> 700" if bright else "< 150"
    colour = "getComputedStyle(document.querySelector('header')).backgroundColor.slice(4, -1).split(',')"
    at.page.wait_for_function(f"() => ({test})({colour}) {sign}", timeout=10_000)


def test_light_and_dark_follow_the_system_and_the_toggle(visit: Any) -> None:
    light = visit(sample(), sources(), color_scheme="light")
    dark = visit(sample(), sources(), color_scheme="dark")
    assert brightness(light.style("header", "backgroundColor")) > 700
    assert brightness(dark.style("header", "backgroundColor")) < 150
    assert brightness(dark.style("header", "color")) > 500
    dark.keys("t")
    becomes(dark, bright=True)
    dark.page.reload()
    becomes(dark, bright=True)
    dark.page.click("#theme")
    becomes(dark, bright=False)
    dark.requests.pop()  # the reload's


def test_hotter_lines_are_painted_stronger(visit: Any) -> None:
    at = visit(sample(), sources())
    alpha = [at.style(f"#l0-{line}", "backgroundColor") for line in (40, 28, 41, 6)]
    shares = [float(colour.split("/")[1].rstrip(")")) for colour in alpha]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[1] > shares[2] > shares[3] == 0


def test_hostile_text_stays_text(visit: Any) -> None:
    at = visit(*evil_findings())
    at.keys("s", "s", "j", "Enter")
    at.page.click(".l >> nth=0")
    at.keys("/")
    at.page.keyboard.type("script")
    assert at.page.evaluate("window.pwned === undefined")
    assert at.page.locator("img").count() == 0
    assert at.page.locator("script").count() == 2
    assert at.page.locator("h1").inner_text() == visible(EVIL)
    assert at.place == f"{visible(EVIL)}:1"
    assert at.page.locator(".l code").first.inner_text() == visible(EVIL)
    assert visible(EVIL) in at.page.locator("#detail table").first.inner_text()


def test_a_narrow_window_has_no_sideways_scroll_and_a_sheet_of_details(visit: Any) -> None:
    at = visit(sample(), sources())
    at.page.set_viewport_size({"width": 400, "height": 800})
    assert at.page.evaluate("document.documentElement.scrollWidth") <= 400
    at.page.wait_for_selector("#detail", state="hidden")
    at.page.click("#suspect .place")
    at.page.wait_for_selector("#detail", state="visible")
    at.page.click("#close")
    at.page.wait_for_selector("#detail", state="hidden")


def test_a_large_report_stays_quick_and_says_what_it_leaves_out(visit: Any) -> None:
    lines = 10_000
    scores = {Statement(f"f{n % 8}.c", 1 + n * 37 % lines): float(n) for n in range(30_000)}
    findings = Findings("locate", "large", rank(scores))
    findings.parts["slice"] = [
        {"file": "f0.c", "line": 1 + n * 9 % lines, "depth": n, "instances": 10**6, "values": [], "edges": []}
        for n in range(1_111)
    ]
    text = "    total += weights[i] * (x - mean); /* text */\n" * lines
    at = visit(findings, {f"f{n}.c": text for n in range(8)})
    ready = at.page.evaluate("performance.getEntriesByType('navigation')[0].domComplete")
    assert ready < 10_000  # a bound for a busy machine; bench/page.py measures
    assert at.page.locator("#more").inner_text() == "Show all 200"
    assert at.page.locator(".l").count() < 200
    at.page.click(".left-out summary")
    assert "111 slice lines beyond the first 1,000" in at.page.locator(".left-out").inner_text()
    start = at.page.evaluate("performance.now()")
    at.keys(*["j"] * 20)
    assert at.page.evaluate("performance.now()") - start < 4_000
    assert at.in_view(".l.on")


def test_empty_findings_say_so(visit: Any) -> None:
    at = visit(Findings("locate", "nothing"), {})
    assert at.page.locator("#list").inner_text() == "This result has no ranking."
