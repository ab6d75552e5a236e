"""What a fix changed, place by place, and the situation of a statement."""

from __future__ import annotations

from cli_tool import subject_folder

import whence
from whence.diagnosis.learning import fixed_places
from whence.diagnosis.situations import Situations
from whence.findings import Statement
from whence.program.c_source import CSource
from whence.techniques.bugfix.said import ALL_PASSING, INVARIANT

FARE = """\
#include <stdio.h>
#include <stdlib.h>
typedef long cents;
int main(int argc, char **argv)
{
    int zones = atoi(argv[1]);
    cents fare = zones * 100;
    if (zones < 3)
        fare = fare + 50;
    printf("%ld\\n", fare);
    return argc != 2;
}
"""


def test_changes_of_neighbouring_lines_are_one_place() -> None:
    fixed = FARE.replace("zones = atoi", "zones = 1 + atoi").replace("zones * 100", "zones * 101")
    places = fixed_places("fare.c", FARE.encode(), fixed.replace("argc != 2", "argc > 2").encode())
    assert [list(place.lines) for place in places] == [[6, 7], [11]]
    assert "increase a constant" in places[0].descriptions and "change != into >" in places[1].descriptions


def test_what_only_a_reader_sees_is_no_fix() -> None:
    fixed = FARE.replace("zones < 3)", "zones  <  3) /* near */")
    assert fixed_places("fare.c", FARE.encode(), fixed.encode()) == []


def test_a_line_put_in_has_its_place_between_lines() -> None:
    fixed = FARE.replace("    printf", "    fare += 1;\n    printf")
    (place,) = fixed_places("fare.c", FARE.encode(), fixed.encode())
    assert place.lines == range(10, 10) and "add an assignment" in place.descriptions


def test_a_situation_has_structure_with_types_of_debug_information_values_and_pairs() -> None:
    source = subject_folder("situation", fare_c=FARE) / "fare.c"
    with whence.open_sources([source], fails=[("3", "350\n")], passes=["1", "2", "5"]) as project:
        investigation = project.investigation
        investigation.clock.start(120)
        situations = Situations(investigation, {"fare.c": CSource(source.read_bytes())})
        static = situations.static(Statement("fare.c", 9))
        assert {"ASSIGN_STMT", "=", "+", "VAR", "user-defined-VAR", "CONST", "int-CONST"} <= static
        assert "SYMPTOM-wrong output" in static and "int-VAR" in situations.static(Statement("fare.c", 8))
        test = Statement("fare.c", 8)
        with investigation.work() as work:
            dynamic = situations.dynamic([test], work)[test]
    assert {"failDef < failUse1", "origDef < origUse1"} <= dynamic  # of values, and of pairs


def test_what_passing_cases_and_invariants_say_is_part_of_the_situation() -> None:
    source = subject_folder("situation-said", fare_c=FARE) / "fare.c"
    fixed = FARE.replace("zones * 100", "zones * 100 + 50 * (zones == 3)")
    learning = whence.LearnFix(fixed=(("fare.c", fixed.encode()),), origin="fare")
    with whence.open_sources([source], fails=[("3", "350\n")], passes=["1", "2"]) as project:
        project.find(whence.Slicing())  # compiles the analysis
        (compared,) = project.find(learning, float("inf")).parts["scenarios"]
    with whence.open_sources([source], fails=[("3", "350\n")]) as project:
        (alone,) = project.find(learning, float("inf")).parts["scenarios"]
    assert compared["line"] == 7 and ALL_PASSING in compared["situation"] and ALL_PASSING not in alone["situation"]
    assert any(text.startswith(INVARIANT) for text in compared["situation"])
    assert not any(text.startswith(INVARIANT) for text in alone["situation"])
