"""Invocations captured from the tests of a suite: as cases that are run by themselves."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.cli_tool import subject_folder, write
from whence.errors import BuildError
from whence.run.cases import Case
from whence.run.config import SubjectConfig, read_config
from whence.run.oracle import judge
from whence.run.outcome import Expected
from whence.subject.capture import captured_cases, with_captured_cases
from whence.subject.captured_cases import CapturedCases
from whence.subject.runs import run_all
from whence.subject.subject import Subject, built_from_config

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* largest FILE | tell FILE | copy FROM TO | stamp FROM TO | where | list | crash | first */
int main(int argc, char **argv)
{
    char line[200];
    long value, best = 0;
    FILE *in = argc > 2 ? fopen(argv[2], "r") : stdin;
    if (!in)
        return 2;
    if (!strcmp(argv[1], "largest")) {
        while (fscanf(in, "%ld", &value) == 1)
            best = value > best ? value : best;
        printf("%ld\n", best);
    } else if (!strcmp(argv[1], "tell")) {
        while (fscanf(in, "%ld", &value) == 1)
            best = value > best ? value : best;
        printf("the largest is %ld\n", best);
    } else if (!strcmp(argv[1], "copy") || !strcmp(argv[1], "stamp")) {
        FILE *out = fopen(argv[3], "w");
        if (argv[1][0] == 's')
            fprintf(out, "%ld\n", (long)getpid() * 7919 % 99991);
        while (fgets(line, sizeof line, in))
            fputs(line, out);
        fclose(out);
    } else if (!strcmp(argv[1], "where"))
        printf("%s %s\n", getcwd(line, sizeof line), getenv("MODE"));
    else if (!strcmp(argv[1], "first"))
        printf("%d\n", (read(0, line, 1), *line));
    else if (!strcmp(argv[1], "pid"))
        printf("%ld\n", (long)getpid() * 7919 % 99991);
    else if (!strcmp(argv[1], "crash"))
        abort();
    return 0;
}
"""


def suite(name: str, settings: str = "", **tests: str) -> tuple[Subject, SubjectConfig]:
    """A program ``tool`` with tests, each a script in ``tests``."""
    folder = subject_folder(f"capture-{name}", tool_c=PROGRAM)
    shutil.rmtree(folder / "tests", ignore_errors=True)
    for test, script in tests.items():
        write(folder / "tests" / f"{test}.sh", script)
    lines = ['[program]\nsources = ["tool.c"]', "[cases]", 'command = "sh {name}"', 'scripts = "tests/*.sh"']
    write(folder / "whence.toml", "\n".join([*lines, "capture = true", settings]) + "\n")
    config = read_config(folder)
    return built_from_config(config), config


def run(subject: Subject, case: Case) -> bool:
    with subject.runner() as runner:
        return judge(case, runner.run_case(case)).passed


def named(captured: CapturedCases, name: str) -> Case:
    return next(case for case in captured.cases if case.name == name)


def test_arguments_input_files_folder_and_environment_are_those_of_the_test() -> None:
    subject, config = suite(
        "given",
        one="set -e; mkdir d; cd d; echo 5 9 >in; ../tool largest in; echo 3 | ../tool largest; MODE=x ../tool where",
    )
    captured = captured_cases(subject, config)
    first, second, third = captured.cases
    assert first.arguments == ("largest", "in") and first.place is not None and first.place.folder == "d"
    assert first.expected is not None and first.expected.stdout == b"9\n" and first.passed
    assert isinstance(second.stdin, Path) and second.stdin.read_bytes() == b"3\n"
    assert third.environment["MODE"] == "x"
    assert all(run(subject, case) for case in captured.cases)
    wrong = replace(first, expected=replace(first.expected, stdout=b"5\n"))
    assert not run(subject, wrong)


def test_a_file_is_captured_as_it_was_before_the_program_changed_it() -> None:
    subject, config = suite("before", one="set -e; echo 7 >a; echo 1 >b; ./tool copy b a; ./tool largest a; echo 3 >b")
    captured = captured_cases(subject, config)
    files = dict(named(captured, "tests/one.sh:1").files)
    assert files["a"].read_text() == "7\n" and files["b"].read_text() == "1\n"
    assert dict(named(captured, "tests/one.sh:2").files)["a"].read_text() == "1\n"


