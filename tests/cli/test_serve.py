"""``whence serve``, of a program that prints markup and escape sequences: who is answered, what, and what is run."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote, urlsplit

import pytest
from cli_tool import subject_folder, write
from report_sample import sample, sources

from tests.report.test_browser import browser, pytestmark  # noqa: F401
from whence.cli.serving.page_server import PageServer, Shown
from whence.report.html import render_html

NAME = '<img src=x onerror="pwned=1">.c'
PROGRAM = r"""
#include <stdio.h>
int main(int argc, char **argv)
{
    const char *text = "<script>pwned=1</script>\033[2J";
    int count = argc * 2;
    printf("%s %d\n", text, count);
    return 0;
}
"""
CASES = ("--fails", "'<b>' 2", "--expect", "3", "--passes", "")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    folder = subject_folder("served")
    write(folder / NAME, PROGRAM)
    command = [sys.executable, "-m", "whence", "serve", NAME, *CASES, "--budget", "60s"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = process.stdout.readline().strip()
    assert found.startswith("http://127.0.0.1:")
    end = time.monotonic() + 240
    while not (state := json.loads(asked(found, "state")[1]))["over"]:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.1)
    assert state["version"] > 2  # results were shown before the last one
    yield found
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0


def asked(address: str, path: str = "", method: str = "GET", **headers: str) -> tuple[int, str]:
    """Status and text of an answer."""
    url = urlsplit(address)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=120)
    connection.request(method, path if path.startswith("/") else url.path + path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    if answer.status == 200:
        assert answer.headers["Cache-Control"] == "no-store" and "Access-Control-Allow-Origin" not in answer.headers
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    connection.close()
    return answer.status, text


def test_only_who_knows_the_token_is_answered(address: str) -> None:
    assert asked(address)[0] == 200
    for path in ("/", "/state", "/wrong/", f"/{'x' * 24}/state", address.rstrip("/")[-24:], "../"):
        assert asked(address, path if path.startswith("/") else f"/{path}")[0] == 404
    assert asked(address, method="POST")[0] == asked(address, method="PUT")[0] == 501


def test_no_other_origin_or_name_of_this_machine_is_answered(address: str) -> None:
    port = urlsplit(address).port
    assert asked(address, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200
    for headers in ({"Host": f"evil.example:{port}"}, {"Host": "127.0.0.1"}, {"Origin": "https://evil.example"}):
        assert asked(address, "state", **headers)[0] == 403
    assert asked(address, Origin="null")[0] == 403
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", port), timeout=5):
        pass


def test_slices_are_those_of_places_that_were_found(address: str) -> None:
    for place in ("", "x.c:1", "--html=pwned.html:1", f"{NAME}:999", "../../etc/passwd:1"):
        assert asked(address, f"slice?at={quote(place)}")[0] == 404
    status, page = asked(address, f"slice?at={quote(f'{NAME}:7')}")
    assert status == 200 and "slice" in page and 'onerror="' not in page


def test_the_page_is_live_and_nothing_of_the_program_is_run(address: str, browser) -> None:  # noqa: F811
    context = browser.new_context()
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.goto(address)
    page.wait_for_function("() => document.querySelector('#live').textContent === 'The search is over.'")
    assert page.locator("#suspect .place").first.inner_text().startswith(f"{NAME}:")
    with context.expect_page() as opened:
        page.locator("#detail a", has_text="Slice from here").click()
    opened.value.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
    for shown in (page, opened.value):
        assert shown.evaluate("typeof pwned") == "undefined"
        assert shown.locator("img").count() == 0
    assert f"{NAME}:" in opened.value.locator("#list").inner_text() and problems == []
    context.close()


def test_a_page_that_nobody_touched_shows_the_newest_result(browser) -> None:  # noqa: F811
    shown = Shown()
    server = PageServer(shown, [], 0)
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.address)
    for number in (1, 2):
        result = replace(sample(), subject=f"result {number}")
        shown.put(render_html(result, sources(), is_live=True), frozenset())
        page.wait_for_function(f"() => document.title.startsWith('result {number}')")
    page.wait_for_function("() => document.querySelector('#live').textContent === 'Searching: beginning.'")
    page.keyboard.press("j")
    shown.put(render_html(replace(sample(), subject="result 3"), sources(), is_live=True), frozenset())
    page.click("#live button")
    page.wait_for_function("() => document.title.startsWith('result 3')")
    assert page.locator("#live button").count() == 0  # nothing newer is there
    context.close()
    server.close()
