//// exhausted
static long exhausted(long n) { size_t total_taken = 0; char *p; while ((p = malloc(1 << 24)) && total_taken < 3ul << 30) { memset(p, (int)n, 1 << 24); total_taken += 1 << 24; } exit(p ? 90 : 91); }
//// small_blocks_for_ever
static long small_blocks_for_ever(long n) { long count = 0; for (;;) { long *p = malloc(K); if (!p) exit(92); *p = n; count++; } return count; }
//// huge_mapping
static long huge_mapping(long n) { char *p = mmap(NULL, 1ul << 45, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); if (p == MAP_FAILED) exit(93); p[1ul << 40] = (char)n; return 0; }
//// large_mapping
static long large_mapping(long n) { char *p = mmap(NULL, 1ul << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); if (p == MAP_FAILED) exit(94); for (size_t i = 0; i < 1ul << 30; i += 1 << 20) p[i] = (char)n; exit(95); }
//// many_mappings
static long many_mappings(long n) { for (int i = 0; i < 70000; i++) if (mmap(NULL, 4096, i & 1 ? PROT_READ : PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) exit(96); exit(97 + (n == LONG_MIN)); }
//// own_text_unmapped
static long own_text_unmapped(long n) { munmap((void *)((unsigned long)own_text_unmapped & ~4095ul), 4096); return n; }
//// stack_unmapped
static long stack_unmapped(long n) { munmap((void *)((unsigned long)&n & ~4095ul), 4096); return n; }
//// fixed_mapping
static long fixed_mapping(long n) { void *volatile sbrk_now = sbrk(0); void *p = mmap((void *)((unsigned long)sbrk_now + 4095 & ~4095ul), 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); char *q = malloc(K * 10000); if (q) q[0] = (char)n; exit(p == MAP_FAILED ? 98 : 99); }
//// shared_mapping
static long shared_mapping(long n) { long *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); fflush(stdout); if (fork() == 0) { p[0] = n * K; _exit(0); } wait(NULL); printf("shared %ld\n", p[0]); exit(100); }
//// protected
static long protected(long n) { char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); mprotect(p + 4096, 4096, PROT_NONE); for (int i = 0; i < 8192; i++) p[i] = (char)n; return p[0]; }
//// large_local
static long large_local(long n) { volatile char room[64 << 20]; room[n & 1023] = 1; return room[0]; }
//// negative_size
static long negative_size(long n) { char *p = malloc((size_t)-K); if (!p) exit(101); p[0] = (char)n; return 0; }
//// large_copy
static long large_copy(long n) { char *p = malloc(K); memcpy(p, &n, (size_t)1 << 40); return p[0]; }
//// large_set
static char wide_area[32 << 20];
static long large_set(long n) { for (int i = 0; i < K % 5 + 1; i++) memset(wide_area, (int)n, sizeof wide_area); printf("set %d\n", wide_area[5]); return 0; }
//// file_mapping_cut
static long file_mapping_cut(long n) { int f = open("mapped", O_CREAT | O_RDWR, 0600); if (ftruncate(f, 8192)) exit(102); char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); if (ftruncate(f, 0)) exit(103); p[4096] = (char)n; return 0; }
//// arguments_overwritten
extern char **environ;
static long arguments_overwritten(long n) { for (char **e = environ; *e; e++) memset(*e, 'E', strlen(*e)); environ = NULL; const char *home = getenv("HOME"); exit(home ? (int)(n & 1) : 104); }
