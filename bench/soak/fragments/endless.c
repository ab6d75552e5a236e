//// loop_for_ever
static long loop_for_ever(long n) { volatile long spins = n; for (;;) spins++; }
//// empty_loop
static long empty_loop(long n) { volatile int go = n != LONG_MIN; while (go) ; return 0; }
//// counting_down
static long counting_down(long n) { unsigned i; long sum = n; for (i = K; i >= 0; i--) sum += i; return sum; }
//// cyclic_list
struct ring { struct ring *next; int value; };
static long cyclic_list(long n)
{
    struct ring a = {NULL, 1}, b = {&a, 2}, c = {&b, (int)n};
    a.next = &c;
    long length = 0;
    for (struct ring *p = &a; p; p = p->next)
        length++;
    return length;
}
//// sleeping
static long sleeping(long n) { sleep(1000); return n; }
//// pausing
static long pausing(long n) { for (;;) pause(); return n; }
//// alarm_then_pause
static long alarm_then_pause(long n) { alarm(1); pause(); return n; }
//// sleeping_a_little
static long sleeping_a_little(long n) { for (int i = 0; i < K; i++) usleep(20000); printf("slept %ld\n", n); return n; }
//// deep_recursion
static long depth_of(long n, volatile char *above) { volatile char here[64]; here[0] = above[0]; return depth_of(n + 1, here) + here[0]; }
static long deep_recursion(long n) { volatile char top[1] = {1}; return depth_of(n, top); }
//// mutual_recursion
static long pong(long n);
static long ping(long n) { return n == LONG_MIN ? 0 : pong(n + 1) + 1; }
static long pong(long n) { char room[K * 100]; memset(room, (int)n, sizeof room); return ping(n) + room[K]; }
static long mutual_recursion(long n) { return ping(n); }
//// recursion_that_ends
static long down(long n) { return n == 0 ? 0 : 1 + down(n - 1); }
static long recursion_that_ends(long n) { printf("depth %ld\n", down(20000 + labs(n))); return 0; }
//// terminate_ignored
static long terminate_ignored(long n) { signal(SIGTERM, SIG_IGN); signal(SIGINT, SIG_IGN); signal(SIGHUP, SIG_IGN); for (;;) n++; return n; }
//// all_blocked
static long all_blocked(long n) { sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL); for (volatile long i = n;; i++) ; return n; }
//// handler_returns
static void ignore_fault(int number) { (void)number; }
static long handler_returns(long n) { signal(SIGSEGV, ignore_fault); return *(volatile long *)(n & 0); }
//// terminal_read
static long terminal_read(long n) { int tty = open("/dev/tty", O_RDWR); char c = 0; if (tty < 0 || read(tty, &c, 1) < 1) exit(5); return c + n; }
//// fifo_without_writer
static long fifo_without_writer(long n) { if (mkfifo("pipe", 0600)) exit(6); FILE *f = fopen("pipe", "r"); return f ? n : -1; }
//// deadlock
static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER;
static long deadlock(long n) { pthread_mutex_lock(&lock_a); pthread_mutex_lock(&lock_a); return n; }
//// reads_for_ever
static long reads_for_ever(long n) { int c; do c = getchar(); while (c != 'Q' || n == 0); return c; }
//// busy_with_calls
static long busy_with_calls(long n) { for (;;) n += getpid() + write(2, "", 0); return n; }
//// polling
static long polling(long n) { struct timespec t = {0, 1000000}; for (;;) nanosleep(&t, NULL); return n; }
