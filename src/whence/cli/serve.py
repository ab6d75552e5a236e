"""``whence serve``: the report as a page that is there while the search goes on."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, Search, refuse_reports, search_options, shared_options
from whence.cli.present import files_of, source_texts, timeline_of
from whence.cli.supervisor import clock
from whence.cli.watcher import TerminalWatcher
from whence.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

    from whence.cli.serving.page_server import Shown
    from whence.findings import Findings


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--port", default=0, type=click.IntRange(0, 65535), metavar="N", help="To listen at [any that is free].")
def serve(options: Options, search: Search, port: int) -> int:
    """Show the report as a page while the search goes on, and slices from any line.

    The page is served on this machine alone (127.0.0.1), at an address that holds a token. It is the page of `whence
    locate --html`, with the best result so far; when the search is over it stays until Ctrl-C.
    """
    from whence.cli.serving.page_server import PageServer, Shown
    from whence.diagnosis.locate import Locate

    refuse_reports(options, "whence serve")
    shown = Shown()
    try:
        server = PageServer(shown, options.subject_list(), port)
    except OSError as error:
        raise UsageError(f"cannot listen at port {port}: {error.strerror}", "name another one, or none") from error
    click.echo(f"{server.address}\nCtrl-C ends it")
    watcher = _Showing(options, shown)
    try:
        with investigate(options, search, watcher=watcher) as investigation:
            findings = investigation.find(Locate())
            folder = investigation.subject.folder
            show(shown, findings, folder, timeline_of(investigation, findings))
        shown.doing, shown.is_over = "", True
        clock.start(float("inf"))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    finally:
        server.close()
    return 0


def show(shown: Shown, findings: Findings, folder: Path, timeline: dict[str, Any] | None = None) -> None:
    """Show findings, whose files are relative to ``folder``."""
    from whence.report.html import render_html
    from whence.report.json import to_json
    from whence.report.page import place

    texts = source_texts(folder, files_of(to_json(findings)))
    slices = [(at["file"], at["line"]) for at in findings.parts.get("slice", [])]
    statements = [entry.statement for entry in findings.ranking]
    places = frozenset([*map(place, statements), *(f"{file}:{line}" for file, line in slices)])
    shown.put(render_html(findings, texts, timeline, is_live=True), places)


class _Showing(TerminalWatcher):
    """Shows the best findings so far to who looks at the page."""

    def __init__(self, options: Options, shown: Shown) -> None:
        super().__init__(options, lambda findings: findings, True)
        self._shown = shown

    def busy(self, what: str) -> None:
        """Tell it on the page, too."""
        super().busy(what)
        self._shown.doing = what

    def best(self, findings: Findings, folder: Path) -> None:
        """Show them on the page, too."""
        super().best(findings, folder)
        show(self._shown, findings, folder)
