/* Bytes: a text is made, compressed by back references found through a hash of three bytes, and restored again.
   Usage: squeeze ROUNDS. Prints a checksum that depends on all of the work, then the rounds, which depend on none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 20000
#define SLOTS 4096
#define LONGEST 130
#define FARTHEST 8191

static unsigned char text[TEXT], restored[TEXT], packed[2 * TEXT];
static int last_place[SLOTS];
static const char *const words[] = {"trace", "slice", "of the", "program", "fault", "a", "statement", "value", "reads", "and"};

static int make_text(unsigned seed)
{
    int length = 0;
    while (length < TEXT - 16) {
        seed = seed * 1103515245u + 12345u;
        for (const char *word = words[(seed >> 16) % 10]; *word; word++)
            text[length++] = (unsigned char)*word;
        text[length++] = (seed >> 20) % 13 ? ' ' : '\n';
    }
    return length;
}

static unsigned hash_at(int place)
{
    unsigned three = text[place] | (unsigned)text[place + 1] << 8 | (unsigned)text[place + 2] << 16;
    return (three * 40503u >> 7) % SLOTS;
}

static int match_length(int earlier, int place, int length)
{
    int matched = 0;
    while (matched < LONGEST && place + matched < length && text[earlier + matched] == text[place + matched])
        matched++;
    return matched;
}

/* A literal is one byte below 128; a reference is 128 + length - 3, then the distance in two bytes. */
static int compress(int length)
{
    int out = 0, place = 0;
    for (int i = 0; i < SLOTS; i++)
        last_place[i] = -1;
    while (place < length) {
        int matched = 0, earlier = -1;
        if (place + 2 < length) {
            unsigned slot = hash_at(place);
            earlier = last_place[slot];
            last_place[slot] = place;
            if (earlier >= 0 && place - earlier <= FARTHEST)
                matched = match_length(earlier, place, length);
        }
        if (matched < 4) {
            packed[out++] = text[place++];
            continue;
        }
        packed[out++] = (unsigned char)(128 + matched - 3);
        packed[out++] = (unsigned char)((place - earlier) >> 8);
        packed[out++] = (unsigned char)((place - earlier) & 255);
        place += matched;
    }
    return out;
}

static int expand(int packed_length)
{
    int length = 0;
    for (int place = 0; place < packed_length;) {
        if (packed[place] < 128) {
            restored[length++] = packed[place++];
            continue;
        }
        int matched = packed[place] - 128 + 3, distance = packed[place + 1] << 8 | packed[place + 2];
        for (int i = 0; i < matched; i++, length++)
            restored[length] = restored[length - distance];
        place += 3;
    }
    return length;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    unsigned checksum = 0;
    for (int i = 0; i < rounds; i++) {
        int length = make_text((unsigned)i);
        int packed_length = compress(length);
        checksum += expand(packed_length) != length || memcmp(text, restored, (size_t)length) != 0;
        for (int place = 0; place < packed_length; place++)
            checksum = checksum * 33 + packed[place];
    }
    printf("checksum %u\n", checksum);
    printf("rounds %d\n", rounds);
    return 0;
}
