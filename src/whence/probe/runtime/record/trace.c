/* The recorder: hands out chunks of the trace file, notes how the run ended, and takes the effect records.

   The instrumented code reserves words by moving a cursor (see `reserve` in probe/record.py) and calls whence_refill
   when a chunk is full. Threads run one at a time (threads.c) and write into the same chunk; a record tells where another
   one goes on. Only two chunks are mapped at a time, at places that are taken at the start: so a long trace does not count
   against the subject's address space, and can go on when that is used up. The file is a shared mapping and survives
   whatever ends the process. A process that does not record writes to a scratch chunk over and over. */
#define _GNU_SOURCE
#include "record/schedule.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define VERSION 2
#define CHUNK_UNITS 131072ull
#define CHUNK_BYTES (CHUNK_UNITS * 4)
#define HEADER_BYTES 4096
#define CHUNK_HEADER_UNITS 8
#define EFFECT_UNITS 8192
#define SIGNAL_STACK 65536
#define FOLLOWED 128ull /* chunks; a forked child whose parent has written more is not recorded */
#define KIND_EFFECT (1u << 30)
#define KIND_THREAD (2u << 30)
#define KIND_START (3u << 30)
#define TRACE_DESCRIPTOR 987 /* high, so that the subject's own descriptors keep their numbers */

enum { FLAG_LIMIT = 1, FLAG_RING = 2, FLAG_CHILD = 4, FLAG_THREADS = 8, FLAG_FULL = 16, FLAG_FORKED = 32 };
enum { MAGIC, FORMAT, CHUNKS, LIMIT, FLAGS, END_KIND, END_CODE, END_ADDRESS, END_THREAD, FINGERPRINT, THREADS, USED,
       FAULT_TRAP, FAULT_ERROR, FAULT_TOP, FAULT_BYTES, FAULT_REGISTERS = FAULT_BYTES + 2 };
enum { CODE_BYTES = 16 }; /* of the instruction that faulted; the longest has 15 */
enum { NAMES = 2048 };    /* byte of the header from which on the executable and the arguments stand, where asked for */
enum { END_EXIT = 1, END_SIGNAL = 2 };

extern const uint64_t __whence_fingerprint __attribute__((weak));

/* The two variables that instrumented code uses. */
__thread uint32_t *__whence_cursor __attribute__((tls_model("initial-exec")));
__thread uint32_t *__whence_end __attribute__((tls_model("initial-exec")));

static char *windows;               /* two places for chunks in turn: a signal may come while a segment is being written */
static uint32_t *chunk, *chunk_end; /* a zero unit always ends a chunk */
static unsigned writer;              /* the thread whose records the chunk holds at its end */
static _Atomic uint64_t *header; /* the mapped page; null when nothing is recorded */
static int descriptor = -1;
static char file_path[4096];
static struct stat file;
static _Atomic uint64_t sequence;
static uint32_t scratch[CHUNK_UNITS];
static uint64_t used_before; /* chunks that an earlier run left in the file: they are cleared when taken */
static int ends_at_limit;
static int is_in_folder;     /* the traces of a command's processes: those of forked ones, too */

int whence_recording(void) { return header != NULL; }

static uint32_t *use_scratch(uint64_t units)
{
    __whence_end = scratch + CHUNK_UNITS;
    __whence_cursor = scratch + units;
    return scratch;
}

static void stop_recording(uint64_t flag)
{
    if (header)
        atomic_fetch_or(&header[FLAGS], flag);
    header = NULL;
    if (ends_at_limit && flag == FLAG_LIMIT)
        kill(getpid(), SIGKILL);
}

static void close_chunk(void)
{
    if (chunk && __whence_cursor)
        ((uint64_t *)chunk)[2] = (uint64_t)(__whence_cursor - chunk);
    chunk = NULL;
}

static int open_file(int create)
{
    int opened = open(file_path, O_RDWR | create | O_CLOEXEC, 0600);
    descriptor = fcntl(opened, F_DUPFD_CLOEXEC, TRACE_DESCRIPTOR);
    if (descriptor < 0)
        descriptor = opened;
    else
        close(opened);
    return descriptor;
}

/* A program that closes all descriptors closes this one too, and may open its own with that number. */
static int file_is_open(void)
{
    struct stat found;
    if (!fstat(descriptor, &found) && found.st_ino == file.st_ino && found.st_dev == file.st_dev)
        return 1;
    return open_file(0) >= 0;
}

