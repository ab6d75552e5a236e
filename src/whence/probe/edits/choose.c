/* Which of the edits in a program is chosen, and for how many milliseconds of processor time it may run: the environment
   says "number:milliseconds", and perhaps ":file" for what is observed, which the program does not see. Many edits never
   end, and on a busy machine the wall clock cannot tell them from slow ones; the signal ends them. The linker calls
   __wrap_main, the fork server's main, in place of the program's (--wrap=main). */
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;
int __real_main(int argc, char **argv, char **envp);

void __whence_observe_to(const char *path); /* observe.c */

int __whence_edit;

struct table { /* as program/schemata.py writes it */
    int edit;
    void *to;
    const void *from;
    size_t size;
};

extern struct table __start_whence_tables[] __attribute__((weak)), __stop_whence_tables[] __attribute__((weak));

static void put(const struct table *table)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)table->to + table->size;
    uintptr_t start = (uintptr_t)table->to / page * page;
    if (!mprotect((void *)start, end - start, PROT_READ | PROT_WRITE))
        memcpy(table->to, table->from, table->size);
}

static void choose(const char *text)
{
    char *end;
    __whence_edit = (int)strtol(text, &end, 10);
    long left = *end == ':' ? strtol(end + 1, &end, 10) : 0;
    struct itimerval once = { { 0, 0 }, { left / 1000, left % 1000 * 1000 } };
    for (struct table *table = __start_whence_tables; table < __stop_whence_tables; table++)
        if (table->edit == __whence_edit)
            put(table);
    if (*end == ':')
        __whence_observe_to(end + 1);
    if (left > 0)
        setitimer(ITIMER_PROF, &once, NULL);
}

int __whence_main(int argc, char **argv, char **envp)
{
    static const char name[] = "WHENCE_EDIT=";
    char **kept = environ;
    for (char **variable = environ; variable && *variable; variable++) {
        if (!strncmp(*variable, name, sizeof name - 1))
            choose(*variable + sizeof name - 1);
        else
            *kept++ = *variable;
    }
    if (kept)
        *kept = NULL;
    (void)envp;
    return __real_main(argc, argv, environ);
}
