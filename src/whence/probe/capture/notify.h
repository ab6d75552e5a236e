/* Calls of another process that the system tells of before it makes them. */
#pragma once
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Lets the system tell of this process' calls, and those of all that it starts; gives the descriptor to listen at, or -1.
   With `has_pipe` reads of standard input are among them. */
int listen_to_calls(int has_pipe);

/* Lets a call be made; or gives its result (or error number) in its place. */
void go_on(int listener, uint64_t id);
void answer(int listener, uint64_t id, int64_t result, int error);

ssize_t read_remote(pid_t pid, uint64_t address, void *buffer, size_t size);
ssize_t write_remote(pid_t pid, uint64_t address, const void *buffer, size_t size);

enum { NOT_TOLD = -1, LISTENED_TO = -2 };

/* What `listen_to_calls` gave on its way to another process: a descriptor, or NOT_TOLD; LISTENED_TO where the calls are told
   of already, since a program that is listened to has started this one. */
void send_descriptor(int channel, int descriptor);
int receive_descriptor(int channel);
