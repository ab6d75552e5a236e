"""The timeline that the page draws: instants with values and writers, calls, and what is left out of long runs."""

from __future__ import annotations

from typing import Any

import pytest
from cli_programs import line_of
from debugged import run_of

from whence.debug import drawn_timeline
from whence.debug.drawn_timeline import timeline_part
from whence.debug.run import Run
from whence.findings import Statement, Symptom

PROGRAM = """\
#include <stdio.h>
#include <string.h>
static int kept[4];
static int twice(int number)
{
    int result = number * 2;
    return result;
}
int main(int argc, char **argv)
{
    char text[8];
    for (int i = 0; i < 3; i++)
        kept[i] = twice(i + argc);
    strcpy(text, "ab");
    printf("%d %c\\n", kept[2], text[1]);
    return 0;
}
"""


def drawn(run: Run, symptom: Symptom | None = None) -> dict[str, Any]:
    return timeline_part(run.reader, symptom)


def instants_at(part: dict[str, Any], text: str) -> list[int]:
    number = line_of(PROGRAM, text)
    return [n for n, at in enumerate(part["instants"]) if at[2] == number]


def values_at(part: dict[str, Any], instant: int) -> dict[tuple[str, str], tuple[str, Any]]:
    return {(name, role): (value, writer) for name, value, role, writer in part["instants"][instant][5]}


def test_a_short_run_has_all_instants_and_each_value_names_its_writer() -> None:
    part = drawn(run_of(PROGRAM))
    assert part["is_whole"] and part["steps"] == len(part["instants"])
    stored, printed = instants_at(part, "kept[i] ="), instants_at(part, "printf")
    computed = instants_at(part, "int result")
    assert [values_at(part, at)["kept[i]", "written"][0] for at in stored] == ["2", "4", "6"]  # behind the call
    assert values_at(part, printed[0])["kept[2]", "read"] == ("6", stored[2])
    assert values_at(part, printed[0])["text[1]", "read"] == ("'b' (98)", instants_at(part, "strcpy")[0])
    assert values_at(part, computed[1])["number", "read"] == ("2", stored[1])  # what the call passed
    assert values_at(part, instants_at(part, "return result")[2])["result", "read"] == ("6", computed[2])


def test_calls_stand_below_those_that_they_were_made_from() -> None:
    part = drawn(run_of(PROGRAM))
    main, *calls = part["calls"]
    assert [(name, row) for name, row, _, _ in part["calls"]] == [("main", 0)] + [("twice", 1)] * 3
    assert all(main[2] < first <= last <= main[3] for _, _, first, last in calls)
    inner = part["instants"][instants_at(part, "int result")[0]][3]
    outer = part["instants"][instants_at(part, "strcpy")[0]][3]
    assert part["open"][inner] == outer and part["open"][outer] == -1


def test_of_a_long_run_the_page_has_what_is_in_the_slice_and_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(PROGRAM)
    whole = drawn(run)
    monkeypatch.setattr(drawn_timeline, "INSTANTS", 5)
    monkeypatch.setattr(drawn_timeline, "LAST", 1)
    monkeypatch.setattr(drawn_timeline, "CALLS", 2)
    event = whole["instants"][instants_at(whole, "printf")[0]][0]
    symptom = Symptom("wrong-output", "", Statement("p.c", 15), 0, event, {"criteria": [event + 1]})
    part = drawn(run, symptom)
    assert not part["is_whole"] and len(part["instants"]) == 5 and part["undrawn"] == 2
    assert part["instants"][-1] == [*whole["instants"][-1][:3], *part["instants"][-1][3:]]
    assert instants_at(part, "kept[i] =")[-1:]  # the nearest that led there
    (printed,) = instants_at(part, "printf")
    assert values_at(part, printed)["kept[2]", "read"][1] == instants_at(part, "kept[i] =")[-1]
    assert drawn(run)["instants"][0][0] == whole["instants"][-5][0]  # without a slice: the last ones
