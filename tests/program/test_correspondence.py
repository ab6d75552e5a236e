"""Which functions and instructions of two versions correspond: by names, modules, lines and changes."""

from __future__ import annotations

import numpy as np
from generated import c_program
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mutants import mutant
from snippets import Snippet, snippet

from whence.program import correspondence
from whence.program.correspondence import NONE, Correspondence, correspond


def of(first: Snippet, second: Snippet) -> Correspondence:
    return correspond(first.subject.program, second.subject.program)


def told(found: Correspondence, opcode: str, line: int) -> list[tuple[str, int] | None]:
    """For the instructions of an opcode on a line of ``snippet.c`` the partner's text and line; None: it has none."""
    places = []
    for number in range(found.first.instruction_count):
        mine = found.first.instruction(number)
        if mine.opcode != opcode or mine.location is None or mine.location.line != line:
            continue
        partner = int(found.instructions[number])
        theirs = found.second.instruction(partner) if partner != NONE else None
        places.append((theirs.text.split(", !dbg")[0], theirs.location.line) if theirs and theirs.location else None)
    return places


def names(found: Correspondence) -> dict[tuple[str, int], tuple[str, int] | None]:
    """The name and the module of each function and of its partner."""
    others = [found.second.functions[n] if n != NONE else None for n in found.functions.tolist()]
    pairs = zip(found.first.functions, others, strict=True)
    return {(one.name, one.module): (other.name, other.module) if other else None for one, other in pairs}


TEXT = """\
int total, n;
int main(void)
{
    int x = 1;
    if (x < n)
        total = x;
    total += 2;
    return total;
}
"""


def test_a_changed_line_matches_what_it_was():
    found = of(snippet(TEXT), snippet(TEXT.replace("x < n", "x <= n").replace("x = 1", "x = 7")))
    assert told(found, "store", 4) == [("store i32 7, ptr %x, align 4", 4)]
    assert told(found, "icmp", 5) == [("%cmp = icmp sle i32 %0, %1", 5)]
    assert found.shares == (1.0, 1.0)


def test_a_line_of_another_kind_matches_nothing():
    found = of(snippet(TEXT), snippet(TEXT.replace("    total += 2;\n", "    n = 3;\n    total ^= 2;\n")))
    assert told(found, "add", 7) == [None]
    assert told(found, "store", 6) == [("store i32 %2, ptr @total, align 4", 6)]
    assert told(found, "ret", 8) == [("ret i32 %4", 9)]
    assert found.shares[0] < 1


def test_a_condition_joined_to_another_leaves_the_rest():
    found = of(snippet(TEXT), snippet(TEXT.replace("x < n", "x < n && n < 9")))
    assert told(found, "icmp", 5) == [("%cmp = icmp slt i32 %0, %1", 5)]
    assert told(found, "store", 6) == [("store i32 %3, ptr @total, align 4", 6)]
    assert found.shares[0] == 1 and found.shares[1] < 1


def test_blocks_go_where_their_first_instructions_go():
    one, two = snippet(TEXT), snippet(TEXT.replace("    if (x", "    if (n > 5)\n        n--;\n    if (x"))
    found = of(one, two)
    labels = [block.label for block in one.subject.program.functions[0].function.blocks]
    theirs = [block.label for block in two.subject.program.functions[0].function.blocks]
    partners = [theirs[n] if n != NONE else None for n in found.blocks.tolist()]
    assert dict(zip(labels, partners, strict=True)) == {"entry": "entry", "if.then": "if.then2", "if.end": "if.end3"}


STATIC = "static int helper(void)\n{\n    return 1;\n}\nint NAME(void)\n{\n    return helper();\n}\n"
MAIN = "int one(void), two(void);\nint main(void)\n{\n    return one() + two();\n}\n"


def test_static_functions_of_equal_name_match_by_file():
    one, two = STATIC.replace("NAME", "one"), STATIC.replace("NAME", "two")
    found = of(snippet(MAIN, one=one, two=two), snippet(MAIN, two=two.replace("return 1", "return 2"), one=one))
    assert names(found)["helper", 1] == ("helper", 2) and names(found)["helper", 2] == ("helper", 1)
    assert found.modules.tolist() == [0, 2, 1]


def test_a_function_that_moved_to_another_file_keeps_its_partner_and_a_renamed_one_has_none():
    one = "int one(void)\n{\n    return 1;\n}\n"
    two = "static int part(void)\n{\n    return 2;\n}\nint two(void)\n{\n    return part();\n}\n"
    found = of(snippet(MAIN, one=one, two=two), snippet(MAIN, one=one + two.replace("part", "piece")))
    assert names(found) == {("main", 0): ("main", 0), ("one", 1): ("one", 1), ("part", 2): None, ("two", 2): ("two", 1)}


def test_functions_in_another_order():
    parts = [f"int f{n}(int a)\n{{\n    int b = a * {n};\n    return b + {n};\n}}\n" for n in range(4)]
    found = of(snippet("".join(parts) + TEXT), snippet("".join(reversed(parts)) + TEXT))
    assert found.shares == (1.0, 1.0)
    assert told(found, "mul", 18) == [("%mul = mul nsw i32 %0, 3", 3)]


def test_functions_that_are_too_much_alike_in_themselves_match_nothing(monkeypatch):
    one = "int f(int a)\n{\n    return a;\n}\n" + TEXT
    monkeypatch.setattr(correspondence, "MOST_PAIRS", 0)
    found = of(snippet(one), snippet(one.replace("x = 1", "x = 3")))
    matched = {found.first.function_of_instruction(n).name for n in np.flatnonzero(found.instructions != NONE).tolist()}
    assert matched == {"f"}


def test_programs_that_share_little():
    other = "int main(int argc, char **argv)\n{\n    double d = argc;\n    while (d > 0.5)\n        d /= 2;\n"
    other += "    return d > 0;\n}\n"
    found = of(snippet(TEXT + "int more(int a)\n{\n    return a * a + total / a;\n}\n"), snippet(other))
    assert max(found.shares) < 0.4


def test_a_source_that_is_not_what_was_compiled_is_not_believed():
    changed = TEXT.replace("int x = 1", "int x = 41")
    made = snippet(changed)
    one, two = snippet(TEXT).subject.program, made.subject.program
    source = made.folder / "snippet.c"
    source.write_text("\n" * 40 + changed.replace("total", "other"))
    try:
        assert correspond(one, two).shares == (1.0, 1.0)
        source.unlink()
        assert correspond(one, two).shares == (1.0, 1.0)
    finally:
        source.write_text(changed)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
@example(1, 0)
def test_matches_are_monotone_and_agree(seed, change):
    text = c_program(seed)
    found = of(snippet(text), snippet(mutant(text, change)))
    for one, other in zip(found.first.functions, found.functions.tolist(), strict=True):
        instructions = one.function.instructions()
        partners = found.instructions[one.first_instruction : one.first_instruction + len(instructions)]
        assert (np.diff(partners[partners >= 0]) > 0).all()
        for mine, partner in zip(instructions, partners.tolist(), strict=True):
            if partner != NONE:
                theirs = found.second.instruction(partner)
                assert found.second.function_of_instruction(partner).id == other
                assert (mine.opcode, mine.type) == (theirs.opcode, theirs.type)
    # The mutant has no call any more: functions that nothing calls are not compiled, so it may be much shorter.
    assert max(found.shares) > 0.8
