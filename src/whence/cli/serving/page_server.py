"""The report as a page that is served while the search goes on: on this machine alone, to who knows the token.

Nothing but reading is answered. A request has to name the token in its path and this server as its host (a name of
another site that leads here is refused), and comes from no other origin. What is asked for by a place is a place of the
findings, and is handed to a process of its own as one word.
"""

from __future__ import annotations

import hmac
import json
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

LOOPBACK = "127.0.0.1"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # what else holds stands in the page
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
WAITING = (
    '<!doctype html><html lang="en"><meta http-equiv="refresh" content="1"><title>Whence</title><p>The cases are run.'
)
HTML, TEXT, JSON = "text/html; charset=utf-8", "text/plain; charset=utf-8", "application/json"


class Shown:
    """What the server shows: the newest page, the places that can be asked for, and what is being done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._page, self._places, self._version = "", frozenset[str](), 0
        self.doing = "beginning"
        self.is_over = False

    def put(self, page: str, places: frozenset[str]) -> None:
        """Show another page."""
        with self._lock:
            self._page, self._places, self._version = page, places, self._version + 1

    @property
    def page(self) -> str:
        """The page, or one that asks again."""
        with self._lock:
            return self._page or WAITING

    @property
    def state(self) -> str:
        """What a page asks for that is open, as JSON."""
        with self._lock:
            return json.dumps({"version": self._version, "doing": self.doing, "over": self.is_over})

    def has(self, place: str) -> bool:
        """Whether a place, as the page shows it, is one of the findings."""
        with self._lock:
            return place in self._places


class PageServer:
    """Serves what is shown, from a thread of its own; ``slice_words``: what a slice is asked for but its place."""

    def __init__(self, shown: Shown, slice_words: Sequence[str], port: int) -> None:
        self.token = secrets.token_urlsafe(18)
        make: Callable[..., BaseHTTPRequestHandler] = partial(_Request, self)
        self._server = ThreadingHTTPServer((LOOPBACK, port), make)
        self._server.daemon_threads = True
        self.shown, self._slice_words, self._slicing = shown, slice_words, threading.Lock()
        self.port = int(self._server.server_address[1])
        self.hosts = {f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"}
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()

    def slice(self, place: str) -> tuple[int, str, str]:
        """The page of the slice from a place: status, kind and text. One is made at a time."""
        with self._slicing, tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "slice.html"
            command = [sys.executable, "-P", "-m", "whence", "slice", *self._slice_words]
            command += [f"--at={place}", "--html", str(page)]
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, text=True, errors="replace")
            if page.is_file():
                return 200, HTML, page.read_text(encoding="utf-8")
            return 422, TEXT, done.stderr


class _Request(BaseHTTPRequestHandler):
    """One request."""

    server_version, sys_version = "whence", ""

    def __init__(self, own: PageServer, *arguments: object) -> None:
        self._own = own
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer a request to read."""
        status, kind, text = self._answer()
        body = text.encode("utf-8", errors="replace")
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _answer(self) -> tuple[int, str, str]:
        own, url = self._own, urlsplit(self.path)
        _, token, *rest = [*url.path.split("/"), ""][:4]
        origin = self.headers.get("Origin")
        if self.headers.get("Host") not in own.hosts or (origin and origin not in {f"http://{h}" for h in own.hosts}):
            return 403, TEXT, "not from here"
        if not hmac.compare_digest(token.encode(), own.token.encode()):
            return 404, TEXT, "not found"
        match rest:
            case ["", ""]:
                return 200, HTML, own.shown.page
            case ["state", ""]:
                return 200, JSON, own.shown.state
            case ["slice", ""]:
                place = parse_qs(url.query).get("at", [""])[0]
                return own.slice(place) if own.shown.has(place) else (404, TEXT, "no such place")
        return 404, TEXT, "not found"

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing is printed: what is asked for would hold the token."""
