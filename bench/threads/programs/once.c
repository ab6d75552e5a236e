/* race: initialisation on first use is guarded by a plain flag */
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made;
static char name[16];

static void make(void)
{
    strcpy(name, "settings"); //!
    made = 1; //!
}

static void *use(void *unused)
{
#ifdef RIGHT
    pthread_once(&once, make);
#else
    if (!made) //!
        make();
#endif
    return name[0] == 's' ? unused : name; //!
}

int main(void)
{
    pthread_t threads[2];
    void *wrong = NULL, *all = NULL;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &wrong);
        all = wrong ? wrong : all;
    }
    return all != NULL;
}
