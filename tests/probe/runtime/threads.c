/* One use of threads a mode: the first argument says which. All print the same in every schedule, except `race`. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 4 };
typedef void *routine(void *);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile long shared, flag;

static void together(int count, routine *work)
{
    pthread_t threads[256];
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Locks ---- */

static void *count_locked(void *number)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        shared += (long)number + 1;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
static void mode_mutex(void) { together(WORKERS, count_locked); printf("%ld\n", shared); }

static void *count_unlocked(void *number)
{
    for (int i = 0; i < 20000; i++)
        shared += (long)number + 1;
    return NULL;
}
static void mode_race(void) { together(WORKERS, count_unlocked); printf("%ld\n", shared); }

static void *hold_for_long(void *number)
{
    for (int i = 0; i < 200; i++) { /* whoever unlocks wants the lock again at once */
        pthread_mutex_lock(&lock);
        if (number)
            flag = 1;
        for (volatile int k = 0; k < 50; k++) { }
        int done = flag;
        pthread_mutex_unlock(&lock);
        if (!number && !done)
            i = 0;
    }
    return NULL;
}
static void mode_greedy(void) { together(2, hold_for_long); puts("both had it"); }

static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static void *read_or_write(void *number)
{
    long seen = 0;
    for (int i = 0; i < 300; i++)
        if (number) {
            pthread_rwlock_rdlock(&both);
            long before = shared;
            sched_yield();
            seen += before == shared;
            pthread_rwlock_unlock(&both);
        } else {
            pthread_rwlock_wrlock(&both);
            shared++;
            pthread_rwlock_unlock(&both);
        }
    if (number && seen != 300)
        puts("a reader saw a change");
    return NULL;
}
static void mode_rwlock(void)
{
    together(WORKERS, read_or_write);
    printf("%ld\n", shared);
    pthread_rwlock_wrlock(&both);
    printf("%d\n", pthread_rwlock_rdlock(&both) == EDEADLK);
}

static void *relock(void *kind)
{
    pthread_mutexattr_t how;
    pthread_mutex_t mutex;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, (int)(long)kind);
    pthread_mutex_init(&mutex, &how);
    pthread_mutex_lock(&mutex);
    printf("%d\n", pthread_mutex_lock(&mutex));
    return NULL;
}
static void mode_kinds(void)
{
    int kinds[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, relock, (void *)(long)kinds[i]);
        pthread_join(thread, NULL);
    }
}

static pthread_spinlock_t spin;
static void *count_spinning(void *number)
{
    for (int i = 0; i < 1000; i++) {
        pthread_spin_lock(&spin);
        shared += (long)number;
        if (i % 100 == 0)
            sched_yield();
        pthread_spin_unlock(&spin);
    }
    return NULL;
}
static void mode_spin(void) { pthread_spin_init(&spin, 0); together(WORKERS, count_spinning); printf("%ld\n", shared); }

/* ---- Conditions, semaphores, barriers, once ---- */

