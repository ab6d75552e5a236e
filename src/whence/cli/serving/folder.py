"""The folder that the server was started in: what questions and resources name lies there, or is refused.

The commands of ``whence.toml`` are those that stood there when the server started: who can write to files, but was not
given a shell, gets none by it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from whence.errors import UsageError
from whence.run.config import FILE_NAME

MOST = 1 << 22  # bytes of a source file that is read


class Folder:
    """A folder with a ``whence.toml``."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._configured = self._configuration()

    def check(self) -> None:
        """Raise UsageError where there is no configuration, or another one than when the server started."""
        now = self._configuration()
        if now is None:
            hint = "`whence init` writes one; then start this server again"
            raise UsageError(f"there is no {FILE_NAME} in {self.path}", hint)
        if now != self._configured:
            hint = "start it again: commands that were written meanwhile are not run"
            raise UsageError(f"{FILE_NAME} was changed since this server started", hint)

    def _configuration(self) -> str | None:
        """A hash of the configuration; None: there is none."""
        try:
            return hashlib.sha256((self.path / FILE_NAME).read_bytes()).hexdigest()
        except OSError:
            return None

    def inside(self, name: str) -> Path:
        """A file by its name in the folder. Raises UsageError where it leads outside, also by a link, or is no file."""
        path = (self.path / name).resolve()
        if not path.is_relative_to(self.path):
            raise UsageError(f"{name} is outside of {self.path}", "this server reads the folder that it was started in")
        if not path.is_file():
            raise UsageError(f"there is no file {name} in {self.path}")
        return path

    def text(self, name: str) -> str:
        """The text of a file of the folder, without what is beyond its first MOST bytes. Raises as ``inside`` does."""
        try:
            with self.inside(name).open("rb") as file:
                return file.read(MOST).decode(errors="replace")
        except OSError as error:
            raise UsageError(f"cannot read {name}: {error.strerror}") from error
