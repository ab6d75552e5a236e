from __future__ import annotations

import shutil
import tomllib

import pytest
from click.testing import CliRunner

from tests.support.framework_tests import write_sources
from whence.build.quick import build_sources
from whence.cli.init import configuration, init, quoted, survey, write_configuration
from whence.cli.suites import find_suite
from whence.errors import UsageError
from whence.run.cases import load_cases
from whence.run.config import KEYS, read_config

ELF = b"\x7fELF" + bytes(12) + b"\x03\x00"


@pytest.fixture
def make(tmp_path):
    folder = tmp_path / "calc"

    def make(**files):
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            if content[:4] == b"\x7fELF":
                path.chmod(0o755)
        return folder

    return make


def test_sources_alone(make):
    folder = make(**{"b.c": "", "a.c": "", "cases/one/args": "1", "cases/one/expected": "x"})
    lines = write_configuration(folder)
    config = read_config(folder)
    assert config.program.sources == ("a.c", "b.c")
    assert config.cases.folder == folder / "cases"
    assert lines[0] == f"wrote {folder}/whence.toml"
    assert lines[1:] == ["program: a.c, b.c", "cases: cases", "next: read through it, then `whence locate`"]


def test_makefile_executable_and_pairs(make):
    files = {"Makefile": "TARGET = other\n", "calc": ELF, "aaa": ELF, "lib.so.1": ELF, "script": "#!/bin/sh\n"}
    folder = make(**files, **{"tests/a.in": "", "tests/a.out": ""})
    write_configuration(folder)
    config = read_config(folder)
    assert (config.program.path, config.program.build) == (folder / "calc", "make CC=whence-cc")
    assert config.cases.folder == folder / "tests"
    assert "# other executables: aaa\n" in (folder / "whence.toml").read_text()


@pytest.mark.parametrize(
    "files, path, build",
    [
        ({"Makefile": "PROG := bin/run\n"}, "bin/run", "make CC=whence-cc"),
        ({"Makefile": "all: tool\n"}, "tool", "make CC=whence-cc"),
        ({"Makefile": "x:\n"}, "calc", "make CC=whence-cc"),
        ({"Makefile": "all: all-am\nall-am: lib.la\n"}, "calc", "make CC=whence-cc"),
        ({"Makefile": "all: config.h\n"}, "calc", "make CC=whence-cc"),
        (
            {"Makefile": "check_PROGRAMS = check_calc$(EXEEXT)\nall: all-am\n"},
            "check_calc",
            "make CC=whence-cc all check TESTS=",
        ),
        ({"configure": ""}, "calc", "./configure CC=whence-cc && make"),
        (
            {"meson.build": "", "configure": "", "out/meson-private/x": ""},
            "calc",
            "CC=whence-cc meson setup out && ninja -C out",
        ),
        (
            {"CMakeLists.txt": "", "configure": "", "made/CMakeCache.txt": ""},
            "calc",
            "cmake -B made -DCMAKE_C_COMPILER=whence-cc && cmake --build made",
        ),
        ({"meson.build": ""}, "build/calc", "CC=whence-cc meson setup build && ninja -C build"),
        ({"CMakeLists.txt": ""}, "build/calc", "cmake -B build -DCMAKE_C_COMPILER=whence-cc && cmake --build build"),
    ],
)
def test_program_of_a_build(make, files, path, build):
    found = survey(make(**files, **{"calc.c": ""}))
    program = tomllib.loads(configuration(found))["program"]
    assert (program["path"], program["build"]) == (path, build)


@pytest.mark.parametrize(
    "files, cases",
    [
        ({"cases.txt": "a\n"}, {"file": "cases.txt", "reference": "./good"}),
        ({"suite.txt": "a\n", "outputs/1": "x"}, {"file": "suite.txt", "outputs": "outputs"}),
        ({"tests/a.sh": ""}, {"command": "sh {name}", "scripts": "tests/*.sh", "capture": True}),
        (
            {"tests/a.test": "echo not ok 1\n"},
            {"command": "sh {name}", "scripts": "tests/*.test", "verdict": "tap", "capture": True},
        ),
        ({"test/a.bats": ""}, {"command": "bats {name}", "scripts": "test/*.bats", "capture": True}),
        ({"t/a.t": ""}, {"command": "sh {name}", "scripts": "t/*.t", "verdict": "tap", "capture": True}),
        ({"Makefile": "all: x\ncheck: all\n"}, {"command": "make check", "capture": True}),
        ({"tests/a.in": ""}, {"folder": "cases"}),
        ({}, {"folder": "cases"}),
    ],
)
def test_where_the_cases_are(make, files, cases):
    assert tomllib.loads(configuration(survey(make(**files, **{"a.c": ""}))))["cases"] == cases