static int queue[8], head, tail;
static void *produce(void *unused)
{
    for (int i = 1; i <= 500; i++) {
        pthread_mutex_lock(&lock);
        while (tail - head == 8)
            pthread_cond_wait(&changed, &lock);
        queue[tail++ % 8] = i;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
static void *consume(void *unused)
{
    for (int i = 0; i < 250; i++) {
        pthread_mutex_lock(&lock);
        while (tail == head)
            pthread_cond_wait(&changed, &lock);
        shared += queue[head++ % 8];
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
static void *produce_or_consume(void *number) { return number ? consume(number) : produce(number); }
static void mode_queue(void) { together(3, produce_or_consume); printf("%ld\n", shared); }

static void *signalled(void *number)
{
    pthread_mutex_lock(&lock);
    while (shared != (long)number)
        pthread_cond_wait(&changed, &lock);
    printf("%ld\n", shared++);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void mode_order(void) { together(20, signalled); }

static sem_t empty, full;
static void *ping_pong(void *number)
{
    for (int i = 0; i < 200; i++) {
        sem_wait(number ? &full : &empty);
        shared = number ? shared + 1 : shared * 3 % 1000;
        sem_post(number ? &empty : &full);
    }
    return NULL;
}
static void mode_semaphore(void)
{
    sem_init(&empty, 0, 1);
    sem_init(&full, 0, 0);
    together(2, ping_pong);
    printf("%ld\n", shared);
}

static pthread_barrier_t barrier;
static int cells[2][WORKERS];
static void *generations(void *number)
{
    long me = (long)number;
    int last = 0;
    for (int step = 0; step < 50; step++) {
        int *from = cells[step % 2], *to = cells[!(step % 2)];
        to[me] = (from[me] + from[(me + 1) % WORKERS] * 3 + step) % 1009;
        last += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    }
    __atomic_fetch_add(&shared, last, __ATOMIC_SEQ_CST);
    return NULL;
}
static void mode_barrier(void)
{
    pthread_barrier_init(&barrier, NULL, WORKERS);
    cells[0][1] = 1;
    together(WORKERS, generations);
    printf("%d %d %d %d, %ld\n", cells[0][0], cells[0][1], cells[0][2], cells[0][3], shared);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void initialise(void)
{
    for (int i = 0; i < 30000; i++)
        shared++;
    puts("once");
}
static void *use_initialised(void *unused)
{
    pthread_once(&once, initialise);
    if (shared != 30000)
        puts("too early");
    return unused;
}
static void mode_once(void) { together(WORKERS, use_initialised); }

/* ---- Waiting without blocking ---- */

static void *set_flag_late(void *unused)
{
    for (volatile int i = 0; i < 100000; i++) { }
    flag = 1;
    return unused;
}
static void *wait_for_flag(void *how)
{
    while (!flag)
        if (how == (void *)1)
            sched_yield();
        else if (how == (void *)2)
            usleep(100);
    return NULL;
}
static void *flag_or_wait(void *number) { return number ? wait_for_flag((void *)((long)number - 1)) : set_flag_late(NULL); }
static void mode_flag(void) { together(4, flag_or_wait); puts("seen"); }

static void *sleep_and_tell(void *number)
{
    struct timespec time = {0, (4 - (long)number) * 20000000};
    nanosleep(&time, NULL);
    printf("%ld\n", (long)number);
    return NULL;
}
static void mode_sleepers(void) { together(WORKERS, sleep_and_tell); }

static void *wait_in_vain(void *unused)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 30000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    int first = pthread_cond_timedwait(&changed, &lock, &until);
    pthread_mutex_unlock(&lock);
    int second = sem_timedwait(&full, &until);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int late = now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec);
    printf("%d %d %d %d\n", first == ETIMEDOUT, second, errno == ETIMEDOUT, late);
    return unused;
}
static void mode_timed(void) { sem_init(&full, 0, 0); together(2, wait_in_vain); }

static int ends[2], back[2];
static void *echo(void *unused)
{
    int number;
    while (read(ends[0], &number, sizeof number) == sizeof number) {
        number *= 2;
        if (write(back[1], &number, sizeof number) < 0)
            break;
    }
    return unused;
}
static void mode_pipe(void)
{
    pthread_t thread;
    int sum = 0;
    if (pipe(ends) || pipe(back))
        exit(1);
    pthread_create(&thread, NULL, echo, NULL);
    for (int i = 0; i < 5; i++) {
        int number = i;
        if (write(ends[1], &number, sizeof number) < 0 || read(back[0], &number, sizeof number) < 0)
            exit(1);
        sum += number;
    }
    close(ends[1]);
    pthread_join(thread, NULL);
    printf("%d\n", sum);
}

static int sockets[2];
static void *answer(void *unused)
{
    int number;
    while (recv(sockets[1], &number, sizeof number, 0) == sizeof number) {
        number += 100;
        send(sockets[1], &number, sizeof number, 0);
    }
    return unused;
}
static void mode_unknown_call(void) /* recv has no wrapper */
{
    pthread_t thread;
    long sum = 0;
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    pthread_create(&thread, NULL, answer, NULL);
    for (int i = 0; i < 4; i++) {
        int number = i;
        send(sockets[0], &number, sizeof number, 0);
        recv(sockets[0], &number, sizeof number, 0);
        sum += number;
    }
    shutdown(sockets[0], SHUT_RDWR);
    pthread_join(thread, NULL);
    printf("%ld\n", sum);
}

static void on_timer(union sigval value)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2000; i++)
        shared += value.sival_int;
    pthread_mutex_unlock(&lock);
    sem_post(&full);
}
static void mode_foreign(void) /* the C library starts the threads */
{
    timer_t timers[3];
    sem_init(&full, 0, 0);
    for (int i = 0; i < 3; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer};
        struct itimerspec when = {.it_value = {0, 1000000 * (i + 1)}};
        event.sigev_value.sival_int = i + 1;
        timer_create(CLOCK_MONOTONIC, &event, &timers[i]);
        timer_settime(timers[i], 0, &when, NULL);
    }
    for (int i = 0; i < 3; i++)
        while (sem_wait(&full)) { }
    printf("%ld\n", shared);
}

/* ---- Starting and ending ---- */

static void *square(void *number) { return (void *)((long)number * (long)number); }
static void mode_results(void)
{
    long sum = 0;
    for (long i = 0; i < 300; i++) { /* numbers of threads are used again */
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, square, (void *)i);
        pthread_join(thread, &result);
        sum += (long)result;
    }
    printf("%ld\n", sum);
}

