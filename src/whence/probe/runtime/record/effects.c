/* Effect records: what a call of a library function read, wrote and copied, collected while its wrapper runs. */
#include "record/record.h"
#include "record/schedule.h"
#include "record/trace.h"
#include "suppress/suppress.h"

#include <string.h>

#define EFFECT_UNITS 8192

int whence_recording(void) { return whence_trace.header != NULL; }

/* One for all threads: a record is collected by the thread whose turn it is, and a thread's stack may be small. */
static uint32_t effect[EFFECT_UNITS];
static unsigned effect_length;

void whence_effect_begin(uint32_t function)
{
    whence_hold_baton();
    effect[1] = function;
    effect_length = 2;
}

static void append(uint64_t word)
{
    memcpy(effect + effect_length, &word, sizeof word);
    effect_length += 2;
}

void whence_effect(enum whence_operation operation, unsigned a, int operands, uint64_t x, uint64_t y, uint64_t z)
{
    if (effect_length + 8 > EFFECT_UNITS) { /* one call, several records: the rest goes into another one */
        whence_effect_end();
        effect_length = 2;
    }
    const uint64_t words[3] = {x, y, z};
    append((uint64_t)operation | (uint64_t)a << 8);
    for (int i = 0; i < operands; i++)
        append(words[i]);
}

void whence_effect_end(void)
{
    if (!whence_recording())
        return;
    whence_suppression_effect(effect + 2, effect_length - 2);
    effect[0] = KIND_EFFECT | effect_length;
    uint32_t *place = whence_reserve(effect_length);
    memcpy(place, effect, sizeof *place * effect_length);
}
