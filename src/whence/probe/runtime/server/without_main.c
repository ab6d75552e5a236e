/* In the place of main.c, in a program whose main was not captured: it has no server, and starts before its other
   constructors. */
#include "server/server.h"

__attribute__((constructor(101))) static void start(void) { whence_start(); }
