/* A list keeps a node that was given back; its place has a new owner, whose text is taken for a pointer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node {
    struct node *next;
    const char *name;
};
static struct node *head;
static void add(const char *name)
{
    struct node *node = malloc(sizeof *node);
    node->next = head;
    node->name = name;
    head = node;
}
static void drop_first(void)
{
    struct node *first = head;
#ifdef RIGHT
    head = first->next;
#endif
    free(first);
}
int main(void)
{
    add("one");
    add("two");
    drop_first();
    char *text = malloc(sizeof(struct node));
    memset(text, 'z', sizeof(struct node)); //! use-after-free
    int total = 0;
    for (struct node *node = head; node; node = node->next)
        total += (int)strlen(node->name);
    printf("%d\n", total);
    free(text);
    return 0;
}
