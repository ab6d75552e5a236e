"""The suppress variant: without points it is the program, with one nothing that depends on it has an effect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from trace_readers import subject_of

from whence.alter.suppression import Point, Points, SuppressedRuns
from whence.probe.layout import Kind
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.schedule import DEFAULT, Schedule
from whence.run.schedule import Point as SchedulePoint
from whence.subject.recorder import Recording

PROGRAMS = Path(__file__).parents[1] / "c"
ALIKE = (
    *("by_value", "callbacks", "computed_goto", "constructors", "function_pointers", "library_qsort", "loop_control"),
    *("alloca_vla", "atomics", "bit_fields", "int128", "longjmp_value", "crash_null", "library_strtok", "floating"),
)
CASE = Case("case", (), expected=Expected())


def run(text: str, *defining: str, points: Iterable[Point] | None = None) -> Recording:
    """A run in which the first store in each line that holds one of these texts is suppressed."""
    with SuppressedRuns(subject_of(text), CASE) as runs:
        first = runs.run([]).recording
        chosen = [Points(first.trace).at(store_in(first, text, part)) for part in defining]
        return runs.run(chosen if points is None else list(points)).recording


def store_in(recording: Recording, text: str, part: str) -> int:
    """The first store, or else call, of the line with a text."""
    line = next(n for n, one in enumerate(text.splitlines(), 1) if part in one)
    trace = recording.trace
    for kind in (Kind.STORE, Kind.CALL):
        for event in range(trace.events):
            at = trace.location(event)
            if trace.kind(event) is kind and at is not None and at.line == line:
                return event
    raise AssertionError(f"nothing is stored in line {line}")


def output(text: str, *defining: str) -> str:
    return run(text, *defining).result.stdout.decode()


@pytest.mark.parametrize("name", ALIKE)
def test_without_points_it_is_the_program(name: str) -> None:
    subject = subject_of((PROGRAMS / f"{name}.c").read_text())
    with subject.runner() as runner, SuppressedRuns(subject, CASE) as runs:
        plain, own = runner.run_case(CASE), runs.run([]).recording.result
    assert (own.status, own.signal, own.stdout, own.stderr) == (plain.status, plain.signal, plain.stdout, plain.stderr)


def program(body: str, before: str = "") -> str:
    return f"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n{before}\nint main(void)\n{{\n{body}\n}}\n"


def test_what_depends_on_it_has_no_effect() -> None:
    text = program('int a = 1;\nint b = a + 1, c = 5;\nprintf("%d\\n", b);\nprintf("%d\\n", c);')
    assert output(text) == "2\n5\n"
    assert output(text, "int a") == "5\n"


def test_what_is_defined_anew_has() -> None:
    text = program('int a = 1;\nprintf("%d\\n", a);\na = 7;\nprintf("%d\\n", a);')
    assert output(text, "int a") == "7\n"


def test_a_suppressed_address_is_not_written_to() -> None:
    text = program("int row[4] = {0}, at;\nat = 2;\nrow[at] = 9;\nrow[1] = 8;\n"
                   'printf("%d\\n", row[1]);\nprintf("%d\\n", row[2]);')  # fmt: skip
    assert output(text, "at = 2") == "8\n0\n"


def test_neither_side_of_a_branch_is_taken() -> None:
    text = program('int a, b = 0;\na = 1;\nif (a)\n    puts("yes");\nelse\n    puts("no");\nputs("behind");\nreturn b;')
    assert output(text) == "yes\nbehind\n"
    assert output(text, "a = 1") == "behind\n"


def test_what_a_side_could_have_assigned_is_suppressed() -> None:
    text = program('int a, b = 3;\na = 1;\nif (a)\n    b = 4;\nprintf("%d\\n", b);\nputs("behind");')
    assert output(text, "a = 1") == "behind\n"


def test_a_loop_is_left() -> None:
    text = program('int end;\nend = 3;\nfor (int i = 0; i < end; i++)\n    puts("round");\nputs("behind");')
    assert output(text, "end = 3") == "behind\n"


def test_a_switch_is_left() -> None:
    text = program('int a;\na = 2;\nswitch (a) {\ncase -1: puts("less"); break;\ncase 2: puts("two"); break;\n'
                   'default: puts("more");\n}\nputs("behind");')  # fmt: skip
    assert output(text) == "two\nbehind\n"
    assert output(text, "a = 2") == "behind\n"


def test_a_side_that_does_not_come_back_decides_nothing() -> None:
    text = program('int a;\na = 0;\nif (a)\n    abort();\nputs("behind");')
    assert output(text, "a = 0") == "behind\n"


def test_taint_goes_through_arguments_and_results() -> None:
    before = "static int twice(int n, int m) { int sum = n + n; return m > 100 ? m : sum; }"
    text = program('int a;\na = 1;\nprintf("%d\\n", twice(a, 3));\nprintf("%d\\n", twice(4, 5));', before)
    assert output(text) == "2\n8\n"
    assert output(text, "a = 1") == "8\n"


def test_taint_goes_through_structures() -> None:
    before = "struct pair { long a, b, c, d; };\nstatic long sum(struct pair p) { return p.a + p.d; }"
    body = 'struct pair p = {1, 2, 3, 4}, q;\np.a = 5;\nq = p;\nprintf("%ld\\n", sum(q));\nprintf("%ld\\n", q.d);'
    assert output(program(body, before), "p.a = 5") == "4\n"


def test_taint_goes_through_the_library() -> None:
    body = """char a[16], b[16];
