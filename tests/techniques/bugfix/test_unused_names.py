"""Names that nothing uses: which these are, what edits name them, and that such edits come first."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.suspects import UNUSED, Suspects
from whence.techniques.bugfix.unused_names import UnusedNames

# A shelf that takes boxes up to a weight, counts the heavy ones, and tells where there is room.
SHELF = """\
#include <stdbool.h>
#define MOST 40
struct shelf { int weight, heavy; bool full; };
static bool fits(const struct shelf *shelf, int weight);
static int told;
static void tell(struct shelf *shelf)
{
    told++;
    shelf->full = true;
}
static bool fits(const struct shelf *shelf, int weight)
{
    return shelf->weight + weight <= MOST - shelf->heavy && !shelf->full;
}
static int rounded(int weight)
{
    return (weight + 4) / 5 * 5;
}
int put(struct shelf *shelf, int weight, int limit)
{
    int heavy = weight > limit;
    if (weight <= 0 || !fits(shelf, weight)) {
        tell(shelf);
        return -1;
    }
    shelf->weight += rounded(weight);
    shelf->heavy += heavy;
    return told;
}
"""
LAST = SHELF[: SHELF.index("    return told")].count("\n") + 1


def unused(text: str) -> set[str]:
    source = CSource(text.encode())
    return set(UnusedNames(source).at(source.functions[-1]))


def changed(old: str, new: str) -> str:
    assert SHELF.count(old) == 1
    return SHELF.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("    return told;", "    return told;", set()),
        ("    shelf->heavy += heavy;\n", "", {"heavy"}),  # the variable; the member has its name in the file
        ("        tell(shelf);\n", "", {"tell"}),
        (" || !fits(shelf, weight)", "", {"fits"}),  # which is declared twice
        (" <= MOST", " <= 40 /* MOST */", {"MOST"}),
        ("weight > limit", "weight > 9", {"limit"}),
        ("rounded(weight)", "weight / 5 * 5", {"rounded"}),
        (" && !shelf->full", "", set()),  # which is set
        ("    told++;\n", "", set()),
    ],
)
def test_what_is_declared_and_mentioned_nowhere_else(old: str, new: str, names: set[str]) -> None:
    assert unused(changed(old, new)) == names


def test_parameters_and_what_other_files_can_use_are_told_apart() -> None:
    source = CSource(changed("weight > limit", "weight > 9").replace("static void tell", "void tell").encode())
    names = UnusedNames(source)
    assert names.at(source.functions[-1]) == {"limit"} and not names.but_parameters(source.functions[-1])
    source = CSource(changed("        tell(shelf);\n", "").replace("static void tell", "void tell").encode())
    assert not UnusedNames(source).of_file and UnusedNames(source, is_alone=True).of_file == {"tell", "put"}
    main = CSource(b"static int spare; int rest; extern int far(void); int main(void) { return 0; }")
    assert UnusedNames(main).of_file == {"spare"} and UnusedNames(main, is_alone=True).of_file == {"spare", "rest"}


def test_where_many_are_unused_they_mean_nothing() -> None:
    macros = "".join(f"#define SPARE_{n} {n}\n" for n in range(4))
    assert unused(macros + changed("        tell(shelf);\n", "")) == {"tell"}
    assert unused(macros.replace("#define SPARE_3 3\n", "") + SHELF) == {"SPARE_0", "SPARE_1", "SPARE_2"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    shelf->heavy += heavy;\n", ""),
        ("        tell(shelf);\n", ""),
        (" || !fits(shelf, weight)", ""),
        ("rounded(weight)", "weight / 5 * 5"),
        (" <= MOST", " <= 40"),
        ("weight > limit", "weight > 9"),
    ],
)
def test_few_edits_come_first_that_name_it_and_the_right_one_is_among_them(old: str, new: str) -> None:
    file = FileCandidates(CSource(changed(old, new).encode()), "shelf.c")
    gap = SHELF[: SHELF.index(old)].count("\n") + 1
    lines = [("shelf.c", line) for line in sorted(range(1, LAST + 1), key=lambda line: abs(line - gap))]
    first = list(Suspects({"shelf.c": file}, lines, {}).naming_unused())
    texts = ["".join(edited(file.source, edit).decode().split()) for edit in first]
    assert len(first) <= UNUSED and "".join(SHELF.split()) in texts


def test_a_passing_edit_of_what_is_no_parameter_is_asked_for() -> None:
    file = FileCandidates(CSource(changed("weight > limit", "weight > 9").encode()), "shelf.c")
    edits = [edit for line in range(1, LAST + 1) for _, edit in file.naming_unused(line)]
    assert edits and not any(file.is_asked_for(edit) for edit in edits)
    file = FileCandidates(CSource(changed("        tell(shelf);\n", "").encode()), "shelf.c")
    edits = [edit for line in range(1, LAST + 1) for _, edit in file.naming_unused(line)]
    assert edits and all(file.is_asked_for(edit) for edit in edits)


def test_statements_that_can_name_it_are_looked_at_wherever_they_stand() -> None:
    file = FileCandidates(CSource(changed("    shelf->heavy += heavy;\n", "").encode()), "shelf.c")
    others = [("other.c", 3), *(("shelf.c", line) for line in range(1, LAST + 1))]
    assert not list(Suspects({"shelf.c": file}, others[:9], {}).naming_unused())
    found = list(Suspects({"shelf.c": file}, others[:9], {}, others[9:]).naming_unused())
    assert not list(Suspects({"shelf.c": file}, others[:9], {}, others[9:]).naming_unused(deadline=0.0))
    assert found and min(edit.line for edit in found) == SHELF[: SHELF.index("    if (weight <= 0")].count("\n") + 1
