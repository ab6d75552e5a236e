//// bit_fields
struct flags { unsigned low : 3; int middle : 7; unsigned long long high : 40; unsigned : 0; unsigned tail : 1; };
static long bit_fields(long n)
{
    struct flags f = {0};
    f.low = n;
    f.middle = n * K;
    f.high = (unsigned long long)n << 20;
    f.tail = n & 1;
    return f.low + f.middle + (long)(f.high >> 20) + f.tail;
}
//// unions
union cell { double number; unsigned char bytes[8]; unsigned long word; };
static long unions(long n)
{
    union cell c;
    c.number = n + 0.5;
    long sum = 0;
    for (int i = 0; i < 8; i++)
        sum += c.bytes[i] * (i + K);
    return sum;
}
//// function_pointers
static long twice(long n) { return 2 * n; }
static long plus_k(long n) { return n + K; }
static long negated(long n) { return -n; }
static long function_pointers(long n)
{
    static long (*const steps[])(long) = {twice, plus_k, negated};
    for (int i = 0; i < K; i++)
        n = steps[(unsigned long)(n + i) % 3](n) % 100000;
    return n;
}
//// sorting
static int descending(const void *a, const void *b) { return (*(const int *)b > *(const int *)a) - (*(const int *)b < *(const int *)a); }
static long sorting(long n)
{
    int values[K];
    for (int i = 0; i < K; i++)
        values[i] = (int)((unsigned)(n + 1) * 7919u * (unsigned)i % 101u);
    qsort(values, K, sizeof *values, descending);
    int key = values[K / 2];
    int *found = bsearch(&key, values, K, sizeof *values, descending);
    return values[0] * 1000 + (found ? *found : -1);
}
//// doubles
static long doubles(long n)
{
    double sum = 0, x = n / 3.0;
    for (int i = 1; i <= K; i++)
        sum += x / i - floor(x / i);
    return (long)(sum * 1000);
}
//// long_doubles
static long double half(long double x) { return x / 2; }
static long long_doubles(long n)
{
    long double x = n + 0.25L;
    int steps = 0;
    while (x > 0.001L || x < -0.001L) {
        x = half(x);
        steps++;
    }
    return steps;
}
//// variable_array
static long variable_array(long n)
{
    int size = (int)(labs(n) % K) + 1;
    long table[size][3];
    for (int i = 0; i < size; i++)
        for (int j = 0; j < 3; j++)
            table[i][j] = i * j + n;
    return table[size - 1][2] + (long)sizeof table;
}
//// on_the_stack
static long on_the_stack(long n)
{
    long sum = 0;
    for (int i = 0; i < K; i++) {
        char *text = alloca(32);
        sum += snprintf(text, 32, "%ld/%d", n, i);
    }
    return sum;
}
//// jumps
static jmp_buf here;
static void deeper(long n)
{
    if (n <= 0)
        longjmp(here, K);
    deeper(n - 1);
}
static long jumps(long n)
{
    volatile long tries = 0;
    int code = setjmp(here);
    if (code == 0)
        deeper(labs(n) % 9);
    tries += code;
    return tries;
}
//// recursion
static long ways(long n, long most) { return n == 0 ? 1 : n < 0 || most == 0 ? 0 : ways(n - most, most) + ways(n, most - 1); }
static long recursion(long n) { return ways(labs(n) % 15, 6); }
//// linked_list
struct item { struct item *next; long value; };
static long linked_list(long n)
{
    struct item *first = NULL;
    for (long i = 0; i < K; i++) {
        struct item *one = malloc(sizeof *one);
        *one = (struct item){first, i * n};
        first = one;
    }
    long sum = 0;
    while (first) {
        struct item *gone = first;
        sum += gone->value;
        first = gone->next;
        free(gone);
    }
    return sum;
}
//// growing
static long growing(long n)
{
    char *text = NULL;
    size_t used = 0, room = 0;
    for (long i = 0; i < K * 10; i++) {
        if (used == room)
            text = realloc(text, room = room ? room * 2 : 4);
        text[used++] = (char)('a' + (i + labs(n)) % 26);
    }
    long last = text[used - 1];
    free(text);
    return last;
}
//// structures_by_value
struct point { long x, y; char name[24]; };
static struct point moved(struct point p, long by) { p.x += by; p.y -= by; p.name[0] = (char)('A' + labs(by) % 26); return p; }
static long structures_by_value(long n)
{
    struct point p = {.x = n, .name = "origin"};
    for (int i = 0; i < K; i++)
        p = moved(p, i);
    return p.x - p.y + p.name[0];
}
//// variadic
static long sum_of(int count, ...)
{
    va_list list;
    long sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += i % 2 ? (long)va_arg(list, double) : va_arg(list, long);
    va_end(list);
    return sum;
}
static long variadic(long n) { return sum_of(5, n, 2.5, n * 2, -1.0, (long)K); }
//// state_machine
enum state { START, WORD, NUMBER, END };
static long state_machine(long n)
{
    char text[64];
    snprintf(text, sizeof text, "a%ldb c%dx", n, K);
    enum state state = START;
    long changes = 0;
    for (char *p = text; state != END; p++) {
        enum state before = state;
        switch (*p) {
        case 0: state = END; break;
        case '0' ... '9': case '-': state = NUMBER; break;
        case ' ': state = START; break;
        default: state = WORD;
        }
        changes += state != before;
    }
    return changes;
}
//// labels_as_values
static long labels_as_values(long n)
{
    static void *table[] = {&&add, &&halve, &&stop};
    int left = K;
next:
    if (left-- == 0)
        goto stop;
    goto *table[n & 1];
add:
    n += 3;
    goto next;
halve:
    n /= 2;
    goto next;
stop:
    return n;
}
//// wide_integers
static long wide_integers(long n)
{
    unsigned __int128 product = 1;
    for (int i = 0; i < K; i++)
        product = product * (unsigned long)(n + 1234567) + i;
    return (long)(product >> 64 ^ product);
}
//// overlapping
static long overlapping(long n)
{
    char text[80] = "the quick brown fox jumps over the lazy dog";
    size_t from = (size_t)labs(n) % 20;
    memmove(text + from + 3, text + from, 20);
    memset(text + from, '-', 3);
    return text[from + 5] + (long)strlen(text) + (strchr(text, 'q') != NULL);
}
//// scanning
static long scanning(long n)
{
    char line[64], word[16] = "";
    int a = 0, b = 0;
    sprintf(line, "%ld:%d %s", n, K, "word");
    int got = sscanf(line, "%d:%d %15s", &a, &b, word);
    return got * 1000 + a + b + word[3];
}
//// tokens
static long tokens(long n)
{
    char text[64];
    snprintf(text, sizeof text, "one,%ld,,three;%d", n, K);
    long count = 0;
    for (char *part = strtok(text, ",;"); part; part = strtok(NULL, ",;"))
        count = count * 10 + (long)strlen(part);
    return count;
}
//// temporary_file
static long temporary_file(long n)
{
    FILE *file = tmpfile();
    if (!file)
        return -1;
    for (int i = 0; i < K; i++)
        fprintf(file, "%ld\n", n + i);
    rewind(file);
    long sum = 0, one;
    while (fscanf(file, "%ld", &one) == 1)
        sum += one;
    fclose(file);
    return sum;
}
//// written_file
static long written_file(long n)
{
    FILE *file = fopen("notes.txt", "w+");
    if (!file)
        return -1;
    fprintf(file, "%ld %d", n, K);
    fseek(file, 0, SEEK_SET);
    long a = 0;
    int b = 0;
    int got = fscanf(file, "%ld %d", &a, &b);
    fclose(file);
    remove("notes.txt");
    return got + a + b;
}
//// own_signal
static volatile sig_atomic_t caught;
static void on_signal(int number) { caught += number; }
static long own_signal(long n)
{
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < K % 4 + 1; i++)
        raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    return caught + n;
}
//// threads_joined
static long shares[4];
static void *share(void *number) { long i = (long)number; for (int j = 0; j < K; j++) shares[i % 4] += i; return number; }
static long threads_joined(long n)
{
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, share, (void *)(i + n % 4));
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    return sum;
}
//// child_waited_for
static long child_waited_for(long n)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit((int)(n & 63));
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
//// piped_child
static long piped_child(long n)
{
    int ends[2];
    if (pipe(ends))
        return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        long answer = n * K;
        _exit(write(ends[1], &answer, sizeof answer) != sizeof answer);
    }
    close(ends[1]);
    long got = 0;
    ssize_t size = read(ends[0], &got, sizeof got);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return got + size;
}
//// at_exit_quietly
static void farewell(void) { printf("bye %d\n", K); }
static long at_exit_quietly(long n)
{
    static int once;
    if (!once++)
        atexit(farewell);
    return n;
}
//// flexible_member
struct bag { size_t count; int values[]; };
static long flexible_member(long n)
{
    struct bag *bag = calloc(1, sizeof *bag + K * sizeof(int));
    bag->count = K;
    for (size_t i = 0; i < bag->count; i++)
        bag->values[i] = (int)(n ^ (long)i);
    long sum = bag->values[0] + bag->values[bag->count - 1];
    free(bag);
    return sum;
}
//// vectors
typedef int four __attribute__((vector_size(16)));
static long vectors(long n)
{
    four a = {1, 2, 3, (int)n}, b = {K, 1, K, 1};
    for (int i = 0; i < 5; i++)
        a = a * b - (four){i, i, i, i};
    return a[0] + a[1] + a[2] + a[3];
}
//// complex_numbers
static long complex_numbers(long n)
{
    double complex z = 0, c = (double)(n % 7) / 10 + 0.3 * I;
    int i = 0;
    while (i < K * 4 && cabs(z) < 2) {
        z = z * z + c;
        i++;
    }
    return i;
}
//// atomics
static _Atomic long counter;
static _Thread_local long local_counter;
static long atomics(long n)
{
    for (int i = 0; i < K; i++) {
        counter += n;
        local_counter++;
    }
    return counter + local_counter;
}
//// statement_expressions
#define LARGER(a, b) ({ __typeof__(a) x_ = (a); __typeof__(b) y_ = (b); x_ > y_ ? x_ : y_; })
static long statement_expressions(long n)
{
    long best = -1;
    for (int i = 0; i < K; i++)
        best = LARGER(best, (n * i) % 17);
    return best;
}
//// wide_characters
static long wide_characters(long n)
{
    wchar_t text[32];
    swprintf(text, 32, L"%ld \u00e9t\u00e9", n);
    return (long)wcslen(text) + text[0];
}
//// environment
static long environment(long n)
{
    setenv("SOAK_VALUE", "12", 1);
    const char *home = getenv("HOME"), *own = getenv("SOAK_VALUE");
    return n + (home != NULL) + atol(own);
}
//// long_loop
static long long_loop(long n)
{
    unsigned long hash = 5381;
    for (long i = 0; i < K * 500; i++)
        hash = hash * 33 ^ (unsigned long)(n + i);
    return (long)(hash % 100000);
}
//// matrix
static double grid[12][12];
static long matrix(long n)
{
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            grid[i][j] = (double)((i * j + n) % K);
    double trace = 0;
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 12; k++)
            trace += grid[i][k] * grid[k][i];
    return (long)trace;
}
