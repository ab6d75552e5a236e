"""Initial values of static variables that a recorded run reads, before anything else was there."""

from __future__ import annotations

import numpy as np
import pytest
from trace_readers import record, subject_of

from whence.probe.layout import Kind
from whence.program.c_source import CSource
from whence.subject.initial_values import InitialReads, InitialValues, is_generated
from whence.subject.subject import Subject
from whence.trace.effect_records import static_addresses
from whence.trace.trace import Trace

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct unit { const char *name; int factor; short digits; };
static const struct unit units[] = {
    { "mm", 1, 0 },
    { "cm", 10, 1 },
    { "m", 1000, 3 },
};
static int table[5] = { 10,
    20,
    30,
    40,
    50 };
static char text[] = "abc";
#define TWO 1, 2
static int counted[] = { TWO,
    3 };
static int never = 7;
int main(int argc, char **argv)
{
    int which = atoi(argv[1]);
    if (which < 5) {
        table[3] = 44; /* so that what is read of it is not what the source says */
        printf("%d\n", table[which] + table[3]);
    } else if (which == 5) {
        struct unit copy = units[which - 4];
        printf("%d\n", copy.factor);
    } else if (which == 6)
        puts(text);
    else if (which == 7)
        printf("%d\n", counted[1]);
    else
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strcmp(units[i].name, argv[2]) == 0)
                printf("%d\n", units[i].factor);
    return argc > 9 ? never : 0;
}
"""


@pytest.fixture(scope="module")
def subject() -> Subject:
    return subject_of(PROGRAM)


def reads(known: InitialValues, trace: Trace) -> InitialReads:
    """What a run read, with all of it in the slice at depth 0."""
    return known.reads(trace, trace.every_site(), np.ones(trace.events, np.int32))


def texts(subject: Subject, *arguments: str) -> set[tuple[str, int]]:
    """The entries that a run reads, with their lines."""
    known = InitialValues(subject)
    found = reads(known, record(subject, *arguments).trace)
    assert (found.depth == 0).all()
    return {(known.entries[n].path.text, known.entries[n].statement.line) for n in found.entry.tolist()}


def line_of(part: str) -> int:
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if part in line)


def test_an_element_that_is_read_before_it_is_written(subject):
    assert texts(subject, "1") == {("table[1]", line_of("    20,"))}
    assert texts(subject, "3") == set()


def test_members_that_a_search_reads(subject):
    names = {(f"units[{n}].name", line_of(part)) for n, part in enumerate(('"mm"', '"cm"', '"m",'))}
    assert texts(subject, "9", "cm") == names | {("units[1].factor", line_of('"cm"'))}


def test_a_structure_that_is_copied(subject):
    line = line_of('"cm"')
    assert texts(subject, "5") == {(f"units[1].{name}", line) for name in ("name", "factor", "digits")}


def test_what_a_library_call_reads(subject):
    assert texts(subject, "6") == {("text", line_of("static char text"))}


def test_what_the_source_seems_to_give_and_does_not(subject):
    assert texts(subject, "7") == {("counted", line_of("static int counted"))}


def test_numbers_are_the_same_for_all_runs(subject):
    known = InitialValues(subject)
    first, again = (reads(known, record(subject, "1").trace) for _ in range(2))
    other = reads(known, record(subject, "2").trace)
    assert first.entry.tolist() == again.entry.tolist()
    assert known.entries[int(other.entry[0])].path.text == "table[2]"


def test_the_event_is_one_that_reads(subject):
    trace = record(subject, "2").trace
    found = reads(InitialValues(subject), trace)
    assert trace.kind(int(found.event[0])) is Kind.LOAD
    assert trace.value(int(found.event[0])) == 30


def test_addresses_are_those_of_the_accesses(subject):
    trace = record(subject, "2").trace
    addresses = static_addresses(trace)
    loaded = trace.address(int(reads(InitialValues(subject), trace).event[0]))
    assert loaded is not None and loaded - 8 in addresses.tolist()


@pytest.mark.parametrize(
    ("line", "is_made"),
    [
        ('#line 3 "grammar.y"', True),
        ('  #  12 "scan.l" 3', True),
        ('#line 7 "table.c"', False),  # of the file itself
        ('#define LINE "grammar.y"', False),
        ("#line 7", False),
    ],
)
def test_tables_of_a_file_that_another_program_made_are_left_out(line: str, is_made: bool) -> None:
    assert is_generated(CSource(f"int a[] = {{1, 2}};\n{line}\n".encode()), "/src/table.c") is is_made


def test_what_a_run_reads_of_a_generated_table_is_no_entry() -> None:
    assert texts(subject_of(PROGRAM + '#line 1 "other.y"\nstatic int unused;\n'), "1") == set()
