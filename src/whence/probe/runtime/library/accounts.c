/* Wrappers of pwd.h and grp.h: users and groups. What the first four give belongs to the library. */
#include "library/library.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#define LOOKED_UP(type, name, key, read) \
    LIBRARY(struct type *, name, key) \
    { \
        int before = errno; \
        struct type *found = name(by); \
        EFFECTS_ERRNO(name, before) \
        { \
            read; \
            state(STATE_READ, FILE_SYSTEM_STATE); \
            write_bytes(found, found ? sizeof *found : 0); \
        } \
        return found; \
    }

LOOKED_UP(passwd, getpwnam, const char *by, read_string(by))
LOOKED_UP(passwd, getpwuid, uid_t by, )
LOOKED_UP(group, getgrnam, const char *by, read_string(by))
LOOKED_UP(group, getgrgid, gid_t by, )

static void write_string(const char *text) { write_bytes(text, text ? strlen(text) + 1 : 0); }

static void user_found(const struct passwd *to, struct passwd **result)
{
    state(STATE_READ, FILE_SYSTEM_STATE);
    write_bytes(result, sizeof *result);
    if (!*result)
        return;
    write_bytes(to, sizeof *to);
    const char *const texts[] = {to->pw_name, to->pw_passwd, to->pw_gecos, to->pw_dir, to->pw_shell};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        write_string(texts[i]);
}

LIBRARY(int, getpwnam_r, const char *name, struct passwd *to, char *room, size_t size, struct passwd **result)
{
    int before = errno;
    int error = getpwnam_r(name, to, room, size, result);
    EFFECTS_ERRNO(getpwnam_r, before)
    {
        read_string(name);
        user_found(to, result);
    }
    return error;
}

LIBRARY(int, getpwuid_r, uid_t user, struct passwd *to, char *room, size_t size, struct passwd **result)
{
    int before = errno;
    int error = getpwuid_r(user, to, room, size, result);
    EFFECTS_ERRNO(getpwuid_r, before) { user_found(to, result); }
    return error;
}

LIBRARY(int, getgroups, int size, gid_t *to)
{
    int before = errno;
    int count = getgroups(size, to);
    EFFECTS_ERRNO(getgroups, before) { write_bytes(to, size > 0 && count > 0 ? (size_t)count * sizeof *to : 0); }
    return count;
}
