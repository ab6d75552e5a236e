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


def test_of_automake_the_programs_and_no_scripts(tmp_path: Path) -> None:
    keys, values = executable(tmp_path / "tests/keys"), executable(tmp_path / "tests/values")
    executable(tmp_path / "tests/print.sh")
    (tmp_path / "tests/Makefile").write_text(
        "EXEEXT = \nTESTS = print.sh $(am__EXEEXT_1) $(am__EXEEXT_2)\nam__EXEEXT_1 = keys$(EXEEXT) \\\n"
        "\tgone$(EXEEXT)\nam__EXEEXT_2 = values$(EXEEXT) $(am__EXEEXT_2)\nbin_PROGRAMS = other$(EXEEXT)\n"
        "check-TESTS: $(check_PROGRAMS)\n"
    )
    executable(tmp_path / "tests/other")
    assert programs_of_tests(tmp_path) == {"keys": keys, "values": values}
    (tmp_path / "tests/Makefile").write_text("TESTS = keys$(EXEEXT)\n")
    assert programs_of_tests(tmp_path) == {}
