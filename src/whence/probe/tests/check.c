/* Check (0.13 and later): tests that are not chosen are not added to their case, and a check that fails aborts. A test
   that is to end by a signal or with a status needs the process that Check forks to be judged. */
#include "chosen.h"

#include <stdarg.h>

struct check_test { /* TTest of check.h */
    const char *name;
    void (*run)(int);
    const char *file;
    int line;
};

void __real__tcase_add_test(void *, const struct check_test *, int, int, int, int);
void __real__ck_assert_failed(const char *, int, const char *, const char *, ...);

void __wrap__tcase_add_test(void *tests, const struct check_test *test, int signal, int status, int start, int end)
{
    if (is_single())
        setenv("CK_FORK", "no", 0);
    if (is_chosen(test->name, !signal && !status))
        __real__tcase_add_test(tests, test, signal, status, start, end);
}

void __wrap__ck_assert_failed(const char *file, int line, const char *expression, const char *format, ...)
{
    char text[1024] = "";
    va_list rest;
    va_start(rest, format);
    if (format)
        vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    if (is_single()) {
        say_failed(file, (unsigned)line, *text ? text : expression);
        abort();
    }
    __real__ck_assert_failed(file, line, expression, *text ? "%s" : NULL, text);
}
