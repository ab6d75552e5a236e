"""``whence ci``: all cases are run, what fails is located, and logs are left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_tool import Done, subject_folder, whence, write

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static int table[4] = {1, 2, 3, 4};
static int total(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 4 == 3 ? 3 : table[i % 4];
    return sum;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n < 0)
        abort();
    printf("%d\\n", total(n));
    return 0;
}
"""
RIGHT = PROGRAM.replace("i % 4 == 3 ? 3 : table[i % 4]", "table[i % 4]")
CASES = {"-1": "0", "1": "1", "2": "3", "3": "6", "4": "10", "8": "20"}
WRITTEN = ("--sarif", "out/found.sarif", "--junit", "out/cases.xml", "--summary", "out/summary.md")


def project(name: str, program: str = PROGRAM, cases: dict[str, str] = CASES) -> Path:
    folder = subject_folder(f"ci-{name}", total_c=program)
    for words, right in cases.items():
        write(folder / f"cases/{words}/args", words)
        write(folder / f"cases/{words}/expected", f"{right}\n")
    write(folder / "whence.toml", '[program]\nsources = ["*.c"]\n[cases]\nfolder = "cases"\n')
    return folder


@pytest.fixture(scope="module")
def failing() -> tuple[Path, Done]:
    folder = project("failing")
    return folder, whence(folder, "ci", *WRITTEN)


def test_each_way_to_fail_is_a_failure_that_is_located(failing: tuple[Path, Done]) -> None:
    _, done = failing
    assert done.status == 1 and done.out.startswith("./total: 6 cases, 3 failing\n")
    first, second = done.out.split("\nfailure ")[1:]
    assert first.startswith("1 of 2: 4, 8\n") and "1. total.c:8  sum += i % 4 == 3" in first
    assert second.startswith("2 of 2: -1\n") and "total.c:15  abort();" in second


def test_logs_hold_what_was_found(failing: tuple[Path, Done]) -> None:
    out = failing[0] / "out"
    results = json.loads((out / "found.sarif").read_text())["runs"][0]["results"]
    assert [one["message"]["text"].partition(":")[0] for one in results if one["ruleId"] == "failure"] == ["4, 8", "-1"]
    suspect = next(one for one in results if one["ruleId"] == "suspect")
    assert suspect["locations"][0]["physicalLocation"]["region"]["startLine"] == 8
    suite = ElementTree.parse(out / "cases.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("6", "3")
    assert (out / "summary.md").read_text().startswith("# <code>./total</code>: 3 of 6 cases fail\n")


def test_where_all_pass_the_logs_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    folder = project("passing", RIGHT, {"3": "6", "4": "10"})
    done = whence(folder, "ci", "--sarif", "found.sarif")
    assert done.status == 0 and done.out == "./total: 2 cases, none failing\n"
    assert json.loads((folder / "found.sarif").read_text())["runs"][0]["results"] == []
    assert (tmp_path / "step.md").read_text() == "# <code>./total</code>: all pass\n"


def test_failures_beyond_those_that_are_wanted_are_named() -> None:
    done = whence(project("few"), "ci", "--failures", "0")
    assert done.status == 1 and "not located: 4, 8\nnot located: -1\n" in done.out


def test_what_was_changed_since_a_version_and_is_needed_comes_first() -> None:
    folder = project("since", RIGHT, {"3": "6", "8": "20"})
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "then")
    write(folder / "total.c", PROGRAM.replace("int n = atoi(argv[1]);", "int n = (int)strtol(argv[1], NULL, 10);"))
    done = whence(folder, "ci", "--since", "HEAD", "--summary", "summary.md")
    assert "1. total.c:8" in done.out and "changed since HEAD: this change alone makes `8` fail" in done.out
    assert "  needed of 2 changes since HEAD: total.c:8\n" in done.out
    assert "Needed for the failure, 1 of 2 changes since <code>HEAD</code>:" in (folder / "summary.md").read_text()


def test_an_interrupt_leaves_what_was_found() -> None:
    folder = project("interrupted")
    whence(folder, "ci", "--failures", "0")  # built
    words = [Path(sys.executable).with_name("whence"), "ci", "--sarif", "found.sarif"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("failure 1"):
            break
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and "not located: -1" in out
    assert json.loads((folder / "found.sarif").read_text())["version"] == "2.1.0"


def git(folder: Path, *words: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True)


def test_a_revision_that_there_is_not_is_refused() -> None:
    folder = project("norev")
    git(folder, "init", "-q")
    for since in ("v9", "--output=written", "v8..v9"):
        for words in (("locate", "--case", "8"), ("ci",)):
            done = whence(folder, *words, "--since", since)
            assert done.status == 2 and "git cannot tell what was changed" in done.err
    assert not (folder / "written").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "there is no whence.toml here"),
        (("-C", "nowhere"), "there is no whence.toml in nowhere"),
        (("--budget", "soon"), "'soon' is no time"),
    ],
)
def test_wrong_use_is_said(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = whence(tmp_path, "ci", *words)
    assert done.status == 2 and message in done.err


def test_a_log_that_cannot_be_written_is_said() -> None:
    folder = project("unwritten", RIGHT, {"3": "6", "4": "10"})
    done = whence(folder, "ci", "--sarif", "/proc/none/x.sarif")
    assert done.status == 2 and "cannot write /proc/none/x.sarif" in done.err
