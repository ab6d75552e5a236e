/* The start of an instrumented program (start.c), and its fork server (server.c). */
#ifndef WHENCE_SERVER_H
#define WHENCE_SERVER_H

typedef int (*whence_entry)(int argc, char **argv, char **envp);

/* Takes Whence's settings out of the environment and starts what they ask for. Returns the control socket when the
   program is to be a server, else -1. Ends the program with a message when recording or counting cannot start. */
int whence_start(void);

/* Serves jobs from the socket until it is closed, each as a call of `entry` in a child process. Does not return. */
int whence_serve(int control, whence_entry entry);

/* A program under diagnosis starts as from a shell, whatever Whence was told to ignore (under nohup, or in the background of
   a script). */
void whence_default_signals(void);

/* Ends the program: it cannot do `what` to `path`, as errno says. */
void whence_stop(const char *what, const char *path);

#endif
