// An unknown function filled a block that nothing had written, and one that calloc had cleared.
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>
int sink;
int main(void) {
    char *fresh = malloc(4); //+
    char *cleared = calloc(1, 4); //+
    char *apart = malloc(4);
    const char *from = "abcd"; //+
    int count = 2; //+
    apart[0] = 1;
    swab(from, fresh, count); //+
    swab(from, cleared, count); //+
    sink = fresh[0] + cleared[1]; //?
    return apart[0] - 1;
}
