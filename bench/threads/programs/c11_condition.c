/* race: the message is looked at before its condition is waited for; C11 threads */
#include <string.h>
#include <threads.h>

static mtx_t lock;
static cnd_t sent;
static char message[16];
static int is_sent;

static int send(void *unused)
{
    mtx_lock(&lock);
    strcpy(message, "hello"); //!
    is_sent = 1;
    cnd_broadcast(&sent);
    mtx_unlock(&lock);
    return unused != NULL;
}

int main(void)
{
    thrd_t thread;
    size_t length;
    mtx_init(&lock, mtx_plain);
    cnd_init(&sent);
    thrd_create(&thread, send, NULL);
#ifndef RIGHT
    length = strlen(message); //!
#endif
    mtx_lock(&lock);
    while (!is_sent)
        cnd_wait(&sent, &lock);
#ifdef RIGHT
    length = strlen(message);
#endif
    mtx_unlock(&lock);
    thrd_join(thread, NULL);
    return length != 5;
}
