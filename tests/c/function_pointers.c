// Calls through pointers: in variables, tables, structures and as arguments.
#include <stdio.h>
typedef int operation(int, int);
static int add(int a, int b) { return a + b; }
static int multiply(int a, int b) { return a * b; } //+
struct entry { const char *name; operation *apply; };
static struct entry table[] = {{"add", add}, {"multiply", multiply}};
static int twice(operation *apply, int x) {
    int first = apply(x, 2); //+
    return apply(first, 2); //+
}
int main(int argc, char **argv) {
    (void)argv;
    operation *chosen = argc > 5 ? add : multiply; //+
    int sum = table[0].apply(3, 4);
    int result = twice(chosen, 5); //+
    printf("%d %d\n", sum, table[1].apply(3, 4));
    printf("%d\n", result); //?
    return 0;
}