def test_the_comments_name_real_keys(make):
    lines = configuration(survey(make(**{"a.c": ""}))).splitlines()
    data = tomllib.loads("\n".join(line.removeprefix("# ") if " = " in line else line for line in lines))
    for section, table in data.items():
        assert set(table) <= set(KEYS[section])
    assert set(data["limits"]) == set(KEYS["limits"])
    assert set(data["compare"]) == set(KEYS["compare"])


def test_nothing_is_overwritten(make):
    folder = make(**{"a.c": "", "whence.toml": "mine"})
    with pytest.raises(UsageError, match="exists already"):
        write_configuration(folder)
    assert (folder / "whence.toml").read_text() == "mine"


def test_a_folder_without_a_program(make):
    with pytest.raises(UsageError, match="holds no C files"):
        write_configuration(make(**{"notes": ""}))


def test_command(make):
    result = CliRunner().invoke(init, [str(make(**{"a.c": ""}))])
    assert result.exit_code == 0
    assert "cases: none found" in result.output


@pytest.mark.parametrize("text", ["a", "it's", 'say "x" \\ y', "'q'\"", "'''\"", 'tab\t"', '"'])
def test_quoted_texts_come_back(text):
    assert tomllib.loads(f"a = {quoted(text)}")["a"] == text


@pytest.mark.parametrize("place", ["", "build/"])
def test_what_was_made_for_a_test_runner_comes_before_folders_that_look_like_cases(make, place):
    tests = '[{"name": "sum", "cmd": ["./calc"], "env": {}, "workdir": null, "protocol": "exitcode"}]'
    files = {"tests/one/out": "", f"{place}meson-info/intro-tests.json": tests, "calc.c": ""}
    cases = tomllib.loads(configuration(survey(make(**files))))["cases"]
    assert "folder" not in cases
    assert "intro-tests.json" in cases["command"]


@pytest.mark.parametrize("text", ["[]", "{}", "[", "[1]"])
def test_a_list_of_tests_that_is_none(make, text):
    assert survey(make(**{"meson-info/intro-tests.json": text, "calc.c": ""})).suite is None


def test_executed_scripts_are_tests_and_what_they_read_is_not(make):
    folder = make(**{"tests/lib.sh": "", "tests/sums": "#!/bin/sh\n", "calc.c": ""})
    (folder / "tests/sums").chmod(0o755)
    write_configuration(folder)
    assert [case.name for case in load_cases(read_config(folder))] == ["tests/sums"]
    cases = tomllib.loads(configuration(survey(make(Makefile="check:\n"))))["cases"]
    assert cases["command"] == "make check"  # which may go to another folder, or set variables


def test_scripts_that_do_not_say_what_runs_them_come_behind_a_makefiles_target(make):
    files = {"tests/sums.sh": "calc 1 2\n", "calc.c": ""}
    assert find_suite(make(**files)).command == "sh {name}"
    folder = make(**files, GNUmakefile="CC = cc\ninclude Makefile\n", Makefile="test: calc\n\t./run tests\n")
    assert find_suite(folder).command == "make test"
    (folder / "tests/sums.sh").write_text("#!/bin/sh\ncalc 1 2\n")
    assert find_suite(folder).command == "/bin/sh {name}"


def test_scripts_that_help_the_tests_of_a_makefile_are_not_the_suite(make):
    judged = "{0}:\n\t$(CALC) -f {0}.in > _$@\n\t$(CMP) {0}.ok _$@ && rm -f _$@\n"
    rules = "check: a b\n" + "".join(map(judged.format, "ab"))
    helper = {"test/exit.sh": "#!/bin/sh\nexec ./calc exit\n", "calc.c": ""}
    folder = make(**helper, **{"Makefile": "check:\n\t$(MAKE) -C test check\n", "test/Makefile": rules})
    assert find_suite(folder).command == "make check"
    loop = "check:\n\tfor t in *.sh; do sh $$t | diff $$t.ok -; done\n"
    folder = make(**{"test/Makefile": loop, "test/add.sh": "#!/bin/sh\n"})
    assert find_suite(folder).command == "/bin/sh {name}"


