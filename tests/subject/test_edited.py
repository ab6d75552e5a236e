"""An edited source, compiled as the user compiles it and run on all cases."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from cli_tool import subject_folder

from whence.build.edited import Rebuild
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.edited import NO_TIME, Check, Checks, Edit, Editing
from whence.subject.runs import Runs, run_all
from whence.subject.subject import Subject, subject_from_sources

COUNT = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int sum = 0 * (1 << (atoi(argv[1]) + 20));
    for (int i = 0; i < atoi(argv[1]); i++)
        sum += 2;
    printf("%d\\n", sum);
    return 0;
}
"""
PRINT = 'printf("%d\\n", sum);'
LOOP = "for (int i = 0; i < atoi(argv[1]); i++)"
SECONDS = 3.0


@pytest.fixture(scope="module")
def counted() -> tuple[Subject, Runs]:
    """A program that forgets the odd ones, and twelve cases, half of which it fails."""
    folder = subject_folder("edited", count_c=COUNT)
    cases = [Case(str(n), (str(n),), expected=Expected(f"{n * 2 + n % 2}\n".encode())) for n in range(1, 13)]
    subject = subject_from_sources([folder / "count.c"], [], cases, replace(DEFAULT_LIMITS, time=60.0))
    return subject, run_all(subject)


def test_an_edit_is_run_on_all_cases(counted):
    subject, runs = counted
    odd = PRINT.replace("sum);", "sum + atoi(argv[1]) % 2);")
    with Editing(subject, runs, time.monotonic() + 60) as editing:
        (tried,) = editing.all([Edit("count.c", 8, PRINT, odd)])
    assert not tried.trouble and len(tried.repaired) == 6 and not tried.broken and tried.ran == 12


def test_what_is_changed_is_compiled_once_and_other_modules_once_for_all(tmp_path, monkeypatch):
    """The build's objects may be gone: of the changed module the old one is not needed."""
    helper = "int twice(int n) { return 2 * n; }\n"
    folder = subject_folder("edited-modules", count_c=COUNT, helper_c=helper)
    subject = subject_from_sources([folder / "count.c", folder / "helper.c"], [], [Case("1", ("1",))], DEFAULT_LIMITS)
    compiled = []
    compile_ = Rebuild._compile

    def counting(self, module, *rest, **more):
        compiled.append(Path(module.source).name)
        compile_(self, module, *rest, **more)

    monkeypatch.setattr(Rebuild, "_compile", counting)
    monkeypatch.setattr(Rebuild, "_built", lambda self: iter(()))
    rebuild = Rebuild(subject.capture, tmp_path)
    for name in ("one", "other"):
        rebuild.build(folder / "count.c", COUNT.replace("+= 2", "+= 3").encode(), name)
    assert compiled == ["count.c", "helper.c", "count.c"]


def test_endless_edits_end_with_the_time(counted):
    """Each of the cases could take all the time that is left; together they may not take more."""
    subject, runs = counted
    began = time.monotonic()
    with Editing(subject, runs, began + SECONDS) as editing:
        (tried,) = editing.all([Edit("count.c", 6, LOOP, LOOP.replace("i++", "i += 0"))])
    assert tried.trouble == NO_TIME
    assert time.monotonic() - began < 2 * SECONDS + 2


def test_what_traps_end_is_told_but_not_what_they_end_without_the_edit(counted):
    subject, runs = counted
    texts = [("count.c", text.encode()) for text in (COUNT.replace("+= 2", "+= 3"), COUNT.replace("+ 20", "+ 22"))]
    with Editing(subject, runs, time.monotonic() + 60) as editing:
        plain = editing.texts(texts)
        same, wrong = editing.trapped(texts, plain)
    assert same == Check(11, 11, before="`12` fails where arithmetic and bounds are checked")
    assert wrong.found == "`10` fails where arithmetic and bounds are checked"


def test_what_the_compiler_warns_of_without_an_edit_as_well_counts_for_nothing(counted):
    subject, _ = counted
    doubtful = "int n; if (n == n) n = 0;"
    old = COUNT.replace("int main(", f"void f(void) {{ {doubtful} }}\nint main(")
    folder = subject_folder("edited-warned", count_c=old)
    other = subject_from_sources([folder / "count.c"], [], subject.cases, subject.limits)
    with Editing(other, run_all(other), time.monotonic() + 60) as editing:
        assert editing.warned([("count.c", old.replace("+= 2", "+= 3").encode())]) == [""]
        more = old.replace("int main(", "int g(int n) { return n / 0; }\nint main(")
        assert editing.warned([("count.c", more.encode())]) == ["division by zero is undefined"]


CLEAN, WRONG = Check(4, 4), Check(1, 4, "`one` has a write beyond `name` at a.c:3")


def test_what_is_wrong_without_an_edit_as_well_is_said_and_counts_for_nothing():
    checks = Checks(CLEAN, replace(CLEAN, before="`two` has a read of `x` at a.c:4"))
    assert checks.is_clean and checks.words == (
        "nothing wrong with arithmetic and bounds in 4 runs; "
        "with memory in 4 runs nothing but what is wrong without it, too: `two` has a read of `x` at a.c:4"
    )


@pytest.mark.parametrize(
    ("memory", "is_clean", "words"),
    [
        (CLEAN, True, "nothing wrong with arithmetic and bounds in 4 runs and memory in 4 runs"),
        (WRONG, False, f"but {WRONG.found}; nothing wrong with arithmetic and bounds in 4 runs"),
        (
            Check(2, 4, "", "no time"),
            None,
            "nothing wrong with arithmetic and bounds in 4 runs; "
            "not checked: memory (2 of 4 runs are clean, but no time)",
        ),
    ],
)
def test_what_was_checked_and_what_was_not_is_told_apart(memory: Check, is_clean: bool | None, words: str):
    checks = Checks(CLEAN, memory)
    assert checks.is_clean is is_clean and checks.words == words
    assert checks.doubt >= Checks(CLEAN, CLEAN).doubt and Checks(CLEAN, WRONG).doubt >= checks.doubt


def test_a_warning_speaks_against_an_edit():
    checks = Checks(CLEAN, CLEAN, "division by zero is undefined")
    assert checks.is_clean is False and checks.found == "the compiler warns of it: division by zero is undefined"
    assert (
        checks.words == f"but {checks.found}; nothing wrong with arithmetic and bounds in 4 runs and memory in 4 runs"
    )
    assert Checks(CLEAN, WRONG, "x").found == WRONG.found and Checks(CLEAN, CLEAN).found == ""


def test_texts_that_do_the_same_have_the_same_code(counted):
    subject, runs = counted
    texts = [
        COUNT,
        COUNT.replace("sum += 2", "sum = 2 + sum"),
        COUNT.replace("+= 2", "+= 3"),
        COUNT.replace("sum", "("),
    ]
    with Editing(subject, runs, time.monotonic() + 60) as editing:
        plain, same, other, broken = editing.codes([("count.c", text.encode()) for text in texts])
    assert plain is not None and plain == same and other not in (None, plain) and broken is None
