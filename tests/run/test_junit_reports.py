"""Verdicts of test suites in JUnit XML."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from whence.run.junit_reports import junit_names, junit_verdict, printing_reports
from whence.run.verdicts import Verdict

REPORT = b"""noise before
<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="sums">
<testcase classname="sums" name="small" time="0.1"/>
<testcase classname="sums" name="large"><failure message="3 for 4&#10;more">text</failure></testcase>
<testcase name="none"><skipped/></testcase>
</testsuite></testsuites>
noise behind
"""
OTHER = b'<testsuite name="b"><testcase name="broken"><error>\nno memory\nin b</error></testcase></testsuite>\n'


@pytest.mark.parametrize(
    "output, name, status, verdict, text",
    [
        (REPORT, "all", 0, Verdict.FAIL, "1 of 3 tests failed: large: 3 for 4"),
        (REPORT, "small", 1, Verdict.PASS, ""),
        (REPORT, "sums.large", 0, Verdict.FAIL, "1 of 1 tests failed: large: 3 for 4"),
        (REPORT, "none", 0, Verdict.SKIP, "skipped"),
        (
            REPORT + OTHER + OTHER,
            "broken",
            0,
            Verdict.FAIL,
            "2 of 2 tests failed: broken: no memory; broken: no memory",
        ),
        (b"<testsuite/>", "all", 0, Verdict.PASS, ""),
        (b"<testsuite/>", "all", 2, Verdict.FAIL, "exit status 2"),
        (b"no report", "all", 2, Verdict.FAIL, "exit status 2"),
    ],
)
def test_verdict(output: bytes, name: str, status: int, verdict: Verdict, text: str) -> None:
    assert junit_verdict(output, name, status) == (verdict, text)


def test_a_report_that_breaks_off() -> None:
    verdict, text = junit_verdict(b"<testsuite><testcase></testsuite>", "all", 0)
    assert verdict is Verdict.FAIL and text.startswith("its JUnit report cannot be read")


def test_names() -> None:
    assert junit_names(REPORT + OTHER) == ["small", "large", "none", "broken"]


def test_a_report_of_an_earlier_run_is_not_taken(tmp_path: Path) -> None:
    """Reports are those that the command has made; its status stays."""
    (tmp_path / "old.xml").write_text("old")
    command = printing_reports("cd /; exit 3", "*.xml")
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stdout) == (3, b"")
    command = printing_reports("echo new >new.xml", "*.xml")
    assert subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, check=True).stdout == b"new\n"