def test_no_more_of_a_pipe_is_taken_than_the_program_reads() -> None:
    script = "set -e; test \"$(printf 'abc' | (./tool first; cat))\" = '97\nbc'"
    captured = captured_cases(*suite("pipe", one=script))
    stdin = named(captured, "tests/one.sh:1").stdin
    assert isinstance(stdin, Path) and stdin.read_bytes() == b"a"


def test_the_file_that_a_failing_test_compares_with_is_what_is_right() -> None:
    script = "set -e; echo -4 -2 | ./tool largest >out; echo -2 >right; {judge} out right"
    for judge_words in ("cmp", "diff -u"):
        name = judge_words.split()[0]
        captured = captured_cases(*suite(f"judge-{name}", one=script.format(judge=judge_words)))
        assert captured.failing == 1
        case = named(captured, "tests/one.sh:1")
        assert case.expected is not None and case.expected.stdout == b"-2\n"


def test_the_file_that_a_failing_test_compares_a_written_one_with_is_what_is_right() -> None:
    """Its name is that in the suite's folder; a passing test vouches for what is left in it."""
    script = "set -e; mkdir d d/e; cd d; echo {} >in; echo {} >right; ../tool copy in e/out; cmp e/out right"
    subject, config = suite("written", bad=script.format(1, 2), good=script.format(3, 3))
    captured = captured_cases(subject, config)
    bad, good = (named(captured, f"tests/{name}.sh:1") for name in ("bad", "good"))
    assert bad.expected == Expected(None, None, 0, (("d/e/out", b"2\n"),))
    assert good.expected == Expected(b"", None, 0, (("d/e/out", b"3\n"),))
    assert captured.failing == 1 and not run(subject, bad) and run(subject, good)
    assert captured_cases(subject, config).cases == captured.cases


def test_a_written_file_that_is_another_one_each_time_is_not_compared() -> None:
    captured = captured_cases(*suite("stamped", one="echo 1 >in; ./tool stamp in out; ./tool copy in out"))
    assert [case.expected and case.expected.files for case in captured.cases] == [(), (("out", b"1\n"),)]


def test_a_reference_program_tells_which_files_are_right() -> None:
    test = "echo 1 >in; echo 2 >out; ./tool copy in out; test `cat out` = 2"  # it is there, and right, before
    _, config = suite("reference-files", bad=test)
    good = "#!/bin/sh\necho $$ >log; echo 2 >$3\n"
    write(config.folder / "good.sh", good).chmod(0o755)
    subject, config = suite("reference-files", settings='reference = "good.sh"', bad=test)
    captured = captured_cases(subject, config)
    assert captured.failing == 1
    expected = captured.cases[0].expected
    assert expected is not None and [name for name, _ in expected.unsteady] == ["log"]
    assert replace(expected, unsteady=()) == Expected(b"", b"", 0, (("out", b"2\n"),))
    assert captured_cases(subject, config).cases == captured.cases  # as they were kept


def test_outputs_are_compared_wherever_a_test_puts_them() -> None:
    script = "out=$(mktemp /tmp/whence-test.XXXXXX); echo -4 -2 | ./tool largest >$out; echo -2 >right; "
    captured = captured_cases(*suite("outside", one=script + "diff $out right; status=$?; rm $out; exit $status"))
    assert captured.failing == 1
    case = named(captured, "tests/one.sh:1")
    assert case.expected is not None and case.expected.stdout == b"-2\n"


def test_a_file_in_tmp_that_an_argument_names_lies_in_the_folder_of_its_case() -> None:
    place = "`mktemp /tmp/tmp.XXXXXX`"
    made = f"t={place}; o={place}; echo {{}} >$t; ./tool largest $t >$o; echo {{}} | cmp - $o; s=$?; rm $t $o; exit $s"
    subject, config = suite("outside", bad=made.format("-3", "-3"), good=made.format("5", "5"))
    captured = captured_cases(subject, config)
    assert (len(captured.cases), captured.failing) == (2, 1)
    case = named(captured, "tests/bad.sh:1")
    assert case.arguments[1].startswith("outside.0/tmp.") and not run(subject, case)
    assert run(subject, named(captured, "tests/good.sh:1"))


