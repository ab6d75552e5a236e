// Structures by value: in registers, byval, sret, with floats, nested, and copied member by member.
#include <stdio.h>
struct small { int a, b; };
struct mixed { float x; int n; double y; };
struct large { long values[6]; int last; };
static struct small swap(struct small s) {
    struct small result = {s.b, s.a};
    return result;
}
static struct mixed scale(struct mixed m, double by) {
    m.x *= (float)by;
    m.y *= by;
    m.n++;
    return m;
}
static struct large shift(struct large l, int by) {
    for (int i = 0; i < 6; i++)
        l.values[i] += by;
    l.last = by;
    return l;
}
static long sum(struct large l) {
    long total = l.last;
    for (int i = 0; i < 6; i++)
        total += l.values[i];
    return total;
}
int main(void) {
    struct small s = swap((struct small){1, 2});
    struct mixed m = scale((struct mixed){1.5f, 2, 3.25}, 2);
    struct large l = {{1, 2, 3, 4, 5, 6}, 7};
    struct large moved = shift(l, 10);
    struct large (*pointer)(struct large, int) = shift;
    printf("%d %d %g %d %g\n", s.a, s.b, m.x, m.n, m.y);
    printf("%ld %ld %ld %ld\n", sum(l), sum(moved), sum(shift(shift(l, 1), 2)), sum(pointer(l, 3)));
    return 0;
}
