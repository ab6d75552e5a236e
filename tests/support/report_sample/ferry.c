#include <stdio.h>
#include <string.h>

#include "deck.h"

struct kind {
    const char *name;
    int length;
};

static const struct kind kinds[] = {
    {"bike", 20}, {"car", 45}, {"van", 60}, {"bus", 120}, {"lorry", 165},
};

static int length_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].length;
    return -1;
}

/* First line: lanes and their length. Then one vehicle a line, in order of arrival. */
int main(void)
{
    struct deck deck;
    char name[16];
    int lanes, capacity, ashore = 0;

    if (scanf("%d %d", &lanes, &capacity) != 2) {
        fprintf(stderr, "ferry: no lanes given\n");
        return 2;
    }
    deck_open(&deck, lanes, capacity);
    while (scanf("%15s", name) == 1) {
        int length = length_of(name);
        if (length < 0) {
            fprintf(stderr, "ferry: no vehicle called %s\n", name);
            continue;
        }
        int lane = deck_place(&deck, length);
        if (lane < 0) {
            ashore++;
            printf("%-5s stays ashore\n", name);
        } else {
            printf("%-5s lane %d\n", name, lane + 1);
        }
    }
    printf("%d dm free, %d ashore\n", deck_free(&deck), ashore);
    return ashore > 0;
}
