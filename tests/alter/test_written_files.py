"""Files that a case compares: judged in altered runs as in runs of the program itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from altering import change, site_at
from snippets import Snippet, snippet

from whence.alter.changes import NOWHERE, Batch, Op, Verdict, Way
from whence.alter.faithful import FailureSignature
from whence.alter.session import Session
from whence.findings import Symptom
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.compare import EXACT, Comparison
from whence.run.oracle import judge
from whence.run.outcome import FIRST_FILE, Expected, Kind
from whence.subject.recorder import Recorder
from whence.subject.symptoms import symptom_of

WRITING = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int wrong(int number) { return number + 1; }

int main(int argc, char **argv)
{
    char text[20];
    int number = atoi(argv[1]), shown = wrong(number);
    FILE *log = fopen("log", "a");
    fprintf(log, "began\n");
    fflush(log);
    int skips = number < 0;
    fprintf(log, "%d\n", shown);
    if (!skips) {
        FILE *part = fopen("part", "w");
        fprintf(part, "head\n%d\ntail\n", shown);
        fclose(part);
        rename("part", "out.txt");
    }
    int fd = open("raw", O_WRONLY | O_CREAT | O_TRUNC, 0600), length = sprintf(text, "%d", number);
    if (write(fd, text, length) != length) return 4;
    if (argc > 2) unlink(argv[2]);
    puts("done");
    return 0;
}
"""

ELSEWHERE = r"""
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int number = atoi(argv[2]), fd = open("out", O_RDWR | O_CREAT, 0600);
    int shown = number + 1;
    if (ftruncate(fd, 1)) return 3;
    if (!strcmp(argv[1], "child")) {
        if (fork() == 0)
            _exit(pwrite(fd, "0123456789" + shown, 1, 0) != 1);
        wait(NULL);
        return 0;
    }
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *page = (char)('0' + shown);
    return 0;
}
"""


@pytest.fixture(scope="module")
def made() -> Snippet:
    return snippet(WRITING)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[str, object], ...]:
    place = tmp_path_factory.mktemp("given") / "log"
    place.write_text("old\n")
    return (("log", place),)


def right(number: int, shown: int | None = None) -> tuple[tuple[str, bytes | None], ...]:
    shown = number if shown is None else shown
    return (
        ("log", b"old\nbegan\n%d\n" % shown),
        ("out.txt", b"head\n%d\ntail\n" % shown),
        ("part", None),
        ("raw", b"%d" % number),
    )


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(WRITING.splitlines(), 1) if text in line)


def case_with(files: object, comparison: Comparison = EXACT, given: object = ()) -> Case:
    expected = Expected(b"done\n", files=tuple(files))  # type: ignore[arg-type]
    return Case("files", ("5",), files=given, expected=expected, comparison=comparison)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", [Way.AUTO, Way.FORK, Way.RESTART])
@pytest.mark.parametrize("comparison", [EXACT, Comparison(white_space=False)])
def test_altered_runs_are_judged_by_the_files_that_they_leave(made: Snippet, log, way: Way, comparison) -> None:
    case = case_with(right(5), comparison=comparison, given=log)
    subject = made.subject
    shown = site_at(made, line_of("return number + 1"), Role.BINARY)
    skips = site_at(made, line_of("if (!skips)"), Role.BRANCH)
    number = site_at(made, line_of("length = sprintf"), Role.ARGUMENT, "argument 3 of sprintf()")
    repair, other = (change(subject, shown, Op.SET, value) for value in (5, 4))
    spoiled = np.concatenate([repair, change(subject, number, Op.SET, 7)])
    missing = np.concatenate([repair, change(subject, skips, Op.NOT)])
    batch = Batch.of([other, repair, missing, spoiled, repair])
    with Session(subject, case, way) as session:
        unaltered = session.observe()
        found = session.run(batch).records
    in_log, whole = len(b"done\nold\nbegan\n"), case.expected.whole if case.expected else b""
    assert not unaltered.unusable and unaltered.result["first_wrong"] == in_log
    wrong, passes = Verdict.WRONG_OUTPUT, Verdict.PASS
    assert found["verdict"].tolist() == [wrong, passes, wrong, wrong, passes]
    # a log that is wrong; nothing; no out.txt; raw
    in_out = whole.index(b"head")
    assert found["first_wrong"].tolist() == [in_log, NOWHERE, in_out, len(whole) - 1, NOWHERE]


