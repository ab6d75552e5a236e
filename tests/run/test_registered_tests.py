"""Which program each test of CTest and Meson starts."""

from __future__ import annotations

import json
from pathlib import Path

from whence.run.registered_tests import programs_of_tests


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(0o755)
    return path


def test_of_ctest_with_the_folders_below(tmp_path: Path) -> None:
    first, second = executable(tmp_path / "build/first"), executable(tmp_path / "build/deep/second")
    (tmp_path / "build/CTestTestfile.cmake").write_text(
        f'# made\nadd_test(one "{first}" "-v")\nadd_test([=[a long name]=] "/usr/bin/env" "{second}")\n'
        f'add_test("none" "/bin/true")\nadd_test(gone "{tmp_path}/build/gone")\nsubdirs("deep")\n'
    )
    (tmp_path / "build/deep/CTestTestfile.cmake").write_text(f'add_test(deep "{second}")\n')
    assert programs_of_tests(tmp_path) == {"one": first, "a long name": second, "deep": second}


def test_of_meson(tmp_path: Path) -> None:
    tmp_path = tmp_path / "build"
    program = executable(tmp_path / "test_sum")
    tests = [{"name": "sum", "cmd": [str(program), "-v"]}, {"name": "odd", "cmd": None}, "no test"]
    (tmp_path / "meson-info").mkdir()
    (tmp_path / "meson-info/intro-tests.json").write_text(json.dumps(tests))
    assert programs_of_tests(tmp_path) == {"sum": program}
    assert programs_of_tests(tmp_path.parent) == {"sum": program}
