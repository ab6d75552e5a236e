/* System calls of the runtime's own. Where those of the program are intercepted (Linux' system call user dispatch), these are
   let through. x86-64. */
#define _GNU_SOURCE
#include "base/base.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

extern const char whence_call_start[], whence_call_end[];

__asm__(
    ".text\n"
    /* The only instructions of which system calls are let through. */
    ".globl whence_call_start\n"
    ".hidden whence_call_start\n"
    "whence_call_start:\n"
    ".globl whence_call\n"
    ".hidden whence_call\n"
    "whence_call:\n"
    "    mov %rdi, %rax\n    mov %rsi, %rdi\n    mov %rdx, %rsi\n    mov %rcx, %rdx\n    mov %r8, %r10\n    mov %r9, %r8\n"
    "    mov 8(%rsp), %r9\n"
    "    syscall\n"
    "    ret\n"
    ".globl whence_restorer\n"
    ".hidden whence_restorer\n"
    "whence_restorer:\n"
    "    mov $15, %eax\n"
    "    syscall\n"
    "    ud2\n"
    ".globl whence_call_end\n"
    ".hidden whence_call_end\n"
    "whence_call_end:\n"
    "    nop\n");

int whence_intercept_calls(void)
{
    long start = (long)whence_call_start, length = whence_call_end - whence_call_start;
    return (int)whence_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, start, length, 0, 0);
}

void whence_exit_now(int status)
{
    for (;;)
        whence_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}