def test_a_crash_fails_in_a_failing_test_and_not_in_a_passing_one() -> None:
    subject, config = suite("crashes", bad="./tool crash tool.c", good="./tool crash; test $? = 134")
    captured = captured_cases(subject, config)
    assert captured.failing == 1
    assert not run(subject, named(captured, "tests/bad.sh:1"))
    assert run(subject, named(captured, "tests/good.sh:1"))


def test_a_crash_that_its_test_takes_no_notice_of_fails_where_nothing_else_does() -> None:
    subject, config = suite("unnoticed", bad="./tool crash tool.c; echo FAIL", good="echo 1 | ./tool largest")
    captured = captured_cases(subject, config)
    assert captured.failing == 1
    assert not run(subject, named(captured, "tests/bad.sh:1"))
    assert "`tests/bad.sh` passes, though the program crashed in it" in captured.remarks


def test_an_error_status_at_which_its_test_stops_is_wrong() -> None:
    """The program fails where a file is not there; `expected` wants that, and fails of something else."""
    bad = "set -e; echo 1 | ./tool largest; ./tool largest none; ./tool largest none; echo 2 | ./tool largest"
    expected = "./tool largest none; test $? = 2 && echo 3 | ./tool largest | grep -q 4"
    subject, config = suite("status", bad=bad, expected=expected, good="echo 1 | ./tool largest")
    captured = captured_cases(subject, config)
    assert captured.failing == 1
    case = named(captured, "tests/bad.sh:2")
    assert case.expected is not None and (case.expected.stdout, case.expected.status) == (None, 0)
    assert not run(subject, case)
    assert "expected.sh` fails, but which of its 2 invocations is wrong cannot be told" in "\n".join(captured.remarks)


def test_every_error_status_of_a_test_that_goes_on_is_found_and_the_others_are_vouched_for() -> None:
    """The program fails where a file is not there; of seven invocations five do, and one of these is meant to."""
    wants = "./tool largest {} >/dev/null; if test $? {} 0; then echo '{} unsuccessful'; ret=1; else echo fine; fi\n"
    files = [("none", "="), ("a", "="), ("none1", "="), ("none2", "="), ("a", "="), ("none3", "="), ("other", "!=")]
    checks = "".join(wants.format(file, "!=" if sign == "=" else "=", file) for file, sign in files)
    captured = captured_cases(*suite("goes-on", bad=f"echo 3 >a\n{checks}exit $ret"))
    assert (captured.failing, len(captured.cases)) == (4, 6)
    assert [case.arguments[1] for case in captured.cases] == ["none", "a", "none1", "none2", "none3", "other"]
    right = [case.expected and (case.expected.stdout, case.expected.status) for case in captured.cases]
    assert right == [(None, 0)] * 5 + [(None, 2)]  # nobody looked at the output


def test_a_status_that_its_test_wants_is_not_wrong_since_another_one_is_shown_as_a_difference() -> None:
    compare = "echo $? >status; echo 2 >right; cmp -s right status || { diff right status; failed=1; }"
    bad = f"./tool largest none; {compare}; test -z $failed; exit 1"
    subject, config = suite("wanted", bad=bad, good="echo 1 | ./tool largest")
    assert captured_cases(subject, config).failing == 0


def test_what_cannot_be_told_leaves_the_tests_as_cases_and_is_said() -> None:
    bad = 'echo -3 | ./tool largest >out; echo 4 | ./tool largest; test "$(cat out)" = -3'
    good = "echo 4 | ./tool largest"
    subject, config = suite("untold", aside="true", good=good, last=bad)
    found = with_captured_cases(subject, config)
    # Where time ends before all have been run, the failing one has been.
    assert [case.name for case in found.cases] == [f"tests/{name}.sh" for name in ("last", "good", "aside")]
    assert len(subject.cases) == 3
    said = "\n".join(found.remarks)
    assert "last.sh` fails, but which of its 2 invocations is wrong cannot be told" in said
    assert "no run is altered" in said
    assert with_captured_cases(subject, config).cases == found.cases  # as kept


