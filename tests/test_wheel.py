"""The wheel holds all that a command needs, and is small."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LARGEST = 2 << 20  # bytes
PROGRAM = """\
#include <stdio.h>
int main(int argc, char **argv)
{
    printf("%d\\n", argc > 2 ? 3 : argc);
    return 0;
}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([*command, folder, ROOT], check=True, timeout=120)
    (wheel,) = folder.glob("whence-*.whl")
    assert wheel.stat().st_size < LARGEST
    with zipfile.ZipFile(wheel) as content:
        content.extractall(folder / "packages")
    return folder


def test_a_fault_is_ranked_without_the_repository(installed: Path) -> None:
    (installed / "count.c").write_text(PROGRAM)
    words = ["spectrum", "count.c", "--fails", "1 2", "--expect", "2", "--passes", "1", "--html", "page.html"]
    command = [sys.executable, "-P", "-m", "whence", *words]
    environment = {**os.environ, "PYTHONPATH": str(installed / "packages")}
    done = subprocess.run(command, cwd=installed, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert "count.c:4" in done.stdout and "count.c" in (installed / "page.html").read_text()
    where = [sys.executable, "-P", "-c", "import whence; print(whence.__file__)"]
    path = subprocess.run(where, cwd=installed, env=environment, capture_output=True, text=True, check=True).stdout
    assert Path(path.strip()).is_relative_to(installed)
