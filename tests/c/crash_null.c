// A store through a null pointer, in a callee.
//: ends signal 11
#include <stddef.h>
#include <unistd.h>
struct node { int value; struct node *next; };
static void set(struct node *n) { n->next->value = 4; } //!
int main(void) {
    struct node a = {1, NULL};
    write(1, "x\n", 2);
    set(&a);
    write(1, "y\n", 2);
    return 0;
}
