"""Code of test programs comes last where the program's own status is the verdict."""

from __future__ import annotations

from pathlib import Path

import whence
from tests.support.clamp_library import CLAMP
from whence.diagnosis.own_verdict import others_first, told_of
from whence.findings import Findings, Statement, rank

TEST = """\
#include <assert.h>
int clamp(int, int);
int main(void)
{
    assert(clamp(3, 5) == 3);
    assert(clamp(9, 5) == 5);
}
"""
FAULT = Statement("lib.c", 4)


def located(folder: Path, test: str, fails: list[tuple[str, str | None]]) -> Findings:
    """What locate finds for a library with a test of this name."""
    (folder / "lib.c").write_text(CLAMP)
    (folder / test).write_text(TEST)
    with whence.open_sources([str(folder / test), str(folder / "lib.c")], fails=fails, passes=[]) as project:
        return project.locate(budget=20)


def test_the_statements_of_a_test_program_stand_last(tmp_path: Path) -> None:
    found = located(tmp_path, "test_lib.c", [("", None)])
    assert (found.ranking[0].statement, found.ranking[0].rank, found.ranking[0].rank_worst) == (FAULT, 1, 1)
    files = [entry.statement.file for entry in found.ranking]
    assert files == sorted(files, key=lambda name: name == "test_lib.c")
    assert "test code stands behind all that it tests: test_lib.c" in found.summary


def test_a_program_of_another_name_is_ranked_as_it_is(tmp_path: Path) -> None:
    found = located(tmp_path, "main.c", [("", None)])
    assert not any(line.startswith("test code") for line in found.summary)
    assert found.ranking[0].statement.file == "main.c"


def test_where_right_output_is_given_that_is_the_verdict(tmp_path: Path) -> None:
    found = located(tmp_path, "test_lib.c", [("", "right\n")])
    assert not any(line.startswith("test code") for line in found.summary)


def test_ties_stay_ties() -> None:
    scores = {
        Statement("t/a.c", 1): 3.0,
        Statement("b.c", 1): 2.0,
        Statement("t/a.c", 2): 2.0,
        Statement("b.c", 2): 2.0,
    }
    rules = [{"file": "t/a.c", "line": 1}, {"file": "b.c", "line": 1}]
    found = others_first(Findings("locate", "p", rank(scores), parts={"chance": {}, "rules": rules}), {"t/a.c"})
    places = [(e.statement.file, e.statement.line, e.rank, e.rank_worst) for e in found.ranking]
    assert places == [("b.c", 1, 1, 2), ("b.c", 2, 1, 2), ("t/a.c", 1, 3, 3), ("t/a.c", 2, 4, 4)]
    assert found.parts == {"rules": rules[1:]}  # changing a check repairs nothing


def test_only_files_in_the_ranking_are_named() -> None:
    scores = {Statement(f"t/{name}.c", 1): 1.0 for name in "abcde"}
    names = {statement.file for statement in scores} | {"t/other.c"}
    told = told_of(Findings("locate", "p", rank(scores)), names)
    assert told == ["test code stands behind all that it tests: t/a.c, t/b.c, t/c.c and 2 more"]
