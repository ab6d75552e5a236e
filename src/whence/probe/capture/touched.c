/* The files that a program names: resolved as the system would, and copied before the call is made. */
#define _GNU_SOURCE
#include "touched.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"

enum { MOST_FILES = 4096, MOST_LINKS = 16 };

const struct path_call path_calls[] = {
    {SYS_open, 0, -1, 1, 0},
    {SYS_openat, 1, 0, 2, 0},
    {SYS_openat2, 1, 0, -1, 1},
    {SYS_creat, 0, -1, -1, 1},
    {SYS_stat, 0, -1, -1, 0},
    {SYS_lstat, 0, -1, -1, 0},
    {SYS_newfstatat, 1, 0, -1, 0},
    {SYS_statx, 1, 0, -1, 0},
    {SYS_access, 0, -1, -1, 0},
    {SYS_faccessat, 1, 0, -1, 0},
    {SYS_faccessat2, 1, 0, -1, 0},
    {SYS_readlink, 0, -1, -1, 0},
    {SYS_readlinkat, 1, 0, -1, 0},
    {SYS_chdir, 0, -1, -1, 0},
    {SYS_execve, 0, -1, -1, 0},
    {SYS_execveat, 1, 0, -1, 0},
    {SYS_truncate, 0, -1, -1, 1},
    {SYS_unlink, 0, -1, -1, 1},
    {SYS_unlinkat, 1, 0, -1, 1},
    {SYS_rmdir, 0, -1, -1, 1},
    {SYS_mkdir, 0, -1, -1, 1},
    {SYS_mkdirat, 1, 0, -1, 1},
    {SYS_chmod, 0, -1, -1, 1},
    {SYS_fchmodat, 1, 0, -1, 1},
    {SYS_utimensat, 1, 0, -1, 1},
    {SYS_rename, 0, -1, -1, 1},
    {SYS_rename, 1, -1, -1, 1},
    {SYS_renameat, 1, 0, -1, 1},
    {SYS_renameat, 3, 2, -1, 1},
    {SYS_renameat2, 1, 0, -1, 1},
    {SYS_renameat2, 3, 2, -1, 1},
    {SYS_link, 0, -1, -1, 0},
    {SYS_link, 1, -1, -1, 1},
    {SYS_linkat, 1, 0, -1, 0},
    {SYS_linkat, 3, 2, -1, 1},
    {SYS_symlink, 1, -1, -1, 1},
    {SYS_symlinkat, 2, 1, -1, 1},
    {-1, 0, 0, 0, 0},
};

static struct {
    char *path;
    int is_written, is_listed;
} touched[MOST_FILES];
static int count, kept;
static uint64_t bytes;
static FILE *about;

void begin_touching(int folder, FILE *file)
{
    kept = folder;
    about = file;
}

static void note(const char *key, int number, const char *path)
{
    fprintf(about, "%s %d %s", key, number, path);
    fputc(0, about);
}

int64_t copy_bytes(int from, int folder, const char *name, int64_t offset, uint64_t most)
{
    static char buffer[1 << 16];
    int to = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int64_t done = 0;
    ssize_t got;
    while (to >= 0 && (got = pread(from, buffer, sizeof buffer, offset + done)) > 0) {
        if (write(to, buffer, (size_t)got) != got || (uint64_t)(done += got) > most) {
            close(to);
            return -1;
        }
    }
    if (to < 0)
        return -1;
    close(to);
    return done;
}

static void copy_file(const char *key, int number, const char *path, const struct stat *is)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%d", key, number);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t most = settings.all - bytes < settings.most ? settings.all - bytes : settings.most;
    int64_t size = from < 0 || (uint64_t)is->st_size > most ? -1 : copy_bytes(from, kept, name, 0, most);
    if (from >= 0)
        close(from);
    if (size < 0) {
        note("large", number, path);
        return;
    }
    bytes += (uint64_t)size;
    struct timespec times[] = {is->st_atim, is->st_mtim};
    fchmodat(kept, name, is->st_mode & 07777, 0);
    utimensat(kept, name, times, 0);
    note(key, number, path);
}

static int is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

/* Whether it is the machine's own, equal for every run. */
static int is_of_system(const char *path)
{
    static const char *const folders[] = {"/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/opt", "/var"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (is_below(path, folders[i]))
            return 1;
    return !path[1];
}

static void touch(const char *path, int writes, int lists, int links);

/* A program that reads a folder gets to know of all that is in it. */
static void touch_entries(const char *path)
{
    char entry[PATH_MAX];
    DIR *folder = opendir(path);
    for (struct dirent *one; folder && (one = readdir(folder));)
        if (strcmp(one->d_name, ".") && strcmp(one->d_name, "..") &&
            snprintf(entry, sizeof entry, "%s/%s", path, one->d_name) < (int)sizeof entry)
            touch(entry, 0, 0, 0);
    if (folder)
        closedir(folder);
}

static void touch_link(int number, const char *path, int writes, int lists, int links)
{
    char target[PATH_MAX], next[2 * PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0 || links >= MOST_LINKS)
        return;
    target[length] = 0;
    fprintf(about, "link %d %s", number, path);
    fputc(0, about);
    fprintf(about, "target %s", target);
    fputc(0, about);
    const char *slash = strrchr(path, '/');
    snprintf(next, sizeof next, "%.*s/%s", *target == '/' ? 0 : (int)(slash - path), path, *target == '/' ? target + 1 : target);
    touch(next, writes, lists, links + 1);
}

static int number_of(const char *path)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(touched[i].path, path))
            return i;
    return -1;
}

