"""``whence doctor``: check all that Whence needs from the machine, then the folder's program; say what is missing.

Each check is a function that returns what it found, or raises: a WhenceError (or OSError) is a failure, a
Weakness something that Whence can work without.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from whence.cli.checks import Report, Weakness, run_check
from whence.cli.subject_checks import examine_subject
from whence.errors import BuildError, SubjectError
from whence.investigation.first_use import begin_compiling, compile_ahead, is_incomplete
from whence.report.screen import screen_on
from whence.run.config import FILE_NAME

OLDEST_PYTHON = (3, 11)
ROOM_FOR_TRACES = 1 << 30

HELLO = """
#include <stdio.h>
int main(int argc, char **argv)
{
    printf("hello %s\\n", argc > 1 ? argv[1] : "nobody");
    return 0;
}
"""

FAULTY = """
#include <stdio.h>
#include <stdlib.h>
static int prices[8] = {5, 7, 9, 4};
static int total(int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += prices[i];
    if (sum > 11)
        sum -= 2;
    return sum;
}
int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 0;
    printf("%d\\n", total(count));
    return 0;
}
"""
WRONG, FINE = ("3", "18"), ("0", "1", "4")  # arguments: those that give something else than this, those that are right

# Has what takes parts of the analysis that other runs do not: a thread, a signal handler, an access beyond a block.
THREADED = """
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static volatile int seen;
static void note(int number) { seen = number; }
static void *fill(void *block)
{
    for (int i = 0; i < 3; i++)
        ((int *)block)[i] = i;
    return block;
}
int main(void)
{
    pthread_t thread;
    void *block = malloc(2 * sizeof(int));
    signal(SIGUSR1, note);
    raise(SIGUSR1);
    pthread_create(&thread, NULL, fill, block);
    pthread_join(thread, &block);
    printf("%d\\n", *(int *)block + (seen != 0));
    return 0;
}
"""


@click.command()
@click.option("-C", "folder", default=Path(), type=click.Path(path_type=Path), help="Folder of whence.toml [.]")
def doctor(folder: Path) -> None:
    """Check the set-up, and the program and cases of a whence.toml; say what is missing."""
    colours = {"ok": "green", "weak": "yellow", "FAIL": "red"}
    reports = []
    for report in examine(folder):
        reports.append(report)
        click.echo(f"{click.style(f'{report.state:<5}', fg=colours[report.state])}{report.name}: {report.detail}")
        if report.hint:
            click.echo(f"     help: {report.hint}")
    failed = sum(report.state == "FAIL" for report in reports)
    click.echo(f"{failed} of {len(reports)} checks failed" if failed else "everything that Whence needs is here")
    sys.exit(1 if failed else 0)


def examine(folder: Path) -> Iterator[Report]:
    """Yield the result of each check, in an order in which the first failure explains the later ones.

    Where the folder holds a ``whence.toml``, its program and cases are checked last.
    """
    for name, check in CHECKS.items():
        with _shown(name):
            report = run_check(name, check)
        yield report
    if (folder / FILE_NAME).exists():
        yield from examine_subject(folder)


@contextmanager
def _shown(name: str) -> Iterator[None]:
    """Inside, a terminal shows what is being checked."""
    screen = screen_on(sys.stderr)
    text = "compiling the analysis, at its first use only" if name == "analysis" and is_incomplete() else name
    with screen.bar(text, None):
        yield
    screen.clear()


def check_python() -> str:
    """The version of Python."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        raise SubjectError(f"version {version} is too old", "install Python 3.11 or newer")
    return f"{version} ({sys.executable})"


def check_compiler() -> str:
    """The C compiler that the environment chooses."""
    from whence.build.toolchain import find_toolchain

    toolchain = find_toolchain()
    toolchain.check()
    return f"clang {toolchain.version} ({toolchain.command[0]})"


def check_llvm() -> str:
    """The library that reads IR."""
    from llvmlite import __version__, binding

    version = ".".join(map(str, binding.llvm_version_info))
    if binding.llvm_version_info[0] != 22:
        raise BuildError(f"llvmlite {__version__} has LLVM {version}, not 22", "pip install llvmlite==0.50.0")
    return f"llvmlite {__version__}, LLVM {version}"


def check_store() -> str:
    """The folder for captured IR, compiled variants and caches."""
    from whence.build.toolchain import whence_home

    home = Path(whence_home())
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        raise BuildError(f"cannot write in {home}: {error.strerror}", "name another folder in WHENCE_HOME") from error
    return f"{home} is writable"


