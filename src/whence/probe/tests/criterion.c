/* Criterion: it runs each test in a process of its own, which it has to start anew and to talk to. The one chosen test runs
   here, in the program itself: its set-up, the test, what comes behind, and the checks, of which one that fails aborts. */
#include "chosen.h"

#include <stdbool.h>

struct extra { /* criterion_test_extra_data of criterion/types.h */
    int sentinel, compiler, language, kind;
    void *parameters;
    const char *identifier, *file;
    unsigned line;
    void (*init)(void), (*fini)(void);
    int signal, exit_code;
    bool disabled;
};

struct test { /* criterion_test */
    const char *name, *suite;
    void (*run)(void);
    struct extra *extra;
};

struct suite { /* criterion_suite */
    const char *name;
    struct extra *extra;
};

struct stats { /* criterion_assert_stats */
    const char *message;
    bool passed;
    unsigned line;
    const char *file;
};

extern struct test *__start_cr_tst[] __attribute__((weak)), *__stop_cr_tst[] __attribute__((weak));
extern struct suite *__start_cr_sts[] __attribute__((weak)), *__stop_cr_sts[] __attribute__((weak));

static struct extra *of_suite, *of_test;
static int failed;

static void call(void (*function)(void))
{
    if (function)
        function();
}

void __wrap_criterion_internal_test_setup(void)
{
    call(of_suite ? of_suite->init : NULL);
    call(of_test->init);
}

void __wrap_criterion_internal_test_main(void (*test)(void))
{
    test();
}

void __wrap_criterion_internal_test_teardown(void)
{
    call(of_test->fini);
    call(of_suite ? of_suite->fini : NULL);
}

void __wrap_criterion_send_assert(struct stats *check)
{
    if (!check->passed)
        say_failed(check->file, check->line, check->message ? check->message : "");
}

void __wrap_criterion_abort_test(void)
{
    abort();
}

void __wrap_criterion_continue_test(void)
{
    failed = 1;
}

void __wrap_criterion_skip_test(const char *format, ...)
{
    (void)format;
    exit(failed);
}

/* The forms of version 2.4, cr_assert(eq(int, a, b)), make a tree of each check, and send it. */
struct node { /* the beginning of cri_assert_node */
    const char *shown, *message;
    struct { const char *name; void *data; int type; } parameters[4];
    unsigned passed : 1;
};

void __wrap_cri_assert_node_send(const char *file, size_t line, const struct node *tree)
{
    if (!tree->passed)
        say_failed(file, (unsigned)line, tree->message ? tree->message : tree->shown ? tree->shown : "");
}

void __wrap_cri_asserts_passed_incr(void)
{
}

static int of_all(const struct extra *extra)
{
    return !extra->kind && !extra->signal && !extra->exit_code && !extra->disabled;
}

/* Runs the chosen test; returns the status of the run. */
int whence_run_test(void)
{
    for (struct test **test = __start_cr_tst; test < __stop_cr_tst; test++) {
        of_test = *test ? (*test)->extra : NULL;
        if (!of_test || !is_chosen(of_test->identifier, of_all(of_test)))
            continue;
        of_suite = NULL;
        for (struct suite **suite = __start_cr_sts; suite < __stop_cr_sts; suite++)
            if (*suite && !strcmp((*suite)->name, (*test)->suite))
                of_suite = (*suite)->extra;
        (*test)->run();
    }
    return failed;
}
