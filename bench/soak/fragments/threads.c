//// thread_crashes
static void *crash_in(void *p) { return *(void **)p; }
static long thread_crashes(long n) { pthread_t t; pthread_create(&t, NULL, crash_in, (void *)(n & 7)); pthread_join(t, NULL); return n; }
//// thread_loops
static void *loop_in(void *p) { for (volatile long i = (long)p;; i++) ; return p; }
static long thread_loops(long n) { pthread_t t; pthread_create(&t, NULL, loop_in, (void *)n); pthread_join(t, NULL); return n; }
//// main_thread_leaves
static void *on_alone(void *p) { usleep(50000); printf("alone %ld\n", (long)p); exit(60); return p; }
static long main_thread_leaves(long n) { pthread_t t; pthread_create(&t, NULL, on_alone, (void *)n); pthread_exit(NULL); return n; }
//// thread_exits_process
static void *leave_in(void *p) { exit(61); return p; }
static long thread_exits_process(long n) { pthread_t t; pthread_create(&t, NULL, leave_in, (void *)n); for (;;) pause(); return n; }
//// race
static long shared_sum;
static void *add_up(void *p) { for (int i = 0; i < 20000; i++) shared_sum++; return p; }
static long race(long n) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, add_up, NULL); for (int i = 0; i < 4; i++) pthread_join(t[i], NULL); printf("sum %ld %ld\n", shared_sum, n); return n; }
//// many_threads
static void *wait_in(void *p) { sleep(1000); return p; }
static long many_threads(long n) { pthread_t t; int made = 0; while (made < 300 && pthread_create(&t, NULL, wait_in, NULL) == 0) made++; exit(62 + (n == LONG_MIN)); }
//// detached
static void *detached_in(void *p) { for (;;) { usleep(1000); (*(volatile long *)p)++; } return p; }
static long detached(long n) { static long count; pthread_t t; pthread_create(&t, NULL, detached_in, &count); pthread_detach(t); usleep(20000); exit(63 + (n == LONG_MIN)); }
//// fork_in_thread
static void *fork_in(void *p) { if (fork() == 0) { usleep(1000); _exit(1); } int s; wait(&s); exit(64 + s / 256); return p; }
static long fork_in_thread(long n) { fflush(stdout); pthread_t t; pthread_create(&t, NULL, fork_in, (void *)n); pthread_join(t, NULL); return n; }
//// cancelled
static void *cancel_in(void *p) { for (;;) pthread_testcancel(); return p; }
static long cancelled(long n) { pthread_t t; void *result; pthread_create(&t, NULL, cancel_in, NULL); pthread_cancel(t); pthread_join(t, &result); exit(result == PTHREAD_CANCELED ? 65 : (int)(n & 1)); }
//// condition_never_met
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static long condition_never_met(long n) { pthread_mutex_lock(&guard); while (n != LONG_MIN) pthread_cond_wait(&ready, &guard); return n; }
//// small_stack
static void *sink_in(void *p) { volatile char room[1 << 20]; room[0] = (char)(long)p; room[sizeof room - 1] = 1; return p; }
static long small_stack(long n) { pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536); pthread_t t; pthread_create(&t, &a, sink_in, (void *)n); pthread_join(t, NULL); return n; }
