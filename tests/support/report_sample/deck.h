/* The car deck of a small ferry: lanes of equal length, filled from the front. */
#ifndef DECK_H
#define DECK_H

#define MAX_LANES 6

struct deck {
    int lanes;             /* lanes in use, at most MAX_LANES */
    int capacity;          /* length of a lane in decimetres */
    int used[MAX_LANES];   /* decimetres taken */
    int count[MAX_LANES];  /* vehicles standing there */
};

void deck_open(struct deck *deck, int lanes, int capacity);
int deck_place(struct deck *deck, int length);
int deck_free(const struct deck *deck);

#endif
