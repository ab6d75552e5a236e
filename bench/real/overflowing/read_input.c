/* read is told that an array is larger than it is. */
#include <stdio.h>
#include <unistd.h>

static long total(void) {
    char buffer[32];
    long sum = 0;
    ssize_t got = read(0, buffer, 320);
    for (ssize_t i = 0; i < got && i < (ssize_t)sizeof buffer; i++)
        sum += buffer[i];
    return sum;
}

int main(void) {
    printf("%ld\n", total() % 100);
    return 0;
}
