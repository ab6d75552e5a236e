"""Unit tests in C of the runtime's lower layers: each file ``runtime/unit_*.c`` is compiled with what it tests alone.

What a layer needs of a higher one would not link here.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from whence.build.toolchain import find_toolchain
from whence.build.variant import RUNTIME

UNITS = Path(__file__).with_name("runtime")
RUNS = ["base/*.c", "alter/changes.c", "alter/operators.c", "alter/control.c", "alter/output.c"]
RUNS += ["alter/leftovers.c", "alter/verdict.c"]
PARTS = {
    "base": ["base/*.c"],
    "snapshot": ["base/*.c", "alter/snapshot.c"],
    "changes": ["alter/changes.c", "alter/operators.c"],
    "runs": RUNS,
    "trace": ["record/trace.c"],
    "schedule": [f"record/{name}.c" for name in ("trace", "ending", "choices", "baton", "entry", "turns")],
}
FLAGS = ["-O1", "-g", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-include", "base/sections.h"]


def names_in(name: str) -> list[str]:
    """The names of the tests in a file."""
    return re.findall(r"^TEST\((\w+)\)", (UNITS / f"unit_{name}.c").read_text(), re.M)


@cache
def build(name: str, folder: Path) -> Path:
    """The program of a file's tests."""
    toolchain, out = find_toolchain("bundled"), folder / name
    parts = [str(path) for pattern in PARTS[name] for path in sorted(RUNTIME.glob(pattern))]
    source = str(UNITS / f"unit_{name}.c")
    command = toolchain.call([*FLAGS, f"-I{RUNTIME}", f"-I{UNITS}", source, *parts, "-lm", "-o", str(out)])
    done = subprocess.run(command, env=toolchain.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize(("name", "test"), [(name, test) for name in PARTS for test in names_in(name)])
def test_unit(name: str, test: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    program = build(name, tmp_path_factory.getbasetemp())
    done = subprocess.run([program, test], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr or f"ended by {done.returncode}"