strcpy(a, "text");
memcpy(b, a, 16);
printf("%zu\\n", strlen(b));
printf("%d\\n", b[15] == b[15]);
strcpy(a, "other");
printf("%zu\\n", strlen(a));"""
    assert output(program(body)) == "4\n1\n5\n"
    assert output(program(body), 'strcpy(a, "text') == "1\n5\n"


def test_a_function_pointer() -> None:
    before = 'static void hello(void) { puts("hello"); }\nstatic void (*call)(void);'
    text = program('call = hello;\ncall();\nputs("behind");', before)
    assert output(text, "call = hello") == "behind\n"


def test_the_instance_counts() -> None:
    text = program('for (int i = 0; i < 3; i++) {\n    int seen;\n    seen = i;\n    printf("%d\\n", seen);\n}')
    with SuppressedRuns(subject_of(text), CASE) as runs:
        trace = runs.run([]).recording.trace
        line = text.splitlines().index("    seen = i;") + 1
        places = {e: trace.location(e) for e in range(trace.events) if trace.kind(e) is Kind.STORE}
        stores = [event for event, place in places.items() if place is not None and place.line == line]
        assert runs.run([Points(trace).at(stores[1])]).recording.result.stdout == b"0\n2\n"


def test_a_block_of_many_definitions() -> None:
    body = "\n".join(f"a[{n}] = {n};" for n in range(90))
    text = program(f'int a[90];\n{body}\nprintf("%d\\n", a[88]);\nprintf("%d\\n", a[89]);')
    assert output(text, "a[88] = 88") == "89\n"


def test_an_instance_is_that_of_a_thread() -> None:
    """Both threads come to the line in turns; what one of them stores is suppressed, in any order of the two."""
    text = """\
#include <pthread.h>
#include <stdio.h>
static int given[2] = {3, 5}, taken[2];
static int fetch(int *from)
{
    int found = *from; // the first step
    return found;
}
static void *take(void *argument)
{
    long number = (long)argument;
    taken[number] = fetch(&given[number]); // stores
    return NULL;
}
int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\\n", taken[0]);
    printf("%d\\n", taken[1]);
    return 0;
}
"""
    subject = subject_of(text)
    case = replace(CASE, schedule=Schedule((SchedulePoint(1, 1, 2),)))  # before its first step
    with SuppressedRuns(subject, case) as runs:
        first = runs.run([]).recording
        trace = first.trace
        loads = [e for e in range(trace.events) if trace.kind(e) is Kind.LOAD and trace.value(e) in (3, 5)]
        loads = [e for e in loads if (at := trace.location(e)) is not None and at.line == 6]
        assert [trace.value(event) for event in loads] == [5, 3]
        points = [Points(first.trace).at(event) for event in loads]
        assert [(point.thread, point.instance) for point in points] == [(2, 0), (1, 0)]
        for schedule in (case.schedule, DEFAULT):
            outputs = [runs.run_under(schedule, 0, [point]).recording.result.stdout for point in points]
            assert outputs == [b"3\n", b"5\n"]


@pytest.mark.parametrize(
    ("header", "kind", "start", "join", "result"),
    [
        ("pthread.h", "pthread_t", "pthread_create(&thread, NULL, work, number)", "pthread_join", "void *"),
        ("threads.h", "thrd_t", "thrd_create(&thread, work, number)", "thrd_join", "int "),
    ],
)
def test_a_thread_is_started_with_a_suppressed_argument(
    header: str, kind: str, start: str, join: str, result: str
) -> None:
    body = f"""\
    {kind} thread;
    int *number = malloc(sizeof *number);
    *number = 4;
    number += 0; // defines
    {start};
    {join}(thread, NULL);
    printf("%d\\n", seen);
    printf("%d\\n", ran);"""
    before = f"""\
#include <{header}>
static int seen = 7, ran;
static {result}work(void *given) {{ seen = *(int *)given; ran = 1; return 0; }}
"""
    text = program(body, before)
    assert output(text) == "4\n1\n"
    assert output(text, "// defines") == "1\n"
