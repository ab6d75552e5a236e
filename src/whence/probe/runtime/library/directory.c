/* Wrappers of dirent.h. A directory's position is hidden state, as what stands in the file system is. */
#include "library/library.h"

#include <dirent.h>
#include <stddef.h>

LIBRARY(DIR *, opendir, const char *path)
{
    int before = errno;
    DIR *folder = opendir(path);
    EFFECTS_ERRNO(opendir, before)
    {
        read_string(path);
        state(STATE_READ, FILE_SYSTEM_STATE);
        state(STATE_WRITE, (uintptr_t)folder);
    }
    return folder;
}

LIBRARY(struct dirent *, readdir, DIR *folder)
{
    int before = errno;
    struct dirent *entry = readdir(folder);
    EFFECTS_ERRNO(readdir, before)
    {
        state(STATE_BOTH, (uintptr_t)folder);
        if (entry)
            write_bytes(entry, offsetof(struct dirent, d_name) + strlen(entry->d_name) + 1);
    }
    return entry;
}
LIBRARY_SAME(readdir64, readdir);

LIBRARY(int, closedir, DIR *folder)
{
    int before = errno;
    int result = closedir(folder);
    EFFECTS_ERRNO(closedir, before) { state(STATE_WRITE, (uintptr_t)folder); }
    return result;
}

LIBRARY(void, rewinddir, DIR *folder)
{
    rewinddir(folder);
    EFFECTS(rewinddir) { state(STATE_WRITE, (uintptr_t)folder); }
}
