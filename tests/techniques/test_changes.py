"""The changes since a version that a case needs to fail: texts between versions, and programs that are built."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tool import subject_folder, write
from hypothesis import given
from hypothesis import strategies as st

import whence
from whence.errors import SubjectError
from whence.techniques.changes import FailureInducingChanges, changes_of, with_changes

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n"]), max_size=8)
ENDS = st.sampled_from([b"", b"last", b"other"])


@given(LINES, LINES, ENDS, ENDS)
def test_all_changes_give_the_text_of_now_and_none_that_of_then(before, after, end, other):
    then, now = b"".join(before) + end, b"".join(after) + other
    changes = changes_of("f", then, now)
    assert with_changes(then, now, changes) == now
    assert with_changes(then, now, []) == then


@given(LINES, LINES, st.data())
def test_a_version_between_has_the_changes_that_were_chosen(before, after, data):
    then, now = b"".join(before), b"".join(after)
    changes = changes_of("f", then, now)
    chosen = [change for change in changes if data.draw(st.booleans())]
    between = with_changes(then, now, chosen)
    lengths = [len(change.after) - len(change.before) for change in chosen]
    assert len(between.splitlines()) == len(before) + sum(lengths)
    undone = [change for change in changes if change not in chosen]
    assert len(with_changes(then, now, undone).splitlines()) == len(after) - sum(lengths)


THEN = """\
#include <stdio.h>
#include <stdlib.h>
#include "rate.h"
/* A price. */
static int price(int pieces)
{
    int sum = pieces * RATE;
    if (pieces > 10)
        sum -= 5;
    return sum;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[argc - 1]);
    printf("%d\\n", price(n));
    return 0;
}
"""
NOW = THEN.replace("A price", "The price").replace("if (pieces > 10)", "if (10 < pieces)")
TOML = '[program]\nsources = ["*.c"]\n[cases]\nfolder = "cases"\n'
CASES = {"3": "6", "20": "35"}


def found(name: str, then: str, now: str, rate: str = "#define RATE 2\n") -> dict:
    """What is found where the program was ``then`` and is ``now``."""
    folder = subject_folder(f"changes-{name}", price_c=now, rate_h=rate)
    write(folder / "whence.toml", TOML)
    for words, right in CASES.items():
        write(folder / f"cases/{words}/args", words)
        write(folder / f"cases/{words}/expected", f"{right}\n")
    before = [("price.c", then.encode())] + ([("rate.h", b"#define RATE 2\n")] if "2" not in rate else [])
    with whence.open(folder) as project:
        findings = project.find(FailureInducingChanges(before=tuple(before), since="yesterday"))
    assert {entry.statement.file for entry in findings.ranking} <= {"price.c"}
    return {**findings.parts["changes"], "lines": sorted(entry.statement.line for entry in findings.ranking)}


def test_one_of_several_changes_is_needed():
    part = found("one", THEN, NOW.replace("sum -= 5", "sum -= 6"))
    assert [(one["line"], one["before"], one["after"]) for one in part["needed"]] == [
        (8, "    if (pieces > 10)\n        sum -= 5;\n", "    if (10 < pieces)\n        sum -= 6;\n")
    ]
    assert part["changes"] == 2 and part["lines"] == [8, 9] and part["undone"] and not part["incomplete"]
    assert (part["case"], part["since"]) == ("20", "yesterday")


def test_two_changes_are_needed_together():
    now = NOW.replace("sum = pieces", "half = 1, sum = pieces").replace("sum -= 5;", "sum -= 5;\n    sum += half;")
    then = THEN.replace("sum = pieces", "half = 0, sum = pieces")
    part = found("two", then, now)
    assert [one["line"] for one in part["needed"]] == [7, 10] and part["undone"]


def test_a_line_that_was_taken_out():
    part = found("out", THEN, NOW.replace("        sum -= 5;\n", "        ;\n"))
    assert [one["after"] for one in part["needed"]] == ["    if (10 < pieces)\n        ;\n"]


def test_a_change_of_a_header():
    part = found("header", THEN, NOW, "#define RATE 3\n")
    assert [(one["file"], one["line"]) for one in part["needed"]] == [("rate.h", 1)]
    assert part["lines"] == [7]  # which uses the macro


def test_what_uses_a_changed_macro_through_another_one_and_was_executed_is_told():
    head = "#define TWICE(n) (EVERY * \\\n    (n))\n#define EVERY {}\n#define OTHER 10\n"
    now = THEN.replace("pieces * RATE", "TWICE(pieces)").replace("> 10", "> OTHER")
    now = now.replace("    return sum;", "    if (pieces > 1000)\n        sum = EVERY;\n    return sum;")
    part = found("macro", head.format(2) + now, head.format(3) + now)
    assert [one["after"] for one in part["needed"]] == ["#define EVERY 3\n"]
    assert part["lines"] == [11]  # not line 15, which no failing case executed


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (THEN.replace("sum -= 5", "sum -= 7"), "fails in yesterday, too"),
        (THEN.replace("sum -= 5", "sum -= nothing"), "does not pass in yesterday: "),
        (THEN.replace("sum -= 5", "abort()"), "does not pass in yesterday: it fails in another way"),
    ],
)
def test_a_version_that_tells_nothing(then, said):
    with pytest.raises(SubjectError, match=said):
        found("nothing", then, NOW.replace("sum -= 5", "sum -= 6"))


def test_the_users_files_stay_as_they_are():
    now = NOW.replace("sum -= 5", "sum -= 6")
    found("files", THEN, now)
    folder = subject_folder("changes-files")
    assert (folder / "price.c").read_text() == now
    assert sorted(path.name for path in Path(folder).iterdir()) == ["cases", "price.c", "rate.h", "whence.toml"]
