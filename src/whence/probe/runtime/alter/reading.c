/* What a continuation reads where it is to stop: memory, or the value of a site. It is appended to the session file, one
   reading behind the other, so it is known whatever becomes of the process. */
#include "alter/control.h"
#include "alter/session.h"

#include <string.h>

static struct whence_result *result_at_hand(void) { return whence_result_of(whence_control->running); }

static void append(const void *bytes, uint64_t length)
{
    struct whence_session *file = whence_control->file;
    struct whence_result *result = result_at_hand();
    if (file->events_count + length > file->events_limit * sizeof(struct whence_event))
        whence_end((struct whence_ending){VERDICT_REFUSED, 0, 0});
    if (!result->output_length)
        result->output = file->events_count;
    memcpy(FILE_AT(file->events + file->events_count), bytes, length);
    file->events_count += length;
    result->output_length += (uint32_t)length;
}

void whence_forget_readings(void)
{
    struct whence_result *result = result_at_hand();
    if (result->output_length)
        whence_control->file->events_count = result->output;
    result->output_length = 0;
}

static void read_at(const struct whence_point *point, uint64_t value)
{
    for (uint64_t i = 0; i < whence_state.count; i++) {
        const struct whence_change *change = &whence_state.changes[i];
        if (change->op < OP_READ || !whence_is_at(change, point))
            continue;
        if (change->op == OP_READ)
            append((const void *)change->address, change->value);
        else if (change->op == OP_READ_VALUE)
            append(&value, sizeof value);
        else
            whence_end((struct whence_ending){VERDICT_REACHED, 0, 0});
    }
}

uint64_t whence_continued(const struct whence_point *point)
{
    uint64_t value = whence_altered(point);
    if (whence_state.is_followed)
        read_at(point, value);
    return value;
}
