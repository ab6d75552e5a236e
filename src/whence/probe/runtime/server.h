/* The start of an instrumented program: shared by server.c and main.c. */
#ifndef WHENCE_SERVER_H
#define WHENCE_SERVER_H

/* Exit status of a program that could not be started as it was asked to. */
enum { WHENCE_START_FAILED = 125 };

typedef int (*whence_entry)(int argc, char **argv, char **envp);

/* Takes Whence's settings out of the environment and starts what they ask for. Returns the control socket when the
   program is to be a server, else -1. Ends the program with a message when recording or counting cannot start. */
int whence_start(void);

/* Serves jobs from the socket until it is closed, each as a call of `entry` in a child process. Does not return. */
int whence_serve(int control, whence_entry entry);

/* Fills what lies below the stack pointer with what fresh memory is to hold, 0 by default. */
void whence_fill_stack(void);

#endif
