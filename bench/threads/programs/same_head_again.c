/* assertion: a stack without locks takes a node whose head is the same again, with another node behind it */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { END = 3 };

static atomic_int next_of[END] = {1, 2, END};
static atomic_int head;
static atomic_int taken[END];
#ifdef RIGHT
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static int pop(void)
{
#ifdef RIGHT
    pthread_mutex_lock(&lock);
#endif
    int top, after;
    do {
        top = head; //!
        after = top == END ? END : next_of[top]; //!
    } while (top != END && !atomic_compare_exchange_strong(&head, &top, after)); //!
#ifdef RIGHT
    pthread_mutex_unlock(&lock);
#endif
    if (top != END)
        assert(atomic_fetch_add(&taken[top], 1) == 0);
    return top;
}

static void push(int node)
{
#ifdef RIGHT
    pthread_mutex_lock(&lock);
#endif
    taken[node] = 0;
    int top = head;
    do
        next_of[node] = top; //!
    while (!atomic_compare_exchange_strong(&head, &top, node)); //!
#ifdef RIGHT
    pthread_mutex_unlock(&lock);
#endif
}

static void *take_one(void *unused)
{
    pop();
    pop();
    return unused;
}

static void *take_and_give_back(void *unused)
{
    int first = pop();
    pop();
    if (first != END)
        push(first);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, take_one, NULL);
    pthread_create(&other, NULL, take_and_give_back, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
