"""What a command shows of its work: bars on the terminal; and its best findings so far, to the process that watches."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from whence.cli.present import present
from whence.cli.supervisor import line
from whence.investigation.watcher import Progress, Watcher
from whence.report.screen import screen_on
from whence.trace.compiling import Waiting

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
        self._screen = screen_on(sys.stderr)
        line.before_showing, Waiting.told = self._screen.clear, self._compiling

    def busy(self, what: str) -> None:
        """Show it, and tell the process that watches, which says it where time runs out."""
        self._screen.busy(what)
        line.busy(what)

    def _compiling(self, begins: bool) -> None:
        line.compiling(begins)
        self._screen.busy(line.doing)

    def best(self, findings: Findings, folder: Path) -> None:
        """Leave the findings with the process that watches, which shows them where this one cannot."""
        if self._ranks:
            self._screen.best(findings, lambda file, number: linecache.getline(str(folder / file), number) or None)
            line.best(self._finish(findings), partial(present, self._options, folder, False))

    @contextmanager
    def progress(self, text: str, total: int) -> Iterator[Progress]:
        """A bar for work of ``total`` steps."""
        with self._screen.bar(text, total or None) as report:
            yield lambda done, _: report(done, total or None)

    @contextmanager
    def search(self, text: str) -> Iterator[Progress]:
        """A bar for a search, of which more may come."""
        with self._screen.bar(text, None) as report:
            yield report

    @contextmanager
    def first_use(self) -> Iterator[None]:
        """Say on a terminal why the analysis takes long where its compiled code is not in the cache yet."""
        if is_compiled():
            yield
            return
        with self._screen.bar("compiling the analysis, at its first use only (about a minute)", None):
            yield


def is_compiled() -> bool:
    """Whether the kernel that decodes traces has been compiled and kept before."""
    from whence.trace.decode import decode
    from whence.trace.kernels import is_kept

    return is_kept(decode)
