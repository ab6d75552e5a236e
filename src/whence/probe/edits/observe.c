/* Values of expressions at places of the program, told through a file that the parent reads when the run is over
   (program/observation.py writes the calls). Of each place the last RING times that the program came there are kept. An
   expression may lead to nowhere (`p->next` of a null pointer): the signal comes back here, and it is said to have no
   value. The linker calls __wrap_signal and __wrap_sigaction in place of the library's functions (--wrap): a program that
   handles such signals itself does so but for the moments in which it is looked at. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RING = 64, MISSING = 0, KNOWN = 1, LOST = 2 }; /* as program/observation.py has them */

jmp_buf __whence_back;
static char *shared;
static size_t size;
static int64_t *values;
static unsigned char *tags;
static int error; /* of the program, which an expression may set (`sqrt` does) */
static volatile sig_atomic_t is_looking, is_handled; /* by the program itself */

enum { FAULTS = 3 };
static const int faults[FAULTS] = { SIGSEGV, SIGBUS, SIGFPE };
static struct sigaction own[FAULTS];

typedef void (*handler)(int);
handler __real_signal(int number, handler handles);
int __real_sigaction(int number, const struct sigaction *action, struct sigaction *before);

static void lost(int number)
{
    if (is_looking)
        _longjmp(__whence_back, 1);
    struct sigaction action = { .sa_handler = SIG_DFL };
    __real_sigaction(number, &action, NULL); /* the program's own fault: it comes again, and ends the program */
}

static void handle(struct sigaction *before)
{
    struct sigaction action = { .sa_handler = lost, .sa_flags = SA_NODEFER };
    for (int n = 0; n < FAULTS; n++)
        __real_sigaction(faults[n], &action, before ? before + n : NULL);
}

static int is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE;
}

handler __wrap_signal(int number, handler handles)
{
    is_handled |= is_fault(number);
    return __real_signal(number, handles);
}

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    is_handled |= action && is_fault(number);
    return __real_sigaction(number, action, before);
}

void __whence_observe_to(const char *path)
{
    struct stat status;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return;
    if (!fstat(file, &status) && status.st_size > 0) {
        void *start = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (start != MAP_FAILED) {
            shared = start;
            size = (size_t)status.st_size;
        }
    }
    close(file);
    handle(NULL);
    is_handled = 0; /* what the runtime has set up itself */
}

/* Where the values of a place are kept this time, which stand at an offset of the file; null: it is not looked at. */
void *__whence_observes(size_t offset, size_t expressions)
{
    size_t marks = (expressions + 7) / 8 * 8, stride = 8 * expressions + marks;
    if (!shared || is_looking || offset + 8 + RING * stride > size)
        return NULL;
    uint64_t *count = (uint64_t *)(shared + offset);
    values = (int64_t *)(shared + offset + 8 + *count % RING * stride);
    tags = (unsigned char *)(values + expressions);
    memset(tags, MISSING, marks);
    ++*count;
    error = errno;
    if (is_handled)
        handle(own);
    is_looking = 1;
    return values;
}

void __whence_value(size_t number, int64_t value)
{
    values[number] = value;
    tags[number] = KNOWN;
}

void __whence_real(size_t number, double value)
{
    memcpy(values + number, &value, sizeof value);
    tags[number] = KNOWN;
}

void __whence_lost(size_t number)
{
    tags[number] = LOST;
}

void __whence_observed(void)
{
    is_looking = 0;
    for (int n = 0; is_handled && n < FAULTS; n++)
        __real_sigaction(faults[n], own + n, NULL);
    errno = error;
}

/* What a condition came to is the last value of its place, which other places may have been looked at since. */
void __whence_came_to(void *kept, size_t expressions, int outcome)
{
    if (!kept)
        return;
    ((int64_t *)kept)[expressions - 1] = outcome;
    ((unsigned char *)kept + 8 * expressions)[expressions - 1] = KNOWN;
}