def test_a_failing_test_that_tells_nothing_is_a_case_beside_the_invocations_that_pass() -> None:
    bad = 'test "$(echo -3 -4 | ./tool largest | tr 0 z)" = -3'
    good = "for n in 4 5 6; do echo $n | ./tool largest; done"
    found = with_captured_cases(*suite("beside", bad=bad, good=good))
    assert [case.name for case in found.cases] == ["tests/bad.sh", *(f"tests/good.sh:{n}" for n in (1, 2, 3))]
    assert "1 whole test that fails is a case beside them" in found.remarks[-1]
    runs = run_all(found)
    assert [tested.outcome.passed for tested in runs.tested] == [False, True, True, True]


def test_what_a_test_compares_is_told_it_and_it_vouches_for_what_it_does_not_compare() -> None:
    compare = "echo {0} | ./tool largest >out; echo {1} >right; cmp -s out right || ret=1\n"
    script = f"echo 8 | ./tool largest\n{compare.format(-3, -3)}{compare.format(5, 5)}{compare.format(-9, -9)}"
    captured = captured_cases(*suite("compares", one=f"{script}echo 2 | ./tool largest\nexit $ret"))
    right = [case.expected and case.expected.stdout for case in captured.cases]
    assert (captured.failing, right) == (2, [b"8\n", b"-3\n", b"5\n", b"-9\n", b"2\n"])


def test_a_test_goes_on_behind_a_crash_where_it_compares_what_that_printed() -> None:
    crash = "./tool crash >out; echo 7 >right; cmp -s out right || exit 1; echo 5 | ./tool largest\n"
    compare = "echo -2 | ./tool largest >out; echo -2 >right; cmp -s out right"
    captured = captured_cases(*suite("behind-crash", one=f"echo 8 | ./tool largest\n{crash}{compare}"))
    right = [case.expected and (case.expected.stdout, case.expected.status) for case in captured.cases]
    assert right == [(b"8\n", 0), (b"7\n", 0), (b"5\n", 0), (b"-2\n", 0)]
    assert [case.passed for case in captured.cases] == [True, False, True, False]


def test_a_test_may_be_told_both_a_status_and_what_it_compares() -> None:
    script = "set -e; ./tool largest none >out; echo 8 | ./tool largest; echo 4 >right; cmp -s out right"
    captured = captured_cases(*suite("both", one=f"{script}; echo 9 | ./tool largest"))
    right = [case.expected and (case.expected.stdout, case.expected.status) for case in captured.cases]
    assert right == [(b"4\n", 0), (b"8\n", 0), (b"9\n", 0)]


def test_a_test_that_compares_files_only_where_texts_differ_is_told_what_these_say() -> None:
    check = "got=$(echo {0} | ./tool largest); test $got = {0} || { echo $got >a; echo {0} >b; diff a b; ret=1; }\n"
    checks = "".join(check.replace("{0}", str(number)) for number in (-3, 5, -9))
    script = f"{checks}./tool largest none || ret=1; test -z $ret && echo 8 | ./tool largest && test a = b"
    captured = captured_cases(*suite("differs", one=script))
    right = [case.expected and (case.expected.stdout, case.expected.status) for case in captured.cases]
    assert right == [(b"-3\n", 0), (b"5\n", 0), (b"-9\n", 0), (None, 0)]


LISTED = r"""
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char name[100], text[100] = "";
    FILE *list = fopen(argv[1], "r"), *in;
    if (!list || !fgets(name, 99, list))
        return 2;
    name[strlen(name) - 2] = 0; /* - 1 is right */
    if (!(in = fopen(name, "r")))
        return 1;
    printf("%s", fgets(text, 99, in));
    return 0;
}
"""


