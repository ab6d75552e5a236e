"""Who is told how a diagnosis goes on: nobody, unless the command line or another user of the package watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.findings import Findings

Progress = Callable[[int, int], None]  # steps done, steps in all


class Watcher:
    """Is told what is being done, and shows nothing of it."""

    def busy(self, what: str) -> None:
        """What is being done, in words that can follow "while it was"."""

    def best(self, findings: Findings, folder: Path) -> None:
        """The best findings so far, whose files are relative to ``folder``."""

    @contextmanager
    def progress(self, text: str, total: int) -> Iterator[Progress]:
        """A function to call with the steps done and all, while inside work of ``total`` steps goes on (0: unknown)."""
        yield lambda done, total: None

    @contextmanager
    def search(self, text: str) -> Iterator[Progress]:
        """The same for a search, of which more may come: to be called with the steps done and those asked for."""
        yield lambda done, asked: None

    @contextmanager
    def first_use(self) -> Iterator[None]:
        """Inside, the analysis may have to be compiled, which takes long at its first use."""
        yield