def test_the_next_altered_run_does_not_see_what_one_wrote(made: Snippet, log) -> None:
    """The log is half written where they begin, and each appends to it through the same open file."""
    case = case_with(right(5), given=log)
    site = site_at(made, line_of("return number + 1"), Role.BINARY)
    batch = Batch.of([change(made.subject, site, Op.SET, value) for value in (4, 5, 60_000, 5)])
    for way in (Way.AUTO, Way.FORK):
        with Session(made.subject, case, way) as session:
            found = session.run(batch, outputs=True)
        assert found.records["verdict"].tolist() == [3, 2, 3, 2]
        logs = [found.files[row]["log"].content for row in range(4)]
        assert logs == [b"old\nbegan\n%d\n" % value for value in (4, 5, 60_000, 5)]


def test_an_unaltered_run_that_leaves_other_files_is_not_believed(made: Snippet, log) -> None:
    case = case_with(right(5), given=log)
    with made.subject.runner() as runner:
        plain = FailureSignature.of(case, runner.run_case(case))
    assert (plain.stream, plain.line) == (FIRST_FILE, b"6")
    with Session(made.subject, case, plain=replace(plain, line=b"7")) as session:
        assert session.observe().unusable.startswith('its first wrong output is "7", but "6"')


def test_files_do_not_count_where_the_comparison_says_so(made: Snippet, log) -> None:
    for comparison in (Comparison(files=False), Comparison(status_only=True)):
        case = case_with(right(1), comparison=comparison, given=log)
        site = site_at(made, line_of("return number + 1"), Role.BINARY)
        with Session(made.subject, case) as session:
            assert session.run(Batch.of([change(made.subject, site, Op.SET, 9)])).passed.all()


def symptom(made: Snippet, case: Case) -> Symptom:
    with made.subject.runner() as runner:
        outcome = judge(case, runner.run_case(case))
    assert outcome.kind is Kind.WRONG_OUTPUT
    with Recorder(made.subject) as recorder:
        return symptom_of(recorder.record(case, outcome), made.subject.folder)


@pytest.mark.parametrize(
    ("files", "line", "text"),
    [
        (right(5), 'fprintf(log, "%d', 'line 3 of file log is "6", expected "5"'),
        (right(5)[1:], 'fprintf(part, "head', 'line 2 of file out.txt is "6", expected "5"'),
        ((("raw", b"6"),), "write(fd, text", 'line 1 of file raw is "5", expected "6"'),
    ],
    ids=["appended to", "moved", "by write"],
)
def test_the_symptom_is_the_call_that_wrote_the_first_wrong_byte(made: Snippet, log, files, line, text) -> None:
    found = symptom(made, case_with(files, given=log))
    assert found.text == text
    assert found.statement is not None and found.statement.line == line_of(line)


def test_a_missing_file_and_one_too_many_are_told(made: Snippet, log) -> None:
    with made.subject.runner() as runner:
        for file, text in ((("none", b""), "file none is missing"), (("raw", None), "file raw is there")):
            case = case_with((file,), given=log)
            assert judge(case, runner.run_case(case)).text.startswith(text)


@pytest.mark.parametrize("how", ["child", "mapping"])
def test_files_that_a_child_or_a_mapping_writes_are_judged_in_runs_from_the_start(how: str) -> None:
    elsewhere = snippet(ELSEWHERE)
    case = Case("out", (how, "5"), expected=Expected(files=(("out", b"5"),)))
    line = next(n for n, text in enumerate(ELSEWHERE.splitlines(), 1) if "number + 1" in text)
    site = site_at(elsewhere, line, Role.BINARY)
    batch = Batch.of([change(elsewhere.subject, site, Op.SET, value) for value in (5, 4, 5)])
    with Session(elsewhere.subject, case) as session:
        assert session.observe().refusal
        found = session.run(batch).records
    assert found["verdict"].tolist() == [Verdict.PASS, Verdict.WRONG_OUTPUT, Verdict.PASS]
    assert set(found["way"]) == {Way.RESTART}
