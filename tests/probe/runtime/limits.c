/* One kind of behaviour that a runner must stand, or must not disturb, a mode: the first argument says which. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int global = 1, zeroed;
extern char **environ;

static long work(int rounds)
{
    static int cells[64];
    for (int i = 0; i < rounds; i++)
        cells[i % 64] += i;
    return cells[5];
}

static void mode_addresses(void)
{
    int local;
    static char large[1 << 20];
    printf("%p %p %p %p %p\n", (void *)&local, (void *)&global, (void *)&zeroed, (void *)large, (void *)mode_addresses);
    printf("%p %p %p\n", malloc(10), malloc(1 << 22), mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    printf("%p %p %p\n", (void *)environ, (void *)environ[0], (void *)printf);
}

static int endless(int n) { volatile char area[4096]; area[0] = (char)n; return endless(n + 1) + area[0]; }

static void mode_overflow(void) { printf("%d\n", endless(work(10000) != 0)); }
static void mode_leave(void)
{
    struct stat found;
    printf("%d\n", stat("left", &found));
    fclose(fopen("left", "w"));
    mkdir("folder", 0500);
    chmod(".", 0500);
}
static void mode_loop(void) { for (;;) work(10); }
static void mode_stubborn(void)
{
    for (int number = 1; number < 32; number++)
        signal(number, SIG_IGN);
    puts("ignoring");
    fflush(stdout);
    for (;;) work(10);
}
static void mode_eat(void)
{
    size_t taken = 0;
    for (char *block; (block = malloc(1 << 16)); taken++)
        block[0] = 1;
    for (char *block; (block = malloc(64)); )
        block[0] = 1;
    work(400000); /* much to record with no memory left */
    fprintf(stderr, "refused\n");
    exit(taken > 100 ? 4 : 5);
}
static void mode_print(void) { for (;;) puts("and again"); }
static void mode_long(void) { printf("%ld\n", work(400000)); }
static void mode_close(void)
{
    for (int fd = 3; fd < 4096; fd++)
        close(fd);
    printf("%ld %d\n", work(400000), open("/dev/null", O_RDONLY));
}
static void mode_own_descriptor(void)
{
    int own = open("own", O_RDWR | O_CREAT, 0600);
    for (int fd = 500; fd < 1020; fd++)
        dup2(own, fd);
    printf("%ld\n", work(400000));
    printf("%ld\n", (long)lseek(own, 0, SEEK_END));
}
static void mode_chdir(void)
{
    mkdir("below", 0700);
    if (chdir("below") || chdir("/"))
        exit(1);
    printf("%ld %s\n", work(400000), getcwd(NULL, 0));
}

/* ---- Processes ---- */

static void mode_fork(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        global = 7;
        work(400000);
        printf("child %d\n", global);
        exit(3);
    }
    wait(&status);
    printf("parent %d %d\n", global, WEXITSTATUS(status));
    work(400000);
}
static void mode_popen(void)
{
    char line[100];
    FILE *pipe = popen("echo one; echo two", "r");
    while (fgets(line, sizeof line, pipe))
        printf("%s", line);
    printf("%d\n", pclose(pipe));
}
static void mode_system(void)
{
    puts("before");
    fflush(stdout);
    int status = system("echo within; exit 3");
    printf("%d\n", WEXITSTATUS(status));
}
static void mode_vfork(void)
{
    int status;
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "echo run; exit 6", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
}
static void mode_daemon(void)
{
    puts("daemon");
    fflush(stdout);
    if (fork())
        _exit(2);
    setsid();
    if (fork())
        _exit(0);
    for (;;)
        work(1000);
}
static void mode_forks(void)
{
    for (int i = 0; i < 60; i++)
        if (fork() == 0)
            for (;;)
                sleep(1);
    for (;;)
        sleep(1);
}
static void mode_again(void) /* the program runs itself */
{
    fflush(stdout);
    if (system("/proc/$PPID/exe long"))
        exit(1);
}

#define MODE(name) {#name, mode_##name}
static const struct mode { const char *name; void (*run)(void); } modes[] = {
    MODE(addresses), MODE(overflow), MODE(leave), MODE(loop), MODE(stubborn), MODE(eat), MODE(print), MODE(long), MODE(close),
    MODE(own_descriptor), MODE(chdir), MODE(fork), MODE(popen), MODE(system), MODE(vfork), MODE(daemon), MODE(forks), MODE(again),
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name))
            modes[i].run();
    return 0;
}
