"""The program rebuilt with another text of one source: whose code runs, what is taken from the build, what is said."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import replace
from pathlib import Path

import pytest
from build_project import MAIN, Project

from whence.build.capture import read_executable
from whence.build.edited import Rebuild
from whence.build.memory import read_memory
from whence.build.toolchain import Toolchain, find_toolchain
from whence.errors import BuildError

TWICE = """
#include "factor.h"
int twice(int x) { return FACTOR * x; }
"""
NAMED = '#include <stdio.h>\nint main(void) { printf("%s %d %d\\n", __FILE__, __LINE__, OPTION); return 0; }\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def rebuilt(project: Project, program: str, source: str, old: str, new: str) -> str:
    """What the program prints when it is built with another text; the project's files stay as they are."""
    scratch = project.folder.parent / f"scratch-{program}"
    scratch.mkdir(exist_ok=True)
    path = project.folder / source
    text = path.read_text().replace(old, new)
    before = {
        name: (project.folder / name).read_bytes() for name in project.files() if (project.folder / name).is_file()
    }
    out = Rebuild(read_executable(project.folder / program), scratch).build(path, text.encode(), "edit")
    after = {
        name: (project.folder / name).read_bytes() for name in project.files() if (project.folder / name).is_file()
    }
    assert before == after
    return project.run([str(out)]).stdout


@pytest.mark.parametrize(
    "build",
    [
        ["main.c sub/twice.c -O2 -o prog"],
        ["-c -O2 main.c", "-c -O2 -MMD sub/twice.c -o twice.o", "main.o twice.o -o prog"],
        ["-c main.c", "-c -O2 sub/twice.c -o twice.o", "AR", "main.o -L. -ltwice -o prog"],
        ["-c main.c", "-c sub/twice.c -o twice.o", "-r main.o twice.o -o both.o", "both.o -o prog"],
        ["-c -Werror -Wall main.c", "-c -Werror -Wall sub/twice.c -o twice.o", "main.o twice.o -o prog", "RM"],
    ],
)
def test_the_changed_text_runs_in_every_shape_of_build(project: Project, build: list[str]) -> None:
    project.write(main_c=MAIN)
    (project.folder / "sub").mkdir()
    (project.folder / "sub" / "twice.c").write_text(TWICE)
    (project.folder / "sub" / "factor.h").write_text("#define FACTOR 2\n")
    for call in build:
        if call == "AR":
            project.run(["ar", "rcs", "libtwice.a", "twice.o"])
        elif call == "RM":
            (project.folder / "main.o").unlink()
        else:
            project.cc(call)
    assert project.output("prog") == "42\n"
    assert rebuilt(project, "prog", "sub/twice.c", "FACTOR * x;", "FACTOR * x + 1;") == "43\n"
    assert rebuilt(project, "prog", "main.c", "argc + 20", "argc + 30") == "62\n"


def test_the_source_keeps_its_name_and_the_users_flags(project: Project) -> None:
    project.write(named_c=NAMED)
    project.cc("-DOPTION=7 -o named named.c")
    assert rebuilt(project, "named", "named.c", "OPTION)", "OPTION + 1)") == "named.c 2 8\n"


def test_what_does_not_compile_says_why(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE, factor_h="#define FACTOR 2\n")
    project.cc("main.c twice.c -o prog")
    capture, scratch = read_executable(project.folder / "prog"), project.folder.parent
    with pytest.raises(BuildError, match=r"twice\.c:3:.*error: use of undeclared identifier 'y'"):
        Rebuild(capture, scratch).build(project.folder / "twice.c", TWICE.replace("* x", "* y").encode(), "edit")
    with pytest.raises(BuildError, match=r"no module of the program is known to be made from factor\.h"):
        Rebuild(capture, scratch).build(project.folder / "factor.h", b"#define FACTOR 3\n", "edit")
    with pytest.raises(TimeoutError):
        Rebuild(capture, scratch).build(project.folder / "twice.c", TWICE.encode(), "edit", time.monotonic() - 1)


