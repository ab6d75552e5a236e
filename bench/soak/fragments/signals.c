//// every_signal
static long every_signal(long n) { fflush(stdout); raise(K % 31 + 1); printf("survived %ld\n", n); exit(40); }
//// real_time_signal
static long real_time_signal(long n) { raise(SIGRTMIN + K % 20); return n; }
//// kill_itself
static long kill_itself(long n) { kill(getpid(), SIGKILL); return n; }
//// handler_exits
static void leave(int number) { _exit(50 + number); }
static long handler_exits(long n) { signal(SIGSEGV, leave); signal(SIGABRT, leave); *(volatile int *)(n & 7) = 1; return 0; }
//// handler_crashes
static void crash_again(int number) { *(volatile int *)8 = number; }
static long handler_crashes(long n) { signal(SIGFPE, crash_again); raise(SIGFPE); return n; }
//// handler_jumps
static sigjmp_buf back;
static void jump_back(int number) { siglongjmp(back, number); }
static long handler_jumps(long n) { signal(SIGSEGV, jump_back); if (sigsetjmp(back, 1)) exit(51); return *(volatile long *)(n & 7); }
//// interval_timer
static volatile long ticks;
static void on_tick(int number) { (void)number; ticks++; }
static long interval_timer(long n) { struct itimerval every = {{0, 2000}, {0, 2000}}; signal(SIGALRM, on_tick); setitimer(ITIMER_REAL, &every, NULL); while (ticks < 20) ; exit(52 + (n == LONG_MIN)); }
//// own_signal_stack
static char other_stack[1 << 16];
static void on_overflow(int number) { (void)number; _exit(53); }
static long sink(long n) { volatile char room[4096]; room[0] = (char)n; return sink(n + 1) + room[0]; }
static long own_signal_stack(long n) { stack_t s = {.ss_sp = other_stack, .ss_size = sizeof other_stack}; sigaltstack(&s, NULL); struct sigaction a = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK}; sigaction(SIGSEGV, &a, NULL); return sink(n); }
//// exit_in_handler
static void last_words(void) { exit(54); }
static long exit_in_handler(long n) { atexit(last_words); exit((int)(n & 3)); }
//// crash_at_exit
static void crash_late(void) { *(volatile int *)16 = K; }
static long crash_at_exit(long n) { atexit(crash_late); return n; }
//// loop_at_exit
static void loop_late(void) { for (volatile long i = 0;; i++) ; }
static long loop_at_exit(long n) { atexit(loop_late); return n; }
//// abort_at_exit
static void abort_late(void) { abort(); }
static long abort_at_exit(long n) { atexit(abort_late); exit((int)(n & 1)); }
//// quick
static long quick(long n) { quick_exit(n > 0 ? 55 : 56); }
//// early
__attribute__((constructor)) static void before_main(int argc, char **argv) { if (argc > 1 && atol(argv[1]) > LIMIT) abort(); }
static long early(long n) { fprintf(stderr, "%ld\n", n); abort(); }
//// early_exit
__attribute__((constructor)) static void leave_before_main(int argc, char **argv) { if (argc > 1 && atol(argv[1]) > LIMIT) exit(57); }
static long early_exit(long n) { exit(n > 0 ? 58 : 59); }
//// late
__attribute__((destructor)) static void after_main(void) { if (*(volatile int *)&errno == 77) *(volatile int *)24 = 1; }
static long late(long n) { errno = 77; return n; }
//// large_status
static long large_status(long n) { exit(256 * K + (int)(n & 127) + 1); }
//// stack_destroyed
static long stack_destroyed(long n) { __asm__ volatile("xor %%esp, %%esp\n push %0" : : "r"(n)); return 0; }
//// frame_pointer_lost
static long frame_pointer_lost(long n) { __asm__ volatile("mov $8, %%rbp\n mov -8(%%rbp), %%rax" : : : "rax", "memory"); return n; }
