/* How a recorded run ended: an exit status, or a signal with all that tells which memory a fault was about. */
#define _GNU_SOURCE
#include "record/trace.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define SIGNAL_STACK 65536

enum { CODE_BYTES = 16 }; /* of the instruction that faulted; the longest has 15 */

static void end_with(uint64_t kind, uint64_t code, uint64_t address)
{
    if (!whence_trace.header)
        return;
    whence_trace.header[END_KIND] = kind;
    whence_trace.header[END_CODE] = code;
    whence_trace.header[END_ADDRESS] = address;
    whence_trace.header[END_THREAD] = whence_thread;
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
        whence_trace.header[FAULT_REGISTERS + i] = (uint64_t)registers[order[i]];
    whence_trace.header[FAULT_TRAP] = (uint64_t)registers[REG_TRAPNO];
    whence_trace.header[FAULT_ERROR] = (uint64_t)registers[REG_ERR];
    peek(&whence_trace.header[FAULT_TOP], (uint64_t)registers[REG_RSP], sizeof *whence_trace.header);
    /* the next page may not be there */
    for (size_t length = CODE_BYTES; length && !whence_trace.header[FAULT_BYTES]; length /= 2)
        peek(&whence_trace.header[FAULT_BYTES], (uint64_t)registers[REG_RIP], length);
#else
    (void)context;
#endif
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int fault = info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
    end_with(END_SIGNAL, (uint64_t)number, fault ? (uint64_t)(uintptr_t)info->si_addr : 0);
    if (fault && whence_trace.header)
        note_fault(context);
    signal(number, SIG_DFL);
    if (!fault) /* that happens again by itself */
        raise(number);
}

static void on_exit_status(int status, void *unused)
{
    (void)unused;
    if (whence_trace.header && whence_trace.header[END_KIND] == 0)
        end_with(END_EXIT, (uint64_t)status & 255, 0);
}

/* Where the C library does not tell an exit handler the status, the header says 0. */
static void on_exit_without_status(void) { on_exit_status(0, NULL); }
extern int on_exit(void (*)(int, void *), void *) __attribute__((weak));

void whence_signal_stack(int wanted)
{
    static __thread stack_t stack;
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (wanted) {
        stack = (stack_t){.ss_size = SIGNAL_STACK};
        stack.ss_sp = mmap(SIGNALS_PLACE, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

void whence_note_endings(void)
{
    catch_signals();
    if (!on_exit || on_exit(on_exit_status, NULL))
        atexit(on_exit_without_status);
}
