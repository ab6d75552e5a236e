/* Unit tests of the runtime's lower layers: the first argument names the test that is run. */
#ifndef UNIT_H
#define UNIT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) ((condition) ? (void)0 : unit_failed(__FILE__, __LINE__, #condition))
#define TEST(name) static void test_##name(void)
#define RUN(name) \
    if (!strcmp(wanted, #name)) \
        return test_##name(), 0

static inline void unit_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, condition);
    _Exit(1);
}

#endif