/* Maps the next chunk of the file, or null when the limit is reached or no room is left. */
static uint32_t *next_chunk(void)
{
    uint64_t number = atomic_fetch_add(&sequence, 1);
    uint64_t place = number, limit = header[LIMIT];
    if (number >= limit) {
        if (!(header[FLAGS] & FLAG_RING)) {
            stop_recording(FLAG_LIMIT);
            return NULL;
        }
        place = number % limit;
    }
    off_t offset = HEADER_BYTES + (off_t)(place * CHUNK_BYTES);
    if (!file_is_open() || (number < limit && posix_fallocate(descriptor, offset, CHUNK_BYTES) != 0)) {
        stop_recording(FLAG_FULL);
        return NULL;
    }
    uint64_t *mapped = (uint64_t *)(windows + number % 2 * CHUNK_BYTES);
    int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
    if (mmap(mapped, CHUNK_BYTES, PROT_READ | PROT_WRITE, flags, descriptor, offset) == MAP_FAILED) {
        stop_recording(FLAG_FULL);
        return NULL;
    }
    if (number >= limit || place < used_before) /* a ring takes the oldest chunk again */
        memset(mapped, 0, CHUNK_BYTES);
    mapped[0] = number + 1;
    mapped[1] = writer = whence_thread;
    atomic_store(&header[CHUNKS], number + 1);
    return (uint32_t *)mapped;
}

/* Makes the cursor point to where `units` more and a change of thread have room; returns 0 where there is none. */
static int make_room(uint64_t units)
{
    if (chunk && __whence_cursor && __whence_cursor + units + 1 <= chunk_end)
        return 1;
    close_chunk();
    if (header)
        chunk = next_chunk();
    if (!chunk)
        return 0;
    chunk_end = chunk + CHUNK_UNITS - 1;
    __whence_cursor = chunk + CHUNK_HEADER_UNITS;
    return 1;
}

/* Moves the cursor by `units`, in another chunk where this one has no room for them. */
static uint32_t *take_room(uint64_t units)
{
    if (!make_room(units)) {
        if (units > CHUNK_UNITS)
            abort();
        return use_scratch(units);
    }
    if (writer != whence_thread)
        *__whence_cursor++ = KIND_THREAD | (writer = whence_thread);
    uint32_t *place = __whence_cursor;
    __whence_cursor = place + units;
    return place;
}

/* Called by instrumented code when its slice cannot take `bytes` more: returns where they go. */
uint32_t *whence_refill(uint64_t bytes)
{
    int saved = errno;
    if (header || whence_scheduling)
        whence_end_slice();
    uint32_t *place = take_room(bytes / sizeof *place);
    if (chunk)
        __whence_end = whence_slice(__whence_cursor, chunk_end);
    errno = saved;
    return place;
}

/* Reserves without giving others a turn: the next block does that. */
static uint32_t *reserve(uint64_t units)
{
    int saved = errno;
    uint32_t *place = __whence_cursor;
    if (place && place + units <= __whence_end) {
        __whence_cursor = place + units;
        return place;
    }
    place = take_room(units);
    if (chunk)
        __whence_end = whence_scheduling ? __whence_cursor : chunk_end;
    errno = saved;
    return place;
}

void whence_note_start(unsigned thread)
{
    *reserve(1) = KIND_START | thread;
}

void whence_note_threads(unsigned count)
{
    if (!header)
        return;
    atomic_fetch_or(&header[FLAGS], FLAG_THREADS);
    header[THREADS] = count;
}

/* How the run ended. */

static void end_with(uint64_t kind, uint64_t code, uint64_t address)
{
    if (!header)
        return;
    header[END_KIND] = kind;
    header[END_CODE] = code;
    header[END_ADDRESS] = address;
    header[END_THREAD] = whence_thread;
}

/* Copies memory of this process that may not be there. */
static void peek(_Atomic uint64_t *target, uint64_t address, size_t length)
{
    struct iovec into = {(void *)target, length}, from = {(void *)(uintptr_t)address, length};
    process_vm_readv(getpid(), &into, 1, &from, 1, 0);
}

