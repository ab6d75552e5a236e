/* Wrappers of netdb.h: names and addresses of hosts and services. */
#include "library/library.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

/* Each entry of a list is a block, and so is its address, which lies behind it: neither is a part of the other. */
LIBRARY(int, getaddrinfo, const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
    int before = errno;
    int result = getaddrinfo(host, service, hints, list);
    EFFECTS_ERRNO(getaddrinfo, before)
    {
        read_string(host);
        read_string(service);
        read_bytes(hints, hints ? sizeof *hints : 0);
        for (struct addrinfo *one = result ? NULL : *list; one; one = one->ai_next) {
            allocated(one, sizeof *one);
            allocated(one->ai_addr, one->ai_addrlen);
            write_bytes(one, sizeof *one);
            write_bytes(one->ai_addr, one->ai_addrlen);
            if (one->ai_canonname) {
                allocated(one->ai_canonname, strlen(one->ai_canonname) + 1);
                write_bytes(one->ai_canonname, strlen(one->ai_canonname) + 1);
            }
        }
        write_bytes(list, result ? 0 : sizeof *list);
    }
    return result;
}

LIBRARY(void, freeaddrinfo, struct addrinfo *list)
{
    EFFECTS(freeaddrinfo)
    {
        for (struct addrinfo *one = list; one; one = one->ai_next) {
            released(one->ai_canonname, one->ai_canonname ? strlen(one->ai_canonname) + 1 : 0);
            released(one->ai_addr, one->ai_addrlen);
            released(one, sizeof *one);
        }
    }
    freeaddrinfo(list);
}

LIBRARY(int, getnameinfo, const struct sockaddr *address, socklen_t size, char *host, socklen_t host_room, char *service,
        socklen_t service_room, int flags)
{
    int before = errno;
    int result = getnameinfo(address, size, host, host_room, service, service_room, flags);
    EFFECTS_ERRNO(getnameinfo, before)
    {
        read_bytes(address, size);
        write_bytes(host, result || !host || !host_room ? 0 : strlen(host) + 1);
        write_bytes(service, result || !service || !service_room ? 0 : strlen(service) + 1);
    }
    return result;
}

LIBRARY(char *, inet_ntoa, struct in_addr address)
{
    char *text = inet_ntoa(address);
    EFFECTS(inet_ntoa) { write_bytes(text, strlen(text) + 1); }
    return text;
}

LIBRARY(struct hostent *, gethostbyname, const char *name)
{
    int before = errno;
    struct hostent *found = gethostbyname(name);
    EFFECTS_ERRNO(gethostbyname, before)
    {
        read_string(name);
        write_bytes(found, found ? sizeof *found : 0);
    }
    return found;
}

LIBRARY(struct servent *, getservbyname, const char *name, const char *protocol)
{
    int before = errno;
    struct servent *found = getservbyname(name, protocol);
    EFFECTS_ERRNO(getservbyname, before)
    {
        read_string(name);
        read_string(protocol);
        write_bytes(found, found ? sizeof *found : 0);
    }
    return found;
}