def test_a_makefiles_rule_may_have_several_targets(make):
    makefile = ".PHONY: all check test\nall: calc\ncheck test: $(all)\n\t./run tests\n"
    folder = make(**{"Makefile": makefile, "calc.c": ""})
    assert find_suite(folder).command == "make check"
    (folder / "Makefile").write_text("tests: calc\n\t./run\ntest := 3\n.PHONY: test\n")
    assert find_suite(folder) is None


def test_scripts_run_where_and_by_what_they_say(make):
    folder = make(**{"tests/sums.t": "#!/usr/bin/perl -w\nok(`../calc 1` == 1);\n", "calc": "", "calc.c": ""})
    assert find_suite(folder).command == 'cd tests && /usr/bin/perl -w "$(basename {name})"'
    (folder / "tests/sums.t").chmod(0o755)
    assert find_suite(folder).command == 'cd tests && ./"$(basename {name})"'
    (folder / "tests/sums.t").write_text("#!/bin/sh\ncd tests\n../calc 1\n")
    assert find_suite(folder).command == "./{name}"


def test_a_script_that_runs_all_tests_runs_where_it_finds_the_program(make):
    script = '#!/bin/sh\nPROGRAM="tool/calc"\nfor t in "$DIR/../test"/*.txt; do python3 "$DIR/one.py" $t; done\n'
    folder = make(**{"scripts/run-tests.sh": script, "test/one.py": "#!/usr/bin/python3\n", "calc.c": ""})
    for name in ("scripts/run-tests.sh", "test/one.py"):
        (folder / name).chmod(0o755)
    assert find_suite(folder).command == "./{name}"  # nothing is built yet
    (folder / "build/tool").mkdir(parents=True)
    shutil.copy2("/bin/true", folder / "build/tool/calc")
    assert find_suite(folder).command == "cd build && ../scripts/run-tests.sh"
    (folder / "scripts/run-tests.sh").write_text("#!/bin/sh\nbuild/tool/calc\n")
    assert find_suite(folder).command == "scripts/run-tests.sh"


def test_shell_scripts_beside_tap_scripts_help_them(make):
    folder = make(**{"tests/locale.sh": "#!/bin/sh\n", "tests/sums.t": "#!/bin/sh\n", "calc.c": ""})
    for name in ("locale.sh", "sums.t"):
        (folder / "tests" / name).chmod(0o755)
    assert find_suite(folder).names == ("scripts", "tests/*.t")


def test_the_program_that_bears_the_folders_name_comes_first_and_tests_last(make):
    folder = make(**{"calc.c": ""})
    (folder / "calc-1.2/src/deep").mkdir(parents=True)
    for name in ("tests/first", "src/calc", "src/aid", "meson-private/check", "src/deep/more"):
        path = folder / "calc-1.2" / name
        path.parent.mkdir(exist_ok=True)
        shutil.copy2("/bin/true", path)
    assert survey(folder / "calc-1.2").executables == ["src/calc", "src/aid", "src/deep/more", "tests/first"]


@pytest.mark.parametrize(
    ("makefile", "script"),
    [
        ("check:\n\t@./run-tests fonts\n\nclean:\n\trm aid aid more\n", "run-tests"),
        ("check:\n\t./more 3\n", "other"),
        ("all:\n", "tests/one.sh"),
    ],
)
def test_the_program_that_the_tests_name_comes_first(make, makefile, script):
    folder = make(**{"Makefile": makefile, script: "#!/bin/sh\nPROG=./more\n$PROG -v 2 | diff - right\n"})
    (folder / script).chmod(0o755)
    for name in ("aid", "more"):
        shutil.copy2("/bin/true", folder / name)
    assert survey(folder).executables == ["more", "aid"]


