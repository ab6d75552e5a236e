/* CMocka: of a group the chosen test runs, with the group's own set-up; a group without it is passed over. A check that
   fails aborts by CMocka's own switch. */
#include "chosen.h"

struct cmocka_test { /* CMUnitTest of cmocka.h */
    const char *name;
    void (*run)(void **), *set_up, *tear_down, *state;
};

int __real__cmocka_run_group_tests(const char *, const struct cmocka_test *, size_t, void *, void *);

int __wrap__cmocka_run_group_tests(const char *group, const struct cmocka_test *tests, size_t count, void *set_up,
                                   void *tear_down)
{
    int failed = 0;
    if (!getenv(VARIABLE))
        return __real__cmocka_run_group_tests(group, tests, count, set_up, tear_down);
    for (size_t number = 0; number < count; number++)
        if (tests[number].name && is_chosen(tests[number].name, 1)) {
            setenv("CMOCKA_TEST_ABORT", "1", 1);
            failed += __real__cmocka_run_group_tests(group, tests + number, 1, set_up, tear_down);
        }
    return failed;
}
