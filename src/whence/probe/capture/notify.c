/* The filter that tells of calls, and what passes between the two processes. */
#define _GNU_SOURCE
#include "notify.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "calls.h"

enum { MOST_INSTRUCTIONS = 128 };

static struct sock_filter filter[MOST_INSTRUCTIONS];
static unsigned short length;

static void add(uint16_t code, uint32_t value, uint8_t yes, uint8_t no)
{
    filter[length++] = (struct sock_filter){code, yes, no, value};
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void tell(void)
{
    add(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF, 0, 0);
}

static void allow(void)
{
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* Calls of number `call` are told of when their first argument lies from `first` to `last`. */
static void tell_of_stream(uint32_t call, uint32_t first, uint32_t last)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 5);
    load(offsetof(struct seccomp_data, args));
    add(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2);
    add(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0);
    tell();
    allow();
}

static void make_filter(int has_pipe)
{
    load(offsetof(struct seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    allow();
    load(offsetof(struct seccomp_data, nr));
    tell_of_stream(SYS_write, 1, 2);
    tell_of_stream(SYS_writev, 1, 2);
    if (has_pipe)
        tell_of_stream(SYS_read, 0, 0);
    for (const struct path_call *call = path_calls; call->number >= 0; call++) {
        add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->number, 0, 1);
        tell();
    }
    allow();
}

int listen_to_calls(int has_pipe)
{
    make_filter(has_pipe);
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

void go_on(int listener, uint64_t id)
{
    struct seccomp_notif_resp reply = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

void answer(int listener, uint64_t id, int64_t result, int error)
{
    struct seccomp_notif_resp reply = {.id = id, .val = result, .error = -error};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

ssize_t read_remote(pid_t pid, uint64_t address, void *buffer, size_t size)
{
    struct iovec here = {buffer, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_readv(pid, &here, 1, &there, 1, 0);
}

ssize_t write_remote(pid_t pid, uint64_t address, const void *buffer, size_t size)
{
    struct iovec here = {(void *)(uintptr_t)buffer, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_writev(pid, &here, 1, &there, 1, 0);
}

void send_descriptor(int channel, int descriptor)
{
    char byte = descriptor < 0 && errno == EBUSY;
    struct iovec data = {&byte, 1};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.room;
        control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    }
    sendmsg(channel, &message, MSG_NOSIGNAL);
}

int receive_descriptor(int channel)
{
    char byte;
    struct iovec data = {&byte, 1};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    ssize_t got;
    while ((got = recvmsg(channel, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    struct cmsghdr *first = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    int descriptor = got > 0 && byte ? LISTENED_TO : NOT_TOLD;
    if (first && first->cmsg_type == SCM_RIGHTS)
        memcpy(&descriptor, CMSG_DATA(first), sizeof descriptor);
    return descriptor;
}
