"""``whence suppress`` as a user sees it."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder, whence

SILENT = "int main(void) { return 0; }\n"
CRASHES = """\
#include <string.h>
static struct { char name[8]; int *value; } row;
static int number = 4;
int main(int argc, char **argv)
{
    row.value = &number;
    strcpy(row.name, argv[1]);
    return *row.value == 4 && argc > 5;
}
"""


@pytest.fixture(scope="module")
def result():
    folder = subject_folder("crashes", crashes_c=CRASHES)
    cases = ("--fails", "far-too-long-a-name", "--passes", "short")
    return whence(folder, "suppress", "crashes.c", *cases, "--budget", "5m", "--json").json


def test_the_first_corruption_comes_first(result):
    first = result["ranking"][0]
    assert first["line"] == 7
    assert "first corruption" in first["evidence"]["text"]


def test_the_executions_are_told(result):
    suppression = result["suppression"]
    assert suppression["gone"]
    first, last = suppression["executions"]
    assert (first["outcome"], first["line"], first["points"]) == ("crash", 8, 0)
    assert (last["points"], last["suppressed"]) == (1, [])
    (definition,) = first["suppressed"]
    assert (definition["line"], definition["name"], definition["bytes"]) == (7, "row.value", 20)


def test_where_the_memory_check_agrees_the_entry_says_so(result):
    assert result["suppression"]["agrees"] is True
    assert "the memory check agrees" in result["ranking"][0]["evidence"]["text"]


def test_where_nothing_fails_it_says_so():
    folder = subject_folder("nothing", nothing_c=SILENT)
    done = whence(folder, "suppress", "nothing.c", "--passes", "")
    assert done.status == 2
    assert "no case fails" in done.err
