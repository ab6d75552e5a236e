//// null_read
struct node { long key; struct node *left; };
static long null_read(long n) { struct node one = {n, NULL}; return one.left->key; }
//// null_write
static long null_write(long n) { char *place = n > LONG_MIN ? NULL : ""; place[K] = 1; return 0; }
//// non_canonical
static long non_canonical(long n) { char *text; memset(&text, 'a', sizeof text); return text[n & 7]; }
//// wild_pointer
static long wild_pointer(long n) { return *(long *)(0x123456789000 + n * 8); }
//// division_by_zero
static long division_by_zero(long n) { volatile int nothing = 0; return n / nothing; }
//// smallest_by_minus_one
static long smallest_by_minus_one(long n) { volatile int small = INT_MIN, one = -1; return small / one + n; }
//// local_overflow
static long local_overflow(long n)
{
    char text[8];
    for (int i = 0; i < 64 + K; i++)
        text[i] = (char)('A' + n % 20);
    return text[0];
}
//// copied_over
static long copied_over(long n)
{
    char small[8], big[200];
    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = 0;
    strcpy(small, big);
    return small[0] + n;
}
//// static_overflow
static char left_names[16];
static void (*after_names)(void) = NULL;
static long static_overflow(long n)
{
    memset(left_names, 'z', sizeof left_names + 16 + K);
    if (after_names)
        after_names();
    return left_names[0] + n;
}
//// heap_overflow
static long heap_overflow(long n)
{
    char *a = malloc(16), *b = malloc(16);
    memset(a, 'q', 24 + 16 * K);
    free(b);
    free(a);
    return n;
}
//// double_free
static long double_free(long n) { char *a = malloc(K); free(a); free(a); return n; }
//// free_of_local
static long free_of_local(long n) { long local[4] = {n}; void *volatile p = local; free(p); return 0; }
//// used_after_free
static long used_after_free(long n)
{
    struct { long (*call)(long); char rest[K]; } *object = malloc(sizeof *object);
    object->call = labs;
    free(object);
    char *other = malloc(sizeof *object);
    memset(other, 'f', sizeof *object);
    return object->call(n);
}
//// aborted
static long aborted(long n) { fprintf(stderr, "giving up at %ld\n", n); abort(); }
//// assertion
static long assertion(long n) { assert(n < K && "too \033[31mlarge\033[0m\n"); assert(0); return 0; }
//// trap
static long trap(long n) { if (n != LONG_MIN) __builtin_trap(); return n; }
//// read_only
static long read_only(long n) { char *text = (char *)"constant"; text[0] = (char)n; return text[0]; }
//// data_executed
static long data_executed(long n) { static unsigned char bytes[16] = {0xc3}; return ((long (*)(long))(void *)bytes)(n); }
//// uninitialised
static long uninitialised(long n) { long values[K]; volatile long *p = values; return p[n & 3] == 42 ? 1 : exit(3), 0; }
//// bad_callback
static int (*volatile no_compare)(const void *, const void *);
static long bad_callback(long n) { long two[2] = {n, 1}; qsort(two, 2, sizeof(long), no_compare); return two[0]; }
//// inconsistent_compare
static int always_less(const void *a, const void *b) { (void)a, (void)b; return -1; }
static long inconsistent_compare(long n) { int v[K]; for (int i = 0; i < K; i++) v[i] = i; qsort(v, K, sizeof *v, always_less); return v[0] == 0 ? n : (exit(4), 0); }
//// dead_frame
static jmp_buf gone;
static int enter(void) { return setjmp(gone); }
static long dead_frame(long n) { if (enter() < K % 3 + 1) longjmp(gone, (int)(n % 5) + 9); exit(7); }
//// format_by_input
static long format_by_input(long n) { char f[] = "%s%s%n%s\n"; f[1] = n & 1 ? 's' : 'd'; const char *volatile format = f; return printf(format, (char *)1, n, (char *)2); }
//// closed_file
static long closed_file(long n) { FILE *f = fopen("/dev/null", "w"); fclose(f); fprintf(f, "%ld", n); fclose(f); return 0; }
//// wrong_answer
static long wrong_answer(long n) { long sum = 0; for (int i = 0; i <= K; i++) sum += i == K ? n : 1; printf("answer %ld\n", sum); return sum; }
//// wrong_table
static const short table[8] = {3, 1, 4, 1, 5, 9, 2, 7};
static long wrong_table(long n) { long sum = K; for (int i = 0; i < 8; i++) sum = sum * 3 + table[(i + n) & 7]; printf("sum %ld\n", sum); return sum; }