/* Remembers a path and copies what is there. */
static void take(const char *path, int writes, int lists, int links)
{
    int number = number_of(path), is_new = number < 0;
    struct stat is;
    if (is_new && count == MOST_FILES) {
        note("large", MOST_FILES, path);
        return;
    }
    if (is_new) {
        number = count++;
        touched[number].path = strdup(path);
    }
    touched[number].is_written |= writes;
    int missing = lstat(path, &is);
    if (!missing && S_ISLNK(is.st_mode) && (is_new || lists))
        touch_link(number, path, writes, lists, links);
    if (is_new && missing)
        note("absent", number, path);
    else if (is_new && S_ISREG(is.st_mode))
        copy_file("file", number, path, &is);
    else if (is_new && S_ISDIR(is.st_mode))
        note("directory", number, path);
    else if (is_new && !S_ISLNK(is.st_mode))
        note("special", number, path);
    if (!missing && lists && S_ISDIR(is.st_mode) && !touched[number].is_listed) {
        touched[number].is_listed = 1;
        touch_entries(path);
    }
}

/* Folders on the way of a path with "..", which have to be there as well. */
static void touch_way(const char *path)
{
    char way[PATH_MAX], real[PATH_MAX];
    for (const char *at = strstr(path, "/../"); at; at = strstr(at + 1, "/../")) {
        snprintf(way, sizeof way, "%.*s", (int)(at - path), path);
        if (realpath(way, real) && is_below(real, (const char *)settings.work) && number_of(real) < 0)
            take(real, 0, 0, 0);
    }
}

/* A shared library, which the loader looks for; libtool's scripts and test runners name those of the build by folder. */
static int is_library(const char *path)
{
    const char *ending = strstr(path, ".so");
    return ending && (!ending[3] || ending[3] == '.');
}

static int is_file(const char *path)
{
    struct stat is;
    return !stat(path, &is) && S_ISREG(is.st_mode);
}

static void touch(const char *path, int writes, int lists, int links)
{
    char parent[PATH_MAX], real[PATH_MAX], full[PATH_MAX + NAME_MAX + 2];
    const char *slash = strrchr(path, '/');
    while (slash && slash > path && !slash[1]) { /* "folder/" */
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
        touch(parent, writes, lists, links);
        return;
    }
    const char *name = slash ? slash + 1 : path;
    int is_whole = !strcmp(name, ".") || !strcmp(name, "..");
    snprintf(parent, sizeof parent, "%.*s", is_whole ? PATH_MAX - 1 : (int)(slash == path ? 1 : slash - path), path);
    if (!realpath(parent, real))
        return; /* nor is what it would hold there */
    if (is_whole)
        snprintf(full, sizeof full, "%s", real);
    else
        snprintf(full, sizeof full, "%s/%s", strcmp(real, "/") ? real : "", name);
    touch_way(path);
    if (is_below(full, (const char *)settings.work))
        take(full, writes, lists, links);
    else if (!is_of_system(full) && !is_library(name) && strcmp(full, (const char *)settings.program) && is_file(full) && number_of(full) < 0) {
        struct stat is;
        if (count < MOST_FILES && !stat(full, &is)) { /* copied, since a program that compares files is asked for them */
            touched[count].path = strdup(full);
            copy_file("file", count++, full, &is);
        }
        note("outside", 0, full);
    }
}

/* The path that a call names, with the folder that it is relative to. */
static int path_of(const struct seccomp_notif *call, const struct path_call *how, char *path, size_t size)
{
    char name[PATH_MAX], place[64];
    ssize_t got = 0;
    uint64_t address = call->data.args[how->path];
    size_t page = 4096 - address % 4096; /* a text may end where nothing more is mapped */
    for (size_t part = page; got < (ssize_t)sizeof name - 1; part = 4096) {
        if (part > sizeof name - 1 - (size_t)got)
            part = sizeof name - 1 - (size_t)got;
        ssize_t more = read_remote((pid_t)call->pid, address + (uint64_t)got, name + got, part);
        if (more <= 0)
            return -1;
        got += more;
        if (memchr(name, 0, (size_t)got))
            break;
    }
    name[sizeof name - 1] = 0;
    if (!*name)
        return -1;
    if (*name == '/')
        return snprintf(path, size, "%s", name) < (int)size ? 0 : -1;
    int folder = how->folder < 0 ? AT_FDCWD : (int)call->data.args[how->folder];
    if (folder == AT_FDCWD)
        snprintf(place, sizeof place, "/proc/%d/cwd", (int)call->pid);
    else
        snprintf(place, sizeof place, "/proc/%d/fd/%d", (int)call->pid, folder);
    ssize_t length = readlink(place, path, size - 1);
    if (length < 0)
        return -1;
    return snprintf(path + length, size - (size_t)length, "/%s", name) < (int)(size - (size_t)length) ? 0 : -1;
}

void touch_files(const struct seccomp_notif *call)
{
    char path[2 * PATH_MAX];
    for (const struct path_call *how = path_calls; how->number >= 0; how++) {
        if (how->number != call->data.nr || path_of(call, how, path, sizeof path))
            continue;
        int flags = how->flags < 0 ? 0 : (int)call->data.args[how->flags];
        touch(path, how->writes || flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC), how->flags >= 0 && flags & O_DIRECTORY, 0);
    }
}

void keep_written(void)
{
    struct stat is;
    for (int number = 0; number < count; number++) {
        if (!touched[number].is_written)
            continue;
        if (lstat(touched[number].path, &is))
            note("removed", number, touched[number].path);
        else if (S_ISREG(is.st_mode))
            copy_file("written", number, touched[number].path, &is);
    }
}
