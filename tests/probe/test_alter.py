"""The alter variant's text: hooks that give values back change nothing, altered values are what later uses see."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from snippets import Snippet, Trace, program, programs, snippet

from corpus import corpus
from tests.probe.test_transparency import as_case, shown
from whence.build.toolchain import find_toolchain
from whence.build.variant import RUNTIME, build_variant, compile_c, runtime_objects
from whence.probe.alter import altered, altered_layout
from whence.probe.instrument import Variant, alter_texts, replay_texts
from whence.probe.layout import Kind, Segment
from whence.probe.library import wrapped
from whence.probe.sites import Finder, Form, Role
from whence.run.cases import Case
from whence.run.runner import Runner, RunResult, TraceRequest

STAND_IN = Path(__file__).parent / "runtime" / "hooks.c"
CORPUS = ("cache", "stats")
SAMPLE = 4  # cases of each corpus program


@cache
def asking(made: Snippet) -> Path:
    """The alter variant in which every hook asks a stand-in for the runtime (``runtime/hooks.c``)."""
    subject = made.subject
    object_file = compile_c(find_toolchain("bundled"), STAND_IN, ("-O1", "-w"))
    texts = list(alter_texts(subject.program, subject.alter_plan))
    return build_variant(
        subject.capture, "alter", texts, [object_file], made.folder / "hooks" / made.subject.executable.name
    )


def run(made: Snippet, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program with every hook asking."""
    command = [str(asking(made)), *arguments]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=20
    )


def listed(made: Snippet, path: Path, *arguments: str) -> list[tuple[int, ...]]:
    """(clock, site, value, left, right) of each hook that asked, in order."""
    run(made, *arguments, HOOKS_LIST=str(path))
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()]


def sites(made: Snippet, line: int, role: Role) -> list[int]:
    """The sites of a role on a line."""
    subject = made.subject
    rows = subject.alter_plan.sites
    on_line = [(place := subject.program.location(i)) and place.line == line for i in rows["instruction"].tolist()]
    return [
        n for n, (there, own) in enumerate(zip(on_line, rows["role"].tolist(), strict=True)) if there and own == role
    ]


@pytest.mark.parametrize("name", programs())
def test_a_program_does_the_same_with_every_hook_asking(name: str):
    made = program(name)
    case = Case("case", tuple(made.arguments), made.stdin)
    subject = made.snippet.subject
    with Runner(asking(made.snippet), subject.limits, name=subject.name) as runner:
        assert shown(runner.run_case(case)) == shown(made.snippet.run(*made.arguments, stdin=made.stdin))


