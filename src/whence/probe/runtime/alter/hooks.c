/* What hooks of the alter variant ask: with the block's clock (from 1) and the site, on a stack of their own. */
#include "alter/session.h"

__asm__(
    ".text\n"
    ".macro HOOK name, target\n"
    ".globl \\name\n"
    ".hidden \\name\n"
    ".type \\name, @function\n"
    "\\name:\n"
    "    lea \\target(%rip), %rax\n"
    "    jmp whence_enter\n"
    ".endm\n"
    "HOOK whence_alter, whence_alter_here\n"
    "HOOK whence_compute, whence_compute_here\n"
    "HOOK whence_callee, whence_callee_here\n"
    "HOOK whence_stop_at, whence_stop_here\n");

static uint64_t answer(const struct whence_point *point)
{
    if (whence_state.doing == DOING_CONTINUATION)
        return whence_continued(point);
    return whence_state.doing == DOING_NOTHING ? point->value : whence_visit(point);
}

__attribute__((used)) uint64_t whence_alter_here(uint64_t clock, uint32_t site, uint64_t value, void *place, void **frame)
{
    struct whence_point point = {.clock = clock, .site = site, .value = value, .place = place, .frame = frame};
    return answer(&point);
}

__attribute__((used)) uint64_t whence_compute_here(uint64_t clock, uint32_t site, uint64_t value, uint64_t left,
                                                   uint64_t right, void **frame)
{
    struct whence_point point = {
        .clock = clock, .site = site, .value = value, .left = left, .right = right, .frame = frame, .is_computed = 1};
    return answer(&point);
}

__attribute__((used)) uint64_t whence_callee_here(uint64_t clock, uint32_t site, void *function, void **frame)
{
    struct whence_point point = {
        .clock = clock, .site = site, .value = (uintptr_t)function, .frame = frame, .is_call = 1};
    return answer(&point);
}

/* Whether the hooks of the block that starts now are to ask: its clock, or 0. */
__attribute__((used)) uint64_t whence_stop_here(uint64_t clock, uint32_t block)
{
    if (whence_state.budget && clock > whence_state.budget)
        whence_out_of_budget();
    if (whence_state.doing == DOING_OBSERVE)
        whence_see(block);
    if (whence_state.doing == DOING_CONTINUATION) {
        int is_due = whence_follow(clock, block);
        return is_due || __whence_armed[block] ? clock : 0;
    }
    if (whence_state.doing == DOING_SEARCH && clock >= __whence_stop) {
        __whence_stop = whence_next_stop(clock);
        if (__whence_stop <= clock)
            whence_out_of_budget();
    }
    return clock;
}
