"""Verdicts that test suites write as JUnit XML, in files that the command of a case prints after it has run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whence.run.verdicts import Verdict

DECLARATION = re.compile(rb"<\?xml\b[^>]*\?>")
BEGIN, END = re.compile(rb"<testsuites?\b"), re.compile(rb"</testsuites?\s*>|<testsuites?\b[^<>]*/>")
WRONG, SKIPPED = ("failure", "error"), "skipped"


@dataclass(frozen=True)
class TestCase:
    """One test of a report: its names, from the shortest on, and what it says of itself."""

    __test__ = False  # pytest takes it for tests of its own

    names: tuple[str, ...]
    verdict: Verdict
    message: str = ""


def junit_verdict(output: bytes, name: str, status: int) -> tuple[Verdict, str]:
    """Return the verdict of the tests called ``name`` in the reports of an output, or else of all of them.

    Where there is no test, or ``status`` tells of an error that none of them does, it decides.
    """
    try:
        tests = list(_tests(output))
    except SyntaxError as error:
        return Verdict.FAIL, f"its JUnit report cannot be read: {error}"
    named = [test for test in tests if name in test.names]
    chosen = named or tests
    failed = [test for test in chosen if test.verdict is Verdict.FAIL]
    if failed:
        told = "; ".join(": ".join(filter(None, (test.names[0], test.message))) for test in failed[:3])
        return Verdict.FAIL, f"{len(failed)} of {len(chosen)} tests failed: {told}"
    if status and not named:
        return Verdict.FAIL, f"exit status {status}"
    if chosen and all(test.verdict is Verdict.SKIP for test in chosen):
        return Verdict.SKIP, "skipped"
    return Verdict.PASS, ""


def junit_names(output: bytes) -> list[str]:
    """Return the names of the tests in the reports of an output, in order. Raises SyntaxError where one is no XML."""
    return [test.names[0] for test in _tests(output)]


def printing_reports(command: str, pattern: str) -> str:
    """A shell command that does the same, and prints those files that match ``pattern`` (the shell's) then."""
    return f"rm -f -- {pattern}\n( {command}\n)\nstatus=$?\ncat -- {pattern}\nexit $status"


def _tests(output: bytes) -> Iterator[TestCase]:
    from xml.etree import ElementTree

    for part in DECLARATION.split(output):
        begin, ends = BEGIN.search(part), list(END.finditer(part))
        if begin is None or not ends:
            continue
        reports = part[begin.start() : ends[-1].end()]
        for test in ElementTree.fromstring(b"<all>" + reports + b"</all>").iter("testcase"):
            name, group = test.get("name", ""), test.get("classname", "")
            wrong = next((found for kind in WRONG if (found := test.find(kind)) is not None), None)
            skipped = test.find(SKIPPED) is not None
            verdict = Verdict.SKIP if skipped else Verdict.PASS if wrong is None else Verdict.FAIL
            yield TestCase((name, f"{group}.{name}", f"{group}::{name}"), verdict, _message(wrong))


def _message(wrong: object) -> str:
    """The first line of what a failed test says."""
    from xml.etree.ElementTree import Element

    if not isinstance(wrong, Element):
        return ""
    lines = (wrong.get("message") or wrong.text or "").strip().splitlines()
    return lines[0] if lines else ""
