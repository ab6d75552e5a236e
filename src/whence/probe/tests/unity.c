/* Unity: RUN_TEST and the runners of its fixtures come by here by themselves, and runners that a script made by the set-up
   of each test, where one that is not chosen is ignored. */
#include "chosen.h"

struct unity_state { /* the beginning of UNITY_STORAGE_T of unity_internals.h */
    const char *file, *test;
};

extern struct unity_state Unity;
void __real_UnityDefaultTestRun(void (*)(void), const char *, int) __attribute__((weak));
void __real_UnityTestRunner(void *, void *, void *, const char *, const char *, const char *, const char *, unsigned)
    __attribute__((weak));
void __real_setUp(void) __attribute__((weak));
void UnityIgnore(const char *, unsigned long);

void __wrap_UnityDefaultTestRun(void (*test)(void), const char *name, int line)
{
    if (is_chosen(name, 1))
        __real_UnityDefaultTestRun(test, name, line);
}

void __wrap_UnityTestRunner(void *set_up, void *test, void *tear_down, const char *shown, const char *group,
                            const char *name, const char *file, unsigned line)
{
    if (is_chosen(shown, 1))
        __real_UnityTestRunner(set_up, test, tear_down, shown, group, name, file, line);
}

void __wrap_setUp(void)
{
    if (!is_chosen(Unity.test, 1))
        UnityIgnore("", 0);
    if (__real_setUp)
        __real_setUp();
}
