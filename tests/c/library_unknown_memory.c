// What an unknown function wrote into a local depends on its arguments.
#define _GNU_SOURCE
#include <unistd.h>
int sink;
int main(void) {
    char pair[2] = "ab"; //+
    char swapped[2] = "..";
    char other[2] = "cd";
    int count = 2; //+
    swab(pair, swapped, count); //+
    sink = swapped[0]; //?
    return other[0] != 'c';
}
