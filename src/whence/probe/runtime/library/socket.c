/* Wrappers of sys/socket.h and arpa/inet.h: what goes out of and into sockets, and their addresses. */
#include "library/library.h"
#include "record/schedule.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

static size_t positive(ssize_t length) { return length > 0 ? (size_t)length : 0; }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* ---- Out ------------------------------------------------------------------------------------------------------ */

static void await(int descriptor, short events, int flags)
{
    if (whence_scheduling && !(flags & MSG_DONTWAIT))
        whence_await_descriptor(descriptor, events);
}

static void sent(int descriptor, const void *from, ssize_t length)
{
    if (length <= 0)
        return;
    whence_descriptor_out(descriptor, (size_t)length);
    piece(1, 0, (size_t)length);
    read_bytes(from, (size_t)length);
}

LIBRARY(ssize_t, send, int descriptor, const void *from, size_t size, int flags)
{
    int before = errno;
    await(descriptor, POLLOUT, flags);
    ssize_t length = send(descriptor, from, size, flags);
    EFFECTS_ERRNO(send, before) { sent(descriptor, from, length); }
    return length;
}

LIBRARY(ssize_t, sendto, int descriptor, const void *from, size_t size, int flags, const struct sockaddr *to, socklen_t room)
{
    int before = errno;
    await(descriptor, POLLOUT, flags);
    ssize_t length = sendto(descriptor, from, size, flags, to, room);
    EFFECTS_ERRNO(sendto, before)
    {
        read_bytes(to, to ? room : 0);
        sent(descriptor, from, length);
    }
    return length;
}

/* The parts of a message, of which `length` bytes went one way or the other. */
static void parts(const struct msghdr *message, size_t length, void each(const void *, size_t, size_t offset))
{
    read_bytes(message->msg_iov, message->msg_iovlen * sizeof *message->msg_iov);
    size_t offset = 0;
    for (size_t i = 0; i < message->msg_iovlen && offset < length; i++) {
        size_t part = least(message->msg_iov[i].iov_len, length - offset);
        each(message->msg_iov[i].iov_base, part, offset);
        offset += part;
    }
}

static void part_sent(const void *from, size_t length, size_t offset)
{
    piece(1, offset, length);
    read_bytes(from, length);
}

static void part_received(const void *to, size_t length, size_t offset)
{
    (void)offset;
    write_bytes(to, length);
}

LIBRARY(ssize_t, sendmsg, int descriptor, const struct msghdr *message, int flags)
{
    int before = errno;
    await(descriptor, POLLOUT, flags);
    ssize_t length = sendmsg(descriptor, message, flags);
    EFFECTS_ERRNO(sendmsg, before)
    {
        read_bytes(message, sizeof *message);
        read_bytes(message->msg_name, message->msg_name ? message->msg_namelen : 0);
        read_bytes(message->msg_control, message->msg_control ? message->msg_controllen : 0);
        if (length > 0)
            whence_descriptor_out(descriptor, (size_t)length);
        parts(message, positive(length), part_sent);
    }
    return length;
}

/* ---- In ------------------------------------------------------------------------------------------------------- */

/* An address that a call gave, of which `room` bytes had place. */
static void address_given(const void *address, const socklen_t *size, socklen_t room, int failed)
{
    if (!address || !size)
        return;
    read_bytes(size, sizeof *size);
    if (!failed) {
        write_bytes(address, least(*size, room));
        write_bytes(size, sizeof *size);
    }
}

static void received(int descriptor, ssize_t length, int flags)
{
    whence_descriptor_in(descriptor, flags & MSG_PEEK ? 0 : positive(length));
}

LIBRARY(ssize_t, recv, int descriptor, void *to, size_t size, int flags)
{
    int before = errno;
    await(descriptor, POLLIN, flags);
    ssize_t length = recv(descriptor, to, size, flags);
    EFFECTS_ERRNO(recv, before)
    {
        received(descriptor, length, flags);
        write_bytes(to, least(positive(length), size));
    }
    return length;
}

LIBRARY(ssize_t, recvfrom, int descriptor, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *from_size)
{
    int before = errno;
    socklen_t room = from && from_size ? *from_size : 0;
    await(descriptor, POLLIN, flags);
    ssize_t length = recvfrom(descriptor, to, size, flags, from, from_size);
    EFFECTS_ERRNO(recvfrom, before)
    {
        received(descriptor, length, flags);
        write_bytes(to, least(positive(length), size));
        address_given(from, from_size, room, length < 0);
    }
    return length;
}

