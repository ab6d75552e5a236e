#include "deck.h"

#define GAP 5 /* decimetres kept between two vehicles */

void deck_open(struct deck *deck, int lanes, int capacity)
{
    deck->lanes = lanes > MAX_LANES ? MAX_LANES : lanes;
    deck->capacity = capacity;
    for (int i = 0; i < MAX_LANES; i++) {
        deck->used[i] = 0;
        deck->count[i] = 0;
    }
}

/* The length a vehicle takes in a lane: its own, and a gap to the one before it. */
static int needed(const struct deck *deck, int lane, int length)
{
    return deck->count[lane] > 0 ? length + GAP : length;
}

/* The lane with most room that still takes the vehicle, or -1. */
static int choose(const struct deck *deck, int length)
{
    int best = -1;
    int most = 0;
    for (int i = 0; i < deck->lanes; i++) {
        int rest = deck->capacity - deck->used[i] - needed(deck, i, length);
        if (rest > most) {
            most = rest;
            best = i;
        }
    }
    return best;
}

int deck_place(struct deck *deck, int length)
{
    int lane = choose(deck, length);
    if (lane < 0)
        return -1;
    deck->used[lane] += needed(deck, lane, length);
    deck->count[lane]++;
    return lane;
}

int deck_free(const struct deck *deck)
{
    int total = 0;
    for (int i = 0; i < deck->lanes; i++)
        total += deck->capacity - deck->used[i];
    return total;
}
