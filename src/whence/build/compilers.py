"""Calls of a compiler or linker, which say what went wrong, keep to a time, and can be ended."""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from threading import Lock

from whence.build.toolchain import Toolchain
from whence.errors import BuildError


def run(
    toolchain: Toolchain,
    arguments: list[str],
    folder: Path,
    purpose: str,
    environment: dict[str, str] | None = None,
    deadline: float = float("inf"),
) -> None:
    """Run the compiler; raise ``BuildError`` with its first message, and all of them as the hint, if it
    fails, ``TimeoutError`` if it has not ended by ``deadline`` (of ``time.monotonic``).
    """
    check(Compilers(toolchain).call(arguments, folder, environment, deadline), purpose)


def check(done: subprocess.CompletedProcess[str], purpose: str) -> None:
    """Raise ``BuildError`` where a compiler has failed."""
    if done.returncode:
        raise BuildError(f"cannot {purpose}: {first_message(done.stderr)}", done.stderr.strip())


class Compilers:
    """Calls of a compiler, by several threads perhaps, all of which can be ended."""

    def __init__(self, toolchain: Toolchain) -> None:
        self.toolchain = toolchain
        self._lock, self._running, self._is_ended = Lock(), set[subprocess.Popen[str]](), False

    def call(
        self,
        arguments: list[str],
        folder: Path,
        environment: dict[str, str] | None = None,
        deadline: float = float("inf"),
        processor: float | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """What the compiler says to ``arguments``; raises ``TimeoutError`` if it has not ended by ``deadline``.

        It is ended by SIGKILL where it takes more than so many seconds of the ``processor``.
        """
        left = deadline - time.monotonic()
        with self._started(arguments, folder, environment) as process:
            if processor is not None:
                resource.prlimit(process.pid, resource.RLIMIT_CPU, (ceil(processor), ceil(processor)))
            try:
                out, err = process.communicate(timeout=None if left == float("inf") else max(left, 0.0))
            except subprocess.TimeoutExpired as error:
                raise TimeoutError("the compiler took too long") from error
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    @contextmanager
    def _started(
        self, arguments: list[str], folder: Path, environment: dict[str, str] | None
    ) -> Iterator[subprocess.Popen[str]]:
        """A compiler at work, which does not outlive the block."""
        with self._lock:
            if self._is_ended:
                raise BuildError("what was to be compiled is not wanted any more")
            process = subprocess.Popen(
                self.toolchain.call(arguments),
                cwd=folder,
                env=self.toolchain.environment() | (environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
            self._running.add(process)
        try:
            with process:
                try:
                    yield process
                finally:
                    process.kill()
        finally:
            with self._lock:
                self._running.remove(process)

    def end(self) -> None:
        """End those at work, and let no other begin."""
        with self._lock:
            self._is_ended = True
            for process in self._running:
                process.kill()


def first_message(diagnostics: str) -> str:
    """The first error in what a compiler or linker said, else its first line."""
    lines = [line.strip() for line in diagnostics.splitlines() if line.strip()]
    return next(
        (line for line in lines if "error:" in line or "undefined" in line),
        lines[0] if lines else "no message",
    )
