/* Which of the edits in a program is chosen: the environment says its number, which the program does not see. The
   linker calls __wrap_main, the fork server's main, in place of the program's (--wrap=main). */
#include <stdlib.h>
#include <string.h>

extern char **environ;
int __real_main(int argc, char **argv, char **envp);

int __whence_edit;

int __whence_main(int argc, char **argv, char **envp)
{
    static const char name[] = "WHENCE_EDIT=";
    char **kept = environ;
    for (char **variable = environ; variable && *variable; variable++) {
        if (!strncmp(*variable, name, sizeof name - 1))
            __whence_edit = atoi(*variable + sizeof name - 1);
        else
            *kept++ = *variable;
    }
    if (kept)
        *kept = NULL;
    (void)envp;
    return __real_main(argc, argv, environ);
}
