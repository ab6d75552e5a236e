"""A suite whose tests are programs of their own, which share a library, and each of which is captured."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.clamp_library import CLAMP, TWICE
from tests.support.cli_tool import subject_folder, write
from whence.run.config import SubjectConfig, read_config
from whence.subject.subject import Subject, built_from_config

LIBRARY = "\n" + CLAMP + TWICE
HEAD = "#include <stdlib.h>\nint clamp(int, int), twice(int);\n"
TESTS = {
    "above": "int main(void) { if (twice(2) != 4) return 2; if (clamp(9, 5) != 5) abort(); return 0; }",
    "below": "int main(void) { return clamp(3, 5) != 3; }",
    "doubled": "int main(void) { return twice(3) != 6; }",
    "wrong": "int main(void) { return clamp(7, 5) != 5; }",
    "alone": "int main(void) { return 0; }",
}


def program_suite(
    name: str, library: str = LIBRARY, head: str = HEAD, tests: Mapping[str, str] = TESTS
) -> tuple[Subject, SubjectConfig]:
    """A library with a program for each test, built with the wrapper; the first test is the subject."""
    folder = subject_folder(f"others-{name}")
    shutil.rmtree(folder, ignore_errors=True)
    write(folder / "lib.c", library)
    (folder / "t").mkdir()
    compiler = str(Path(sys.executable).with_name("whence-cc"))
    for test, main in tests.items():
        write(folder / f"{test}.c", head + main)
        subprocess.run([compiler, "-g", "-O0", "-o", f"t/{test}", f"{test}.c", "lib.c"], cwd=folder, check=True)
    names = ", ".join(f'"t/{test}"' for test in tests)
    path = f't/{next(iter(tests))}"\n'
    text = f'[program]\npath = "{path}[cases]\ncommand = "./{{name}}"\nnames = [{names}]\ncapture = true\n'
    write(folder / "whence.toml", text)
    config = read_config(folder)
    return built_from_config(config), config
