"""Checks that passed in a failing test program: what each of them executed counts as passing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import whence
from tests.support.clamp_library import CLAMP, TWICE
from whence.findings import Findings, Statement
from whence.investigation.investigation import Investigation
from whence.subject.coverage import OtherRun
from whence.subject.suspiciousness import rank_by_coverage

LIBRARY = CLAMP + TWICE + "int below(int value)\n{\n    return value - 1;\n}\n"
TESTS = {
    "asserts": """
        #include <assert.h>
        int main(void)
        {
            assert(twice(3) == 6);
            assert(below(4) == 3);
            assert(clamp(3, 5) == 3);
            assert(clamp(9, 5) == 5);
            assert(clamp(8, 5) == 5);
        }""",
    "counts": """
        #include <stdio.h>
        static int errors;
        static void check(int is_right, const char *what)
        {
            if (!is_right) {
                printf("FAIL %s\\n", what);
                errors++;
            }
        }
        int main(void)
        {
            check(twice(3) == 6, "twice");
            check(below(4) == 3, "below");
            check(clamp(3, 5) == 3, "in range");
            check(clamp(9, 5) == 5, "above");
            return errors != 0;
        }""",
    "prints": """
        #include <stdio.h>
        static struct test { const char *name; int failed; } tests[4];
        static struct test *current;
        static void check(int is_right)
        {
            if (!is_right)
                current->failed = 1;
        }
        static void first(void) { check(twice(3) == 6); check(below(4) == 3); }
        static void second(void) { check(clamp(3, 5) == 3); check(clamp(9, 5) == 5); }
        int main(void)
        {
            void (*functions[])(void) = {first, second};
            for (int i = 0; i < 2; i++) {
                current = &tests[i];
                functions[i]();
                if (current->failed)
                    printf("[FAIL] %d\\n", i);
                else
                    printf("[ OK ] %d\\n", i);
            }
            return 0;
        }""",
    "statuses": """
        static int test_first(void)
        {
            if (twice(3) != 6)
                return 1;
            return below(4) != 3;
        }
        static int test_clamp(void)
        {
            if (clamp(3, 5) != 3)
                return 1;
            if (clamp(9, 5) != 5)
                return 1;
            return 0;
        }
        int main(void)
        {
            if (test_first())
                return 1;
            if (test_clamp())
                return 2;
            return 0;
        }""",
    "table": """
        #include <stdio.h>
        #include <stdlib.h>
        static void die(const char *why)
        {
            fprintf(stderr, "%s\\n", why);
            exit(3);
        }
        static const struct { int (*function)(int); int given, wanted; } known[] = {{twice, 3, 6}, {below, 4, 3}};
        int main(void)
        {
            for (int i = 0; i < 2; i++)
                if (known[i].function(known[i].given) != known[i].wanted)
                    die("table");
            if (clamp(3, 5) != 3)
                die("in range");
            if (clamp(9, 5) != 5)
                die("above");
        }""",
}
FAULT = Statement("lib.c", 4)


class Checks:
    """Takes the checks of the failing run; what the coverage says with them is the ranking."""

    def run(self, investigation: Investigation) -> Findings:
        """The ranking by Op2."""
        _, recording = investigation.record_failing(investigation.failing_rows())
        investigation.take_checks(recording)
        self.found = list(investigation.checks)
        self.totals = investigation.coverage.case_totals()
        self.told = investigation.told_of_checks
        return Findings("checks", "test", rank_by_coverage(investigation.coverage, "op2"))


def checked(folder: Path, test: str, passes: list[str] | None = None) -> tuple[Checks, Findings]:
    """The checks of a test program, and the ranking with them."""
    (folder / "lib.c").write_text(LIBRARY)
    (folder / "test.c").write_text("int clamp(int, int), twice(int), below(int);\n" + test)
    checks = Checks()
    sources = [str(folder / name) for name in ("test.c", "lib.c")]
    with whence.open_sources(sources, fails=[("", None)], passes=passes or []) as project:
        return checks, project.find(checks)


def library_lines(check: OtherRun) -> set[int]:
    """The library's lines that a check executed."""
    return {s.line for site in check.executed for s in site.statements if s.file == "lib.c"}


