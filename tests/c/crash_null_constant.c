// A null pointer that a compiler could foresee, after a path on which it is none.
//: ends signal 11
#include <stdio.h>
int main(int count, char **arguments) {
    int value = 3, unused;
    int *where = NULL;
    (void)arguments;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (count > 1)
        where = &value;
    printf("%d\n", where != NULL);
    unused = *where; //!
    if (where == NULL)
        printf("never\n");
    return value + unused * 0;
}
