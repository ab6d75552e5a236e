"""What runs over the end of an array hits the same things in every variant as in the plain program."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from snippets import Snippet, snippet

from bench.real.overflows import FLAGS, LENGTHS, PROTECTED, VARIANTS, built, cases, shown
from whence.build import variant
from whence.probe.frame import Area, Framing
from whence.probe.instrument import Variant
from whence.program.model import Function
from whence.run.cases import Case
from whence.subject.subject import Subject

DEBUG, GUARDED = ("-O0", "-g"), ("-O0", PROTECTED)
# The signals that the overflows of a program end it with, by stack protector or without.
SIGNALS = {
    "argument_heap": {0, signal.SIGABRT},
    "argument_local": {0, signal.SIGSEGV, signal.SIGABRT},
    "argument_static": {0, signal.SIGSEGV},
    "neighbour": {0, signal.SIGSEGV, signal.SIGABRT},
    "own_loop": {0, signal.SIGSEGV, signal.SIGABRT},
    "read_input": {0, signal.SIGSEGV, signal.SIGABRT},
}


@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
@pytest.mark.parametrize("name", sorted(LENGTHS))
def test_an_overflow_ends_alike_in_every_variant(name: str, flags: tuple[str, ...]):
    subject, chosen = built(name, flags), cases(name)
    plain = shown(subject, chosen, None)
    assert {result[1] for result in plain} <= SIGNALS[name]
    for kind in VARIANTS:
        assert shown(subject, chosen, kind) == plain, kind


@pytest.mark.parametrize("name", ["argument_local", "neighbour", "read_input"])
def test_an_overflow_ends_alike_where_variants_are_too_large_to_be_optimised(name: str, monkeypatch, tmp_path):
    monkeypatch.setattr(variant, "OPTIMISED", 0)
    subject, chosen = built(name, ("-O0", "-g")), cases(name)
    plain = shown(subject, chosen, None)
    monkeypatch.setattr(Subject, "_variant_path", lambda _, kind: tmp_path / kind / name)
    for kind in VARIANTS:
        assert shown(subject, chosen, kind) == plain, kind


def test_overflows_are_what_they_are_meant_to_be():
    """Some end by the signal of a smashed return address, a corrupt heap, the stack protector; some in silence."""
    ends = {
        (name, flags): {(status, number) for status, number, _, _ in shown(built(name, flags), cases(name), None)}
        for name in LENGTHS
        for flags in (DEBUG, GUARDED)
    }
    assert (None, signal.SIGABRT) in ends["argument_heap", DEBUG]
    assert (None, signal.SIGSEGV) in ends["argument_local", DEBUG]
    assert (None, signal.SIGABRT) in ends["argument_local", GUARDED]
    assert (None, signal.SIGSEGV) in ends["argument_static", DEBUG]
    assert {(0, 0), (1, 0)} <= ends["neighbour", DEBUG]
    assert {(0, 0), (1, 0)} == ends["own_loop", DEBUG]


# ---- Places ------------------------------------------------------------------------------------------------------

PLACES = """
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
struct pair { char text[11]; long number; };
static char *base;
static void tell(const char *name, void *place) { printf("%s %ld\\n", name, (long)(base - (char *)place)); }
#define TELL(name) tell(#name, &name)
static int many(int a, short b, long double c, int d, int e, int f, int g, char h, struct pair p) {
    char line[21]; double numbers[3]; int first = a, second = 2; struct pair pairs[2]; unsigned char last = 1;
    base = __builtin_dwarf_cfa();
    TELL(line); TELL(numbers); TELL(first); TELL(second); TELL(pairs); TELL(last); TELL(a); TELL(b); TELL(c); TELL(d);
    { int inner[5]; inner[a] = 1; TELL(inner); }
    { char other; TELL(other); }
    return first + second + last + b + d + e + f + g + h + (int)c + p.text[0];
}
int main(void) { struct pair p = {"x", 1}; return many(1, 2, 3, 4, 5, 6, 7, 8, p) > 1000; }
"""


def area(made: Snippet, name: str) -> Area | None:
    """The area of a function, by the frame that it has in the plain program."""
    subject = made.subject
    module = subject.program.modules[0]
    return Framing(module, subject.memory[0].frames).area(module.functions[name])


def test_locals_lie_where_the_plain_program_has_them():
    """Distances from the frame's end, as the plain program itself prints them."""
    made = snippet(PLACES.replace("__builtin_dwarf_cfa()", "(char *)__builtin_frame_address(0) + 16"))
    told = dict(line.split() for line in made.run().stdout.decode().splitlines())
    function = made.subject.program.modules[0].functions["many"]
    frame = made.subject.memory[0].frames["many"]
    names = [str(i.result)[1:] for i in function.blocks[0].instructions if i.opcode == "alloca"]
    found = {name.removesuffix(".addr"): frame.objects[n] for n, name in enumerate(names) if n in frame.objects}
    assert told.keys() >= {"line", "numbers", "pairs", "last", "inner", "other", "first", "a"}
    assert {name: int(place) for name, place in told.items()} == {name: found[name] for name in told}


