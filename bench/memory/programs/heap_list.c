/* Elements of a list have a text of a fixed length at their end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { struct item *next; char name[6]; };
#ifdef RIGHT
#define LONGEST "anchor"
#else
#define LONGEST "anchorage"
#endif
static struct item *push(struct item *list, const char *name)
{
    struct item *item = malloc(sizeof *item);
    if (!item)
        exit(1);
    item->next = list;
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        item->name[i] = name[i]; //! out-of-bounds
    return item;
}
int main(void)
{
    struct item *list = push(push(NULL, "rope"), LONGEST);
    int count = 0;
    while (list) {
        struct item *next = list->next;
        free(list);
        list = next;
        count++;
    }
    printf("%d\n", count);
    return 0;
}
