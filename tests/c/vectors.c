// Vector types of the compiler, as values, elements, arguments.
#include <stdio.h>
int sink;
typedef int four __attribute__((vector_size(16)));
typedef double two __attribute__((vector_size(16)));
static four add(four a, four b) { return a + b; } //+
static two scale(two v, double by) { return v * by; }
int main(void) {
    four a = {1, 2, 3, 4}; //+
    four b = {10, 20, 30, 40}; //+
    four c = add(a, b); //+
    two d = scale((two){1.5, 2.5}, 2);
    four compared = a < (four){2, 2, 9, 9};
    c[2] += 5; //+
    printf("%d %d %d %d %g %g %d\n", c[0], c[1], c[2], c[3], d[0], d[1], compared[0]);
    sink = c[2]; //?
    return 0;
}