def test_a_failing_invocation_has_the_files_that_a_right_one_would_open() -> None:
    folder = subject_folder("capture-listed", tool_c=LISTED)
    for name, text in {"list": "data/one\n", "data/one": "1\n", "data/two": "2\n", "deep/data/one": "3\n"}.items():
        write(folder / "tests" / name, text)
    write(folder / "tests/one.sh", "cd tests; ../tool list || exit 1")
    lines = ['[program]\nsources = ["tool.c"]', "[cases]", 'command = "sh {name}"', 'scripts = "tests/*.sh"']
    write(folder / "whence.toml", "\n".join([*lines, "capture = true"]) + "\n")
    config = read_config(folder)
    subject = built_from_config(config)
    (case,) = captured_cases(subject, config).cases
    assert {name for name, _ in case.files if name.endswith(("one", "two"))} == {
        "tests/data/one",
        "tests/deep/data/one",
    }
    assert not run(subject, case)
    write(folder / "tool.c", LISTED.replace("- 2]", "- 1]"))
    assert run(built_from_config(config), case)


def test_what_is_compared_behind_where_a_test_stopped_is_told_it_too() -> None:
    compare = "echo {0} | ./tool largest >out; echo {0} >right; cmp -s out right || exit 1\n"
    script = "echo 8 | ./tool largest\n" + "".join(map(compare.format, (-3, 5, -9)))
    captured = captured_cases(*suite("stops", one=f"{script}echo 2 | ./tool largest; test a = b"))
    right = [case.expected and case.expected.stdout for case in captured.cases]
    assert (captured.failing, right) == (2, [b"8\n", b"-3\n", b"5\n", b"-9\n"])


def test_a_test_that_goes_on_and_fails_of_something_else_vouches_for_nothing() -> None:
    script = "echo -4 | ./tool largest; ./tool largest none || echo FAIL; test $(echo -5 | ./tool largest) = $((1 - 6))"
    captured = captured_cases(*suite("fails-on", one=f"{script} || exit 1", two="./tool largest <tool.c"))
    assert [case.arguments for case in captured.cases if not case.passed] == [("largest", "none")]
    assert [case.name for case in captured.cases if case.passed] == ["tests/two.sh:1"]


COMPARES = """
check() {
    wanted=$1; shift
    got=$(printf '%s\\n' $1 | ./tool tell)
    test "$got" = "$wanted" || { echo "FAIL $1: \\"$got\\" is not \\"$wanted\\""; failed=1; }
}
check "the largest is 12" "3 12"
check "the largest is -2" "-4 -2"
check "the largest is 7" "7 -1"
check "the largest is -5" "-5 -6"
"""


@pytest.mark.parametrize("end", ["test -z $failed", "true"])
def test_texts_that_a_shell_compares_are_found_in_its_script_and_the_test_vouches_for_the_others(end: str) -> None:
    """Also where the test shows in its output only that something is wrong."""
    subject, config = suite(f"texts-{end[:4]}", one=COMPARES + end)
    captured = captured_cases(subject, config)
    assert (captured.failing, len(captured.cases)) == (2, 4)
    right = [case.expected and case.expected.stdout for case in captured.cases]
    assert right == [b"the largest is %d\n" % number for number in (12, -2, 7, -5)]
    assert [run(subject, case) for case in captured.cases] == [True, False, True, False]
    silent = any("succeeds, but prints `FAIL -4 -2" in remark for remark in captured.remarks)
    assert silent == (end == "true")


PYTHON = """
import subprocess, sys
from difflib import unified_diff
failed = 0
for given in (b"-1", b"5", b"-7 -8"):
    wanted = "the largest is %s\\n" % max(given.split(), key=int).decode()
    got = subprocess.run(["./tool", "tell"], input=given, stdout=subprocess.PIPE).stdout.decode()
    sys.stdout.writelines(unified_diff([wanted], [got], "wanted", "got"))
    failed += got != wanted
sys.exit(failed)
"""


def test_differences_that_a_test_shows_are_told_it_all_at_once() -> None:
    subject, config = suite("python", one=f"python3 - <<'EOF'\n{PYTHON}EOF\n")
    captured = captured_cases(subject, config)
    assert (captured.failing, len(captured.cases)) == (2, 3)
    right = [case.expected and case.expected.stdout for case in captured.cases]
    assert right == [b"the largest is %d\n" % number for number in (-1, 5, -7)]