static pthread_key_t key;
static void tell_value(void *value)
{
    pthread_mutex_lock(&lock);
    shared += strlen(value);
    pthread_mutex_unlock(&lock);
    free(value);
}
static void deeper(int depth)
{
    if (depth)
        deeper(depth - 1);
    else
        pthread_exit(NULL);
}
static void clean(void *text)
{
    shared += strlen(text);
}
static void *exit_early(void *number)
{
    pthread_setspecific(key, strdup("12345"));
    pthread_cleanup_push(clean, "xyz");
    deeper((int)(long)number);
    pthread_cleanup_pop(0);
    return NULL;
}
static void mode_exits(void)
{
    pthread_key_create(&key, tell_value);
    together(WORKERS, exit_early);
    printf("%ld\n", shared);
}

static pthread_mutex_t leaving = PTHREAD_MUTEX_INITIALIZER;
static void *after_main(void *unused)
{
    pthread_mutex_lock(&leaving);
    puts("still here");
    pthread_mutex_unlock(&leaving);
    return unused;
}
static void mode_main_exits(void)
{
    pthread_t thread;
    pthread_mutex_lock(&leaving);
    pthread_create(&thread, NULL, after_main, NULL);
    puts("main leaves");
    fflush(stdout);
    pthread_mutex_unlock(&leaving);
    pthread_exit(NULL);
}

static void *count_down(void *unused)
{
    pthread_mutex_lock(&lock);
    if (--shared == 0)
        pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void mode_detached(void)
{
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&how, 32768);
    shared = 20;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        if (pthread_create(&thread, i % 2 ? &how : NULL, count_down, NULL))
            exit(1);
        if (i % 2 == 0)
            pthread_detach(thread);
    }
    pthread_mutex_lock(&lock);
    while (shared)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    puts("all gone");
}

static void *wait_for_ever(void *how)
{
    pthread_cleanup_push(clean, "cancelled");
    pthread_mutex_lock(&lock);
    while (how)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    while (!how)
        sleep(1000);
    pthread_cleanup_pop(0);
    return NULL;
}
static void mode_cancel(void)
{
    for (long i = 0; i < 2; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, wait_for_ever, (void *)i);
        usleep(1000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        printf("%d %ld\n", result == PTHREAD_CANCELED, shared);
        pthread_mutex_trylock(&lock);
        pthread_mutex_unlock(&lock);
    }
}

