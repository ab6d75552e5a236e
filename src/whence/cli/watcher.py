"""What a command shows of its work: bars on the terminal; and its best findings so far, to the process that watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from whence.cli.present import present
from whence.cli.supervisor import line
from whence.investigation.watcher import Progress, Watcher

if TYPE_CHECKING:
    from whence.cli.options import Options
    from whence.findings import Findings


class TerminalWatcher(Watcher):
    """Shows progress on standard error, and nothing where that is piped.

    ``finish`` is what the command does to findings before it shows them. What one finds that does not
    rank statements (``ranks``) is its own to show.
    """

    def __init__(self, options: Options, finish: Callable[[Findings], Findings], ranks: bool) -> None:
        self._options, self._finish, self._ranks = options, finish, ranks

    def busy(self, what: str) -> None:
        """Tell the process that watches, which says it where time runs out."""
        line.busy(what)

    def best(self, findings: Findings, folder: Path) -> None:
        """Leave the findings with the process that watches, which shows them where this one cannot."""
        if self._ranks:
            line.best(self._finish(findings), partial(present, self._options, folder, False))

    @contextmanager
    def progress(self, text: str, total: int) -> Iterator[Progress]:
        """A bar for work of ``total`` steps."""
        from whence.report.terminal import progress as bar

        with bar(text, total) as advance:
            state = {"done": 0}

            def report(done: int, _: int) -> None:
                advance(done - state["done"])
                state["done"] = done

            yield report

    @contextmanager
    def search(self, text: str) -> Iterator[Progress]:
        """A bar for a search, with the time that remains."""
        from whence.report.terminal import search_progress

        with search_progress(text) as report:
            yield report

    @contextmanager
    def first_use(self) -> Iterator[None]:
        """Say on a terminal why the analysis takes long where its compiled code is not in the cache yet."""
        if _is_compiled():
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status("compiling the analysis, at its first use only (about a minute)"):
            yield


def _is_compiled() -> bool:
    """Whether the kernel that decodes traces has been compiled and kept before."""
    from whence.trace.decode import decode
    from whence.trace.kernels import is_kept

    return is_kept(decode)
