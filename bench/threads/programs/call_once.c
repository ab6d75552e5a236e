/* race: a table is made by each thread that finds none; C11 threads */
#include <threads.h>

static once_flag once = ONCE_FLAG_INIT;
static int table[8];
static int *known;

static void make(void)
{
    for (int i = 0; i < 8; i++)
        table[i] = i * i; //!
    known = table; //!
}

static int use(void *unused)
{
#ifdef RIGHT
    call_once(&once, make);
#else
    if (known == NULL) //!
        make();
#endif
    return known[3] != 9; //!
}

int main(void)
{
    thrd_t threads[2];
    int wrong, all = 0;
    for (int i = 0; i < 2; i++)
        thrd_create(&threads[i], use, NULL);
    for (int i = 0; i < 2; i++) {
        thrd_join(threads[i], &wrong);
        all |= wrong;
    }
    return all;
}
