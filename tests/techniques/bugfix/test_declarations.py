"""Changes of declarations: of a line's own, and of those of the names that a statement uses."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.suspects import Suspects

COUNT = """\
typedef unsigned char byte;
struct record { char name[16]; byte total; };
static uint8_t few(unsigned short int most) { return most; }
static char line[80];
static int spare;
static int sum_of(struct record *record, short start, const char *words)
{
    int sum, c;
    char first;
    static int calls;
    first = words[0];
    calls++;
    sum = start + first;
    record->total += sum;
    line[start] = words[1];
    return sum;
}
static int fewer(void) { return few(3) - 1; }
"""


def alone(place: str) -> set[str]:
    """The changed lines that edits alone in their builds make for the line that holds a text."""
    source = CSource(COUNT.encode())
    line = COUNT[: COUNT.index(place)].count("\n") + 1
    found = [(edit, edited(source, edit)) for _, edit in FileCandidates(source, "c.c").alone(line)]
    return {text.split(b"\n")[edit.line - 1].decode().strip() for edit, text in found}


@pytest.mark.parametrize(
    ("place", "new"),
    [
        ("first = words", "int first;"),
        ("first = words", "unsigned char first;"),
        ("sum = start", "long sum, c;"),  # of what it names, wherever that is declared
        ("sum = start", "static int sum_of(struct record *record, int start, const char *words)"),
        ("record->total", "struct record { char name[16]; int total; };"),
        ("return most", "static uint8_t few(int most) { return most; }"),
        ("line[start]", "static char line[81];"),
        ("line[start]", "static char line[160];"),
        ("line[start]", "static int sum_of(struct record *record, short start, const unsigned char *words)"),
        ("char first;", "char first = 0;"),
        ("int sum, c;", "int sum, c = 0;"),
        ("few(3)", "static int few(unsigned short int most) { return most; }"),  # what a function gives
    ],
)
def test_a_declaration_becomes(place: str, new: str) -> None:
    assert new in alone(place)


def test_no_declaration_changes_that_nothing_on_the_line_names() -> None:
    assert not any("spare" in text for text in alone("first = words")) and "long spare;" not in alone("return sum;")


def test_what_has_a_value_at_first_gets_no_other() -> None:
    assert not any("calls = 0" in text or "spare = 0" in text for text in alone("calls++") | alone("static int spare"))


def test_what_a_pointer_leads_to_becomes_no_number_of_another_size() -> None:
    assert not any("const int *words" in text or "const long *words" in text for text in alone("first = words"))


def test_no_running_program_can_choose_them_and_each_comes_once() -> None:
    source = CSource(COUNT.encode())
    files = {"c.c": FileCandidates(source, "c.c")}
    edits = list(Suspects(files, [("c.c", 12), ("c.c", 15)], {}).edits(FileCandidates.alone))
    assert edits and not any(edit.is_choice for edit in edits)
    assert len({edit.parts for edit in edits}) == len(edits)
    assert all(edit.is_choice for line in range(1, 17) for _, edit in files["c.c"].on(line))


def test_a_variable_gets_the_type_of_what_is_cast_to_its_own() -> None:
    text = (
        b"double f(double *at, double mean)\n{\n    long apart = (long)(at[0] - mean);\n    int *p = (int *)at;\n"
        b"    long n = (int)mean;\n    return apart * n * *p;\n}\n"
    )
    source = CSource(text)
    found = {edited(source, edit).split(b"\n")[edit.line - 1] for _, edit in FileCandidates(source, "c.c").alone(6)}
    assert b"    double apart = at[0] - mean;" in found
    assert not any(b"(int)" not in line and b"n = " in line for line in found)  # that is another type's cast
    assert not any(line.strip().startswith(b"double *p") for line in found)


# A mean that is cut to whole numbers, and a difference that is never below 0.
MEANS = """\
#include <stddef.h>
static double mean(const double *all, int count)
{
    int sum = 0, digits = 3;
    for (int i = 0; i < count; i++)
        sum = sum + all[i];
    return sum / count + digits;
}
static double power(double base, int times)
{
    int result = 1;
    while (times-- > 0)
        result *= 2;
    return result;
}
static uint32_t mixed(const char *text)
{
    unsigned short hash = 7;
    while (*text)
        hash = hash * 31 + (unsigned char)*text++;
    return hash;
}
static int apart(int left, int right, size_t size)
{
    unsigned distance = left - right;
    size_t rest = size - 1;
    int whole = (int)mean(0, 0);
    return distance < 0 ? -distance : distance + (int)rest + whole;
}
"""


def test_a_type_that_loses_a_part_of_what_it_is_given_is_asked_to_be_another() -> None:
    source = CSource(MEANS.encode())
    file = FileCandidates(source, "m.c")
    texts = [edited(source, edit).decode().split("\n")[edit.line - 1].strip() for edit in file.other_types]
    sum_, power, mixed, distance = (
        "double sum = 0, digits = 3;",
        "double result = 1;",
        "uint32_t hash = 7;",
        "int distance",
    )
    assert texts == [sum_, power, mixed, f"{distance} = left - right;"]
    assert all(file.is_asked_for(edit) and not edit.is_choice for edit in file.other_types)
    first = list(Suspects({"m.c": file}, [("m.c", 7), ("m.c", 14), ("m.c", 21), ("m.c", 28)], {}).wider_types())[:4]
    assert first == list(file.other_types)