def test_a_text_of_the_script_with_which_the_test_fails_as_before_is_not_right() -> None:
    script = 'echo "the largest is -3"; test "$(echo -2 | ./tool tell)" = "the largest is $(echo -2)"'
    captured = captured_cases(*suite("other-text", one=script))
    assert captured.failing == 0 and "which of its 1 invocation is wrong cannot be told" in "\n".join(captured.remarks)


def test_a_success_where_a_test_wants_an_error_is_wrong() -> None:
    bad = "echo 3 | ./tool largest || exit 1; echo x | ./tool largest && exit 1; ./tool largest none && exit 1; exit 0"
    subject, config = suite("wants-error", bad=bad)
    captured = captured_cases(subject, config)
    assert (captured.failing, len(captured.cases)) == (1, 3)
    case = named(captured, "tests/bad.sh:2")
    assert case.expected is not None and (case.expected.stdout, case.expected.status) == (None, 1)
    assert not run(subject, case) and run(subject, named(captured, "tests/bad.sh:3"))


def test_an_error_that_leads_a_failing_test_another_way_shows_nothing() -> None:
    bad = "echo 3 | ./tool largest || { ./tool list; ./tool list; }; exit 1"
    assert captured_cases(*suite("other-way", bad=bad)).failing == 0


def test_a_reference_program_tells_what_is_right_where_the_test_does_not() -> None:
    bad = 'test "$(echo -3 | ./tool largest)" = -3'
    _, config = suite("reference", bad=bad)
    good = config.folder / "good.sh"
    write(good, '#!/bin/sh\ntest "$1" = largest && echo -3\n').chmod(0o755)
    subject, config = suite("reference", settings='reference = "good.sh"', bad=bad)
    captured = captured_cases(subject, config)
    assert captured.failing == 1
    assert captured.cases[0].expected is not None and captured.cases[0].expected.stdout == b"-3\n"


def test_a_reference_program_that_is_not_there_is_said() -> None:
    subject, config = suite("no-reference", settings='reference = "good.sh"', bad="exit 1")
    found = with_captured_cases(subject, config)
    assert any("cannot be captured: no reference program" in remark for remark in found.remarks)


def test_an_earlier_version_tells_what_is_right_only_where_the_tests_do_not() -> None:
    bad = 'test "$(echo -3 | ./tool largest)" = -3'
    told = "echo 4 | ./tool largest | grep -q 4; echo -5 >right; echo -5 | ./tool largest >out; cmp out right"
    subject, config = suite("earlier", bad=bad, told=told, good="echo 4 | ./tool largest")
    write(config.folder / "earlier.sh", '#!/bin/sh\nread n; test "$n" = 4 && n=wrong; echo "$n"\n').chmod(0o755)
    captured = captured_cases(subject, config, earlier=config.folder / "earlier.sh")
    right = {case.stdin: (case.expected and case.expected.stdout) for case in captured.cases}
    inputs = {path.read_bytes() if isinstance(path, Path) else path: text for path, text in right.items()}
    assert captured.failing == 2 == sum(not case.passed for case in captured.cases)
    assert inputs[b"-3\n"] == b"-3\n" and inputs[b"-5\n"] == b"-5\n"
    assert inputs[b"4\n"] == b"4\n"  # a passing test has it, whatever the earlier version gives


def test_an_invocation_that_does_something_else_outside_of_its_test_is_left_out() -> None:
    captured = captured_cases(*suite("elsewhere", one="./tool pid; ./tool largest <tool.c"))
    assert [case.arguments for case in captured.cases] == [("largest",)]
    assert any("1 invocation, since it does something else" in line for line in captured.remarks)


def test_a_program_that_is_called_by_the_absolute_path_of_the_folder_is_captured_and_the_folder_left_alone() -> None:
    _, config = suite("absolute", one="true")
    write(config.folder / "tests/one.sh", f"cd {config.folder} && echo 8 | ./tool largest >made\n")
    captured = captured_cases(built_from_config(config), config)
    assert [case.arguments for case in captured.cases] == [("largest",)]
    assert not (config.folder / "made").exists()


