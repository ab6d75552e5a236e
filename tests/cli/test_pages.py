"""The tutorial and the how-to pages: each command that they show is run, and prints what they say.

A page names its program in a comment. Its blocks of the kind ``console`` are run one after the other; what stands below
a command is in its output in that order, ``…`` standing for what is left out. White space counts as one blank, since a
page breaks no lines.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_tool import subject_folder, whence

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"^<!-- program: (\S+) -->$", re.MULTILINE)


def shown(page: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a page, each with the parts of its output that are shown."""
    for block in BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, [text for text in map(one_blank, output.split("…")) if text]


def one_blank(text: str) -> str:
    return " ".join(text.split())


def missing(parts: list[str], output: str) -> list[str]:
    """The parts that do not stand in the output behind those before them."""
    text, at, lost = one_blank(output), 0, []
    for part in parts:
        found = text.find(part, at)
        at = found + len(part) if found >= 0 else at
        lost += [part] if found < 0 else []
    return lost


class Shell:
    """Commands of a page, run in a folder; ``cd`` holds for those that follow."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self._programs = folder, programs

    def run(self, command: str) -> str:
        """What a command printed on both streams; ``whence`` is run within this process."""
        if command.startswith("whence "):
            done = whence(self.folder, *shlex.split(command)[1:])
            return done.out + done.err
        text = f"{command}\nstatus=$?; pwd > '{self._programs}/pwd'; exit $status"
        environment = {**os.environ, "PATH": f"{os.environ['PATH']}{os.pathsep}{self._programs}", "LC_ALL": "C"}
        done = subprocess.run(["bash", "-c", text], cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.folder = Path((self._programs / "pwd").read_text().strip())
        return done.stdout + done.stderr


def compiler_of_last_resort(folder: Path) -> None:
    """Put a ``cc`` into a folder, for machines that have none."""
    script = folder / "cc"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ziglang cc "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if "git init" in text and not shutil.which("git"):
        pytest.skip("git is not installed")
    (name,) = PROGRAM.findall(text)
    folder = subject_folder(f"page-{page.stem}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if (ROOT / name).is_dir():
        shutil.copytree(ROOT / name, folder / name)
    else:
        shutil.copy(DOCS / "examples" / name, folder)
    compiler_of_last_resort(tmp_path)
    shell = Shell(folder, tmp_path)
    for command, parts in shown(text):
        output = shell.run(command)
        assert missing(parts, output) == [], f"$ {command}\n{output}"


def test_what_a_command_does_not_print_is_seen() -> None:
    ((command, parts),) = shown("```console\n$ echo one two\none\n…\nthree   four\n```\n")
    assert (command, parts) == ("echo one two", ["one", "three four"])
    assert missing(parts, "one\ntwo three\n four") == []
    assert missing(parts, "three four one") == ["three four"]


def test_every_program_is_shown() -> None:
    named = {name for page in PAGES for name in PROGRAM.findall(page.read_text(encoding="utf-8"))}
    assert named == {"demo", *(path.name for path in (DOCS / "examples").iterdir())}


LINKS = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def test_the_site_has_every_page_and_links_lead_somewhere() -> None:
    """Without what builds the site, which is an extra; ``make site`` looks at anchors, too."""
    named = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(named) == sorted([*pages, "index.md", "commands.md"])
    texts = {
        path: re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.M | re.S) for path in DOCS.rglob("*.md")
    }
    assert [
        (path.name, to) for path, text in texts.items() for to in LINKS.findall(text) if not (path.parent / to).exists()
    ] == []


def test_the_site_is_built(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the extra docs is not installed: make site")
    for name in ("mkdocs.yml", "README.md", "docs"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    build = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    subprocess.run(build, cwd=tmp_path, check=True, timeout=120)
    site = tmp_path / "whence-site"
    assert "whence locate" in (site / "commands.html").read_text() and (site / "index.html").is_file()
    assert "http" not in re.sub(r'<a [^>]*>|xmlns="[^"]*"', "", (site / "tutorial.html").read_text())
    with (tmp_path / "docs" / "tutorial.md").open("a") as page:
        page.write("\n[nothing](fix.md#no-such-place)\n")
    assert subprocess.run(build, cwd=tmp_path, capture_output=True, timeout=120).returncode == 1
