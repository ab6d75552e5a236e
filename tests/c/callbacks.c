// The C library calls back: qsort, bsearch, atexit.
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b; //+
    return (x > y) - (x < y); //+
}
static void last(void) { printf("last\n"); }
static void first(void) { printf("first\n"); }
int main(void) {
    int values[] = {5, 3, 9, 1, 7}; //+
    int others[] = {2, 1};
    int key = 9;
    atexit(last);
    atexit(first);
    qsort(others, 2, sizeof *others, compare);
    qsort(values, 5, sizeof *values, compare); //+
    int *found = bsearch(&key, values, 5, sizeof *values, compare);
    printf("%d %d %d\n", others[0], found ? (int)(found - values) : -1, values[4]);
    printf("%d\n", values[0]); //?
    return 0;
}
