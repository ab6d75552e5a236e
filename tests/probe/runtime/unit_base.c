#define _GNU_SOURCE
#include "base/base.h"
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a function ends that is called in a child: its signal, or 0. */
static int signal_of(void (*function)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        function();
        whence_exit_now(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(a_call_gives_the_kernels_answer)
{
    errno = 0;
    CHECK(whence_call(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid());
    CHECK(whence_call(SYS_close, -1, 0, 0, 0, 0, 0) == -EBADF);
    CHECK(errno == 0);
    long six = whence_call(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* all six arguments count */
    CHECK(six > 0 && whence_call(SYS_munmap, six, 4096, 0, 0, 0, 0) == 0);
}

static void call_as_the_program(void)
{
    CHECK(whence_intercept_calls() == 0);
    syscall(SYS_getppid);
}

static void call_as_the_runtime(void)
{
    CHECK(whence_intercept_calls() == 0);
    if (whence_call(SYS_getppid, 0, 0, 0, 0, 0, 0) <= 0)
        whence_exit_now(1);
}

TEST(only_calls_of_the_program_are_intercepted)
{
    CHECK(signal_of(call_as_the_program) == SIGSYS);
    CHECK(signal_of(call_as_the_runtime) == 0);
}

TEST(a_place_is_taken_once)
{
    char *got = whence_map_at(OWN_PLACE, 4096, MAP_PRIVATE, -1);
    CHECK(got == OWN_PLACE && *got == 0);
    CHECK(whence_map_at(OWN_PLACE, 4096, MAP_PRIVATE, -1) == NULL);
}

static void write_to_places(void) { whence_places.control = NULL; }

TEST(closed_places_cannot_be_written_to)
{
    CHECK(signal_of(write_to_places) == 0);
    CHECK(whence_close_places() == 0);
    CHECK(signal_of(write_to_places) == SIGSEGV);
}

TEST(mappings_are_read_line_by_line)
{
    static const char text[] = "1000-2f00 rw-p 00000000 00:00 0 \n7ffc0000-7ffe0000 r-xp 00001000 08:01 12 /bin/x y\n9000-a0";
    const char *at = text, *end = text + sizeof text - 1;
    struct whence_mapping line;
    CHECK(whence_next_mapping(&at, end, &line));
    CHECK(line.start == 0x1000 && line.end == 0x2f00 && !memcmp(line.rights, "rw-p", 4));
    CHECK(whence_next_mapping(&at, end, &line));
    CHECK(line.start == 0x7ffc0000 && line.end == 0x7ffe0000 && !memcmp(line.rest, "00001000", 8));
    CHECK(!memcmp(line.stop - 5, "/x y\n", 5));
    CHECK(!whence_next_mapping(&at, end, &line)); /* not whole */
    CHECK(!strcmp(at, "9000-a0"));
}

TEST(time_goes_on)
{
    int64_t start = whence_now_us();
    usleep(2000);
    CHECK(whence_now_us() - start >= 2000);
}

__attribute__((noinline)) static int left_behind(void)
{
    unsigned char area[16 << 10];
    __asm__ volatile("" : : "r"(area) : "memory"); /* as if it had been written to */
    return area[100];
}

TEST(dead_stack_holds_what_fresh_memory_does)
{
    unsetenv("MALLOC_PERTURB_");
    whence_take_pattern();
    whence_fill_stack();
    CHECK(left_behind() == 0);
    setenv("MALLOC_PERTURB_", "90", 1);
    whence_take_pattern();
    whence_fill_stack();
    CHECK(left_behind() == (~90 & 255));
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    RUN(a_call_gives_the_kernels_answer);
    RUN(only_calls_of_the_program_are_intercepted);
    RUN(a_place_is_taken_once);
    RUN(closed_places_cannot_be_written_to);
    RUN(mappings_are_read_line_by_line);
    RUN(time_goes_on);
    RUN(dead_stack_holds_what_fresh_memory_does);
    return 2;
}
