/* race: a node goes back to the free list while another thread reads its name */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

struct node {
    union {
        const char *name;
        struct node *next;
    };
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node node = {{"a name"}};
static struct node *unused_nodes;
static size_t length;

static void *measure(void *unused)
{
    if (node.name != NULL) { //!
        sched_yield();
        length = strlen(node.name); //!
    }
    return unused;
}

static void *give_back(void *unused)
{
    pthread_mutex_lock(&lock);
    node.next = unused_nodes; //!
    unused_nodes = &node;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, measure, NULL);
    pthread_create(&other, NULL, give_back, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