@pytest.mark.parametrize("name", CORPUS)
def test_a_corpus_program_does_the_same_with_every_hook_asking(name: str):
    made = snippet(corpus.source_path(name).read_text())
    cases = corpus.cases(name)
    chosen = [as_case(case) for case in cases[:: len(cases) // SAMPLE][:SAMPLE]]
    with Runner(asking(made), made.subject.limits, name=made.subject.name) as runner:
        assert [shown(r) for r in runner.run_cases(chosen)] == [shown(r) for r in made.runner().run_cases(chosen)]


RARE = r"""#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
struct big { long a[5]; }; struct two { double a; long b; };
static int last(int n) { return n + 1; }
static int tail(int n) { if (n < 0) return 0; __attribute__((musttail)) return last(n); }
static int jump(int n) { asm goto("testl %0, %0\n\tjnz %l1" : : "r"(n) : "cc" : yes); return 0; yes: return 1; }
static int old(a, b) int a; char b; { return a + b; }
static struct two mk(struct big x, float f) { struct two r = { x.a[4] * f, x.a[0] }; return r; }
static struct big id(struct big x) { x.a[1]++; return x; }
static int sum(int n, ...) { va_list l; va_start(l, n); int s = 0;
    while (n--) s += va_arg(l, int); va_end(l); return s; }
extern int absent(int) __attribute__((weak)); extern int nowhere __attribute__((weak));
static int (*volatile ps)(int, ...) = sum;
static struct big (*pb)(struct big) = id;
static long double ld(long double x) { return x * 2; }
static _Complex double cx(_Complex double z) { return z * z; }
static unsigned _BitInt(24) bi(unsigned _BitInt(24) x) { return x + 1; }
static __int128 wide(__int128 x) { return x << 3; }
static const char *weird = "\"@main\" (%d, %s)";
int main(int c, char **v) {
  struct big x = {{1,2,3,4,5}}; struct two y = mk(x, 0.5f); struct big z = pb(id(x));
  printf("%d %d %d %d %g %ld %ld\n", tail(4), jump(3), jump(0), old(3, 'a'), y.a, y.b, z.a[1]);
  printf("%d %d %Lg %g\n", ps(3, 1, 2, 3), sum(2, 5, c), ld(1.25L), __real__ cx(2.0 + 1.0i));
  if (absent) printf("%d", absent(1)); if (&nowhere) printf("%d", nowhere);
  printf("%u %d %s\n", (unsigned)bi(5), (int)wide(7), weird);
  int vla[c + 2]; vla[c] = 4; { int *q = alloca(16); q[3] = 5; vla[c] += q[3]; }
  void *where = c ? &&a : &&b; goto *where; a: vla[c]++; b:
  printf("%d %d\n", vla[c], __builtin_add_overflow(1, c, &c));
  return 0; }
"""


def test_rare_constructs_do_the_same_with_every_hook_asking():
    made = snippet(RARE, "-w")
    plain = made.run("argument")
    assert plain.status == 0
    assert run(made, "argument").stdout.encode() == plain.stdout


ROLES = """#include <stdio.h>
static void show(int n) { printf("show %d\\n", n); }
static double half(double d) { return d / 2; }
static _Bool even(int n) { return n % 2 == 0; } //even
int main(void)
{
    int n = 3, copy; double d = 1.5; float x = 0.25f; char c = 'a'; const char *text = "text";
    copy = n; //copy
    printf("%d\\n", copy);
    c += 1; //char
    printf("%c\\n", c);
    d = half(d); //half
    printf("%g\\n", d);
    x = x * 2; //float
    printf("%g\\n", x);
    show(n); //show
    puts(even(n) ? "even" : "odd");
    if (n > 2) puts("more"); else puts("less"); //if
    switch (n) { case 1: puts("one"); break; case 3: puts("three"); } //switch
    printf("%s %d\\n", text, 1); //pointer
    return 0;
}
"""
SAID = ["3", "b", "0.75", "0.5", "show 3", "odd", "more", "three", "text 1"]


def bits(number: float, code: str = "d") -> int:
    return int.from_bytes(struct.pack(f"<{code}", number), "little")


@pytest.mark.parametrize(
    ("tag", "role", "value", "line", "said"),
    [
        ("copy", Role.LOAD, 9, 0, "9"),
        ("copy", Role.STORE, 9, 0, "9"),
        ("char", Role.LOAD, ord("x"), 1, "y"),
        ("char", Role.BINARY, ord("x"), 1, "x"),
        ("char", Role.STORE, 256 + ord("x"), 1, "x"),  # the bits that a value has no room for are not looked at
        ("half", Role.LOAD, bits(5.0), 2, "2.5"),
        ("half", Role.ARGUMENT, bits(5.0), 2, "2.5"),
        ("half", Role.RESULT, bits(5.0), 2, "5"),
        ("half", Role.STORE, bits(5.0), 2, "5"),
        ("float", Role.LOAD, bits(8, "f"), 3, "16"),
        ("float", Role.BINARY, bits(8, "f"), 3, "8"),
        ("show", Role.ARGUMENT, 4, 4, "show 4"),
        ("show", Role.CALL, 0, 4, None),
        ("even", Role.COMPARE, 1, 5, "even"),
        ("even", Role.BINARY, 0, 5, "even"),
        ("even", Role.RETURN, 1, 5, "even"),
        ("if", Role.COMPARE, 0, 6, "less"),
        ("if", Role.BRANCH, 0, 6, "less"),
        ("switch", Role.SWITCH, 1, 7, "one"),
        ("switch", Role.SWITCH, 2, 7, None),
        ("switch", Role.LOAD, 1, 7, "one"),
        ("pointer", Role.LOAD, 0, 8, "(null) 1"),
    ],
)
def test_an_altered_value_is_what_later_uses_see(tag: str, role: Role, value: int, line: int, said: str | None):
    made = snippet(ROLES, "-fno-builtin")
    (place,) = (n for n, text in enumerate(ROLES.splitlines(), 1) if text.endswith(f"//{tag}"))
    site = sites(made, place, role)[0]
    expected = SAID[:line] + ([said] if said is not None else []) + SAID[line + 1 :]
    assert run(made, HOOKS_CHANGE=f"{site} {value}").stdout.splitlines() == expected
    assert run(made).stdout.splitlines() == SAID


def test_sites_are_asked_as_often_as_they_run(tmp_path: Path):
    """Counted by hand: five rounds of the loop, six tests of its condition."""
    code = """int main(void) {
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += i;
    return sum;
}"""
    made = snippet(code)
    found = listed(made, tmp_path / "list")
    rows = made.subject.alter_plan.sites
    program = made.subject.program
    lines = {n: place.line for n, i in enumerate(rows["instruction"].tolist()) if (place := program.location(i))}
    counted = Counter((lines.get(site, 0), Role(int(rows["role"][site])).name) for _, site, *_ in found)
    assert counted == {
        (0, "STORE"): 1,  # the result's place
        (2, "STORE"): 1,
        (3, "STORE"): 1 + 5,
        (3, "LOAD"): 6 + 5,
        (3, "COMPARE"): 6,
        (3, "BRANCH"): 6,
        (3, "BINARY"): 5,
        (4, "LOAD"): 2 * 5,
        (4, "BINARY"): 5,
        (4, "STORE"): 5,
        (5, "LOAD"): 1,
        (5, "RETURN"): 1,
    }
    sums = [(value, left, right) for _, site, value, left, right in found if lines.get(site) == 4
            and rows["role"][site] == Role.BINARY]  # fmt: skip
    assert sums == [(0, 0, 0), (1, 0, 1), (3, 1, 2), (6, 3, 3), (10, 6, 4)]


INSTANCES = [
    "structures",
    "callbacks",
    "switch_cases",
    "recursion",
    "floating",
    "setjmp_nested",
    "equal_statics",
    "variadic",
]


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_are_those_of_the_trace(name: str, tmp_path: Path):
    """Every number that is stored has the clock, the instruction and the value that the recorded run gives it."""
    made = program(name)
    subject, trace = made.snippet.subject, made.trace()
    rows = subject.alter_plan.sites
    wanted = (rows["role"] == Role.STORE) & (rows["form"] != Form.POINTER)
    asked = [
        (clock - 1, int(rows["instruction"][site]), value)
        for clock, site, value, *_ in listed(made.snippet, tmp_path / "list", *made.arguments)
        if wanted[site]
    ]
    numbers = set(rows["instruction"][wanted].tolist())
    clocks = trace.block_clock
    recorded = [
        (int(clocks[trace.columns.events[e]["segment"]]), number, trace.value(e))
        for e in range(trace.events)
        if trace.kind(e) is Kind.STORE and (number := int(trace.plan.sites["instruction"][trace.site(e)])) in numbers
    ]
    assert len(asked) > 5
    assert asked == recorded


@pytest.mark.parametrize("name", INSTANCES)
def test_sites_of_a_block_are_asked_in_order(name: str, tmp_path: Path):
    made = program(name)
    rows = made.snippet.subject.alter_plan.sites
    blocks: dict[int, list[int]] = {}
    for clock, site, *_ in listed(made.snippet, tmp_path / "list", *made.arguments):
        blocks.setdefault(clock, []).append(site)
    again = name.startswith("setjmp")  # what stands behind a call that returns twice is asked twice
    for asked in blocks.values():
        assert again or asked == sorted(set(asked))
        assert len(set(rows["block"][asked].tolist())) == 1


def test_the_function_itself_is_left_as_it_is():
    subject = program("structures").snippet.subject
    for ref in subject.program.functions:
        before = [(i.text, i.operands, i.result) for i in ref.function.instructions()]
        lines = [list(block.lines) for block in ref.function.blocks]
        altered(ref.function, Finder(subject.program.modules[ref.module]), 0, 0)
        assert [(i.text, i.operands, i.result) for i in ref.function.instructions()] == before
        assert [block.lines for block in ref.function.blocks] == lines


def test_the_layout_of_an_altered_function_is_the_originals():
    subject = program("callbacks").snippet.subject
    for ref, layout in zip(subject.program.functions, subject.numbering.layouts, strict=True):
        function = altered(ref.function, Finder(subject.program.modules[ref.module]), 0, 0)
        made = altered_layout(layout, function)
        assert [shape(s) for s in made.segments] == [shape(s) for s in layout.segments]
        assert all(
            s.instruction is function.instructions()[s.instruction.index] for g in made.segments for s in g.sites
        )


def shape(segment: Segment) -> tuple[object, ...]:
    """All of a segment but the instructions themselves."""
    sites = [(s.kind, s.instruction.index, s.unit, s.units, s.size, s.aux) for s in segment.sites]
    after = segment.after.index if segment.after else None
    return segment.block, segment.first, segment.entry, segment.address, segment.frame, after, segment.units, sites


# ---- Altering and recording ------------------------------------------------------------------------------------------


@cache
def replayed(made: Snippet, change: str = "") -> Path:
    """The replay variant with every hook asking, or with a change in the making from the start."""
    subject = made.subject
    body = f"static const struct whence_change change = {{{change}}};\nstatic const struct whence_session none;\n"
    body = body if change else ""
    begin = "whence_begin_changes(&change, 1, &none);" if change else "__whence_stop = 0;"
    text = f"{body}__attribute__((constructor)) static void begin(void) {{ {begin} }}\n"
    headers = {path.relative_to(RUNTIME): path.read_text() for path in sorted(RUNTIME.rglob("*.h"))}
    folder = made.folder / "changes" / hashlib.sha256(repr((text, headers)).encode()).hexdigest()[:16]
    for path, header in headers.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(header)
    source = folder / "change.c"
    source.write_text(f'#include "alter/changes.h"\n{text}')
    object_file = compile_c(find_toolchain("bundled"), source, ("-O1",))
    texts = list(replay_texts(subject.program, subject.replay_numbering, subject.alter_plan, wrapped()))
    objects = [*runtime_objects(), object_file]
    return build_variant(subject.capture, "replay", texts, objects, folder / subject.executable.name)


def replay(made: Snippet, case: Case, change: str = "") -> tuple[RunResult, Trace]:
    """Run the replay variant and decode its trace."""
    subject = made.subject
    with Runner(replayed(made, change), subject.limits, name=subject.name) as runner:
        path = runner.sandbox.new_path("trace")
        result = runner.run_case(case, TraceRequest(path, 1 << 24))
        return result, Trace(path, subject.program, subject.plan_of(Variant.REPLAY), subject.fingerprint)


@pytest.mark.parametrize("name", [*INSTANCES, "crash_null", "exit_nested", "library_qsort", "signals"])
def test_an_unaltered_replay_is_the_recorded_run(name: str):
    made = program(name)
    case = Case("case", tuple(made.arguments), made.stdin)
    result, trace = replay(made.snippet, case)
    recorded = made.trace()
    assert shown(result) == shown(made.snippet.run(*made.arguments, stdin=made.stdin))
    assert (
        trace.columns.segments["id"][: trace.segments].tolist()
        == recorded.columns.segments["id"][: recorded.segments].tolist()
    )
    assert trace.events == recorded.events
    types = {n: i.type for n, i in enumerate(i for r in trace.program.functions for i in r.function.instructions())}
    for event in range(trace.events):
        assert trace.site(event) == recorded.site(event)
        if trace.kind(event) is Kind.STORE and types[int(trace.plan.sites["instruction"][trace.site(event)])] != "ptr":
            assert trace.value(event) == recorded.value(event)


@pytest.mark.parametrize(
    ("role", "kind", "values", "said"),
    [
        (Role.LOAD, Kind.LOAD, [103, 104, 105], b"312\n"),
        (Role.STORE, Kind.STORE, [103, 207, 312], b"312\n"),
    ],
)
def test_an_altered_value_is_what_is_recorded(role: Role, kind: Kind, values: list[int], said: bytes):
    code = """#include <stdio.h>
    int main(void) {
        int sum = 0, n;
        for (n = 3; n < 6; n++)
            sum = n + sum; //here
        printf("%d\\n", sum);
        return 0;
    }"""
    made = snippet(code)
    line = next(n for n, text in enumerate(code.splitlines(), 1) if "//here" in text)
    site = sites(made, line, role)[0]
    row = made.subject.alter_plan.sites[site]
    change = f".clock = WHENCE_EVERY, .site = {site}, .block = {row['block']}, .op = OP_ADD, .value = 100, .width = 32"
    result, trace = replay(made, Case("case"), change)
    found = [
        e
        for e in made.events_at(trace, line, kind)
        if trace.plan.sites["instruction"][trace.site(e)] == row["instruction"]
    ]
    assert [trace.value(e) for e in found] == values
    assert result.stdout == said
