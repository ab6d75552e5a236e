// realloc moves the bytes: their origins move along.
#include <stdlib.h>
int sink;
int main(void) {
    int *values = malloc(4 * sizeof *values); //+
    for (int i = 0; i < 4; i++)
        values[i] = 1;
    values[2] = 5; //+
    int *wall = malloc(4 * sizeof *wall);
    values = realloc(values, 4000 * sizeof *values); //+
    values[3] = 6;
    sink = values[2]; //?
    free(wall);
    free(values);
    return 0;
}
