//// folder_removed
static long folder_removed(long n) { char here_now[4096]; if (getcwd(here_now, sizeof here_now) && strlen(here_now) > 1) { int s = system("rm -rf -- \"$PWD\" 2>/dev/null"); n += s; } exit(70); }
//// folder_closed
static long folder_closed(long n) { fclose(fopen("inside", "w")); chmod(".", 0); exit(71 + (n == LONG_MIN)); }
//// folder_renamed
static long folder_renamed(long n) { char w[4096], other[4200]; if (getcwd(w, sizeof w)) { snprintf(other, sizeof other, "%s.moved", w); n += rename(w, other); } exit(72); }
//// folder_replaced
static long folder_replaced(long n) { char w[4096]; if (getcwd(w, sizeof w) && rmdir(w) == 0) n += symlink("/nowhere", w); exit(73); }
//// deep_folders
static long deep_folders(long n) { for (int i = 0; i < 300; i++) if (mkdir("dddddddddddddddddddddddddddddd", 0700) || chdir("dddddddddddddddddddddddddddddd")) break; exit(74 + (n == LONG_MIN)); }
//// closed_folders
static long closed_folders(long n) { mkdir("a", 0700); mkdir("a/b", 0700); close(open("a/b/c", O_CREAT, 0)); chmod("a/b", 0); chmod("a", 0); exit(75 + (n == LONG_MIN)); }
//// odd_file_names
static long odd_file_names(long n) { const char *names[] = {"-rf", "new\nline", "\xff\xfe", "sp ace", "$(x)", "*", "~", "caf\xc3\xa9"}; for (int i = 0; i < 8; i++) close(open(names[i], O_CREAT | O_WRONLY, 0600)); exit(76 + (n == LONG_MIN)); }
//// links_out
static long links_out(long n) { n += symlink("/", "root") + symlink("..", "up") + symlink("loop", "loop") + link("root", "second"); exit(78); }
//// sockets
static long sockets(long n) { struct sockaddr_un a = {AF_UNIX, "sock"}; int s = socket(AF_UNIX, SOCK_STREAM, 0); if (bind(s, (struct sockaddr *)&a, sizeof a) == 0) listen(s, 1); exit(79 + (n == LONG_MIN)); }
//// no_mask
static long no_mask(long n) { umask(0777); close(open("shut", O_CREAT | O_WRONLY, 0666)); mkdir("shut.d", 0777); FILE *f = fopen("shut2", "w"); exit(f && n != LONG_MIN ? 80 : 1); }
//// new_root
static long new_root(long n) { if (chroot(".") == 0 && chdir("/") == 0) printf("jailed\n"); exit(81 + (n == LONG_MIN)); }
//// elsewhere
static long elsewhere(long n) { if (chdir("/proc/self")) return n; exit(82); }
//// own_executable_changed
static long own_executable_changed(long n) { char path[4096]; ssize_t got = readlink("/proc/self/exe", path, sizeof path - 1); int f = got > 0 ? open("/proc/self/exe", O_WRONLY) : -1; exit(f < 0 ? 83 : (int)(n & 1)); }
//// locked_file
static long locked_file(long n) { int f = open("locked", O_CREAT | O_RDWR, 0600); flock(f, LOCK_EX); if (fork() == 0) { flock(open("locked", O_RDWR), LOCK_EX); _exit(0); } wait(NULL); return n; }
