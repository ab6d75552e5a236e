"""Test suites as ``whence init`` finds them: each kind's tests are run one by one, and taken apart."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli_tool import subject_folder, write
from whence.build.quick import build_sources
from whence.cli.init import write_configuration
from whence.run.config import read_config
from whence.run.sandbox import PINNED
from whence.subject.capture import captured_cases
from whence.subject.captured_cases import CapturedCases
from whence.subject.subject import built_from_config

PROGRAM = r"""
#include <stdio.h>
int main(int argc, char **argv)
{
    int sum = 0, value;
    while (scanf("%d", &value) == 1)
        sum += value > 0 ? value : 0;
    printf("%d\n", sum);
    return argc > 5;
}
"""
# What Automake makes of `TESTS = $(T)`, as far as it matters here.
AUTOMAKE = r"""
T = sum.sh negative.sh silent.sh
TESTS = $(T)
SUBDIRS = sub
abs_top_builddir = {folder}
check: check-recursive
check-recursive:
	@for d in $(SUBDIRS); do echo "there is no $$d"; exit 1; done; $(MAKE) check-am
check-am: check-TESTS
check-TESTS:
	@for t in $(TESTS); do PATH=$(abs_top_builddir):$$PATH sh ./$$t >$${t%.*}.log 2>&1 || exit 1; done
"""
SUM = "test \"$(printf '1 2' | {tool})\" = 3"
NEGATIVE = "set -e; printf '3 -2' | {tool} >out; echo 1 | cmp - out"


def suite(name: str, **files: str) -> Path:
    """A folder with the program and these files, empty before."""
    folder = subject_folder(f"found-suite-{name}")
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in {"tool.c": PROGRAM, **files}.items():
        write(folder / path, text.replace("{folder}", str(folder)))
    shutil.copy2(build_sources([folder / "tool.c"], [], folder / "built"), folder / "tool")
    return folder


def captured(folder: Path) -> CapturedCases:
    """The cases captured by the configuration that ``whence init`` writes, without its command that builds."""
    write_configuration(folder)
    text = (folder / "whence.toml").read_text()
    kept = [line for line in text.splitlines() if not line.startswith(("build", "path"))]
    (folder / "whence.toml").write_text("\n".join(kept).replace("[program]", '[program]\npath = "tool"'))
    config = read_config(folder)
    return captured_cases(built_from_config(config), config)


def check(found: CapturedCases) -> None:
    """One test passes; one fails, and its comparison tells what is right."""
    assert (len(found.cases), found.failing) == (2, 1)
    outputs = [case.expected.stdout for case in found.cases if case.expected is not None]
    assert sorted(outputs, key=str) == [b"1\n", b"3\n"]


def test_scripts() -> None:
    tests = {"tests/sum.sh": SUM.format(tool="./tool"), "tests/negative.sh": NEGATIVE.format(tool="./tool")}
    check(captured(suite("scripts", **tests)))


def test_tap() -> None:
    report = "if ({}); then echo ok 1; else echo not ok 1; fi; echo 1..1\n"
    tests = {f"t/{n}.t": report.format(text.format(tool="./tool")) for n, text in enumerate((SUM, NEGATIVE))}
    check(captured(suite("tap", **tests)))


def test_automake() -> None:
    tests = {"sum.sh": SUM.format(tool="tool"), "negative.sh": NEGATIVE.format(tool="tool")}
    folder = suite("automake", Makefile=AUTOMAKE, **tests, **{"silent.sh": "echo FAIL: sums"})
    check(captured(folder))
    command = (read_config(folder).cases.command or "").replace("{name}", "silent.sh")
    done = subprocess.run(["sh", "-c", command], cwd=folder, check=True, capture_output=True, text=True)
    assert "FAIL: sums" in done.stdout  # from which a missing failure is told


# What Autotest makes of two tests, as far as it matters here: their list, and one of them by its number.
AUTOTEST = """
if test "$1" = --list; then
  printf ' NUM: FILE-NAME:LINE     TEST-GROUP-NAME\\n\\n   1: sum.at:3   sums\\n      sums\\n'
  printf '   2: sum.at:9   negative\\n'
