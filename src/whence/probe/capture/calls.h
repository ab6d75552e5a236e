/* The system calls that name files. */
#pragma once

struct path_call {
    int number;
    int path;   /* which argument is the path */
    int folder; /* which one the folder that it is relative to; -1: the process' own */
    int flags;  /* which one says how a file is opened; -1: none */
    int writes; /* whether it changes what it names */
};

/* Ended by one of number -1. A call that names two files stands here twice. */
extern const struct path_call path_calls[];