@pytest.mark.parametrize("name", [name for name in TESTS if name != "prints"])
def test_what_led_to_checks_that_passed_counts_as_passing(tmp_path: Path, name: str) -> None:
    checks, findings = checked(tmp_path, TESTS[name])
    lines = [library_lines(check) for check in checks.found]
    assert lines == ([{9, 13}, {3, 5}] if name == "statuses" else [{9}, {13}, {3, 5}])
    suspects = {entry.statement: entry.rank for entry in findings.ranking if entry.statement.file == "lib.c"}
    assert suspects[FAULT] == 1
    assert all(rank > 1 for statement, rank in suspects.items() if statement != FAULT)


def test_checks_are_no_cases(tmp_path: Path) -> None:
    checks, findings = checked(tmp_path, TESTS["asserts"])
    assert checks.totals["passed"] == 0 and checks.totals["failed"] == 1
    assert checks.told == [
        "3 checks of the failing run passed: what each of them executed counts as passing in the spectrum"
    ]
    texts = {entry.statement: entry.evidence["text"] for entry in findings.ranking}
    assert texts[FAULT] == "executed by 1 of 1 failing cases and none of 3 passing checks"
    assert texts[Statement("lib.c", 9)] == "executed by 1 of 1 failing cases and 1 of 3 passing checks"


def test_checks_that_failed_are_not_among_them(tmp_path: Path) -> None:
    test = TESTS["counts"].replace('check(below(4) == 3, "below");', 'check(clamp(7, 5) == 5, "seven");')
    checks, _ = checked(tmp_path, test)
    assert [library_lines(check) for check in checks.found] == [{9}, {3, 5}]


def test_checks_behind_one_that_failed_count_too(tmp_path: Path) -> None:
    test = TESTS["counts"].replace(
        "return errors", 'check(below(7) + twice(1) == 8, "both");\n            return errors'
    )
    checks, _ = checked(tmp_path, test)
    assert [library_lines(check) for check in checks.found] == [{9}, {13}, {3, 5}, {9, 13}]


def test_what_is_printed_tells_of_checks(tmp_path: Path) -> None:
    """The program ends with status 0, and what it prints says that it failed."""
    (tmp_path / "lib.c").write_text(LIBRARY)
    (tmp_path / "test.c").write_text("int clamp(int, int), twice(int), below(int);\n" + TESTS["prints"])
    checks = Checks()
    with whence.open_sources([str(tmp_path / name) for name in ("test.c", "lib.c")], fails=[("", None)]) as project:
        cases = [replace(case, failing_output="FAIL") for case in project.investigation.subject.cases]
        project.investigation.with_cases(cases)
        symptom = project.locate(budget=10).symptom
        findings = project.find(checks)
    assert symptom is not None and symptom.details["label"] == "printed that it failed"
    assert [lines for check in checks.found if (lines := library_lines(check))] == [{9}, {13}, {3, 5}]
    suspects = {entry.statement: entry.rank for entry in findings.ranking if entry.statement.file == "lib.c"}
    assert [statement for statement, rank in suspects.items() if rank == 1] == [FAULT]


def test_a_run_without_checks_has_none(tmp_path: Path) -> None:
    checks, _ = checked(tmp_path, "int main(void) { return clamp(9, 5) - 5; }")
    assert checks.found == [] and checks.told == []


def test_where_enough_cases_pass_checks_do_not_count(tmp_path: Path) -> None:
    test = "#include <assert.h>\nint main(int count, char **words) { assert(twice(1) == 2); assert(count > 1); }"
    checks, _ = checked(tmp_path, test, ["a", "b", "c"])
    assert checks.found == [] and checks.totals["passed"] == 3
