/* The main of a program whose own main was captured (and renamed): serve jobs, or run it once. */
#include <string.h>

#include "record/trace.h"
#include "server/server.h"

int __whence_main(int argc, char **argv, char **envp);

/* Found in the executable's bytes by run/server.py: tells that the program holds a fork server. */
__attribute__((used)) const char whence_main_captured[] = "##WHENCE-FORK-SERVER-1##";

extern char **environ;

/* Before any constructor, which may choose for itself: a program under diagnosis starts as from a shell, whatever
   Whence was told to ignore (under nohup, or in the background of a script). */
static void default_signals(int argc, char **argv, char **variables)
{
    static const char served[] = "WHENCE_CONTROL=";
    while (*variables && strncmp(*variables, served, sizeof served - 1))
        variables++;
    if (*variables)
        whence_default_signals();
    (void)argc, (void)argv;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = default_signals;

#define DEEPEST (64ull << 20) /* bytes of stack below main where nothing else lies */

int main(int argc, char **argv)
{
    __asm__ volatile("" : : "r"(whence_main_captured)); /* what is used, linkers keep */
    int control = whence_start();
    if (control >= 0)
        return whence_serve(control, __whence_main);
    whence_note_given(argv, environ);
    whence_note_stack((char *)__builtin_frame_address(0) - DEEPEST, DEEPEST);
    return __whence_main(argc, argv, environ);
}
