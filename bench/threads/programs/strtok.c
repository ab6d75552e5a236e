/* race: two threads cut texts with strtok, which keeps its place for all of them */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

static void *count(void *text)
{
    char *place = NULL, *from = text;
    long words = 0;
#ifdef RIGHT
    while (strtok_r(from, " ", &place)) {
#else
    while (strtok(from, " ")) { //!
#endif
        from = NULL;
        words++;
    }
    return (void *)words;
}

int main(void)
{
    pthread_t one, other;
    char first[] = "a b c d", second[] = "e f g h";
    void *words, *more;
    pthread_create(&one, NULL, count, first);
    pthread_create(&other, NULL, count, second);
    pthread_join(one, &words);
    pthread_join(other, &more);
    return (long)words != 4 || (long)more != 4;
}