static mtx_t plain;
static cnd_t told;
static once_flag c11_once = ONCE_FLAG_INIT;
static void c11_initialise(void) { mtx_init(&plain, mtx_plain); cnd_init(&told); }
static int c11_work(void *number)
{
    call_once(&c11_once, c11_initialise);
    mtx_lock(&plain);
    shared += *(int *)number;
    cnd_broadcast(&told);
    while (shared != 10)
        cnd_wait(&told, &plain);
    mtx_unlock(&plain);
    if (*(int *)number == 4)
        thrd_exit(44);
    return *(int *)number;
}
static void mode_c11(void)
{
    thrd_t threads[4];
    int numbers[4], sum = 0;
    for (int i = 0; i < 4; i++) {
        numbers[i] = i + 1;
        thrd_create(&threads[i], c11_work, &numbers[i]);
    }
    for (int i = 0; i < 4; i++) {
        int result;
        thrd_join(threads[i], &result);
        sum += result;
    }
    printf("%ld %d\n", shared, sum);
}

static _Thread_local int own = 7;
static void *use_own(void *number)
{
    for (int i = 0; i < 5000; i++)
        own += (int)(long)number;
    __atomic_fetch_add(&shared, own, __ATOMIC_RELAXED);
    return NULL;
}
static void mode_own(void) { together(WORKERS, use_own); printf("%ld %d\n", shared, own); }

/* ---- Processes and signals ---- */

static void *fork_and_wait(void *number)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&lock);
        shared += (long)number;
        pthread_mutex_unlock(&lock);
        _exit((int)(long)number + 1);
    }
    waitpid(child, &status, 0);
    __atomic_fetch_add(&shared, WEXITSTATUS(status), __ATOMIC_SEQ_CST);
    return NULL;
}
static void mode_fork(void) { together(WORKERS, fork_and_wait); printf("%ld\n", shared); }

static void on_signal(int number)
{
    flag = number;
    sem_post(&full);
}
static void *wait_for_signal(void *unused)
{
    while (sem_wait(&full) && errno == EINTR) { }
    return unused;
}
static void mode_signal(void)
{
    pthread_t thread;
    sem_init(&full, 0, 0);
    signal(SIGALRM, on_signal);
    pthread_create(&thread, NULL, wait_for_signal, NULL);
    ualarm(50000, 0);
    pthread_join(thread, NULL);
    printf("%d\n", flag == SIGALRM);
}

/* ---- Ends that are no ends ---- */

static void *crash(void *number)
{
    sched_yield();
    if (number)
        *(volatile int *)16 = 1;
    for (;;)
        sched_yield();
    return NULL;
}
static void mode_crash(void) { together(2, crash); }

static int endless(int n) { volatile char area[4096]; area[0] = (char)n; return endless(n + 1) + area[0]; }
static void *overflow(void *unused) { printf("%d\n", endless(0)); return unused; }
static void mode_overflow(void) { together(1, overflow); }

static void *leave(void *number)
{
    if (number)
        exit(5);
    for (;;) { }
    return NULL;
}
static void mode_exit(void) { together(2, leave); }

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static void *embrace(void *number)
{
    pthread_mutex_lock(number ? &lock : &other);
    usleep(1000);
    pthread_mutex_lock(number ? &other : &lock);
    return NULL;
}
static void mode_deadlock(void) { puts("waits"); fflush(stdout); together(2, embrace); }

/* ---- ---- */

#define MODE(name) {#name, mode_##name}
static const struct mode { const char *name; void (*run)(void); } modes[] = {
    MODE(mutex), MODE(race), MODE(greedy), MODE(rwlock), MODE(kinds), MODE(spin), MODE(queue), MODE(order), MODE(semaphore),
    MODE(barrier), MODE(once), MODE(flag), MODE(sleepers), MODE(timed), MODE(pipe), MODE(unknown_call), MODE(foreign),
    MODE(results), MODE(exits), MODE(main_exits),
    MODE(detached), MODE(cancel), MODE(c11), MODE(own), MODE(fork), MODE(signal), MODE(crash), MODE(overflow), MODE(exit),
    MODE(deadlock),
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name))
            modes[i].run();
    return 0;
}
