/* Going back restores the stack as well, so each test runs on one that no snapshot holds. */
#define _GNU_SOURCE
#include "alter/snapshot.h"
#include "base/base.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, TOO_MANY = 9000, STACK = 256 << 10 };

/* Not part of a snapshot, since it is shared with others. */
struct shared {
    char stack[STACK], signals[STACK];
    int faults, had_no_room, is_other;
} *shared;

static long global = 1;
static char pages[PAGES][PAGE] __attribute__((aligned(PAGE)));
static char many[TOO_MANY][PAGE] __attribute__((aligned(PAGE)));

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    shared->faults++;
    switch (whence_snapshot_fault((uintptr_t)info->si_addr)) {
    case WRITE_PASSES: return;
    case WRITE_FINDS_NO_ROOM: shared->had_no_room = 1; whence_snapshot_stop(); return;
    default: shared->is_other = 1; _exit(7);
    }
}

static void prepare(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    stack_t other = {.ss_sp = shared->signals, .ss_size = STACK};
    CHECK(!sigaltstack(&other, NULL) && !sigaction(SIGSEGV, &action, NULL));
    CHECK(whence_snapshot_reserve() > 0);
}

TEST(memory_is_again_as_it_was)
{
    char *block = malloc(3 * PAGE);
    memset(block, 'a', 3 * PAGE);
    CHECK(whence_snapshot_take() == 0);
    for (int round = 0; round < 3; round++) {
        global = 2 + round;
        memset(block, 'b', 3 * PAGE);
        for (int i = 0; i < PAGES; i += 2)
            pages[i][i] = 'c';
        whence_snapshot_restore();
        CHECK(global == 1 && block[0] == 'a' && block[3 * PAGE - 1] == 'a');
        for (int i = 0; i < PAGES; i++)
            CHECK(pages[i][i] == 0);
    }
}

TEST(a_page_faults_once)
{
    CHECK(whence_snapshot_take() == 0);
    for (int i = 0; i < PAGES; i++)
        pages[i][0] = 'x';
    int first = shared->faults;
    CHECK(first >= PAGES);
    whence_snapshot_restore();
    for (int i = 0; i < PAGES; i++)
        pages[i][9] = 'y';
    CHECK(shared->faults == first);
    whence_snapshot_restore();
    CHECK(pages[5][9] == 0);
}

TEST(a_later_snapshot_keeps_what_was_done_since)
{
    CHECK(whence_snapshot_take() == 0);
    global = 5;
    pages[1][1] = 'p';
    CHECK(whence_snapshot_take() == 0);
    global = 6;
    pages[1][1] = pages[2][2] = 'q';
    whence_snapshot_restore();
    CHECK(global == 5 && pages[1][1] == 'p' && pages[2][2] == 0);
}

TEST(after_the_stop_all_is_writable)
{
    CHECK(whence_snapshot_take() == 0);
    whence_snapshot_stop();
    int before = shared->faults;
    memset(pages, 'z', sizeof pages);
    CHECK(shared->faults == before);
    CHECK(whence_snapshot_fault((uintptr_t)pages) == WRITE_FAULTS);
}

TEST(the_kernel_writes_where_it_was_announced)
{
    int zero = open("/dev/zero", O_RDONLY);
    pages[3][0] = pages[4][0] = 'k';
    CHECK(whence_snapshot_take() == 0);
    CHECK(whence_call(0 /* read */, zero, (long)pages[3], 2 * PAGE, 0, 0, 0) == -EFAULT);
    CHECK(whence_snapshot_touch((uintptr_t)pages[3], 2 * PAGE) == WRITE_PASSES);
    CHECK(whence_call(0 /* read */, zero, (long)pages[3], 2 * PAGE, 0, 0, 0) == 2 * PAGE);
    CHECK(pages[3][0] == 0 && pages[4][0] == 0);
    CHECK(whence_snapshot_touch((uintptr_t)pages[3], 1) == WRITE_PASSES); /* again: what was kept stays */
    whence_snapshot_restore();
    CHECK(pages[3][0] == 'k' && pages[4][0] == 'k');
}

TEST(the_announced_length_may_be_any_number)
{
    int zero = open("/dev/zero", O_RDONLY);
    char *block = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(whence_snapshot_take() == 0);
    CHECK(whence_snapshot_touch((uintptr_t)block, SIZE_MAX) == WRITE_PASSES);
    CHECK(whence_call(0 /* read */, zero, (long)block, PAGE, 0, 0, 0) == PAGE);
}

TEST(what_is_not_tracked_is_a_fault)
{
    CHECK(whence_snapshot_take() == 0);
    CHECK(whence_snapshot_fault(0) == WRITE_FAULTS);
    CHECK(whence_snapshot_fault((uintptr_t)shared->stack) == WRITE_FAULTS);
    CHECK(whence_snapshot_fault((uintptr_t)"constant") == WRITE_FAULTS);
}

TEST(a_state_that_is_too_large_is_told)
{
    CHECK(whence_snapshot_take() == 0);
    for (int i = 0; i < TOO_MANY; i++)
        many[i][0] = 1;
    CHECK(shared->had_no_room);
    CHECK(whence_snapshot_touch((uintptr_t)many, sizeof many) == WRITE_PASSES); /* nothing is tracked any more */
}

TEST(new_mappings_are_seen_where_that_is_told)
{
    CHECK(whence_snapshot_take() == 0);
    char *new = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *new = 1;
    whence_snapshot_layout_changed();
    CHECK(whence_snapshot_take() == 0);
    *new = 2;
    whence_snapshot_restore();
    CHECK(*new == 1);
}

static const char *wanted;
static int run(void)
{
    RUN(memory_is_again_as_it_was);
    RUN(a_page_faults_once);
    RUN(a_later_snapshot_keeps_what_was_done_since);
    RUN(after_the_stop_all_is_writable);
    RUN(the_kernel_writes_where_it_was_announced);
    RUN(the_announced_length_may_be_any_number);
    RUN(what_is_not_tracked_is_a_fault);
    RUN(a_state_that_is_too_large_is_told);
    RUN(new_mappings_are_seen_where_that_is_told);
    return 2;
}

static void start(void)
{
    int status = run();
    whence_snapshot_stop();
    _exit(status);
}

int main(int argc, char **argv)
{
    static ucontext_t context;
    wanted = argc > 1 ? argv[1] : "";
    prepare();
    getcontext(&context);
    context.uc_stack.ss_sp = shared->stack;
    context.uc_stack.ss_size = STACK;
    makecontext(&context, start, 0);
    setcontext(&context);
}
