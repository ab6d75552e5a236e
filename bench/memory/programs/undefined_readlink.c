/* readlink puts no end behind the text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    char *path = malloc(64);
    if (!path || symlink("somewhere", "link") < 0)
        return 1;
    ssize_t n = readlink("link", path, 63);
    unlink("link");
    if (n < 0)
        return 1;
#ifdef RIGHT
    path[n] = 0;
#endif
    if (strchr(path, '!')) //! uninitialised
        puts("odd");
    puts("end");
    free(path);
    return 0;
}
