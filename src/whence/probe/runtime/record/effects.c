/* Effect records: what a call of a library function read, wrote and copied, collected while its wrapper runs.

   A signal handler may come while a record is collected, and make calls of its own: their records are collected behind what is
   there, and are gone when the handler returns. */
#include "record/record.h"
#include "record/schedule.h"
#include "record/trace.h"
#include "suppress/suppress.h"

#include <string.h>

#define EFFECT_UNITS 8192
#define NESTED 4

int whence_recording(void) { return whence_trace.header != NULL; }

/* One for all threads: a record is collected by the thread whose turn it is, and a thread's stack may be small. Where handlers
   left by longjmp, what they interrupted is never ended; the first place is taken again when there is no other. */
static uint32_t effects[NESTED * EFFECT_UNITS];
static unsigned effect, effect_end; /* the record at hand; whatever interrupts leaves both as they were */

/* Room is taken before it is written to. A record's first unit tells where the one that it interrupted begins. */
static void begin(uint32_t function)
{
    unsigned start = effect_end <= (NESTED - 1) * EFFECT_UNITS ? effect_end : 0;
    effect_end = start + 2;
    __asm__ volatile("" ::: "memory");
    effects[start] = effect;
    effects[start + 1] = function;
    effect = start;
}

static void append(uint64_t word)
{
    unsigned place = effect_end;
    effect_end = place + 2;
    __asm__ volatile("" ::: "memory");
    memcpy(effects + place, &word, sizeof word);
}

static void write_record(void)
{
    const unsigned length = effect_end - effect;
    whence_suppression_effect(effects + effect + 2, length - 2);
    uint32_t *place = whence_reserve(length);
    place[0] = KIND_EFFECT | length;
    memcpy(place + 1, effects + effect + 1, sizeof *place * (length - 1));
}

int whence_is_collecting(void) { return effect_end != 0; }

void whence_effect_begin(uint32_t function)
{
    whence_hold_baton();
    begin(function);
}

void whence_effect(enum whence_operation operation, unsigned a, int operands, uint64_t x, uint64_t y, uint64_t z)
{
    if (effect_end - effect + 8 > EFFECT_UNITS) { /* one call, several records: the rest goes into another one */
        if (whence_recording())
            write_record();
        effect_end = effect + 2;
    }
    const uint64_t words[3] = {x, y, z};
    append((uint64_t)operation | (uint64_t)a << 8);
    for (int i = 0; i < operands; i++)
        append(words[i]);
}

void whence_effect_end(void)
{
    if (whence_recording())
        write_record();
    const unsigned start = effect;
    effect = effects[start];
    __asm__ volatile("" ::: "memory");
    effect_end = start;
}
