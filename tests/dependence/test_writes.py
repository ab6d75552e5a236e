"""What sides of branches may write, against the places of all functions that they reach, looked up one by one."""

from __future__ import annotations

from trace_readers import subject_of

from whence.dependence.places import AccessedPlaces, Place, is_local
from whence.dependence.writes import Writes
from whence.probe.layout import Kind
from whence.subject.subject import Subject

CALLING = """\
#include <stdio.h>
static int even_seen, odd_seen, deep, table[4], plain;
static int odd(int n);
static int even(int n) { int own = n; even_seen++; return n ? odd(own - 1) : 1; }
static int odd(int n) { odd_seen++; return n ? even(n - 1) : 0; }
static void low(void) { deep = 1; }
static void high(void) { table[deep] = 2; }
static void (*chosen)(void) = low;
static void unseen(void) { plain = 9; }
static int outer(int n)
{
    int kept = 0;
    if (n > 3) {
        kept = even(n);
    } else if (n > 1) {
        chosen();
    } else {
        puts("small");
        plain = kept;
    }
    return kept;
}
int main(int argc, char **argv)
{
    if (argc > 7)
        chosen = high;
    if (argc > 9)
        unseen();
    return outer(argc) > 90;
}
"""


def reached(subject: Subject, function: int) -> set[int]:
    """A function and all that its calls may enter, through pointers by their types as well."""
    sites, functions = subject.plan.sites, subject.program.functions
    pointed = {n for n, ref in enumerate(functions) if ref.name in ("low", "high")}
    found, pending = set[int](), [function]
    while pending:
        one = pending.pop()
        if one in found:
            continue
        found.add(one)
        for row in sites[sites["kind"] == Kind.CALL]:
            if subject.program.function_of_instruction(int(row["instruction"])).id == one:
                callee = subject.program.instruction(int(row["instruction"])).callee or ""
                pending += [int(row["callee"])] if row["callee"] >= 0 else pointed if callee.startswith("%") else []
    return found


def written_by(subject: Subject, blocks: set[int]) -> set[Place]:
    """What blocks write by themselves, and what the functions that they call may write that is not local to those."""
    places, sites, program = AccessedPlaces(subject), subject.plan.sites, subject.program

    def of(chosen: set[int]) -> set[Place]:
        here = [
            n for n in range(len(sites) - 1) if program.block_of_instruction(int(sites[n]["instruction"])) in chosen
        ]
        return {place for site in here for place in places.written(site)}

    entered = set[int]()
    for row in sites[:-1]:
        if row["kind"] == Kind.CALL and program.block_of_instruction(int(row["instruction"])) in blocks:
            indirect = (program.instruction(int(row["instruction"])).callee or "").startswith("%")
            pointed = {n for n, ref in enumerate(program.functions) if ref.name in ("low", "high")}
            entered |= {int(row["callee"])} if row["callee"] >= 0 else pointed if indirect else set()
    inner = {one for callee in entered for one in reached(subject, callee)}
    their = {
        block
        for one in inner
        for block in range(
            program.functions[one].first_block,
            program.functions[one].first_block + len(program.functions[one].function.blocks),
        )
    }
    return of(blocks) | {place for place in of(their) if not is_local(place)}


def test_sets_of_sides_are_those_of_a_search_of_every_call() -> None:
    subject = subject_of(CALLING)
    writes = Writes(subject, AccessedPlaces(subject))
    sizes = set()
    for ref in subject.program.functions:
        for number, block in enumerate(ref.function.blocks):
            for label in block.successors if len(block.successors) > 1 else ():
                side = next(n for n, other in enumerate(ref.function.blocks) if other.label == label)
                branch = ref.first_block + number
                blocks = {ref.first_block + inner for inner in writes._regions_at(branch)[1].of(number, side)}
                expected = written_by(subject, blocks)
                assert writes.behind(branch, ref.first_block + side) == writes.set_of(expected), (ref.name, label)
                sizes.add(len(expected))
    assert len(sizes) > 3 and max(sizes) > 3
