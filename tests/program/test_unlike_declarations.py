"""Names that one module declares otherwise than another one defines them, and those that only look so."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder, whence, write

from whence.program.unlike_declarations import unlike_declarations
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.subject import subject_from_sources

# How a module declares and uses a name, how another one defines it, and what is said of it.
UNLIKE = [
    ("extern char text[]; return text[0];", "char *text;", "an array of elements of 1 byte", "a pointer"),
    ("extern char *text; return *text;", "char text[9];", "a pointer", "an array of 9 elements of 1 byte"),
    ("extern int level; return level;", "long level;", "a number of 4 bytes", "a number of 8 bytes"),
    ("extern int v[]; return v[0];", "short v[4];", "an array of elements of 4 bytes", "elements of 2 bytes"),
    ("extern int v[9]; return v[8];", "int v[8];", "an array of 9", "an array of 8"),
    ("extern struct s { int a; } s; return s.a;", "struct s { int a, b; } s;", "of 4 bytes", "of 8 bytes"),
    ("return *(char *)made();", "char *made(void) { return 0; }", "gives 32 bits", "gives a pointer"),
    ("int half(); return half();", "double half(void) { return 0.5; }", "gives 32 bits", "gives a double"),
]
ALIKE = [
    ("extern char text[]; return text[0];", "char text[9];"),
    ("extern char text[9]; return text[0];", "char text[9];"),
    ("struct s; extern struct s *s; return s != 0;", "struct s { int a; } *s;"),
    ("struct s; extern struct s s; return &s != 0;", "struct s { int a; } s;"),
    ("extern unsigned level; return level;", "int level;"),
    ("extern int level; return level;", "int level = 3; static long other;"),
    ("static int level; return level;", "long level;"),
    ("void done(); done(); return 0;", "int done(void) { return 1; }"),
    ("return made();", "static char *name; int made(void) { return name != 0; }"),
    ("extern char **environ; return environ != 0;", "int unused;"),
]


def found(use: str, definition: str) -> list[str]:
    folder = subject_folder("unlike")
    one, other = folder / "one.c", folder / "other.c"
    write(one, f"int main(void) {{ {use} }}\n")
    write(other, definition + "\n")
    subject = subject_from_sources([one, other], ["-w", "-fcommon"], [], DEFAULT_LIMITS)
    return [unlike.text(folder) for unlike in unlike_declarations(subject.program)]


@pytest.mark.parametrize(("use", "definition", "declared", "defined"), UNLIKE, ids=lambda text: text[:20])
def test_what_two_modules_mean_otherwise_is_found(use: str, definition: str, declared: str, defined: str) -> None:
    (told,) = found(use, definition)
    before, _, behind = told.partition(" in one.c, but defined as ")
    assert declared in before and defined in behind and behind.endswith("in other.c")


@pytest.mark.parametrize(("use", "definition"), ALIKE, ids=lambda text: text[:20])
def test_what_is_the_same_is_not(use: str, definition: str) -> None:
    assert found(use, definition) == []


def test_two_definitions_that_a_linker_makes_one_of_are_compared() -> None:
    """The flags have -fcommon; the first one counts as the definition."""
    (told,) = found("return 0; } int kept; int other(void) { return kept;", "long kept;")
    assert told.startswith("`kept` is declared as a number of 8 bytes in other.c, but defined as a number of 4 bytes")


def test_it_is_told_before_all_else() -> None:
    folder = subject_folder(
        "unlike-told",
        one_c="#include <stdio.h>\nextern char word[];\nvoid keep(char *);\n"
        'int main(int argc, char **argv) { keep(argv[1]); printf("%.2s\\n", word); return 0; }\n',
        other_c="char *word;\nvoid keep(char *text) { word = text; }\n",
    )
    done = whence(folder, "locate", "one.c", "other.c", "--fails", "ab", "--expect", "ab", "--budget", "20s")
    warned = " ".join(done.out.split("\n\n")[0].split())
    assert warned.startswith("warning: `word` is declared as an array of elements of 1 byte in one.c")
