/* The main of a program whose own main was captured (and renamed): serve jobs, or run it once. */
#include "server.h"

int __whence_main(int argc, char **argv, char **envp);

/* Found in the executable's bytes by run/server.py: tells that the program holds a fork server. */
__attribute__((used)) const char whence_main_captured[] = "##WHENCE-FORK-SERVER-1##";

extern char **environ;

int main(int argc, char **argv)
{
    int control = whence_start();
    if (control >= 0)
        return whence_serve(control, __whence_main);
    return __whence_main(argc, argv, environ);
}