/* What tells which memory a fault was about: the kernel gives no address where one is not canonical. */
static void note_fault(const ucontext_t *context)
{
#ifdef __x86_64__
    static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8,
                                REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    const greg_t *registers = context->uc_mcontext.gregs;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        header[FAULT_REGISTERS + i] = (uint64_t)registers[order[i]];
    header[FAULT_TRAP] = (uint64_t)registers[REG_TRAPNO];
    header[FAULT_ERROR] = (uint64_t)registers[REG_ERR];
    peek(&header[FAULT_TOP], (uint64_t)registers[REG_RSP], sizeof *header);
    for (size_t length = CODE_BYTES; length && !header[FAULT_BYTES]; length /= 2) /* the next page may not be there */
        peek(&header[FAULT_BYTES], (uint64_t)registers[REG_RIP], length);
#else
    (void)context;
#endif
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int fault = info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
    end_with(END_SIGNAL, (uint64_t)number, fault ? (uint64_t)(uintptr_t)info->si_addr : 0);
    if (fault && header)
        note_fault(context);
    signal(number, SIG_DFL);
    if (!fault) /* that happens again by itself */
        raise(number);
}

static void on_exit_status(int status, void *unused)
{
    (void)unused;
    if (header && header[END_KIND] == 0)
        end_with(END_EXIT, (uint64_t)status & 255, 0);
}

/* Where the C library does not tell an exit handler the status, the header says 0. */
static void on_exit_without_status(void) { on_exit_status(0, NULL); }
extern int on_exit(void (*)(int, void *), void *) __attribute__((weak));

/* A stack of its own for the handler, since the thread's may have overflown. */
void whence_signal_stack(int wanted)
{
    static __thread stack_t stack;
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (wanted) {
        stack = (stack_t){.ss_size = SIGNAL_STACK};
        stack.ss_sp = mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL))
            stack.ss_size = 0;
    } else if (stack.ss_size && !sigaltstack(&none, NULL)) {
        munmap(stack.ss_sp, stack.ss_size);
        stack.ss_size = 0;
    }
}