LIBRARY(ssize_t, recvmsg, int descriptor, struct msghdr *message, int flags)
{
    int before = errno;
    const size_t room = message->msg_name ? message->msg_namelen : 0;
    await(descriptor, POLLIN, flags);
    ssize_t length = recvmsg(descriptor, message, flags);
    EFFECTS_ERRNO(recvmsg, before)
    {
        read_bytes(message, sizeof *message);
        received(descriptor, length, flags);
        parts(message, positive(length), part_received);
        if (length >= 0) {
            write_bytes(message->msg_name, least(room, message->msg_namelen));
            write_bytes(message->msg_control, message->msg_control ? message->msg_controllen : 0);
            write_bytes(&message->msg_namelen, sizeof message->msg_namelen);
            write_bytes(&message->msg_controllen, sizeof message->msg_controllen);
            write_bytes(&message->msg_flags, sizeof message->msg_flags);
        }
    }
    return length;
}

/* ---- Sockets -------------------------------------------------------------------------------------------------- */

LIBRARY(int, socket, int domain, int type, int protocol)
{
    int before = errno;
    int descriptor = socket(domain, type, protocol);
    EFFECTS_ERRNO(socket, before) { whence_descriptor_opened(descriptor); }
    return descriptor;
}

LIBRARY(int, socketpair, int domain, int type, int protocol, int ends[2])
{
    int before = errno;
    int result = socketpair(domain, type, protocol, ends);
    EFFECTS_ERRNO(socketpair, before)
    {
        if (!result) {
            write_bytes(ends, 2 * sizeof *ends);
            whence_descriptor_opened(ends[0]);
            whence_descriptor_opened(ends[1]);
        }
    }
    return result;
}

#define WITH_ADDRESS(name) \
    LIBRARY(int, name, int descriptor, const struct sockaddr *address, socklen_t size) \
    { \
        int before = errno; \
        int result = name(descriptor, address, size); \
        EFFECTS_ERRNO(name, before) { read_bytes(address, size); } \
        return result; \
    }

WITH_ADDRESS(bind)
WITH_ADDRESS(connect)

#define GIVES_ADDRESS(name) \
    LIBRARY(int, name, int descriptor, struct sockaddr *address, socklen_t *size) \
    { \
        int before = errno; \
        socklen_t room = size ? *size : 0; \
        int result = name(descriptor, address, size); \
        EFFECTS_ERRNO(name, before) { address_given(address, size, room, result < 0); } \
        return result; \
    }

GIVES_ADDRESS(getsockname)
GIVES_ADDRESS(getpeername)

static int accepted(int descriptor, struct sockaddr *address, socklen_t *size, int flags)
{
    await(descriptor, POLLIN, 0);
    return flags ? accept4(descriptor, address, size, flags) : accept(descriptor, address, size);
}

#define ACCEPT(name, flags, ...) \
    LIBRARY(int, name, __VA_ARGS__) \
    { \
        int before = errno; \
        socklen_t room = address && size ? *size : 0; \
        int made = accepted(descriptor, address, size, flags); \
        EFFECTS_ERRNO(name, before) \
        { \
            whence_descriptor_opened(made); \
            address_given(address, size, room, made < 0); \
        } \
        return made; \
    }

ACCEPT(accept, 0, int descriptor, struct sockaddr *address, socklen_t *size)
ACCEPT(accept4, flags, int descriptor, struct sockaddr *address, socklen_t *size, int flags)

LIBRARY(int, setsockopt, int descriptor, int level, int option, const void *value, socklen_t size)
{
    int before = errno;
    int result = setsockopt(descriptor, level, option, value, size);
    EFFECTS_ERRNO(setsockopt, before) { read_bytes(value, value ? size : 0); }
    return result;
}

LIBRARY(int, getsockopt, int descriptor, int level, int option, void *value, socklen_t *size)
{
    int before = errno;
    socklen_t room = size ? *size : 0;
    int result = getsockopt(descriptor, level, option, value, size);
    EFFECTS_ERRNO(getsockopt, before) { address_given(value, size, room, result); }
    return result;
}

/* ---- Addresses as text ---------------------------------------------------------------------------------------- */

static size_t bytes_of(int family) { return family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr); }

LIBRARY(int, inet_pton, int family, const char *text, void *to)
{
    int before = errno;
    int result = inet_pton(family, text, to);
    EFFECTS_ERRNO(inet_pton, before)
    {
        read_string(text);
        write_bytes(to, result == 1 ? bytes_of(family) : 0);
    }
    return result;
}

LIBRARY(const char *, inet_ntop, int family, const void *from, char *to, socklen_t size)
{
    int before = errno;
    const char *result = inet_ntop(family, from, to, size);
    EFFECTS_ERRNO(inet_ntop, before)
    {
        read_bytes(from, bytes_of(family));
        write_bytes(to, result ? strlen(to) + 1 : 0);
    }
    return result;
}

LIBRARY(int, inet_aton, const char *text, struct in_addr *to)
{
    int result = inet_aton(text, to);
    EFFECTS(inet_aton)
    {
        read_string(text);
        write_bytes(to, result ? sizeof *to : 0);
    }
    return result;
}

LIBRARY(in_addr_t, inet_addr, const char *text)
{
    in_addr_t result = inet_addr(text);
    EFFECTS(inet_addr) { read_string(text); }
    return result;
}
