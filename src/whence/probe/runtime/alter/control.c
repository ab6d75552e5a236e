/* The session file and the limits in time of the run at hand. */
#include "alter/control.h"

struct whence_result *whence_result_of(uint64_t continuation)
{
    return (struct whence_result *)FILE_AT(whence_control->file->results) + continuation;
}

const struct whence_change *whence_changes_of(uint64_t continuation, uint64_t *count)
{
    const uint64_t *offsets = FILE_AT(whence_control->file->offsets);
    *count = offsets[continuation + 1] - offsets[continuation];
    return (const struct whence_change *)FILE_AT(whence_control->file->changes) + offsets[continuation];
}

void whence_allow(uint64_t ms)
{
    whence_control->patience = 0;
    whence_control->ticks = 0;
    whence_control->is_late = 0;
    whence_control->patience = ms;
}
