"""Initialisers of static variables: which line gives which bytes, against what the compiler made of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import count

import pytest
from trace_readers import subject_of

from whence.build.static_data import stored_variables
from whence.program.c_source import CSource
from whence.program.initialisers import Initialiser, initialised, initialisers
from whence.subject.subject import Subject

HAND = r"""
#include <stdio.h>
#define ROW(a, b) { a, b }
#define TWO 1, 2
struct pair { int first; char second; };
struct nested { short number; struct pair pairs[2]; const char *name; };
union either { int number; double other; };
static int scalar = 41;
static const int flat[4] = {
    10,
    -20, /* a comment */
};
static struct pair elided[2] = { 1, 'a',
    2, '\n' };
static struct pair rows[] = {
    ROW(5, 'x'),
    { 6, 'y' },
};
static struct nested deep = {
    .name = "deep",
    .pairs = { { 7, 1 },
               { 8, 2 } },
};
static int designated[6] = { [4] = 44,
    55, [1] = 0x11 };
static char text[] = "text";
static union either one = {
    9 };
static int counted[] = { TWO,
    3 };
static int conditional[] = {
    1,
#ifdef NEVER
    2,
#endif
    3,
};
static int without[3];
int main(void)
{
    static long inside = 77;
    printf("%d %d %d %d %d %s %d %s %d %d %d %d %ld\n", scalar, flat[0], elided[0].first, rows[0].first,
           deep.pairs[0].first, deep.name, designated[4], text, one.number, counted[0], conditional[0], without[0],
           inside);
    return 0;
}
"""


def given(subject: Subject, name: str) -> list[Initialiser]:
    """What the initialiser of a variable gives."""
    variables = subject.expressions[0].debug.globals
    variable = next(v for v in variables.values() if v.name == name)
    source = CSource((subject.folder / "p.c").read_bytes())
    declarators = initialised(source).get(name, [])
    return initialisers(source, declarators[0], variable) if declarators else []


def line_of(part: str) -> int:
    """The first line of HAND with a part."""
    return next(n for n, line in enumerate(HAND.splitlines(), 1) if part in line)


@pytest.fixture(scope="module")
def subject() -> Subject:
    return subject_of(HAND)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scalar", [(0, 4, "scalar = 41", 41)]),
        ("flat", [(0, 4, "    10,", 10), (4, 4, "-20", -20)]),
        ("elided", [(0, 4, "elided", 1), (4, 1, "elided", 97), (8, 4, "2, '", 2), (12, 1, "2, '", 10)]),
        ("rows", [(0, 8, "ROW(5", None), (8, 4, "{ 6,", 6), (12, 1, "{ 6,", 121)]),
        (
            "deep",
            [(4, 4, "{ { 7", 7), (8, 1, "{ { 7", 1), (12, 4, "{ 8", 8), (16, 1, "{ 8", 2), (24, 8, '"deep"', None)],
        ),
        ("designated", [(4, 4, "55, [1]", 17), (16, 4, "[4] = 44", 44), (20, 4, "55, [1]", 55)]),
        ("text", [(0, 5, '"text"', None)]),
        ("one", [(0, 4, "    9 }", 9)]),
        ("conditional", [(0, 8, "conditional[]", None)]),
        ("without", []),
        ("inside", [(0, 8, "inside = 77", 77)]),
    ],
)
def test_what_an_initialiser_gives(subject, name, expected):
    found = [(one.start, one.size, one.line, one.value) for one in given(subject, name)]
    assert found == [(start, size, line_of(part), value) for start, size, part, value in expected]


def test_numbers_stand_where_they_are_said_to(subject):
    text = (subject.folder / "p.c").read_bytes()
    found = {one.value: one for one in given(subject, "designated")}
    assert {value: one.text for value, one in found.items()} == {44: "44", 55: "55", 17: "0x11"}
    assert all(text[one.at :].startswith(one.text.encode()) for one in found.values())


# ---- Random ones, against the compiler -------------------------------------------------------------------------------


@dataclass
class Made:
    """C declarations made at random, all of whose numbers differ."""

    random: random.Random
    numbers: count[int] = field(default_factory=lambda: count(1000))
    structures: list[str] = field(default_factory=list)

    def type(self, depth: int) -> tuple[str, object]:
        """A type's name, and its shape: None for a number, a list of members, or (count, shape) of an array."""
        if depth == 0 or self.random.random() < 0.3:
            return self.random.choice(["int", "long", "unsigned short"]), None
        members = []
        for number in range(self.random.randint(1, 3)):
            name, shape = self.type(depth - 1)
            length = self.random.choice([0, 0, 2, 3])
            members.append((name, f"m{number}", length, (length, shape) if length else shape))
        name = f"struct s{len(self.structures)}"
        declared = "".join(f" {t} {m}{f'[{n}]' if n else ''};" for t, m, n, _ in members)
        self.structures.append(f"{name} {{{declared} }};")
        return name, [(m, shape) for _, m, _, shape in members]

    def value(self, shape: object, in_braces: bool) -> str:
        """An initialiser of a shape; without braces it is complete."""
        if shape is None:
            return str(next(self.numbers))
        parts = shape if isinstance(shape, list) else [(f"[{n}]", shape[1]) for n in range(shape[0])]  # type: ignore[index]
        if not in_braces:
            return ", ".join(self.value(inner, False) for _, inner in parts)
        kept = parts[: self.random.randint(1, len(parts))]
        items, is_named = [], self.random.random() < 0.3
        for name, inner in kept:
            braces = inner is not None and (is_named or self.random.random() < 0.6)
            item = self.value(inner, braces)
            items.append(f"{name if name.startswith('[') else '.' + name} = {item}" if is_named else item)
            items[-1] += "\n" if self.random.random() < 0.3 else ""
        return "{ " + ", ".join(items) + " }"


@pytest.mark.parametrize("seed", [1, 2])
def test_random_initialisers_give_what_the_compiler_stores(seed):
    made, declarations, uses = Made(random.Random(seed)), [], []
    for number in range(60):
        name, shape = made.type(3)
        length = made.random.choice([0, 1, 4])
        shape = (length, shape) if length else shape
        value = made.value(shape, shape is not None)
        declarations.append(f"{name} v{number}{f'[{length}]' if length else ''} = {value};")
        uses.append(f"(char *)&v{number}")
    text = "\n".join([*made.structures, *declarations, f"void *all[] = {{ {', '.join(uses)} }};"])
    subject = subject_of(f"{text}\nint main(void) {{ return all[0] == 0; }}\n")
    image, stored = subject.executable.read_bytes(), stored_variables(subject.executable)
    checked = 0
    for number in range(60):
        (place,) = stored[f"v{number}"]
        for one in given(subject, f"v{number}"):
            start = place.offset + one.start
            assert one.value == int.from_bytes(image[start : start + one.size], "little"), declarations[number]
            checked += 1
    assert checked == next(made.numbers) - 1000
