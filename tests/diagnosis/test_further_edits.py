"""Edits from other sources: entries of tables, wherever they stand, and numbers that would have been right."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder

import whence
from whence.diagnosis.initial_values import with_tables
from whence.findings import Entry, Findings, Statement
from whence.program.c_source import CSource
from whence.project import Project

UNITS = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const struct unit { const char *name; int seconds; } units[] = {
    { "s", 1 },
    { "m", 60 },
    { "h", 3660 },
};
int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(units[i].name, argv[2]) == 0)
            printf("%d\\n", atoi(argv[1]) * units[i].seconds);
    return 0;
}
"""
FACTORS_H = """\
static const int factors[] = {
    1, 10,
    100, 1001,
};
"""
FACTORS_C = """\
#include <stdio.h>
#include <stdlib.h>
#include "factors.h"
int main(int argc, char **argv)
{
    printf("%d\\n", atoi(argv[1]) * factors[atoi(argv[2])]);
    return 0;
}
"""
# What is added is far from any number of the program.
FEE = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]), fee = 0;
    if (weight > 5)
        fee = weight * 3 + 100;
    printf("%d\\n", fee);
    return 0;
}
"""


def fixed(project: Project, **options: object) -> Findings:
    """What a fix finds once the analysis is compiled, however long that takes."""
    project.find(whence.Slicing())
    return project.find(whence.Fix(**options), float("inf"))  # type: ignore[arg-type]


@pytest.mark.parametrize("at", [None, "units.c:7"])
def test_an_entry_of_a_table_is_changed(at: str | None) -> None:
    folder = subject_folder("further-units", units_c=UNITS)
    fails = [("2 h", "7200\n"), ("3 h", "10800\n")]
    with whence.open_sources([folder / "units.c"], fails=fails, passes=["1 s", "2 m"]) as project:
        first, *_ = fixed(project, at=at, statements=4).parts["edits"]
    assert (first["line"], first["passes"], first["size"]) == (7, True, 1)
    assert '-    { "h", 3660 },\n+    { "h", 3600 },\n' in first["diff"]


def test_an_entry_of_a_header_is_changed_by_its_bytes() -> None:
    folder = subject_folder("further-header", factors_c=FACTORS_C, factors_h=FACTORS_H)
    fails = [("2 3", "2000\n"), ("3 3", "3000\n")]
    with whence.open_sources([folder / "factors.c"], fails=fails, passes=["2 2", "3 1", "4 0"]) as project:
        first, *_ = fixed(project, statements=1).parts["edits"]
    assert (first["file"], first["line"], first["passes"]) == ("factors.h", 3, True)
    assert "-    100, 1001,\n+    100, 1000,\n" in first["diff"]


def test_a_number_that_would_have_been_right_is_written() -> None:
    folder = subject_folder("further-fee", fee_c=FEE)
    fails = [("7", "454\n"), ("60", "613\n")]
    with whence.open_sources([folder / "fee.c"], fails=fails, passes=["1", "3"]) as project:
        found = fixed(project, statements=2)
    assert any("+        fee = weight * 3 + 433;" in edit["diff"] for edit in found.parts["edits"] if edit["passes"])
    assert found.parts["trials"]["tried"] <= found.parts["trials"]["made"]


def test_tables_that_statements_name_come_behind_them() -> None:
    code, table = Statement("units.c", 12), [Statement("units.c", line) for line in (5, 6, 7)]
    ranking = [Entry(code, 1.0, 1, 1), Entry(table[1], 0.5, 2, 2), Entry(Statement("units.c", 14), 0.2, 3, 3)]
    source = CSource(UNITS.encode())
    found = with_tables(ranking, {"units.c": source}, is_read=False)
    assert found[:3] == ranking and [entry.statement for entry in found[3:]] == [table[0], table[2]]
    assert with_tables(ranking[2:], {"units.c": source}, is_read=False) == ranking[2:]
    assert with_tables(ranking, {"units.c": source}, is_read=True) == ranking
    local = CSource(UNITS.replace("static const struct unit {", "int main(void) { struct unit {").encode())
    assert len(with_tables(ranking, {"units.c": local}, is_read=True)) == 5
