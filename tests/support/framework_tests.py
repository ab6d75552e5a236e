"""A library with a fault and the same four tests of it in each framework; and a Unity of our own, of which the parts
that programs and the driver see are as in the real one."""

from __future__ import annotations

from pathlib import Path

LIBRARY = """\
int total(const int *items, int count)
{
    int sum = 0;
    for (int i = 1; i < count; i++)
        sum += items[i];
    return sum;
}

int largest(const int *items, int count)
{
    int best = items[0];
    for (int i = 0; i < count; i++)
        if (items[i] > best)
            best = items[i];
    return best;
}
"""
FAULT = ("total.c", 4)  # `1` instead of `0`
TESTS = ("one", "many", "zero", "most")  # of which the fault makes these fail
FAILING = ("one", "many")
BODIES = {
    "one": "int items[] = { 3 }; SAME(total(items, 1), 3);",
    "many": "int items[] = { 4, 9, 5 }; SAME(total(items, 3), 18);",
    "zero": "int items[] = { 0, 9, 1, 2 }; SAME(total(items, 4), 12);",
    "most": "int items[] = { 3, 9, 4 }; SAME(largest(items, 3), 9);",
}
OWN = "int total(const int *, int), largest(const int *, int);\n"

UNITY_HEADER = """\
#include <setjmp.h>
struct UNITY_STORAGE_T {
    const char *TestFile, *CurrentTestName;
    unsigned Failures, Failed, Ignored;
    jmp_buf AbortFrame;
};
extern struct UNITY_STORAGE_T Unity;
void UnityBegin(const char *file);
int UnityEnd(void);
void UnityConcludeTest(void);
void UnityDefaultTestRun(void (*test)(void), const char *name, int line);
void UnityAssertEqualNumber(long expected, long actual, unsigned line);
void UnityIgnore(const char *message, unsigned line);
void setUp(void);
"""
UNITY = """\
#include <stdio.h>
#include "unity.h"

struct UNITY_STORAGE_T Unity;

void UnityBegin(const char *file) { Unity.TestFile = file; }

int UnityEnd(void) { return (int)Unity.Failures; }

void UnityConcludeTest(void)
{
    Unity.Failures += Unity.Failed;
    Unity.Failed = 0;
}

void UnityDefaultTestRun(void (*test)(void), const char *name, int line)
{
    Unity.CurrentTestName = name;
    if (setjmp(Unity.AbortFrame) == 0) {
        setUp();
        test();
    }
    UnityConcludeTest();
}

void UnityAssertEqualNumber(long expected, long actual, unsigned line)
{
    if (expected == actual)
        return;
    printf("%s:%u:%s:FAIL: Expected %ld Was %ld\\n", Unity.TestFile, line, Unity.CurrentTestName, expected, actual);
    Unity.Failed = 1;
    longjmp(Unity.AbortFrame, 1);
}

void UnityIgnore(const char *message, unsigned line) { longjmp(Unity.AbortFrame, 1); }
"""
SCRIPTED = """\
static void run_test(void (*test)(void), const char *name)
{
    Unity.CurrentTestName = name;
    if (setjmp(Unity.AbortFrame) == 0) {
        setUp();
        test();
    }
    UnityConcludeTest();
}
"""


def sources_with(framework: str) -> dict[str, str]:
    """The files of the test program, by their names: the library and its tests with a framework.

    ``unity-script`` is a runner as Unity's script makes it, in a file of its own.
    """
    return {"total.c": LIBRARY, **_OF[framework]()}


def write_sources(folder: Path, framework: str) -> list[Path]:
    """Write the files into a folder; returns the C files, the tests first."""
    files = sources_with(framework)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return sorted(
        (folder / name for name in files if name.endswith(".c")), key=lambda path: path.name != "test_total.c"
    )


def _tests(head: str, same: str, form: str, main: str) -> str:
    functions = "\n".join(form.format(name=name, body="{ " + body + " }") for name, body in BODIES.items())
    return f"{head}{OWN}#define SAME(a, b) {same}\n{functions}\n{main}"


def _check() -> dict[str, str]:
    added = " ".join(f"tcase_add_test(c, test_{name});" for name in TESTS)
    main = f"""int main(void)
{{
    Suite *s = suite_create("total");
    TCase *c = tcase_create("all");
    {added}
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}}
"""
    form = "START_TEST(test_{name}) {body} END_TEST"
    return {"test_total.c": _tests("#include <check.h>\n", "ck_assert_int_eq(a, b)", form, main)}


def _cmocka() -> dict[str, str]:
    head = "".join(f"#include <{name}.h>\n" for name in ("stdarg", "stddef", "stdint", "setjmp", "cmocka"))
    listed = ", ".join(f"cmocka_unit_test(test_{name})" for name in TESTS)
    main = f"""int main(void)
{{
    const struct CMUnitTest tests[] = {{ {listed} }};
    return cmocka_run_group_tests(tests, 0, 0);
}}
"""
    return {
        "test_total.c": _tests(head, "assert_int_equal(a, b)", "static void test_{name}(void **state) {body}", main)
    }


def _criterion() -> dict[str, str]:
    form = "Test(total, test_{name}) {body}"
    return {"test_total.c": _tests("#include <criterion/criterion.h>\n", "cr_assert_eq(a, b)", form, "")}


def _unity() -> dict[str, str]:
    runs = " ".join(f'UnityDefaultTestRun(test_{name}, "test_{name}", 1);' for name in TESTS)
    main = f"void setUp(void) {{}}\nint main(void) {{ UnityBegin(__FILE__); {runs} return UnityEnd(); }}\n"
    return {"unity.h": UNITY_HEADER, "unity.c": UNITY, "test_total.c": _unity_tests(main)}


def _unity_script() -> dict[str, str]:
    names = ", ".join(f"test_{name}(void)" for name in TESTS)
    runs = " ".join(f'run_test(test_{name}, "test_{name}");' for name in TESTS)
    main = f"void {names};\nint main(void) {{ UnityBegin(__FILE__); {runs} return UnityEnd(); }}\n"
    runner = '#include "unity.h"\n' + SCRIPTED + main
    tests = _unity_tests("void setUp(void) {}\n")
    return {"unity.h": UNITY_HEADER, "unity.c": UNITY, "test_total.c": tests, "test_total_Runner.c": runner}


def _unity_tests(end: str) -> str:
    return _tests(
        '#include "unity.h"\n', "UnityAssertEqualNumber(b, a, __LINE__)", "void test_{name}(void) {body}", end
    )


_OF = {"check": _check, "cmocka": _cmocka, "criterion": _criterion, "unity": _unity, "unity-script": _unity_script}