def test_only_functions_with_locals_in_memory_are_made_of_two():
    made = snippet(
        """
        static int plain(int n) { int x = n + 1; return x; }
        static int escaping(int n) { int x = n, *p = &x; return *p; }
        static int array(int n) { char a[3] = {1, 2, 3}; return a[n]; }
        static void *own(void) { char a[3]; return a[0] ? __builtin_frame_address(0) : 0; }
        int main(int n, char **v) { return plain(n) + escaping(n) + array(n) + (own() == 0) > 1000; }
        """
    )
    split = {ref.name for ref in made.subject.program.functions if area(made, ref.name) is not None}
    assert split == {"escaping", "array"}


@pytest.mark.parametrize("kind", [*VARIANTS])
def test_variables_keep_their_order_and_distances(kind: Variant):
    code = {
        "main.c": 'char first[10]; int number = 3; static char second[7] = "abc"; extern char third[]; '
        "int main(int n, char **v) { second[n] = 1; third[n] = 2; return number + first[n] > 100; }",
        "other.c": 'char third[20] = "x"; static long fourth; double fifth = 1; '
        "long use(void) { return ++fourth + (long)fifth; }",
    }
    made = Snippet(code)
    names = ("first", "number", "second", "third", "fourth", "fifth")
    plain, variant = (distances(path, names) for path in (made.subject.executable, made.subject.variant(kind)))
    assert plain == variant


def distances(executable: Path, names: tuple[str, ...]) -> dict[str, int]:
    """Where variables lie, in bytes behind the first one of their section (.data or .bss)."""
    found: dict[str, tuple[str, int]] = {}
    with executable.open("rb") as file:
        elf = ELFFile(file)
        for symbol in elf.get_section_by_name(".symtab").iter_symbols():
            if symbol.name in names:
                found[symbol.name] = elf.get_section(symbol["st_shndx"]).name, symbol["st_value"]
    first = {kind: min(found[n][1] for n in names if found[n][0] == kind) for kind in (".data", ".bss")}
    return {name: found[name][1] - first[found[name][0]] for name in names}


def test_the_inner_function_is_given_what_the_shell_is():
    made = snippet(
        """
        #include <stdarg.h>
        #include <stdio.h>
        struct big { long n[5]; };
        struct big twice(struct big b, int n, ...) {
            char text[30]; va_list list, copy; va_start(list, n); va_copy(copy, list);
            double d = va_arg(list, double); vsnprintf(text, sizeof text, "%.1f %d %s", copy);
            va_end(list); va_start(list, n); d += va_arg(list, double);
            puts(text); b.n[0] = (long)(d * 2) + n; return b;
        }
        float many(char a, short b, float c, long d, long e, long f, long g, signed char h, _Bool i, double j) {
            char text[9]; sprintf(text, "%d%d%d%d", a, b, h, i); puts(text);
            return c + (float)(d + e + f + g + j);
        }
        int main(void) {
            struct big b = {{1, 2, 3, 4, 5}};
            b = twice(b, -1, 2.5, 7, "seven");
            printf("%ld %ld %.2f\\n", b.n[0], b.n[4], many('\\1', -2, 3.5f, 4, 5, 6, 7, -8, 1, 10));
            return 0;
        }
        """
    )
    functions: list[Function] = [ref.function for ref in made.subject.program.functions]
    assert all(area(made, f.name) is not None for f in functions)
    plain = made.run()
    assert plain.stdout == b"2.5 7 seven\n1-2-81\n9 5 35.50\n"
    for kind in VARIANTS:
        assert made.run(variant=kind).stdout == plain.stdout, kind


FRESH = """
#include <stdio.h>
#include <stdlib.h>
static int fresh(int n) { int kept[4096]; kept[n] = 1; return kept[n + 1]; }
int main(int count, char **arguments) {
    int local = fresh(count);
    unsigned char *block = malloc(100);
    printf("%x %x\\n", local, block[50]);
    return 0;
}
"""


@pytest.mark.parametrize("pattern", [0, 7, 170])
def test_fresh_memory_holds_the_pattern(pattern: int):
    made = snippet(FRESH)
    made.subject.limits, before = replace(made.subject.limits, pattern=pattern), made.subject.limits
    try:
        found = {kind: shown(made.subject, [Case("case", ("x",))], kind)[0][2] for kind in (None, *VARIANTS)}
    finally:
        made.subject.limits = before
    assert found.pop(None).split()[1] == b"%x" % pattern
    assert set(found.values()) == {b"%x %x\n" % (pattern * 0x01010101, pattern)}
