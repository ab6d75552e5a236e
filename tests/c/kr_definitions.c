// Definitions and calls in the old style: no prototypes, promotions, calls with too few arguments.
//: flags -std=gnu89 -w
extern int printf();
add(a, b)
    int a, b;
{
    return a + b;
}
double half(x)
    float x;
{
    return x / 2;
}
char *choose(c, table)
    char c;
    char **table;
{
    return table[c - '0'];
}
count(first, second)
    int first, second;
{
    return first;
}
main() {
    static char *words[] = {"zero", "one", "two"};
    int result = add(3, 4);
    int (*unknown)() = add;
    printf("%d %g %s %d %d %d\n", result, half(5.0), choose('2', words), unknown(1, 2), count(9), twice(21));
    return 0;
}
twice(n) {
    return 2 * n;
}
