/* One use of asynchronous signals a mode: the first argument says which. `entries` counts the calls of handlers. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t entries, wanted, flag;
static volatile unsigned long sink;
static char seen[8];

/* Counts, and makes a call whose effects are recorded. */
static void handler(int number)
{
    char text[8] = "signal";
    entries++;
    flag = number;
    strcpy(seen, text);
}

static void install(int number, void (*function)(int), int flags)
{
    struct sigaction action = {.sa_handler = function, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void every(int which, int us)
{
    struct itimerval timer = {{0, us}, {0, us}};
    setitimer(which, &timer, NULL);
}

static void busy(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        char text[48], copy[48];
        int length = snprintf(text, sizeof text, "%d of %s", i, "many");
        memcpy(copy, text, (size_t)length + 1);
        char *block = malloc(strlen(copy) + 20);
        strcpy(block, copy);
        sink += (unsigned long)strlen(block);
        free(block);
    }
}

static void soon(void)
{
    const struct itimerval timer = {{0, 0}, {0, 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- A signal at each instruction: the trap flag stops at each, and what handles that sends the signal. ---- */

void on_trap(int);
__asm__(".text\non_trap:\n"
        "mov $39, %eax\nsyscall\nmov %eax, %edi\n"           /* getpid */
        "mov $10, %esi\nmov $62, %eax\nsyscall\nret\n");     /* kill, SIGUSR1 */

#define SET_FLAG(operation) \
    __asm__ volatile("lea -128(%%rsp), %%rsp\npushfq\n" operation ", (%%rsp)\npopfq\nlea 128(%%rsp), %%rsp" ::: "memory", "cc")
#define BEGIN_STEPS() SET_FLAG("orq $0x100")
#define END_STEPS() SET_FLAG("andq $~0x100")

static void steps(void)
{
    install(SIGUSR1, handler, 0);
    install(SIGTRAP, on_trap, 0);
    BEGIN_STEPS();
    busy(3);
    END_STEPS();
}
static void mode_steps(void) { steps(); }

static void *step(void *unused) { steps(); return unused; }
static void mode_steps_of_thread(void)
{
    pthread_t thread, other;
    pthread_create(&thread, NULL, step, NULL);
    pthread_create(&other, NULL, (void *(*)(void *))busy, (void *)40);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
}

/* ---- Timers ---- */

static void mode_flood(void)
{
    install(SIGALRM, handler, 0);
    every(ITIMER_REAL, 200);
    while (entries < 200)
        busy(1);
    every(ITIMER_REAL, 0);
}

static void inner(int number) { handler(number); busy(2); }
static void mode_nested(void)
{
    install(SIGALRM, inner, 0);
    install(SIGPROF, inner, SA_NODEFER);
    every(ITIMER_REAL, 300);
    every(ITIMER_PROF, 1000);
    while (entries < 200)
        busy(1);
    every(ITIMER_REAL, 0);
    every(ITIMER_PROF, 0);
}

static void mode_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec often = {{0, 300000}, {0, 300000}};
    install(SIGRTMIN, handler, 0);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, NULL);
    while (entries < 50)
        busy(1);
    timer_delete(timer);
}

static void mode_poll(void)
{
    install(SIGALRM, handler, 0);
    every(ITIMER_REAL, 100);
    for (int i = 0; i < 20; i++) {
        flag = 0;
        while (!flag) { }
    }
    every(ITIMER_REAL, 0);
}

/* ---- Calls that wait ---- */

static void mode_waits(void)
{
    sigset_t all, none;
    char byte;
    int ends[2], interrupted = 0;
    install(SIGALRM, handler, 0);
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    every(ITIMER_REAL, 20000); /* so long that none comes between two waits, also on a busy machine */
    for (int i = 0; i < 10; i++)
        interrupted += sigsuspend(&none) == -1 && errno == EINTR;
    sigprocmask(SIG_SETMASK, &none, NULL);
    interrupted += pause() == -1;
    interrupted += sleep(5) > 0;
    interrupted += pipe(ends) == 0 && read(ends[0], &byte, 1) == -1 && errno == EINTR;
    every(ITIMER_REAL, 0);
    printf("%d\n", interrupted);
}

static void reap(int number)
{
    handler(number);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        wanted++;
}
static void mode_children(void)
{
    install(SIGCHLD, reap, SA_RESTART);
    for (int i = 0; i < 5; i++)
        if (!fork())
            _exit(i);
    while (wanted < 5)
        busy(1);
}

/* ---- Handlers that do not return ---- */

static sigjmp_buf place;
static void escape(int number) { handler(number); siglongjmp(place, 1); }
static void mode_escape(void)
{
    install(SIGALRM, escape, 0);
    every(ITIMER_REAL, 500);
    sigsetjmp(place, 1);
    while (entries < 100)
        sink += strlen(seen); /* a call that may be left amid */
    every(ITIMER_REAL, 0);
}
/* The same, out of each of the first instructions in turn. */
static volatile int left;
static void escape_later(int number) { handler(number); if (!left--) siglongjmp(place, 1); }
static void mode_escape_steps(void)
{
    install(SIGUSR1, escape_later, 0);
    install(SIGTRAP, on_trap, SA_NODEFER);
    for (volatile int first = 0; first < 250; first++) {
        left = first;
        if (sigsetjmp(place, 1))
            continue;
        BEGIN_STEPS();
        for (volatile int i = 0; i < 3; i++)
            sink += strlen(seen);
        END_STEPS();
    }
}

static void leave(int number) { handler(number); printf("entries %d\n", (int)entries); fflush(stdout); _exit(3); }
static void mode_leave(void) { install(SIGALRM, leave, 0); every(ITIMER_REAL, 2000); for (;;) busy(1); }
static void finish(int number) { handler(number); printf("entries %d\n", (int)entries); exit(4); }
static void mode_finish(void) { install(SIGALRM, finish, 0); every(ITIMER_REAL, 2000); for (;;) sink++; }
static int *nowhere;
static void crash(int number) { handler(number); printf("entries %d\n", (int)entries); fflush(stdout); *nowhere = number; }
static void mode_crash(void) { install(SIGALRM, crash, 0); every(ITIMER_REAL, 2000); for (;;) sink++; }
static void hang(int number) { handler(number); printf("entries %d\n", (int)entries); fflush(stdout); for (;;) sink++; }
static void mode_hang(void) { install(SIGALRM, hang, 0); every(ITIMER_REAL, 2000); for (;;) sink++; }

/* ---- Others ---- */

static void mode_stack(void)
{
    static char stack[65536];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    install(SIGALRM, handler, SA_ONSTACK);
    every(ITIMER_REAL, 500);
    while (entries < 50)
        busy(1);
    every(ITIMER_REAL, 0);
}

static void once(int number) { handler(number); }
static void mode_reset(void)
{
    struct sigaction now;
    install(SIGALRM, once, SA_RESETHAND);
    sigaction(SIGALRM, NULL, &now);
    int kept = now.sa_handler == once;
    soon();
    while (!entries)
        busy(1);
    printf("%d %d\n", kept, signal(SIGALRM, SIG_IGN) == SIG_DFL);
}

/* Several chunks are filled while a block of the loop is half done. */
static void fill(int number)
{
    handler(number);
    for (int i = 0; i < 300000; i++)
        sink++;
}
static void mode_long(void)
{
    install(SIGALRM, fill, 0);
    for (int i = 1; i <= 5; i++) {
        soon();
        while (entries < i)
            sink++;
    }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int done;
static void *work(void *unused)
{
    while (!done) {
        busy(1);
        pthread_mutex_lock(&lock);
        sink++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
static void together(int number) { (void)number; __atomic_fetch_add(&entries, 1, __ATOMIC_SEQ_CST); }
static void mode_threads(void)
{
    pthread_t threads[3];
    install(SIGALRM, together, SA_RESTART);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    every(ITIMER_REAL, 300);
    while (entries < 200)
        usleep(1000);
    every(ITIMER_REAL, 0);
    done = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

#define MODE(name) {#name, mode_##name}
static const struct mode { const char *name; void (*run)(void); } modes[] = {
    MODE(steps), MODE(steps_of_thread), MODE(flood), MODE(nested), MODE(timer), MODE(poll), MODE(waits), MODE(children),
    MODE(escape), MODE(escape_steps), MODE(leave), MODE(finish), MODE(crash), MODE(hang), MODE(stack), MODE(reset), MODE(long),
    MODE(threads),
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name))
            modes[i].run();
    printf("entries %d\n", (int)entries);
    return 0;
}
