from __future__ import annotations

from run_programs import suite_case

from whence.run.case_folders import MANY_FILES
from whence.run.cases import Case
from whence.run.outcome import Expected, Rule


def test_a_folder_with_many_files_is_used_again_as_long_as_runs_leave_it_as_it_was(runner, tmp_path):
    sources = [tmp_path / f"{number:02}" for number in range(MANY_FILES)]
    for source in sources:
        source.write_text(source.name)
    files = tuple((source.name, source) for source in sources)
    steps = [("read", "07"), ("write", "07"), ("read", "07"), ("write", "new"), ("list",), ("read", "07")]
    results = runner.run_cases([Case("case", step, files=files) for step in steps * 20])
    right = [b"07\n", b"ok\n", b"07\n", b"ok\n", b"".join(b"%02d\n" % n for n in range(MANY_FILES)), b"07\n"]
    assert [b"".join(sorted(result.stdout.splitlines(keepends=True))) for result in results] == right * 20
    sources[7].write_text("another")
    changed = Case("case", ("read", "07"), files=(*files[:7], ("07", sources[8]), *files[8:]))
    assert runner.run_case(changed).stdout == b"08\n"


def test_suite_runs_our_program_in_a_copy(runner, suite_folder):
    result = runner.run_case(suite_case(suite_folder, "bin/prog echo x && echo y > new && stat -c %Y bin/prog"))
    assert result.stdout == b"bin/prog\necho\nx\n1000\n"
    assert [path.name for path in suite_folder.iterdir()] == ["bin"]
    assert (suite_folder / "bin/prog").read_text().startswith("#!/bin/sh")


def test_suite_copies_are_fresh_unless_said_otherwise(served, suite_folder):
    count = "echo x >> log; wc -l < log"
    fresh = served.run_cases([suite_case(suite_folder, count) for _ in range(3)])
    assert [result.stdout for result in fresh] == [b"1\n"] * 3
    for _ in range(2):
        once = served.run_cases([suite_case(suite_folder, count, fresh=False) for _ in range(3)])
        assert [result.stdout for result in once] == [b"1\n", b"2\n", b"3\n"]


def test_a_case_that_leaves_files_may_follow_a_suite(served, suite_folder):
    """What the suite's test ran in is kept, to be used again; the next case's files need the same place."""
    for _ in range(3):
        assert served.run_case(suite_case(suite_folder, "echo x > log; cat log")).stdout == b"x\n"
        plain = Case("p", command="echo y > new; ls", rule=Rule.STATUS, expected=Expected())
        assert served.run_case(plain).stdout == b"new\n"
        left = served.run_case(Case("f", ("write", "file"), expected=Expected(status=None)))
        assert left.status is not None
