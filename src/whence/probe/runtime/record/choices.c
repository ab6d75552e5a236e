/* Which thread goes on where several can: as the points of a schedule say, by chance, or by priorities that fall at some moments
   (PCT). What differs from the default is noted as a point, so each run can be made again from its points alone. */
#define _GNU_SOURCE
#include "record/choices.h"
#include "record/schedule.h"
#include "record/schedule_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MASKED = 64, CHANGES_MAX = 64 };
#define USED UINT32_C(0x80000000) /* a point that has been followed */

static struct schedule_file *file;
static struct schedule_point *points, *choices;
static struct schedule_moment *moments;
static const uint8_t *sites;
static uint64_t turn_end, chance_state, change_at[CHANGES_MAX];
static uint64_t followed, wakes_seen; /* points that have been; how often threads had been woken at the last choice */
static int64_t priorities[MASKED], lowest;
static unsigned given_to = MASKED; /* the thread that the last choice named by a point, if it did */

int whence_is_scheduled(void) { return file != NULL; }

static uint64_t random_number(void)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return chance_state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

/* Each thread has a priority of its own, in random order; the moments at which one falls are drawn beforehand. */
static void draw_priorities(void)
{
    for (int i = 0; i < MASKED; i++)
        priorities[i] = i + 1;
    for (int i = MASKED - 1; i > 0; i--) {
        int other = (int)(random_number() % (uint64_t)(i + 1));
        int64_t kept = priorities[i];
        priorities[i] = priorities[other];
        priorities[other] = kept;
    }
    for (uint64_t i = 0; i < file->changes && i < CHANGES_MAX; i++)
        change_at[i] = 1 + random_number() % (file->length ? file->length : 1);
}

int whence_schedule_open(const char *path)
{
    struct stat about;
    int opened = open(path, O_RDWR | O_CLOEXEC);
    if (opened < 0)
        return -1;
    void *mapped = MAP_FAILED;
    if (!fstat(opened, &about) && about.st_size >= (off_t)sizeof *file)
        mapped = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    close(opened);
    if (mapped == MAP_FAILED || ((struct schedule_file *)mapped)->magic != SCHEDULE_MAGIC)
        return -1;
    file = mapped;
    points = (struct schedule_point *)(file + 1);
    choices = points + file->points;
    moments = (struct schedule_moment *)(choices + file->choices_room);
    sites = (const uint8_t *)(moments + file->moments_room);
    chance_state = file->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    draw_priorities();
    return 0;
}

/* ---- When to ask ---------------------------------------------------------------------------------------------- */

static int asks_always(void) { return file->way != BY_POINTS || file->moments_room; }

static int is_shared(uint32_t segment)
{
    return !file->sites || (segment / 8 < file->sites && (sites[segment / 8] >> segment % 8 & 1));
}

void whence_begin_turn(uint64_t steps)
{
    if (file)
        turn_end = steps + file->slice;
}

int whence_turn_is_over(uint64_t step) { return step >= turn_end; }

/* Whether one of the priorities is to fall at this moment. */
static int is_change(void)
{
    for (uint64_t i = 0; i < file->changes && i < CHANGES_MAX; i++)
        if (change_at[i] == file->considered)
            return 1;
    return 0;
}

int whence_considers(uint64_t step, uint32_t segment, uint64_t wakes)
{
    if (!asks_always() || whence_turn_is_over(step))
        return 1;
    if (!is_shared(segment))
        return 0;
    file->considered++;
    if (file->way == BY_CHANCE)
        return random_number() % 65536 < file->chance;
    if (file->way == BY_PRIORITIES)
        return wakes != wakes_seen ? wakes_seen = wakes, 1 : is_change();
    return file->moments < file->moments_room || followed < file->points;
}

uint64_t whence_step_to_ask_at(unsigned thread, uint64_t steps)
{
    uint64_t stop = turn_end > steps ? turn_end : steps + 1;
    if (asks_always())
        return steps + 1;
    for (uint64_t i = 0; i < file->points; i++)
        if (points[i].thread == thread && !(points[i].at & 1) && points[i].at >> 1 > steps && points[i].at >> 1 < stop)
            stop = points[i].at >> 1;
    return stop;
}

/* ---- Choosing ------------------------------------------------------------------------------------------------- */

static int can_go_on(const struct whence_choice *choice, unsigned thread)
{
    return thread < MASKED && choice->ready >> thread & 1;
}

/* The first point for this place that has not been followed. */
static struct schedule_point *find_point(unsigned thread, uint64_t at)
{
    for (uint64_t i = 0; i < file->points; i++)
        if (points[i].thread == thread && points[i].at == at && !(points[i].next & USED))
            return &points[i];
    return NULL;
}

static unsigned by_chance(const struct whence_choice *choice)
{
    uint64_t own = choice->thread < MASKED && choice->why != AT_PAUSE ? UINT64_C(1) << choice->thread : 0;
    uint64_t others = choice->ready & ~own;
    if (!others || (choice->why == AT_STEP && choice->by_default != choice->thread))
        return choice->by_default;
    for (uint64_t skipped = random_number() % (unsigned)__builtin_popcountll(others); skipped; skipped--)
        others &= others - 1;
    return (unsigned)__builtin_ctzll(others);
}

/* Who yields, sleeps or has had the turn for long falls behind all others, else he would come next again. */
static unsigned by_priority(const struct whence_choice *choice)
{
    int64_t *own = choice->thread < MASKED ? &priorities[choice->thread] : NULL;
    int falls = choice->why == AT_PAUSE || (choice->why == AT_STEP && choice->by_default != choice->thread);
    if ((falls || (choice->why == AT_STEP && is_change())) && own)
        *own = --lowest;
    unsigned best = choice->by_default;
    for (unsigned i = 0; i < MASKED; i++)
        if (can_go_on(choice, i) && (best >= MASKED || !can_go_on(choice, best) || priorities[i] > priorities[best]))
            best = i;
    return best;
}

int whence_is_held(unsigned thread, uint64_t step)
{
    return file && given_to != thread && find_point(thread, step << 1);
}

static void note(const struct whence_choice *choice, uint64_t at, unsigned chosen)
{
    struct schedule_point point = {choice->thread, chosen, at};
    if (chosen != choice->by_default && file->choices++ < file->choices_room)
        choices[file->choices - 1] = point;
    if (file->moments_room && file->moments++ < file->moments_room)
        moments[file->moments - 1] = (struct schedule_moment){point, choice->ready, choice->segment, 0};
}

unsigned whence_choose_by_schedule(const struct whence_choice *choice)
{
    uint64_t at = choice->step << 1 | (choice->why != AT_STEP);
    struct schedule_point *point = find_point(choice->thread, at);
    unsigned chosen = choice->by_default;
    given_to = MASKED;
    if (point) {
        if (can_go_on(choice, point->next))
            given_to = chosen = point->next;
        point->next |= USED;
        followed++;
    } else if (file->way == BY_CHANCE) {
        chosen = by_chance(choice);
    } else if (file->way == BY_PRIORITIES) {
        chosen = by_priority(choice);
    }
    note(choice, at, chosen);
    return chosen;
}

/* ---- Telling -------------------------------------------------------------------------------------------------- */

void whence_tell_end(unsigned end)
{
    if (file)
        file->end = end;
}

void whence_tell_threads(unsigned count)
{
    if (file)
        file->threads = count;
}