def test_a_program_behind_a_script_of_libtools_is_one(make):
    script = "#! /bin/sh\n# check_calc - temporary wrapper script for .libs/check_calc\n# Generated by libtool\n"
    folder = make(**{"calc.c": "", "check_calc": script, "other": script, ".libs/check_calc": ELF})
    for name in ("check_calc", "other"):
        (folder / name).chmod(0o755)
    assert survey(folder).executables == ["check_calc"]


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"configure": "", "src/Makefile.am": "bin_PROGRAMS = tally sum\ntally_SOURCES = a.c\n"}, "src/tally"),
        ({"configure": "", "Makefile.in": "PROG = tally$(EXEEXT)\nOBJ = a.o\n"}, "tally"),
        ({"CMakeLists.txt": "project(p C)\nadd_executable(tally a.c)\n"}, "build/tally"),
        (
            {"CMakeLists.txt": "project(p C)\n", "src/CMakeLists.txt": "add_executable( tally\n a.c)\n"},
            "build/src/tally",
        ),
        ({"meson.build": "e = executable('tally', 'a.c')\n"}, "build/tally"),
    ],
)
def test_the_program_is_named_by_what_the_build_is_made_from(make, files, path):
    text = configuration(survey(make(**files)))
    assert tomllib.loads(text)["program"]["path"] == path and "a guess" not in text


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        (".PHONY: all\nCC := cc\ntally: tally.c sum.o\n\t$(CC) -o $@ tally.c\n", "tally"),
        ("all: tally\n\nsum: sum.c\n", "tally"),
        ("all: libsum.so $(PROGS)\nlibsum.so: $(OBJ)\ninstall-all: tally\ntally: sum.c\n", "tally"),
        ("tally: $(OBJS)\n\t$(CC) -o $@ $(OBJS)\n", "tally"),
        ("clean:\n\trm -f tally\nbin/tally : tally.c\n\tcc -o $@ $<\n", "bin/tally"),
        ("default: build\nsum.o: sum.c\nbuild: tally\ntally: sum.o\n", "tally"),
    ],
)
def test_the_program_is_the_first_that_the_makefile_has_a_rule_for(make, rules, path):
    text = configuration(survey(make(Makefile=rules, **{"tally.c": ""})))
    assert tomllib.loads(text)["program"]["path"] == path and "a guess" not in text


@pytest.mark.parametrize("rules", ["x:\n\tcc a.c\n", "a.o: a.c\n", "$(NAME): a.c\n", "%.o: %.c\n", "x := a:b\n"])
def test_what_the_makefile_has_rules_for_may_be_no_program(make, rules):
    assert "a guess" in configuration(survey(make(Makefile=rules, **{"a.c": ""})))


def test_a_program_that_only_a_variable_names_is_guessed(make):
    text = configuration(survey(make(**{"CMakeLists.txt": "add_executable(${PROJECT_NAME} a.c)\n"})))
    assert "a guess" in text


CHECK = "#include <stdlib.h>\n  #  include <check.h>\n"
TESTED = {"total.c": "", "check_total.c": CHECK}


@pytest.mark.parametrize(
    ("files", "program"),
    [
        (TESTED, {"sources": ["check_total.c", "total.c"], "flags": ["-lcheck", "-lsubunit", "-lrt", "-lpthread"]}),
        ({"a.c": '#include "unity.h"\n'}, {"sources": ["a.c"]}),
        (
            TESTED | {"Makefile": "check: check_total\n\t./check_total\ncheck_total: check_total.c\n"},
            {"path": "check_total", "build": "make CC=whence-cc"},
        ),
        (
            {"tests/test_total.c": "#include <cmocka.h>\n", "Makefile": "all: x\ntests/test_total: x.o\n"},
            {"path": "tests/test_total", "build": "make CC=whence-cc"},
        ),
    ],
)
def test_tests_of_a_framework_are_cases_each(make, files, program):
    found = tomllib.loads(configuration(survey(make(**files))))
    assert (found["program"], found["cases"]) == (program, {"tests": "*"})
    folder = make()
    assert "in it" in write_configuration(folder)[2]
    assert read_config(folder).cases.tests == "*"


def test_a_program_that_holds_tests_is_the_program(tmp_path):
    built = build_sources(write_sources(tmp_path / "deep/down", "unity"), [], tmp_path / "deep/down/built")
    shutil.copy2("/bin/true", tmp_path / "total")
    (tmp_path / "Makefile").write_text("check:\n")
    shutil.copy2(built, tmp_path / "run")
    text = configuration(survey(tmp_path))
    found = tomllib.loads(text)
    assert (found["program"]["path"], found["cases"]) == ("run", {"tests": "*"})
    assert "# other executables: total" in text


@pytest.mark.parametrize(
    "files",
    [
        TESTED | {"Makefile": "check:\n\t./run\n"},
        TESTED | {"cases.txt": "1\n"},
        TESTED | {"tests/one/out": ""},
    ],
)
def test_what_describes_cases_better_comes_before_tests_of_a_framework(make, files):
    assert "tests" not in tomllib.loads(configuration(survey(make(**files))))["cases"]


def test_the_program_is_one_that_a_test_runner_starts(make):
    folder = make(**{"calc.c": "", "build/aid": ELF, "build/sums": ELF})
    (folder / "build/CTestTestfile.cmake").write_text(f'add_test(all "{folder}/build/sums")\n')
    assert survey(folder).executables == ["build/sums", "build/aid"]
