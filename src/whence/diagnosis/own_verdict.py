"""Code of a test program, whose own status says that it failed: it says what is right, and comes last in the ranking.

Where a test program checks the functions of a library, its checks are where each failure shows, and changing one of
them makes the program pass. That repairs nothing. So the statements of its source files stand behind those of the code
that they test.
"""

from __future__ import annotations

from collections.abc import Iterable

from whence.diagnosis.combined_ranking import put_last
from whence.findings import Findings
from whence.subject.code_of_tests import is_test_code, modules_of_tests
from whence.subject.runs import Tested
from whence.subject.subject import Subject

NAMED = 3  # files


def files_of_tests(subject: Subject, failing: Iterable[Tested]) -> set[str]:
    """The source files and headers of a test program, where its own status alone says that it fails.

    None where ``main`` is not in such a file, or nothing else was captured.
    """
    if any(one.case.expected is not None and one.case.expected.stdout is not None for one in failing):
        return set()
    numbers = modules_of_tests(subject)
    if not numbers or len(numbers) == len(subject.capture.modules):
        return set()
    own = {subject.places.name(subject.capture.modules[number].source) for number in numbers}
    return own | {name for name in {statement.file for statement in subject.places.statements} if is_test_code(name)}


def others_first(findings: Findings, last: set[str]) -> Findings:
    """The findings with the statements of some files behind all others, and without rules that change these files."""
    found = put_last(findings, lambda entry: entry.statement.file in last)
    if found is not findings and "rules" in found.parts:
        found.parts["rules"] = [rule for rule in found.parts["rules"] if rule["file"] not in last]
    return found


def told_of(findings: Findings, last: set[str]) -> list[str]:
    """What is said of files whose statements stand behind all others: a sentence, or none."""
    return _told("test code stands behind all that it tests", findings, last)


def told_unchanged(findings: Findings, without: set[str]) -> list[str]:
    """What is said of files in which no edit is tried: a sentence, or none."""
    return _told("no edit of test code is tried, which says what is right", findings, without)


def _told(what: str, findings: Findings, files: set[str]) -> list[str]:
    named = sorted({entry.statement.file for entry in findings.ranking} & files)
    if not named:
        return []
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return [f"{what}: {', '.join(named[:NAMED])}{more}"]