elif test "$1" = 1; then
  {sum}
else
  {negative}
fi
"""


def test_autotest() -> None:
    script = AUTOTEST.format(sum=SUM.format(tool="../tool"), negative=NEGATIVE.format(tool="../tool"))
    folder = suite("autotest", **{"tests/atconfig": "", "tests/Makefile": "check:\n\t./testsuite $(TESTSUITEFLAGS)\n"})
    write(folder / "tests/testsuite", "#!/bin/sh\n" + script).chmod(0o755)
    check(captured(folder))


@pytest.mark.skipif(shutil.which("ctest") is None, reason="no CTest here")
def test_ctest_by_absolute_paths() -> None:
    lists = """
    cmake_minimum_required(VERSION 3.10)
    project(tool NONE)
    enable_testing()
    add_test(NAME sum COMMAND sh {folder}/sum.sh)
    add_test(NAME negative COMMAND sh {folder}/negative.sh)
    """
    tests = {"sum.sh": SUM.format(tool="{folder}/tool"), "negative.sh": NEGATIVE.format(tool="{folder}/tool")}
    folder = suite("ctest", **{"CMakeLists.txt": lists}, **tests)
    subprocess.run(["cmake", "-S", ".", "-B", "build"], cwd=folder, check=True, capture_output=True)
    check(captured(folder))
    assert not (folder / "build" / "out").exists()


# Writes what a test framework would: a report of all tests, whichever is asked for.
FRAMEWORK = """
say() { if (eval "$2"); then echo "<testcase name='$1'/>"; else echo "<testcase name='$1'><failure/></testcase>"; fi; }
{ echo "<testsuite>"; say sum {sum}; say negative {negative}; echo "</testsuite>"; } >"$1"
"""


def test_junit() -> None:
    script = FRAMEWORK.replace("{sum}", shlex.quote(SUM.format(tool="./tool")))
    script = script.replace("{negative}", shlex.quote(NEGATIVE.format(tool="./tool")))
    folder = suite("junit", **{"all.sh": script})
    cases = ["command = 'sh all.sh out.xml'", "verdict = 'junit'", "report = 'out.xml'", "capture = true"]
    cases.append("names_from = 'sh all.sh /dev/stderr 2>&1'")
    write(folder / "whence.toml", "\n".join(["[program]", "path = 'tool'", "[cases]", *cases]))
    config = read_config(folder)
    subject = built_from_config(config)
    assert [case.name for case in subject.cases] == ["sum", "negative"]
    found = captured_cases(subject, config)
    assert found.failing == 1


@pytest.mark.skipif(shutil.which("ninja") is None, reason="Meson needs ninja")
def test_meson() -> None:
    """Each of Meson's tests is run without it: its arguments, environment and folder are those of the copy."""
    lists = """
    project('tool')
    sh = find_program('sh')
    tool = '{folder}/tool'
    test('sum', sh, args: [files('sum.sh')], env: ['TOOL=' + tool], workdir: meson.current_source_dir())
    test('all negative', sh, args: ['-e', files('negative.sh'), tool])
    """
    tests = {"sum.sh": SUM.format(tool="$TOOL"), "negative.sh": NEGATIVE.format(tool="$1")}
    folder = suite("meson", **{"meson.build": lists.replace("\n    ", "\n")}, **tests)
    subprocess.run([sys.executable, "-m", "mesonbuild.mesonmain", "setup", "build"], cwd=folder, check=True)
    check(captured(folder))
    assert not (folder / "build" / "out").exists()


def test_pytest() -> None:
    words = ["env", "-i", f"PATH={PINNED['PATH']}", "python3", "-m", "pytest", "--version"]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("no pytest in the fixed search path")
    test = """
    import subprocess
    def test_sum():
        assert subprocess.run(["./tool"], input=b"1 2", stdout=subprocess.PIPE).stdout == b"3\\n"
    """
    found = captured(suite("pytest", **{"tests/test_tool.py": test.replace("\n    ", "\n")}))
    assert [case.name for case in found.cases] == ["tests/test_tool.py::test_sum:1"]
