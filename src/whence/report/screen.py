"""What a terminal shows while a command is at work: the first statements so far, what is being done, and bars.

It is drawn in place and goes when the result is shown. Where nobody watches - a pipe, a terminal that cannot move its
cursor - nothing is drawn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from whence.findings import Findings, Statement
from whence.report.text import rank_range, source_line, visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live
    from rich.text import Text

FIRST = 3  # statements that are shown
A_SECOND = 8  # times it is drawn
SHOW_CURSOR = "\x1b[?25h"

#: Text of a line of a source file, without line end; None when the file or the line is not there.
SourceLookup = Callable[[str, int], str | None]
Steps = Callable[[int, int | None], None]  # to be called with the steps done, and those asked for (None: unknown)


class Screen:
    """A screen that nobody watches."""

    def best(self, findings: Findings, lookup: SourceLookup) -> None:
        """Show the first statements of a ranking."""

    def busy(self, what: str) -> None:
        """Show what is being done, where no bar tells of it."""

    @contextmanager
    def bar(self, text: str, total: int | None) -> Iterator[Steps]:
        """A bar while inside work of ``total`` steps goes on (None: unknown)."""
        yield lambda done, asked: None

    def clear(self) -> None:
        """Remove all that is shown."""


def screen_on(file: TextIO) -> Screen:
    """What is drawn on a file, which is a terminal or not."""
    return TerminalScreen(file) if file.isatty() and os.environ.get("TERM", "dumb") != "dumb" else Screen()


class TerminalScreen(Screen):
    """The first statements so far, over bars."""

    def __init__(self, file: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._console = Console(file=file, highlight=False, markup=False, emoji=False)
        spinner, words = SpinnerColumn("line"), TextColumn("{task.description}", markup=False)
        steps = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        self._bars = Progress(spinner, words, *steps, auto_refresh=False)
        self._doing = Progress(spinner, words, TimeElapsedColumn(), auto_refresh=False)
        self._work = self._doing.add_task("", total=None, visible=False)
        self._first: list[Text] = []
        self._live: Live | None = None

    def best(self, findings: Findings, lookup: SourceLookup) -> None:
        """Show the first statements of a ranking."""
        from rich.text import Text

        title = Text(f"first so far, by {visible(findings.technique)}:", "bold")
        entries = findings.ranking[:FIRST]
        rows = [self._row(rank_range(e.rank, e.rank_worst), e.statement, lookup) for e in entries]
        self._first = [title, *rows, Text()]
        self._draw()

    def _row(self, rank: str, statement: Statement, lookup: SourceLookup) -> Text:
        from rich.text import Text

        text = lookup(statement.file, statement.line)
        code = "" if text is None else source_line(text).strip()
        row = Text.assemble(f"{rank:>5}  ", (visible(f"{statement.file}:{statement.line}"), "cyan"), f"  {code}")
        row.truncate(self._console.width, overflow="ellipsis")
        return row

    def busy(self, what: str) -> None:
        """Show what is being done, where no bar tells of it."""
        self._doing.reset(self._work, description=visible(what), visible=True)
        self._draw()

    @contextmanager
    def bar(self, text: str, total: int | None) -> Iterator[Steps]:
        """A bar while inside work of ``total`` steps goes on (None: unknown)."""
        task = self._bars.add_task(visible(text), total=total)
        self._draw()
        try:
            yield lambda done, asked: self._bars.update(task, completed=done, total=asked)
        finally:
            self._bars.remove_task(task)

    def clear(self) -> None:
        """Remove all that is shown."""
        self._first = []
        if self._live is not None:
            live, self._live = self._live, None
            live.stop()

    def _draw(self) -> None:
        from rich.live import Live

        if self._live is None:
            self._live = Live(
                console=self._console,
                get_renderable=self._shown,
                refresh_per_second=A_SECOND,
                transient=True,
                redirect_stdout=False,  # which may be a pipe: what is printed there goes there
            )
            self._live.start()

    def _shown(self) -> RenderableType:
        from rich.console import Group

        return Group(*self._first, self._bars if self._bars.tasks else self._doing)


def restore(file: TextIO) -> None:
    """Show a terminal's cursor again, on which a process has drawn that was ended meanwhile."""
    if file.isatty():
        file.write(f"{SHOW_CURSOR}\n")
        file.flush()