def check_room() -> str:
    """Where cases run and traces are written."""
    from whence.run.sandbox import MEMORY_FOLDER, choose_base

    base = choose_base()
    room = os.statvfs(base)
    free = room.f_bavail * room.f_frsize
    detail = f"{base} has {free >> 20} MiB free"
    if base != MEMORY_FOLDER:
        raise Weakness(detail, f"{MEMORY_FOLDER} is missing, full or forbids programs; runs on a disk are slower")
    if free < ROOM_FOR_TRACES:
        raise Weakness(detail, "traces of long runs will not fit; free some memory, or enlarge /dev/shm")
    return detail


def check_addresses() -> str:
    """Whether runs can have the same addresses every time."""
    from whence.run.server import addresses_can_be_fixed

    if not addresses_can_be_fixed():
        hint = "programs whose output depends on addresses will be flaky; allow personality() in the container"
        raise Weakness("address randomisation cannot be switched off", hint)
    return "address randomisation can be switched off"


def check_confinement() -> str:
    """Whether altered runs and edited programs can be kept from what is not theirs."""
    from whence.run.confinement import landlock_version

    if not landlock_version():
        hint = "Linux 5.13 and newer can refuse that (Landlock); other processes and machines are safe in any case"
        raise Weakness("altered runs and edited programs could write to files outside of their folder", hint)
    return "altered runs and edited programs cannot reach others' processes, machines and files"


def check_running() -> str:
    """Compile, link and run a program, plainly and in the fork server."""
    from whence.build.variant import runtime_objects
    from whence.run.cases import Case
    from whence.run.runner import Runner

    cases = [Case(str(number), (str(number),)) for number in range(100)]
    expected = [b"hello %d\n" % number for number in range(100)]
    with tempfile.TemporaryDirectory() as folder:
        plain = _compile(Path(folder), "plain", [])
        served = _compile(Path(folder), "served", ["-Dmain=__whence_main", *map(str, runtime_objects()), "-lm"])
        for program in (plain, served):
            with Runner(program) as runner:
                if [result.stdout for result in runner.run_cases(cases)] != expected:
                    raise SubjectError(f"a {program.name} test program did not print what it should")
        with Runner(served) as runner:
            wall = sum(result.wall for result in runner.run_cases(cases))
    return f"a program compiles and links; a run in the fork server takes {wall / len(cases) * 1e6:.0f} µs"


def check_analysis() -> str:
    """Locate the fault of a small program, which compiles the analysis where that has not been done."""
    from whence.build.toolchain import whence_home
    from whence.diagnosis.chain import FailureInducingChain
    from whence.project import open_sources
    from whence.techniques.memory.technique import MemoryErrors
    from whence.techniques.races.technique import DataRaces
    from whence.techniques.slicing import Slicing

    folder = Path(whence_home(), "doctor")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("faulty.c", FAULTY), ("threaded.c", THREADED)):
        (folder / name).write_text(text)
    with open_sources([folder / "faulty.c"], fails=[WRONG], passes=FINE) as project:
        found = project.locate(budget=float("inf"))
        project.find(FailureInducingChain(), float("inf"))
        project.find(Slicing(at="faulty.c:7", forward=True), float("inf"))
    with open_sources([folder / "threaded.c"], fails=[("", None)], flags=["-pthread"]) as project:
        project.find(MemoryErrors(), float("inf"))
        project.find(DataRaces(orders=1), float("inf"))
    first = found.ranking[0].statement
    return f"a fault is located: {found.symptom.text if found.symptom else 'failure'} comes of line {first.line}"


def _compile(folder: Path, name: str, more: list[str]) -> Path:
    from whence.build.compilers import run
    from whence.build.toolchain import find_toolchain

    (folder / "hello.c").write_text(HELLO)
    run(find_toolchain(), ["hello.c", *more, "-o", name], folder, "compile a test program")
    return folder / name


def check_kernels() -> str:
    """Whether compiled analysis code can be kept between sessions; what is not there yet is begun with."""
    import numba

    from whence.subject.run_of_nothing import subject_of_nothing
    from whence.techniques.races.check import Checker
    from whence.trace.compiled import CACHE

    try:
        CACHE.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=CACHE).close()
    except OSError as error:
        hint = "the analyses compile at every start; name a folder in WHENCE_HOME"
        raise Weakness(f"numba {numba.__version__}: cannot write in {CACHE}: {error.strerror}", hint) from error
    begin_compiling()
    compile_ahead(Checker(subject_of_nothing()))
    return f"numba {numba.__version__}, cache in {CACHE}"


CHECKS: dict[str, Callable[[], str]] = {
    "Python": check_python,
    "compiler": check_compiler,
    "IR library": check_llvm,
    "store": check_store,
    "kernels": check_kernels,
    "room": check_room,
    "addresses": check_addresses,
    "confinement": check_confinement,
    "running": check_running,
    "analysis": check_analysis,
}
