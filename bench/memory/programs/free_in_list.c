/* A list is walked while its elements are given back. */
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; int value; };
int main(void)
{
    struct node *list = NULL;
    int count = 0;
    for (int i = 0; i < 4; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node)
            return 1;
        node->value = i;
        node->next = list;
        list = node;
    }
#ifdef RIGHT
    for (struct node *node = list, *next; node; node = next, count++) {
        next = node->next;
        free(node);
    }
#else
    struct node *node = list;
    for (; count < 4; count++) {
        free(node);
        node = list = list->next; //! use-after-free
        if (!list)
            break;
    }
#endif
    printf("%d\n", count > 0);
    return 0;
}
