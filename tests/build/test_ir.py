"""The canonical text of captured IR: what is always to be inlined is called, where it can be."""

from __future__ import annotations

import re
import subprocess

from cli_tool import subject_folder, whence

from whence.build.flags import IR_FLAGS
from whence.build.ir import canonical_text, verify
from whence.build.toolchain import find_toolchain

ALWAYS = "static inline __attribute__((always_inline))"


def text_of(source: str) -> str:
    """The canonical text of a C source."""
    command = find_toolchain().call([*IR_FLAGS, "-x", "c", "-", "-o", "-"])
    found = canonical_text(subprocess.run(command, input=source.encode(), capture_output=True, check=True).stdout)
    verify(found)
    return found


def functions(text: str) -> set[str]:
    """The functions that a text defines."""
    return set(re.findall(r"^define .*?@(\w+)\(", text, re.MULTILINE))


def test_what_is_always_to_be_inlined_is_called():
    text = text_of(f"{ALWAYS} int twice(int a) {{ return a + a; }}\nint f(int a) {{ return twice(a) + twice(a); }}\n")
    assert functions(text) == {"twice", "f"}
    assert text.count("call i32 @twice") == 2 and "alwaysinline" not in text


def test_what_needs_its_caller_is_inlined():
    assembly = f'{ALWAYS} int shift(int a, int n) {{ __asm__("shll %1, %0" : "+r"(a) : "i"(n)); return a; }}\n'
    vectors = f"typedef int four __attribute__((vector_size(16)));\n{ALWAYS} four twice(four a) {{ return a + a; }}\n"
    other = f"{ALWAYS} int once(int a) {{ return a; }}\n"
    uses = "int f(int a) { return shift(once(a), 3); }\nvoid g(four *a) { *a = twice(*a); }\n"
    text = text_of(assembly + vectors + other + uses)
    assert {"f", "g", "once"} <= functions(text)
    assert "call i32 @shift" not in text and "@twice(" not in text and "call i32 @once" in text


def test_a_definition_for_inlining_alone_is_inlined():
    text = text_of(
        "extern inline __attribute__((gnu_inline, always_inline)) int puts(const char *s) { return *s; }\n"
        "int f(const char *s) { return puts(s); }\n"
    )
    assert "call i32 @puts" not in text


FORCED = """\
#include <stdio.h>
#include <stdlib.h>
#define FORCED static inline __attribute__((always_inline))
FORCED int scaled(int value, const int by)
{
    if (value > 10)                 /* FAULT: 9 */
        return value * by;
    return value;
}
int main(int argc, char **argv)
{
    int a = atoi(argv[1]);
    printf("%d %d\\n", scaled(a, 2), scaled(a + 1, 3));
    return 0;
}
"""


def test_a_fault_in_such_a_function_is_located_with_its_calls():
    cases = ("--fails", "10", "--expect", "20 33\n", "--passes", "3", "--passes", "20", "--passes", "8")
    found = whence(subject_folder("forced", forced_c=FORCED), "locate", "forced.c", *cases, "--json", "--budget", "10")
    assert found.json["ranking"][0]["line"] == 6
    calls = [step["text"] for step in found.json["chain"]["steps"]]
    assert any("scaled(a, 2)" in text for text in calls)
