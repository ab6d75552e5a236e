// Sorting by a comparison that depends on a global: the order depends on it.
#include <stdlib.h>
int sink;
static int direction;
static int compare(const void *a, const void *b) {
    int x = *(const int *)a; //+
    int y = *(const int *)b; //+
    return direction * (x - y); //+
}
int main(void) {
    int values[3];
    int unrelated = 4;
    values[0] = 3; //+
    values[1] = 1; //+
    values[2] = 2; //+
    direction = -1; //+
    qsort(values, 3, sizeof *values, compare); //+
    sink = values[0]; //?
    return unrelated - 4;
}
