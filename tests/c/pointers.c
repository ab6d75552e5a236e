// Pointers: the value comes from the store, the choice of the place from the address.
#include <stdlib.h>
int sink;
struct node { int value; struct node *next; };
static struct node *push(struct node *list, int value) {
    struct node *fresh = malloc(sizeof *fresh); //+
    fresh->value = value; //+
    fresh->next = list; //+
    return fresh; //+
}
int main(void) {
    struct node *list = NULL;
    list = push(list, 1);
    list = push(list, 2); //+
    list = push(list, 3); //+
    sink = list->next->value; //?
    return 0;
}
