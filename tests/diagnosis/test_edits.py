from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from whence.diagnosis.multiple_faults.edits import Edits
from whence.findings import Statement

OLD = """\
int main(void)
{
    int a = 1;
    int b;
    if (a) {
        b = 2;
        a = 3;
    }
    return a + b;
}
"""
LINES = (3, 5, 6, 7, 9)  # of OLD's statements


def at(*lines: int, file: str = "p.c") -> frozenset[Statement]:
    return frozenset(Statement(file, line) for line in lines)


def edits(new: str, old: str = OLD) -> Edits:
    return Edits({"p.c": old}, {"p.c": new})


def moved(found: Edits, *lines: int) -> list[int | None]:
    places = [found.moved(Statement("p.c", line)) for line in lines]
    return [place.line if place else None for place in places]


def test_nothing_changed():
    found = edits(OLD)
    assert moved(found, *LINES) == list(LINES)
    assert found.touched(at(*LINES), at(*LINES)) == frozenset()


def test_a_changed_line_stays_and_is_touched():
    found = edits(OLD.replace("a = 3", "a = 4"))
    assert moved(found, *LINES) == list(LINES)
    assert found.touched(at(*LINES), at(*LINES)) == at(7)


def test_an_inserted_statement_moves_the_rest():
    found = edits(OLD.replace("        a = 3;\n", "        a = 3;\n        b++;\n"))
    assert moved(found, *LINES) == [3, 5, 6, 7, 10]
    assert found.touched(at(*LINES), at(3, 5, 6, 7, 8, 10)) == at(8)


def test_a_deleted_statement_touches_its_neighbours():
    found = edits(OLD.replace("        a = 3;\n", ""))
    assert moved(found, *LINES) == [3, 5, 6, None, 8]
    assert found.touched(at(*LINES), at(3, 5, 6, 8)) == at(6, 8)


def test_a_condition_put_around_statements_leaves_them_what_they_are():
    new = OLD.replace("        a = 3;\n", "        if (b) {\n            a = 3;\n        }\n")
    found = edits(new)
    assert moved(found, *LINES) == [3, 5, 6, 8, 11]
    assert found.touched(at(*LINES), at(3, 5, 6, 7, 8, 11)) == at(7, 8, 11)  # the brace touches those around it


def test_comments_and_indentation_touch_nothing():
    new = (
        OLD.replace("    int a", "  /* one\n two */ int a")
        .replace("a = 3;", "a = 3; // and so on")
        .replace("\n}", "\n\n}")
    )
    found = edits(new)
    assert moved(found, *LINES) == [4, 6, 7, 8, 10]
    assert found.touched(at(*LINES), at(4, 6, 7, 8, 10)) == frozenset()


def test_a_changed_declaration_cannot_be_told_by_lines():
    assert edits(OLD.replace("int b", "long b")).touched(at(*LINES), at(*LINES)) is None


def test_several_files():
    found = Edits({"p.c": OLD, "gone.c": "x"}, {"p.c": "\n" + OLD, "new.c": "y"})
    assert found.moved(Statement("p.c", 3)) == Statement("p.c", 4)
    assert found.moved(Statement("gone.c", 1)) is None
    assert found.moved(Statement("other.c", 7)) == Statement("other.c", 7)


texts = st.lists(st.sampled_from(["a;", "b;", "c;", "", "}"]), min_size=1, max_size=12)


@given(texts, texts)
def test_what_is_kept_is_equal_and_in_order(old, new):
    found = edits("\n".join(new), "\n".join(old))
    places = moved(found, *range(1, len(old) + 1))
    changed = {n for r in found.regions.get("p.c", []) for n in range(r.old_start, r.old_stop)}
    kept = [p for p in places if p is not None]
    assert kept == sorted(set(kept)) and all(1 <= p <= len(new) for p in kept)
    assert all(new[places[n - 1] - 1] == old[n - 1] for n in range(1, len(old) + 1) if n not in changed)


@given(texts, texts)
def test_touched_lines_are_all_that_is_not_kept(old, new):
    found = edits("\n".join(new), "\n".join(old))
    every_old, every_new = at(*range(1, len(old) + 1)), at(*range(1, len(new) + 1))
    touched = found.touched(every_old, every_new)
    kept = {m for s in every_old if (m := found.moved(s))}
    assert touched is not None
    assert all(s in touched for s in every_new - kept if new[s.line - 1])
