"""Test programs that run one of their tests alone: linked once more, with a driver for the framework of their tests.

Key idea: frameworks differ in what they can leave out by themselves, and few of them run a test in the process that was
started. But each has a function that every test comes by. The program's own link is done again with ``--wrap`` for that
function and the driver's object (``probe/tests``), which lets the one test through that the environment names; so it
holds however the framework was linked, and the program is captured as any other.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from whence.build.capture import LinkRecord, read_executable
from whence.build.compilers import first_message
from whence.build.records import Record, append_section
from whence.build.scratch import scratch
from whence.build.store import Store, sha256
from whence.build.symbols import mentioned
from whence.build.toolchain import find_toolchain, whence_home
from whence.build.variant import compile_c
from whence.errors import BuildError

SOURCES = Path(__file__).parent.parent / "probe" / "tests"
VARIABLE = "WHENCE_TEST"  # names the test; as chosen.h has it
INCLUDES = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
NAMES, LISTED = "?", "##whence-test "  # its value that asks for the names, and what each of them stands behind


@dataclass(frozen=True)
class Framework:
    """A framework that tests are written with: a function that tells it, and those that come by its driver.

    ``driver``: the driver's name in ``SOURCES``; ``header`` and ``libraries``: what sources include and links name;
    ``main``: whether there is a ``main`` in place of the framework's; ``says``: an expression for what a test prints
    that fails, where it does not abort.
    """

    name: str
    driver: str
    header: str
    libraries: tuple[str, ...]
    sign: str
    wrapped: tuple[str, ...]
    main: bool = False
    says: str | None = None


FRAMEWORKS = (
    Framework(
        "Check",
        "check",
        "check.h",
        ("-lcheck", "-lsubunit", "-lrt", "-lpthread"),
        "_tcase_add_test",
        ("_tcase_add_test", "_ck_assert_failed"),
    ),
    Framework("CMocka", "cmocka", "cmocka.h", ("-lcmocka",), "_cmocka_run_group_tests", ("_cmocka_run_group_tests",)),
    Framework(
        "Criterion",
        "criterion",
        "criterion/criterion.h",
        ("-lcriterion",),
        "criterion_internal_test_main",
        (
            "criterion_internal_test_main",
            "criterion_internal_test_setup",
            "criterion_internal_test_teardown",
            "criterion_send_assert",
            "criterion_abort_test",
            "criterion_continue_test",
            "criterion_skip_test",
            "cri_assert_node_send",
            "cri_asserts_passed_incr",
        ),
        main=True,
    ),
    Framework(
        "Unity",
        "unity",
        "unity.h",
        (),
        "UnityConcludeTest",
        ("UnityDefaultTestRun", "UnityTestRunner", "setUp"),
        says=r"^.*:FAIL\b.*$",
    ),
)


def framework_of(executable: Path) -> Framework | None:
    """The framework that a program's tests are written with, by the names of its symbols; None: none that is known."""
    try:
        names = mentioned(executable.read_bytes())
    except (OSError, ValueError):
        return None
    return next((framework for framework in FRAMEWORKS if framework.sign in names), None)


def framework_included(source: Path) -> Framework | None:
    """The framework whose header a source includes; None: none that is known."""
    included = set(INCLUDES.findall(source.read_text(errors="replace")))
    return next((framework for framework in FRAMEWORKS if framework.header in included), None)


def running_single_tests(executable: Path, framework: Framework) -> Path:
    """The captured program, linked so that it runs the test alone that ``VARIABLE`` names; made once for each program.

    Raises BuildError with the compiler's message where it cannot be linked again, or is another program then.
    """
    captured = read_executable(executable)
    objects = [_driver(framework)]
    sources = [SOURCES / f"{framework.driver}_main.c"] if framework.main else []
    key = sha256(b"\0".join(path.read_bytes() for path in (executable, *sources, *objects)))
    place = Path(whence_home()) / "tests" / key[:32]
    out = place / executable.name
    if out.exists():
        return out
    with scratch("tests") as folder:
        linked = Path(folder, executable.name)
        _link(captured.link, [*sources, *objects], framework, linked)
        own = {module.hash for module in captured.modules}
        if not own <= {module.hash for module in read_executable(linked).modules}:
            raise BuildError(f"{executable} is older than its sources", "build the program again")
        place.mkdir(parents=True, exist_ok=True)
        linked.replace(out)
    return out


def _driver(framework: Framework) -> Path:
    """The driver's object; it says that it is known, so that nobody misses its IR."""
    path = compile_c(find_toolchain("bundled"), SOURCES / f"{framework.driver}.c", ("-O2", "-g0", "-fPIC"))
    store = Store()
    copy = Path(store.temporary(".o"))
    copy.write_bytes(path.read_bytes())
    with copy.open("r+b") as file:
        append_section(file, Record("driver", "", framework.name).encode())
    named = Path(whence_home()) / "tests" / f"{framework.driver}-{sha256(copy.read_bytes())[:16]}.o"
    named.parent.mkdir(parents=True, exist_ok=True)
    copy.replace(named)
    return named


def _link(link: LinkRecord, first: list[Path], framework: Framework, out: Path) -> None:
    """Link as the program was linked, with further inputs in front."""
    wraps = [f"-Wl,--wrap={name}" for name in framework.wrapped]
    words = [*map(str, first), *wraps, *link.arguments, "-o", str(out)]
    command = [sys.executable, "-m", "whence.build.wrapper", *words]
    own = {**os.environ, **link.environment, "TMPDIR": str(out.parent)}
    try:
        done = subprocess.run(
            command, cwd=link.directory, env=own, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise BuildError(f"cannot link in {link.directory}: {error.strerror}", "build the program again") from error
    if done.returncode:
        raise BuildError(first_message(done.stderr), done.stderr.strip())
