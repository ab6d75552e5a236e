/* A visitor removes the node whose successor the walk asks for next. */
#include <stdio.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
static struct node *head;
static void remove_odd(struct node *node)
{
    if (node->value % 2 == 0)
        return;
    struct node **at = &head;
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    free(node);
}
static void each(void (*visit)(struct node *))
{
#ifdef RIGHT
    for (struct node *node = head, *next; node; node = next) {
        next = node->next;
        visit(node);
    }
#else
    for (struct node *node = head; node; node = node->next) //! use-after-free
        visit(node);
#endif
}
int main(void)
{
    for (int i = 0; i < 4; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node)
            return 1;
        node->value = i, node->next = head, head = node;
    }
    each(remove_odd);
    printf("%d\n", head != NULL);
    return 0;
}
