"""The wheel holds all that a command needs, and is small."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

from whence.cli import COMMANDS

ROOT = Path(__file__).parent.parent
LARGEST = 2_000_000  # bytes
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
    """A folder into which the wheel was installed."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT]
    subprocess.run(build, check=True, timeout=120)
    (wheel,) = folder.glob("whence-*.whl")
    assert wheel.stat().st_size < LARGEST
    install = [*pip, "install", "--no-deps", "--no-index", "--ignore-installed", "--prefix", folder, wheel]
    subprocess.run(install, check=True, timeout=120)
    return folder


def run(installed: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run what was installed, with the packages that it needs from here."""
    environment = {
        **os.environ,
        "PYTHONPATH": sysconfig.get_path("purelib", vars={"base": str(installed)}),
        **variables,
    }
    return subprocess.run(words, cwd=installed, env=environment, capture_output=True, text=True, timeout=120)


def test_a_fault_is_ranked_without_the_repository(installed: Path) -> None:
    (installed / "count.c").write_text(PROGRAM)
    words = ["spectrum", "count.c", "--fails", "1 2", "--expect", "2", "--passes", "1", "--html", "page.html"]
    done = run(installed, sys.executable, "-P", "-m", "whence", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "count.c:4" in done.stdout and "count.c" in (installed / "page.html").read_text()
    where = run(installed, sys.executable, "-P", "-c", "import whence; print(whence.__file__)").stdout
    assert Path(where.strip()).is_relative_to(installed)


def test_commands_and_manual_pages_are_installed(installed: Path) -> None:
    assert run(installed, installed / "bin" / "whence", "--version").stdout.splitlines()[0].startswith("whence ")
    (installed / "one.c").write_text(PROGRAM)
    assert run(installed, installed / "bin" / "whence-cc", "-c", "one.c").returncode == 0
    assert {f"whence-{name}.1" for name in COMMANDS} < {path.name for path in (installed / "share/man/man1").iterdir()}


def test_manual_pages_are_those_of_the_commands(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("man_pages", ROOT / "docs" / "man_pages.py")
    assert spec is not None and spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    pages.write_pages(tmp_path)
    fresh, kept = ({p.name: p.read_text() for p in folder.iterdir()} for folder in (tmp_path, pages.PAGES))
    assert fresh == kept, "write them again: make man"


def test_the_analysis_that_was_compiled_here_comes_with_it(installed: Path, tmp_path: Path) -> None:
    folder = Path(sysconfig.get_path("purelib", vars={"base": str(installed)}), "whence", "kernels")
    (archive,) = folder.glob("*.tar.xz")
    with tarfile.open(archive) as packed:
        names = [name for name in packed.getnames() if name.endswith(".nbc")]
    shipped = {Path(archive.name.partition(".")[0], name) for name in names}
    (installed / "three.c").write_text(PROGRAM)
    words = ["-P", "-m", "whence", "slice", "three.c", "--fails", "1 2", "--expect", "2", "--passes", "1"]
    done = run(installed, sys.executable, *words, WHENCE_HOME=str(tmp_path))
    assert done.returncode == 0 and "three.c:4" in done.stdout
    kept = {path.relative_to(tmp_path / "kernels") for path in (tmp_path / "kernels").rglob("*.nbc")}
    assert kept == shipped  # and nothing was compiled
    assert any(path.name.startswith("decode.decode-") for path in kept)
