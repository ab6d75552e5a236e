"""Rules as edits: which of them are tried, and what becomes of the line."""

from __future__ import annotations

from typing import Any

import pytest
from cli_tool import subject_folder

import whence
from whence.diagnosis import fix
from whence.diagnosis.proposed_edits import proposed
from whence.program.c_source import CSource
from whence.program.source_edits import edited

TEXT = b"int f(int a)\n{\n\treturn a <= 3;\n}\n"
RULE = {"file": "f.c", "line": 3, "before": "return a <= 3;", "after": "return a < 3;"}
REPAIRS = {"f2p": 2, "failing": 2, "p2f": 0}


def lines(*rules: dict[str, Any]) -> list[bytes]:
    """The third line with each edit that rules stand for."""
    sources = {"f.c": CSource(TEXT)}
    return [edited(sources["f.c"], edit).split(b"\n")[2] for edit in proposed(rules, sources)]


def test_the_line_is_edited_in_its_place() -> None:
    (edit,) = proposed([RULE | REPAIRS], {"f.c": CSource(TEXT)})
    assert edited(CSource(TEXT), edit) == TEXT.replace(b"<=", b"<")
    assert (edit.size, edit.line) == (1, 3)


def test_only_rules_that_repair_all_break_nothing_and_have_an_edited_line_are_edits() -> None:
    good = RULE | REPAIRS
    others = ({"f2p": 1}, {"p2f": 1}, {"after": None}, {"file": "g.c"}, {"before": "return a;"}, {"line": 99})
    assert lines(*(good | other for other in others)) == []
    assert lines(good | {"after": "return a;"}, good) == [b"\treturn a;", b"\treturn a < 3;"]


# All cases come to the fault, and what only failing ones come to needs two changes.
PARTS = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), half = n / 2 + 1;
    int most = half * 3;
    if (n > 20) {
        printf("%d\\n", half);
        printf("%d\\n", most);
    }
    printf("%d\\n", n);
    return 0;
}
"""


def test_where_no_edit_of_the_first_statements_passes_rules_find_one(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = subject_folder("proposed", parts_c=PARTS)
    fails = [(str(n), f"{n // 2}\n{n // 2 * 3}\n{n}\n") for n in (22, 31)]
    with whence.open_sources([folder / "parts.c"], fails=fails, passes=["3", "20"]) as project:
        project.find(whence.Slicing())  # from here on rules can be searched
        found = project.find(whence.Fix(statements=1), 30)
        monkeypatch.setattr(fix, "LARGE", 1)  # as in a large program, where rules come first
        first = project.find(whence.Fix(statements=1), 30)
    assert [(edit["line"], edit["passes"]) for edit in found.parts["edits"][:1]] == [(5, True)]
    assert found.parts["trials"]["proposed"] >= 1
    assert any("proposed by rules: with" in line for line in found.summary)
    assert first.parts["edits"][0]["diff"] == found.parts["edits"][0]["diff"] and first.parts["trials"]["proposed"] >= 1
