/* The end of a continuation by exit. The library's own goes through all loaded objects, which writes to more memory, and
   takes longer, than many a continuation. Where nothing of the program's is called on the way, all that exit has left to
   do is to write out what streams hold. */
#define _GNU_SOURCE
#include "alter/control.h"
#include "alter/session.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static WHENCE_HOT int has_handlers = 0; /* of the program's own */

typedef void function(void);
extern function *__fini_array_start[] __attribute__((weak, visibility("hidden")));
extern function *__fini_array_end[] __attribute__((weak, visibility("hidden")));

/* ---- What would be called ------------------------------------------------------------------------------------- */

/* Objects that do nothing at the end: the program itself, the loader, the kernel's, and the C library's. */
static int is_quiet(const char *path)
{
    static const char *const quiet[] = {"linux-vdso.", "ld-", "libc.", "libc-", "libm.", "libm-", "libpthread.", "libdl.", "librt.", NULL};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (!*name)
        return 1;
    for (const char *const *start = quiet; *start; start++) {
        if (!strncmp(name, *start, strlen(*start)))
            return 1;
    }
    return 0;
}

static int is_loud(struct dl_phdr_info *object, size_t size, void *data)
{
    (void)size, (void)data;
    return !is_quiet(object->dlpi_name);
}

void whence_exits_start(void)
{
    enum { OWN = 1 }; /* the compiler's */
    has_handlers = __fini_array_end - __fini_array_start > OWN || dl_iterate_phdr(is_loud, NULL) != 0;
}

/* ---- What the program calls ----------------------------------------------------------------------------------- */

__attribute__((noreturn)) void __whence_lib_exit(int status)
{
    if (whence_control && whence_in_continuation() && !has_handlers) {
        fflush(NULL);
        whence_end((struct whence_ending){VERDICT_UNJUDGED, status & 255, 0});
    }
    exit(status);
}

int __whence_lib_atexit(void (*handler)(void))
{
    has_handlers = 1;
    return atexit(handler);
}

int __whence_lib_on_exit(void (*handler)(int, void *), void *argument)
{
    extern int on_exit(void (*)(int, void *), void *) __attribute__((weak));
    has_handlers = 1;
    return on_exit(handler, argument);
}