@pytest.mark.parametrize(
    ("old", "new", "warnings"),
    [
        ("* x", "+ x", []),
        ("return FACTOR * x;", "int y; return y * x;", ["variable 'y' is uninitialized when used here"]),
        ("return FACTOR * x;", "return x == x;", ["self-comparison always evaluates to true"]),
        ("* x", "/ 0", ["division by zero is undefined"]),
        ("return FACTOR * x;", "if (x & 1 == 0 || x > 1 && x < 9) x = 4; return x;", []),  # of how it is written
        ("return FACTOR * x;", "int unused; if (x = 4) x++; return x;", []),
    ],
)
def test_the_compiler_warns_of_what_is_wrong(project: Project, old: str, new: str, warnings: list[str]) -> None:
    project.write(main_c=MAIN, twice_c=TWICE, factor_h="#define FACTOR 2\n")
    project.cc("-Werror main.c twice.c -o prog")
    rebuild, path = Rebuild(read_executable(project.folder / "prog"), project.folder.parent), project.folder / "twice.c"
    assert TWICE.count(old) == 1
    assert [one.text for one in rebuild.warned(path, TWICE.replace(old, new).encode(), "edit")] == warnings


def test_a_warning_has_its_place_and_that_of_a_declaration_without_a_value(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE, factor_h="#define FACTOR 2\n")
    project.cc("main.c twice.c -o prog")
    path, new = project.folder / "twice.c", TWICE.replace("return FACTOR * x;", "int y;\nx++;\nreturn y * x;")
    (one,) = Rebuild(read_executable(project.folder / "prog"), project.folder.parent).warned(path, new.encode(), "edit")
    first = new[: new.index("int y;")].count("\n") + 1
    assert (one.file, one.line, one.kind, one.declared) == (path, first + 2, "uninitialized", first)


def test_a_link_ends_with_the_time(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE, factor_h="#define FACTOR 2\n")
    project.cc("main.c twice.c -o prog")
    capture, real = read_executable(project.folder / "prog"), find_toolchain()
    slow = project.folder / "slow"
    slow.write_text(f'#!/bin/sh\ncase " $* " in *" -c "*) exec {shlex.join(real.command)} "$@";; esac\nexec sleep 60\n')
    slow.chmod(0o755)
    capture.link = replace(capture.link, toolchain=Toolchain(real.kind, (os.fspath(slow),)))
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        Rebuild(capture, project.folder.parent).build(project.folder / "twice.c", TWICE.encode(), "edit", began + 3)
    assert 2.9 < time.monotonic() - began < 30


def test_the_ir_of_an_edit_is_that_of_its_text(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE, factor_h="#define FACTOR 2\n")
    project.cc("-O2 main.c twice.c -o prog")
    capture = read_executable(project.folder / "prog")
    new = TWICE.replace("* x", "* x + 1").encode()
    found = Rebuild(capture, project.folder.parent).capture(project.folder / "twice.c", new, "edit")
    assert [old.hash == module.hash for old, module in zip(capture.modules, found.modules, strict=True)] == [
        True,
        False,
    ]
    assert read_memory(found)[1].variables is not None  # it can be compiled again, for where its variables lie


def test_a_header_is_changed_in_all_modules_that_it_is_part_of(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE, factor_h="#define FACTOR 2\n")
    project.cc("main.c twice.c -o prog")
    capture, header = read_executable(project.folder / "prog"), project.folder / "factor.h"
    sources = [Path(module.source).name for module in capture.modules]
    asked: list[Path] = []

    def including(file: Path) -> list[int]:
        asked.append(file)
        return [sources.index("twice.c")]

    scratch = project.folder.parent
    out = Rebuild(capture, scratch, including).build(header, b"#define FACTOR 3\n", "edit")
    before, after = (project.run([str(path)]).stdout for path in (project.folder / "prog", out))
    assert asked == [header]
    assert before != after
