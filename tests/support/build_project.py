"""A small C project in a temporary folder, built through ``whence-cc`` with a store of its own."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from whence.build.toolchain import find_toolchain

WRAPPER = [sys.executable, "-m", "whence.build.wrapper"]


class Project:
    """Write sources, run compilers and programs; all in ``folder``."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WHENCE_HOME", str(tmp_path / "home"))
        monkeypatch.delenv("WHENCE_CLANG", raising=False)
        self.folder = tmp_path / "project"
        self.folder.mkdir()

    def write(self, **files: str) -> None:
        """Write files; ``a_c`` names ``a.c``."""
        for name, content in files.items():
            stem, _, extension = name.rpartition("_")
            (self.folder / f"{stem}.{extension}").write_text(content)

    def cc(self, arguments: str, stdin: str = "", status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run whence-cc; fails the test if the exit status is another."""
        return self.run([*WRAPPER, *shlex.split(arguments)], stdin, status)

    def plain(self, arguments: str, stdin: str = "", status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the compiler without the wrapper."""
        return self.run(find_toolchain().call(shlex.split(arguments)), stdin, status)

    def run(self, command: list[str], stdin: str = "", status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder."""
        environment = find_toolchain().environment()
        done = subprocess.run(
            command,
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def output(self, program: str | Path, *arguments: str) -> str:
        """What a program of the project prints."""
        return self.run([str(self.folder / program), *arguments]).stdout

    def files(self) -> set[str]:
        """The names of all files in the folder."""
        return {str(p.relative_to(self.folder)) for p in self.folder.rglob("*")}


MAIN = """
#include <stdio.h>
int twice(int);
int main(int argc, char **argv) { printf("%d\\n", twice(argc + 20)); return 0; }
"""
TWICE = "int twice(int x) { return 2 * x; }\n"
