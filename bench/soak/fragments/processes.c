//// many_children
static long many_children(long n) { for (int i = 0; i < 40; i++) if (fork() == 0) { sleep(1000); _exit(0); } exit(20 + (n == LONG_MIN)); }
//// orphan
static long orphan(long n) { fflush(stdout); if (fork() == 0) { signal(SIGHUP, SIG_IGN); sleep(1000); _exit(0); } return n + 1; }
//// demon
static long demon(long n)
{
    fflush(stdout);
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            for (int i = 0; i < 1024; i++)
                close(i);
            if (chdir("/") == 0)
                sleep(1000);
        }
        _exit(0);
    }
    wait(NULL);
    exit(21 + (n == LONG_MIN));
}
//// demon_by_library
static long demon_by_library(long n) { if (daemon(0, 0)) exit(22); sleep(1000); return n; }
//// parent_killed
static long parent_killed(long n) { if (getppid() > 1) kill(getppid(), SIGKILL); exit(23 + (n == LONG_MIN)); }
//// parent_terminated
static long parent_terminated(long n) { if (getppid() > 1) kill(getppid(), SIGTERM); sleep(1); return n; }
//// parent_stopped
static long parent_stopped(long n) { if (getppid() > 1) kill(getppid(), SIGSTOP); exit(24 + (n == LONG_MIN)); }
//// group_killed
static long group_killed(long n) { if (getpgrp() > 1) kill(0, SIGKILL); return n; }
//// group_terminated
static long group_terminated(long n) { kill(0, SIGTERM); sleep(3); return n; }
//// new_session
static long new_session(long n) { fflush(stdout); if (fork() == 0) { setsid(); for (;;) n++; } exit(25); }
//// dying_children
static long dying_children(long n) { for (int i = 1; i < K % 9 + 3; i++) { if (fork() == 0) { kill(getpid(), i % 15 + 1); _exit(i); } } int s, bad = 0; while (wait(&s) > 0) bad += s != 0; exit(bad ? 26 : (int)(n & 1)); }
//// crashing_child
static long crashing_child(long n) { fflush(stdout); if (fork() == 0) { *(volatile int *)8 = (int)n; } int s; wait(&s); exit(WIFSIGNALED(s) ? 128 + WTERMSIG(s) : 0); }
//// zombies
static long zombies(long n) { for (int i = 0; i < K; i++) if (fork() == 0) _exit(i); usleep(1000); printf("dead %ld\n", n); return n; }
//// output_of_a_child
static long output_of_a_child(long n) { fflush(stdout); if (fork() == 0) { usleep(300000); printf("late %ld\n", n); fflush(stdout); _exit(0); } exit(27); }
//// becomes_another
static long becomes_another(long n) { fflush(stdout); execl("/bin/echo", "echo", n & 1 ? "odd" : "even", NULL); return n; }
//// becomes_false
static long becomes_false(long n) { fflush(stdout); execl("/bin/false", "false", NULL); return n; }
//// becomes_itself
static long becomes_itself(long n) { fflush(stdout); if (!getenv("AGAIN")) { setenv("AGAIN", "1", 1); execl("/proc/self/exe", "again", "99", "98", NULL); } exit(28 + (n == LONG_MIN)); }
//// becomes_itself_for_ever
static long becomes_itself_for_ever(long n) { char text[24]; snprintf(text, sizeof text, "%ld", n + 1); execl("/proc/self/exe", "again", text, text, NULL); return n; }
//// shell_command
static long shell_command(long n) { fflush(stdout); int s = system("echo from the shell; kill -SEGV $$"); exit(s ? 29 : (int)(n & 1)); }
//// vfork_and_exec
static long vfork_and_exec(long n) { fflush(stdout); pid_t p = vfork(); if (p == 0) { execl("/bin/true", "true", NULL); _exit(1); } int s = 1; waitpid(p, &s, 0); exit(s == 0 ? 30 : (int)(n & 1)); }
//// traced_by_parent
static long traced_by_parent(long n) { ptrace(PTRACE_TRACEME, 0, NULL, NULL); raise(SIGSTOP); return n; }
//// stopped
static long stopped(long n) { kill(getpid(), SIGSTOP); return n; }
//// limits_lowered
static long limits_lowered(long n) { struct rlimit none = {0, 0}; setrlimit(RLIMIT_FSIZE, &none); setrlimit(RLIMIT_NOFILE, &none); setrlimit(RLIMIT_NPROC, &none); printf("limited %ld\n", n); fflush(stdout); exit(31); }
//// system_calls_forbidden
static long system_calls_forbidden(long n) { fflush(stdout); prctl(PR_SET_SECCOMP, 1); open("/dev/null", O_RDONLY); return n; }
//// undumpable
static long undumpable(long n) { prctl(PR_SET_DUMPABLE, 0); prctl(PR_SET_NAME, "odd ) name ("); exit(32 + (n == LONG_MIN)); }
//// user_changed
static long user_changed(long n) { if (setgid(65534) == 0 && setuid(65534) == 0) printf("nobody\n"); exit(33 + (n == LONG_MIN)); }
