"""``whence build`` and ``whence env``: builds call ``whence-cc``, whatever they call their compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_tool import whence, write

from whence.build.environment import BuildEnvironment
from whence.build.records import read_records

MAKEFILE = """\
CC = gcc
prog: main.o twice.o
\t{machine}-linux-gnu-gcc -o $@ $^
%.o: %.c
\t$(CC) -c $<
"""
SCRIPT = "cc -c main.c && clang -c twice.c && gcc -o prog main.o twice.o\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "main.c", "int twice(int n);\nint main(int argc, char **argv)\n{\n    return twice(argc);\n}\n")
    write(tmp_path / "twice.c", "int twice(int n)\n{\n    return 2 * n;\n}\n")
    write(tmp_path / "Makefile", MAKEFILE.format(machine=os.uname().machine))
    write(tmp_path / "build.sh", SCRIPT)
    return tmp_path


def kinds(path: Path) -> list[str]:
    with path.open("rb") as file:
        return sorted(record.kind for record in read_records(file))


def called(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("whence"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_makefile_that_names_its_compiler_is_captured(folder: Path) -> None:
    done = called(folder, "build", "--", "make", "-s")
    assert (done.returncode, done.stderr) == (0, "whence: captured prog: 2 modules\n")
    assert kinds(folder / "prog") == ["link", "module", "module"]
    again = called(folder, "build", "make", "-s")
    assert again.returncode == 0 and "no program was made" in again.stderr


def test_a_script_that_names_several_is_captured(folder: Path) -> None:
    assert called(folder, "build", "sh", "build.sh").stderr == "whence: captured prog: 2 modules\n"


def test_what_clang_refuses_is_still_built_by_the_users_own_compiler(folder: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    nested = "int twice(int n)\n{\n    int one(void) { return n; }\n    return one() + one();\n}\n"
    write(folder / "twice.c", nested)  # a function in a function, which gcc knows and clang does not
    done = called(folder, "build", "sh", "build.sh")
    assert (done.returncode, kinds(folder / "prog").count("module")) == (0, 1)


def test_the_status_is_that_of_the_command(folder: Path) -> None:
    assert whence(folder, "build", "sh", "-c", "exit 7").status == 7
    missing = whence(folder, "build", "there-is-no-such")
    assert missing.status == 2 and "cannot run there-is-no-such" in missing.err


def test_a_build_that_goes_round_is_told(folder: Path) -> None:
    path = shutil.which("true") or ""
    done = whence(folder, "build", "cp", path, "prog")
    assert done.status == 0 and "nothing was captured" in done.err


def test_a_shell_takes_the_environment(folder: Path) -> None:
    script = f'eval "$({sys.executable} -m whence env)"; command -v gcc; echo "$CC"'
    done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    gcc, compiler = done.stdout.splitlines()
    assert Path(gcc).resolve() == Path(compiler).resolve() == Path(sys.executable).with_name("whence-cc").resolve()


def test_files_for_cmake_and_meson_name_the_compiler() -> None:
    made = BuildEnvironment()
    assert made.cmake.read_text() == f'set(CMAKE_C_COMPILER "{made.compiler}")\n'
    assert made.meson.read_text() == f"[binaries]\nc = '{made.compiler}'\n"


def test_asked_for_twice_it_is_the_same() -> None:
    once = BuildEnvironment().variables({"PATH": "/bin"})
    assert BuildEnvironment().variables(once) == once


CPLUSPLUS = """\
#include <cstdlib>
#include <iostream>
extern "C" int twice(int n);
int main(int argc, char **argv)
{
    std::cout << twice(argc > 1 ? std::atoi(argv[1]) : 0) << std::endl;
    return 0;
}
"""
MIXED = "g++ -c main.cpp && gcc -g -c twice.c && c++ -o prog main.o twice.o\n"


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_c_parts_of_a_mixed_program_are_analysed(folder: Path) -> None:
    write(folder / "main.cpp", CPLUSPLUS)
    write(folder / "twice.c", "int twice(int n)\n{\n    if (n > 9)\n        return 2 * n + 1;\n    return 2 * n;\n}\n")
    done = called(folder, "build", "sh", "-c", MIXED)
    note, captured = done.stderr.splitlines()
    assert note.startswith("whence-cc: note: main.cpp: C++, which is not analysed, compiled by /")
    assert (done.returncode, captured) == (0, "whence: captured prog: 1 module")
    write(folder / "whence.toml", '[program]\npath = "prog"\n[cases]\nfolder = "cases"\n')
    for given, right in ((3, 6), (12, 24)):
        write(folder / "cases" / f"{given}.args", str(given))
        write(folder / "cases" / f"{given}.out", f"{right}\n")
    ranked = whence(folder, "spectrum", "--json").json
    assert [(entry["file"], entry["line"]) for entry in ranked["ranking"] if entry["rank"] == 1] == [("twice.c", 4)]
    assert "`main` is not captured, with which an altered run begins" in whence(folder, "switch").err


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_cplusplus_is_left_to_the_users_own_compiler(folder: Path) -> None:
    write(folder / "main.cpp", CPLUSPLUS)
    compiler = [Path(sys.executable).with_name("whence-cc")]
    done = subprocess.run([*compiler, "-c", "main.cpp"], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr.count("\n") == 1 and "main.cpp: C++, which is not analysed, compiled by /" in done.stderr
    write(folder / "main.cpp", "int main() { return nothing; }\n")
    done = subprocess.run([*compiler, "-c", "main.cpp"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "nothing" in done.stderr
