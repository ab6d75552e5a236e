/* order: a list is emptied under its lock before the thread that walks it has begun */
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *list;
static int sum;

static void *walk(void *unused)
{
    pthread_mutex_lock(&lock);
    sum = list->value + list->next->value; //!
    pthread_mutex_unlock(&lock);
    return unused;
}

static void clear(void)
{
    pthread_mutex_lock(&lock);
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next; //!
    }
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t thread;
    for (int i = 1; i <= 2; i++) {
        struct node *node = malloc(sizeof *node);
        *node = (struct node){i, list};
        list = node;
    }
    pthread_create(&thread, NULL, walk, NULL);
#ifdef RIGHT
    pthread_join(thread, NULL);
    clear();
#else
    clear();
    pthread_join(thread, NULL);
#endif
    return sum != 3;
}
