/* The list of mappings that the kernel tells of a process. */
#include "base/base.h"

#include <string.h>

/* A number, and the character behind it. */
static const char *hex(const char *at, uintptr_t *value)
{
    for (*value = 0; *at != '-' && *at != ' '; at++)
        *value = *value * 16 + (uintptr_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return at + 1;
}

int whence_next_mapping(const char **at, const char *end, struct whence_mapping *line)
{
    line->stop = memchr(*at, '\n', (size_t)(end - *at));
    if (!line->stop)
        return 0;
    line->rights = hex(hex(*at, &line->start), &line->end);
    line->rest = line->rights + 5;
    *at = ++line->stop;
    return 1;
}
