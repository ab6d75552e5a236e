/* A directory is closed at its first entry that counts, and read on. */
#include <dirent.h>
#include <stdio.h>

int main(void)
{
    DIR *all = opendir("/proc/self");
    if (!all)
        return 2;
    int entries = 0;
    while (entries < 2 && readdir(all)) { //! use-after-free
        entries++;
#ifndef RIGHT
        if (entries == 1)
            closedir(all);
#endif
    }
#ifdef RIGHT
    closedir(all);
#endif
    printf("%s\n", entries ? "some" : "none");
    return 0;
}
