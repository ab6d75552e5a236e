"""Symbols are renamed where they are symbols, and only there."""

from __future__ import annotations

import pytest
from snippets import snippet

from whence.probe.symbols import Renaming, program_renaming


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  %1 = call i32 @puts(ptr @puts.text)", "  %1 = call i32 @W(ptr @puts.text)"),
        ("declare i32 @puts(ptr)", "declare i32 @W(ptr)"),
        ("@p = global ptr @puts, align 8", "@p = global ptr @W, align 8"),
        ("  store ptr @puts, ptr %p", "  store ptr @W, ptr %p"),
        ("  call void @puts2(), @xputs, @puts-1, @puts$", "  call void @puts2(), @xputs, @puts-1, @puts$"),
        ('@s = constant [6 x i8] c"@puts\\00"', '@s = constant [6 x i8] c"@puts\\00"'),
        ('@s = global [3 x i8] c"\\22@puts", section "@puts"', '@s = global [3 x i8] c"\\22@puts", section "@puts"'),
        ('  call void asm "call @puts", ""(ptr @puts)', '  call void asm "call @puts", ""(ptr @W)'),
        ('!4 = !DISubprogram(name: "puts")', '!4 = !DISubprogram(name: "puts")'),
        ("no symbol", "no symbol"),
    ],
)
def test_a_line(line: str, expected: str):
    assert Renaming({"puts": "W", "put": "X"}).line(line) == expected


def test_nothing_to_rename():
    assert Renaming({}).line("call @f") == "call @f"


def test_a_programs_own_functions_keep_their_names():
    names = program_renaming({"main", "strlen", "other"}, ["strlen", "strcpy"])
    assert names == {"strcpy": "__whence_lib_strcpy", "main": "__whence_main"}
    assert program_renaming({"f"}, []) == {}


def test_a_program_with_its_own_library_functions_uses_them():
    code = """
    #include <stdio.h>
    static char *strchr(const char *text, int c) { return c == 'a' ? (char *)text + 1 : 0; }
    long labs(long n) { return n + 100; }
    int main(void) {
        long (*indirect)(long) = labs;
        printf("%s %ld %ld @labs main\\n", strchr("xyz", 'a'), labs(-5), indirect(1));
        return 0;
    }
    """
    made = snippet(code, "-fno-builtin", "-w")
    assert made.run().stdout == made.record()[0].stdout == b"yz 95 101 @labs main\n"
    trace = made.trace()
    entered = trace.columns.frames["function"][:4].tolist()
    assert {"main", "strchr", "labs"} == {trace.program.functions[f].name for f in entered}


def test_addresses_of_library_functions_lead_to_the_same_wrappers():
    code = """
    #include <stdio.h>
    #include <string.h>
    static size_t (*const measures[])(const char *) = {strlen};
    int sink;
    int main(void) {
        char text[4] = "abc";
        size_t (*measure)(const char *) = strlen;
        text[2] = 0;  //+
        sink = (int)measures[0](text); //?
        printf("%d %d\\n", measure == measures[0], measure == strlen);
        return 0;
    }
    """
    made = snippet(code, "-fno-builtin")
    trace = made.trace()
    assert made.run().stdout == made.record()[0].stdout == b"1 1\n"
    assert set(made.expected) <= set(made.sliced(trace))


def test_a_variable_may_bear_the_name_of_a_library_function():
    code = """
    static int open = 3;
    int stat = 4;
    int main(void) { return open + stat - 7; }"""
    assert snippet(code).trace().header.code == 0
