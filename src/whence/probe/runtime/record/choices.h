/* choices.c: which thread goes on, by a schedule from a file. It knows threads by their numbers, and steps by theirs. */
#ifndef WHENCE_CHOICES_H
#define WHENCE_CHOICES_H

#include <stdint.h>

enum why { AT_STEP, AT_WAIT, AT_PAUSE /* it sleeps or yields */ };

struct whence_choice {
    unsigned thread, by_default; /* whose turn it is, and whose it would be */
    uint64_t step;               /* the thread's, which begins or in which it waits */
    uint64_t ready;              /* bits of the threads that can go on, sleepers too; those above 63 go on by default alone */
    enum why why;
    uint32_t segment;            /* of a step */
};

/* Whether a schedule was given. */
int whence_is_scheduled(void);
/* Whether there is a choice to make at a step: cheap, for whoever stops at each. `wakes`: how often threads were woken. */
int whence_considers(uint64_t step, uint32_t segment, uint64_t wakes);
/* The thread that goes on. */
unsigned whence_choose_by_schedule(const struct whence_choice *choice);
/* Whether a thread that has the turn back before a step is to give it away again: there is another point for the step, and no point
   has given it the turn. */
int whence_is_held(unsigned thread, uint64_t step);
/* A thread's turn begins, after so many steps of it; whether it is over at a step. */
void whence_begin_turn(uint64_t steps);
int whence_turn_is_over(uint64_t step);
/* The first step after so many at which a thread has to ask. */
uint64_t whence_step_to_ask_at(unsigned thread, uint64_t steps);
/* Notes how the run went on. */
void whence_tell_end(unsigned end);
void whence_tell_threads(unsigned count);

#endif
