/* A loop copies one word too many over the pointer behind it, which goes through two functions and a list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct entry {
    char key[8];
    struct entry *next;
};
static void set_key(struct entry *entry, const char *key)
{
#ifdef RIGHT
    for (int i = 0; key[i] && i < 7; i++)
#else
    for (int i = 0; key[i]; i++)
#endif
        entry->key[i] = key[i]; //! out-of-bounds
}
static struct entry *push(struct entry *list, const char *key)
{
    struct entry *made = calloc(1, sizeof *made);
    made->next = list;
    set_key(made, key);
    return made;
}
static int length(const struct entry *list)
{
    int count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}
int main(void)
{
    struct entry *list = push(NULL, "one");
    list = push(list, "abcdefghijklmnop");
    list = push(list, "three");
    printf("%d\n", length(list));
    return 0;
}