def test_a_suite_is_run_again_only_when_it_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, config = suite("again", one="echo 8 | ./tool largest")
    first = captured_cases(subject, config)
    monkeypatch.setattr("whence.subject.capture.SuiteRunner", None)
    assert captured_cases(subject, config) == first
    write(config.folder / "tests/one.sh", "echo 9 | ./tool largest")
    with pytest.raises(TypeError):
        captured_cases(subject, config)


def test_a_suite_that_cannot_be_captured_keeps_its_tests_as_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, config = suite("unshimmed", one="echo 8 | ./tool largest")

    def fail(*_: object) -> None:
        raise BuildError("no linker")

    monkeypatch.setattr("whence.subject.suite_runner.place_shim", fail)
    found = with_captured_cases(subject, config)
    assert found.cases == subject.cases
    assert "cannot be captured: no linker" in found.remarks[0]


def test_a_test_that_kills_its_server_is_left_out_and_the_others_are_captured() -> None:
    kill = "read _ _ _ server _ </proc/$PPID/stat; kill -9 $server; sleep 1"
    captured = captured_cases(*suite("killer", a=kill, b="echo 8 | ./tool largest"))
    assert [case.name for case in captured.cases] == ["tests/b.sh:1"]
    assert any("a test was left out" in line for line in captured.remarks)


def test_the_one_that_printed_what_tells_of_a_failure_fails() -> None:
    subject, config = suite(
        "printed", 'failing_output = "largest is 9"', one="echo 5 9 | ./tool tell; echo 3 | ./tool tell"
    )
    captured = captured_cases(subject, config)
    assert [(case.name, case.failing_output) for case in captured.cases] == [("tests/one.sh:1", "largest is 9")]
    assert captured.failing == 1 and not run(subject, captured.cases[0])
    again = with_captured_cases(subject, config)
    assert [case.failing_output for case in again.cases] == ["largest is 9"]


def test_of_several_that_printed_it_nothing_is_told() -> None:
    subject, config = suite(
        "printed-twice", 'failing_output = "largest"', one="echo 5 | ./tool tell; echo 3 | ./tool tell"
    )
    captured = captured_cases(subject, config)
    assert captured.failing == 0
    assert any("does not show which output is wrong" in line for line in captured.remarks), captured.remarks


@pytest.mark.parametrize("given", ["tell tests/data/below.in", "tell <tests/data/below.in"])
def test_what_a_shell_compares_with_a_file_beside_the_input_is_found_there(given: str) -> None:
    script = f'test "$(./tool {given})" = "$(cat tests/data/below.ok)"'
    subject, config = suite("beside", below=script, above="echo 3 | ./tool tell | grep 3")
    write(subject.folder / "tests/data/below.in", "-4 -2\n")
    write(subject.folder / "tests/data/below.ok", "the largest is -2\n")
    write(subject.folder / "tests/data/other.ok", "the largest is -9\n")
    captured = captured_cases(subject, config)
    wrong = [case.expected and case.expected.stdout for case in captured.cases if not case.passed]
    assert wrong == [b"the largest is -2\n"]


def test_tests_find_the_programs_that_the_user_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that they need may lie in an environment of the user's, as pytest mostly does."""
    helper = tmp_path / f"bin/of-the-user-{time.time_ns()}"  # of which nothing is known of an earlier session
    write(helper, '#!/bin/sh\nexec "$@"\n').chmod(0o755)
    script = {"seen": f"echo 3 | {helper.name} ./tool largest | grep 3"}
    lost = captured_cases(*suite("path", **script))
    assert (len(lost.cases), lost.apart) == (0, ["tests/seen.sh"])
    monkeypatch.setenv("PATH", f"{helper.parent}:{os.environ['PATH']}")
    found = captured_cases(*suite("path", **script))  # and what was seen without it is not believed
    assert [case.passed for case in found.cases] == [True]
    assert not dict(found.cases[0].environment)
