"""A program's own build, where something was built before with another compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.corpus import COMPILER
from tests.support.cli_tool import subject_folder
from whence.build.made_before import made_before
from whence.errors import BuildError
from whence.run.config import read_config
from whence.subject import own_build
from whence.subject.subject import Subject, built_from_config

MAIN = """\
#include <stdio.h>
int twice(int n);
int main(int argc, char **argv) { printf("%d\\n", twice(argc)); return 0; }
"""
TWICE = "int twice(int n) { return 2 * n; }\n"
RULES = """\
twice: main.o parts/libtwice.a
\t$(CC) -o $@ main.o parts/libtwice.a
main.o: main.c
\t$(CC) -c main.c
parts/x-twice.o: parts/twice.c
\t{compiler} -c -o $@ parts/twice.c
parts/libtwice.a: parts/x-twice.o
\t$(AR) rc $@ parts/x-twice.o
"""
OTHER = " ".join(COMPILER)


def project(name: str, build: str = "make CC=whence-cc", compiler: str = "$(CC)") -> Path:
    folder = subject_folder(f"own-build-{name}")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "parts").mkdir(parents=True)
    archiver = f"{sys.executable} -m ziglang ar"
    makefile = f"AR = {archiver}\n" + RULES.format(compiler=compiler)
    files = {"main.c": MAIN, "parts/twice.c": TWICE, "parts/blob.o": "no source has its name", "makefile": makefile}
    for file, text in files.items():
        (folder / file).write_text(text)
    program, cases = f'path = "twice"\nbuild = "{build}"\n', 'file = "cases"\nreference = "./twice"\n'
    (folder / "whence.toml").write_text(f"[program]\n{program}[cases]\n{cases}")
    (folder / "cases").write_text("1\n")
    return folder


def by_hand(folder: Path) -> None:
    subprocess.run(["make", f"CC={OTHER}"], cwd=folder, check=True, stdout=subprocess.PIPE)


def built(folder: Path) -> Subject:
    return built_from_config(read_config(folder))


def test_what_was_built_before_is_captured_all_the_same() -> None:
    folder = project("before")
    by_hand(folder)
    subject = built(folder)
    assert sorted(module.name for module in subject.capture.modules) == ["main.c", "parts/twice.c"]
    assert subject.remarks == ["built anew what was up to date, but not captured: the program and 2 objects"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "cases",
        "main.c",
        "main.o",
        "makefile",
        "parts",
        "twice",
        "whence.toml",
    ]
    assert (folder / "parts" / "blob.o").exists() and not built(folder).remarks


@pytest.mark.parametrize("name", ["gcc", "cc"])
def test_a_makefile_that_calls_a_compiler_by_its_name_is_captured(name: str) -> None:
    subject = built(project(f"named-{name}", build="make", compiler=name))
    assert len(subject.capture.modules) == 2 and not subject.capture.foreign


def test_so_is_a_file_that_was_compiled_by_hand_since() -> None:
    folder = project("since")
    assert not built(folder).remarks
    main = (folder / "main.o").stat().st_mtime_ns
    (folder / "parts" / "twice.c").write_text(TWICE.replace("2", "3"))
    os.utime(folder / "parts" / "x-twice.o", (1, 1))
    by_hand(folder)
    subject = built(folder)
    assert subject.remarks == ["built anew what was up to date, but not captured: the program and 1 object"]
    assert len(subject.capture.modules) == 2 and not subject.capture.uncaptured
    assert (folder / "main.o").stat().st_mtime_ns == main


def test_where_the_store_was_lost_all_is_captured_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = project("lost")
    built(folder)
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path))
    assert built(folder).remarks and not made_before(folder / "twice", folder)[1]


def test_a_build_that_calls_another_compiler_is_made_anew_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path))  # which does not know yet what comes of it
    folder = project("other", compiler=OTHER)
    builds = list[str]()
    run = own_build._run_build
    monkeypatch.setattr(own_build, "_run_build", lambda build, where: (builds.append(build), run(build, where)))
    for already in (0, 2):
        assert len(builds) == already
        subject = built(folder)
        assert len(subject.capture.modules) == 1 and not subject.remarks
    assert len(builds) == 3


def test_what_the_build_does_not_make_again_is_still_there() -> None:
    folder = project("kept", build="test -f main.o && test -f twice")
    by_hand(folder)
    there = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(BuildError):
        built(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == there


def test_an_object_that_no_rule_makes_does_not_end_what_is_captured_without_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path))
    folder = project("rule", compiler=OTHER)
    by_hand(folder)
    text = (folder / "makefile").read_text()
    start = text.index("parts/x-twice.o: ")
    rule = text[start : text.index("parts/libtwice.a: parts")]
    (folder / "makefile").write_text("MAKEFLAGS += -r\n" + text.replace(rule, ""))
    (folder / "main.o").unlink()
    subject = built(folder)
    assert [module.name for module in subject.capture.modules] == ["main.c"]
    assert len(subject.remarks) == 1 and "could not be made anew: " in subject.remarks[0]
    assert "libtwice.a: 1 of its objects not compiled by whence-cc (x-twice.o)" in subject.capture.uncaptured[0]
    assert (folder / "parts" / "x-twice.o").exists() and (folder / "twice").exists() and not built(folder).remarks
