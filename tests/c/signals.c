// A handler runs amid other code, and may leave by siglongjmp.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static volatile sig_atomic_t seen;
static sigjmp_buf place;
static int depth;
static void count(int number) {
    seen = seen + number;
    if (depth++ < 2)
        raise(SIGUSR1);
}
static void escape(int number) { siglongjmp(place, number); }
int main(void) {
    signal(SIGUSR1, count);
    struct sigaction action = {.sa_handler = escape};
    sigaction(SIGSEGV, &action, NULL);
    int before = 5;
    raise(SIGUSR1);
    printf("%d\n", seen == 3 * SIGUSR1);
    int number = sigsetjmp(place, 1);
    if (number == 0) {
        int *volatile nowhere = NULL;
        *nowhere = 1;
    }
    printf("%d %d\n", number, before);
    return 0;
}
