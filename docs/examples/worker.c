/* worker: one thread writes a greeting, the other prints it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *greeting;

static void *prepare(void *name)
{
    greeting = malloc(40);
    snprintf(greeting, 40, "hello, %s", (char *)name);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, prepare, "world");
    usleep(200000); /* it is ready by then */
    printf("%s, %c\n", greeting, greeting[0]);
    pthread_join(thread, NULL);
    return 0;
}