static void catch_signals(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGABRT, SIGSYS,  SIGTRAP,   SIGXCPU, SIGXFSZ,
                                SIGHUP,  SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGVTALRM, SIGUSR1, SIGUSR2};
    whence_signal_stack(1);
    struct sigaction old, action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (!sigaction(fatal[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(fatal[i], &action, NULL);
}

/* ---- Forked processes ----------------------------------------------------------------------------------------- */

/* A child's trace is a copy of its parent's, which goes on from there. A ring may be written over meanwhile. */
static int can_follow(void)
{
    return header && is_in_folder && !whence_scheduling && sequence <= FOLLOWED && !(header[FLAGS] & FLAG_RING);
}

static void on_fork(void)
{
    if (header && !can_follow())
        atomic_fetch_or(&header[FLAGS], FLAG_CHILD);
}

static int copy_bytes(int from, off_t offset, size_t length)
{
    if (lseek(descriptor, offset, SEEK_SET) != offset)
        return 0;
    while (length) {
        ssize_t done = sendfile(descriptor, from, &offset, length);
        if (done <= 0)
            return 0;
        length -= (size_t)done;
    }
    return 1;
}

static int map_file(void *place, off_t offset, size_t length)
{
    int flags = MAP_SHARED | MAP_FIXED;
    return mmap(place, length, PROT_READ | PROT_WRITE, flags, descriptor, offset) != MAP_FAILED;
}

/* Names the file after this process; the end of the name is its number. */
static void name_own_file(void)
{
    char *number = strrchr(file_path, '/') + 1;
    snprintf(number, sizeof file_path - (size_t)(number - file_path), "%ld", (long)getpid());
}

/* What the parent writes after the fork stands behind the cursor of its last chunk, and in further chunks. */
static int copy_trace(void)
{
    int parent = descriptor;
    uint64_t chunks = sequence, last = chunks ? chunks - 1 : 0;
    size_t length = HEADER_BYTES + chunks * CHUNK_BYTES;
    name_own_file();
    if (open_file(O_CREAT) < 0 || ftruncate(descriptor, (off_t)(HEADER_BYTES + header[LIMIT] * CHUNK_BYTES)) ||
        !copy_bytes(parent, 0, length) || fstat(descriptor, &file))
        return 0;
    if (!map_file((void *)header, 0, HEADER_BYTES) ||
        (chunks && !map_file(windows + last % 2 * CHUNK_BYTES, (off_t)(HEADER_BYTES + last * CHUNK_BYTES), CHUNK_BYTES)))
        return 0;
    close(parent);
    if (chunk && __whence_cursor) {
        ((uint64_t *)chunk)[2] = 0;
        memset(__whence_cursor, 0, (size_t)((char *)(chunk + CHUNK_UNITS) - (char *)__whence_cursor));
    }
    header[CHUNKS] = chunks;
    header[END_KIND] = 0;
    atomic_fetch_or(&header[FLAGS], FLAG_FORKED);
    return 1;
}

/* Without a file of its own a child must not write: it shares the mapping with its parent. */
static void on_fork_in_child(void)
{
    int saved = errno;
    if (header && !(can_follow() && copy_trace())) {
        header = NULL;
        chunk = NULL;
        use_scratch(0);
    }
    errno = saved;
}

/* What tells one of a command's processes from the others: its executable, then its arguments, each ended by a NUL. */
static void note_names(void)
{
    char *names = (char *)header + NAMES;
    ssize_t length = readlink("/proc/self/exe", names, (HEADER_BYTES - NAMES) / 2);
    int opened = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    names += length > 0 ? length + 1 : 1;
    if (opened >= 0 && read(opened, names, (size_t)((char *)header + HEADER_BYTES - 1 - names)) < 0)
        *names = 0;
    close(opened);
}

int whence_record_in_folder(const char *folder, uint64_t limit, enum whence_keep keep)
{
    char path[sizeof file_path];
    snprintf(path, sizeof path, "%s%ld", folder, (long)getpid());
    if (whence_record_start(path, limit, keep))
        return -1;
    is_in_folder = 1;
    note_names();
    return 0;
}

/* Keeps the path; returns 0 where it is too long. */
static int absolute_path(const char *path)
{
    char folder[2048] = "";
    if (*path != '/' && !getcwd(folder, sizeof folder))
        return 0;
    errno = ENAMETOOLONG;
    return snprintf(file_path, sizeof file_path, "%s%s%s", folder, *folder ? "/" : "", path) < (int)sizeof file_path;
}

int whence_record_start(const char *path, uint64_t limit, enum whence_keep keep)
{
    if (!absolute_path(path) || open_file(O_CREAT) < 0)
        return -1;
    uint64_t chunks = limit / CHUNK_BYTES ? limit / CHUNK_BYTES : 1;
    /* The whole size at once: later growth would count against the subject's own limit on file sizes. */
    if (ftruncate(descriptor, (off_t)(HEADER_BYTES + chunks * CHUNK_BYTES)) != 0)
        return -1;
    void *page = mmap(NULL, HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    windows = mmap(NULL, 2 * CHUNK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (page == MAP_FAILED || windows == MAP_FAILED || fstat(descriptor, &file))
        return -1;
    _Atomic uint64_t *words = page;
    /* A file that is recorded into again keeps its pages, which are far cheaper to take than fresh ones. */
    used_before = words[USED] < words[CHUNKS] ? words[CHUNKS] : words[USED];
    used_before = used_before < chunks ? used_before : chunks;
    memset(page, 0, HEADER_BYTES);
    words[USED] = used_before;
    memcpy(page, "WHNCTRC1", 8);
    words[FORMAT] = VERSION | CHUNK_UNITS << 32;
    words[LIMIT] = chunks;
    words[FLAGS] = keep == WHENCE_KEEP_LAST ? FLAG_RING : 0;
    ends_at_limit = keep == WHENCE_END_AT_LIMIT;
    words[FINGERPRINT] = &__whence_fingerprint ? __whence_fingerprint : 0;
    sequence = 0;
    header = words;
    chunk = NULL;
    writer = 0;
    whence_threads_start();
    catch_signals();
    if (!on_exit || on_exit(on_exit_status, NULL))
        atexit(on_exit_without_status);
    pthread_atfork(on_fork, NULL, on_fork_in_child);
    __whence_cursor = __whence_end = NULL; /* the first reservation takes the first chunk */
    return 0;
}

/* Effect records. */

/* One for all threads: a record is collected by the thread whose turn it is, and a thread's stack may be small. */
static uint32_t effect[EFFECT_UNITS];
static unsigned effect_length;

void whence_effect_begin(uint32_t function)
{
    whence_hold_baton();
    effect[1] = function;
    effect_length = 2;
}

static void append(uint64_t word)
{
    memcpy(effect + effect_length, &word, sizeof word);
    effect_length += 2;
}

void whence_effect(enum whence_operation operation, unsigned a, int operands, uint64_t x, uint64_t y, uint64_t z)
{
    if (effect_length + 8 > EFFECT_UNITS) { /* one call, several records: the rest goes into another one */
        whence_effect_end();
        effect_length = 2;
    }
    const uint64_t words[3] = {x, y, z};
    append((uint64_t)operation | (uint64_t)a << 8);
    for (int i = 0; i < operands; i++)
        append(words[i]);
}

void whence_effect_end(void)
{
    if (!whence_recording())
        return;
    effect[0] = KIND_EFFECT | effect_length;
    uint32_t *place = reserve(effect_length);
    memcpy(place, effect, sizeof *place * effect_length);
}
