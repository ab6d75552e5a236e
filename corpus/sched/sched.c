/* sched - simulate a process scheduler with priority levels and feedback.

   usage: sched [-v] [-f] [-q TICKS] [-l LEVELS] [-a TICKS] < commands

     -v         report every switch, not only what ends
     -f         fixed levels: a task that uses up its slice stays on its level
     -q TICKS   slice on the first level, doubled on each further one (2)
     -l LEVELS  number of levels, 1 to 6 (3); level 0 goes first
     -a TICKS   a task that was ready for so long rises a level (20)

   Commands, one on a line; # starts a comment:

     spawn NAME LEVEL WORK [EVERY PAUSE]   a task of WORK ticks; it pauses after each EVERY ticks of work
     run [TICKS]        let time pass, or run until nothing can happen any more
     stop NAME, cont NAME, kill NAME, nice NAME LEVEL
     join NAME OTHER    NAME waits until OTHER has ended
     show, queues, stats

   Exit status: 0, 1 when a command was refused, 2 for wrong use. */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 12, MAX_LEVELS = 6, MAX_LINE = 120, MAX_WORDS = 7, MAX_TICKS = 10000 };

enum state { READY, RUNNING, SLEEPING, STOPPED, JOINING };

static const char *const state_names[] = {"ready", "running", "sleeping", "stopped", "joining"};

struct task {
    struct task *next;          /* in the queue or list that the task's state says */
    struct task *next_task;     /* in the list of all tasks, in the order of their creation */
    char name[NAME_SIZE];
    int level;
    enum state state;
    int work, done;
    int every, pause;
    int slice;                  /* ticks used of the current slice */
    int wake_at;
    int created_at, ready_at;
    int waited;                 /* ticks spent ready, up to ready_at */
    struct task *target;        /* the task that a joining one waits for */
};

struct queue {
    struct task *head, *tail;
    int length;
};

/* What is kept of a task that has ended. */
struct record {
    char name[NAME_SIZE];
    int turnaround, waited;
    bool killed;
};

struct system {
    struct queue levels[MAX_LEVELS];
    struct task *sleeping;      /* the first to wake in front */
    struct task *tasks;
    struct task *running;
    struct record *history;
    int history_length, history_capacity;
    int clock, switches, idle, refused;
    int level_count, quantum, age;
    bool fixed, verbose;
};

/* ---- queues ---- */

static void queue_append(struct queue *queue, struct task *task)
{
    task->next = NULL;
    if (queue->tail)
        queue->tail->next = task;
    else
        queue->head = task;
    queue->tail = task;
    queue->length++;
}

static void queue_push_front(struct queue *queue, struct task *task)
{
    task->next = queue->head;
    queue->head = task;
    if (!queue->tail)
        queue->tail = task;
    queue->length++;
}

static void queue_remove(struct queue *queue, struct task *task)
{
    struct task *before = NULL;
    for (struct task *at = queue->head; at != task; at = at->next)
        before = at;
    if (before)
        before->next = task->next;
    else
        queue->head = task->next;
    if (queue->tail == task)
        queue->tail = before;
    queue->length--;
}

/* ---- states ---- */

static void make_ready(struct system *system, struct task *task)
{
    task->state = READY;
    task->slice = 0;
    task->ready_at = system->clock;
    queue_append(&system->levels[task->level], task);
}

/* Puts a task among the sleeping ones, behind those that wake at the same time. */
static void put_to_sleep(struct system *system, struct task *task, int ticks)
{
    struct task **link = &system->sleeping;
    task->state = SLEEPING;
    task->wake_at = system->clock + ticks;
    while (*link && (*link)->wake_at <= task->wake_at)
        link = &(*link)->next;
    task->next = *link;
    *link = task;
}

/* Takes a task out of whatever its state has put it into. */
static void detach(struct system *system, struct task *task)
{
    if (task->state == READY) {
        queue_remove(&system->levels[task->level], task);
        task->waited += system->clock - task->ready_at;
    } else if (task->state == RUNNING) {
        system->running = NULL;
    } else if (task->state == SLEEPING) {
        struct task **link = &system->sleeping;
        while (*link != task)
            link = &(*link)->next;
        *link = task->next;
    }
}

static void remember(struct system *system, const struct task *task, bool killed)
{
    if (system->history_length == system->history_capacity) {
        system->history_capacity = system->history_capacity * 2 + 4;
        size_t size = (size_t)system->history_capacity * sizeof *system->history;
        system->history = realloc(system->history, size);
        if (!system->history)
            exit(2);
    }
    struct record *record = &system->history[system->history_length++];
    strcpy(record->name, task->name);
    record->turnaround = system->clock - task->created_at;
    record->waited = task->waited;
    record->killed = killed;
}

/* Ends a task: those that wait for it become ready, and it is released. */
static void end_task(struct system *system, struct task *task, bool killed)
{
    detach(system, task);
    remember(system, task, killed);
    printf("%5d %s %s, turnaround %d, waited %d\n", system->clock, task->name, killed ? "killed" : "done",
           system->clock - task->created_at, task->waited);
    struct task **link = &system->tasks;
    while (*link != task)
        link = &(*link)->next_task;
    *link = task->next_task;
    for (struct task *other = system->tasks; other; other = other->next_task)
        if (other->target == task) {
            other->target = NULL;
            make_ready(system, other);
        }
    free(task);
}

/* ---- time ---- */

static void wake_sleepers(struct system *system)
{
    while (system->sleeping && system->sleeping->wake_at <= system->clock) {
        struct task *task = system->sleeping;
        system->sleeping = task->next;
        make_ready(system, task);
    }
}

/* Raises the tasks that have been ready for too long by one level. */
static void age_tasks(struct system *system)
{
    for (int level = 1; level < system->level_count; level++) {
        struct task *next;
        for (struct task *task = system->levels[level].head; task; task = next) {
            next = task->next;
            if (system->clock - task->ready_at < system->age)
                continue;
            detach(system, task);
            task->level = level - 1;
            make_ready(system, task);
            if (system->verbose)
                printf("%5d %s rises to level %d\n", system->clock, task->name, task->level);
        }
    }
}

static int first_ready_level(const struct system *system)
{
    int level = 0;
    while (level < system->level_count && !system->levels[level].head)
        level++;
    return level;
}

static void dispatch(struct system *system)
{
    int level = first_ready_level(system);
    if (level == system->level_count)
        return;
    struct task *task = system->levels[level].head;
    detach(system, task);
    task->state = RUNNING;
    system->running = task;
    system->switches++;
    if (system->verbose)
        printf("%5d %s runs on level %d\n", system->clock, task->name, level);
}

/* Decides what becomes of the running task after a tick. */
static void after_tick(struct system *system)
{
    struct task *task = system->running;
    if (task->done == task->work) {
        system->running = NULL;
        end_task(system, task, false);
    } else if (task->every > 0 && task->done % task->every == 0) {
        system->running = NULL;
        put_to_sleep(system, task, task->pause);
    } else if (task->slice >= system->quantum << task->level) {
        system->running = NULL;
        if (!system->fixed && task->level < system->level_count - 1)
            task->level++;
        make_ready(system, task);
    } else if (first_ready_level(system) < task->level) {
        system->running = NULL;     /* preempted: it goes on with the rest of its slice */
        task->state = READY;
        task->ready_at = system->clock;
        queue_push_front(&system->levels[task->level], task);
    }
}

static void tick(struct system *system)
{
    wake_sleepers(system);
    age_tasks(system);
    if (!system->running)
        dispatch(system);
    system->clock++;
    if (system->running) {
        system->running->done++;
        system->running->slice++;
        after_tick(system);
    } else {
        system->idle++;
    }
}

/* Whether time can still change anything. */
static bool busy(const struct system *system)
{
    return system->running || system->sleeping || first_ready_level(system) < system->level_count;
}

/* ---- commands ---- */

static void refuse(struct system *system, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("refused: ");
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    system->refused++;
}

static struct task *find_task(struct system *system, const char *name)
{
    for (struct task *task = system->tasks; task; task = task->next_task)
        if (strcmp(task->name, name) == 0)
            return task;
    return NULL;
}

/* Reads a number between two bounds; anything else is refused. */
static bool number(struct system *system, const char *word, int minimum, int maximum, int *value)
{
    char *end;
    long parsed = strtol(word, &end, 10);
    if (end == word || *end || parsed < minimum || parsed > maximum) {
        refuse(system, "%s is not a number from %d to %d", word, minimum, maximum);
        return false;
    }
    *value = (int)parsed;
    return true;
}

static void spawn(struct system *system, char **words, int count)
{
    int level, work, every = 0, pause = 0;
    if (strlen(words[1]) >= NAME_SIZE) {
        refuse(system, "name %s is too long", words[1]);
        return;
    }
    if (find_task(system, words[1])) {
        refuse(system, "there is a task %s", words[1]);
        return;
    }
    if (!number(system, words[2], 0, system->level_count - 1, &level) ||
        !number(system, words[3], 1, MAX_TICKS, &work))
        return;
    if (count > 4 && (!number(system, words[4], 1, MAX_TICKS, &every) ||
                      !number(system, words[5], 1, MAX_TICKS, &pause)))
        return;

    struct task *task = malloc(sizeof *task);
    if (!task)
        exit(2);
    task->level = level;
    task->work = work;
    task->done = 0;
    task->every = every;
    task->pause = pause;
    task->created_at = system->clock;
    task->waited = 0;
    task->target = NULL;
    task->next_task = NULL;
    strcpy(task->name, words[1]);
    struct task **link = &system->tasks;
    while (*link)
        link = &(*link)->next_task;
    *link = task;
    make_ready(system, task);
}

static void run(struct system *system, char **words, int count)
{
    int ticks = MAX_TICKS;
    if (count > 1 && !number(system, words[1], 1, MAX_TICKS, &ticks))
        return;
    for (int i = 0; i < ticks && (count > 1 || busy(system)); i++)
        tick(system);
}

static void stop(struct system *system, struct task *task)
{
    if (task->state == STOPPED || task->state == JOINING) {
        refuse(system, "%s is %s", task->name, state_names[task->state]);
        return;
    }
    detach(system, task);
    task->state = STOPPED;
}

static void resume(struct system *system, struct task *task)
{
    if (task->state != STOPPED)
        refuse(system, "%s is not stopped", task->name);
    else
        make_ready(system, task);
}

static void set_level(struct system *system, struct task *task, const char *word)
{
    int level;
    if (!number(system, word, 0, system->level_count - 1, &level))
        return;
    bool queued = task->state == READY;
    if (queued)
        detach(system, task);
    task->level = level;
    if (queued)
        make_ready(system, task);
}

/* Joining must not make a circle, since nobody in it would ever go on. */
static void join(struct system *system, struct task *task, const char *name)
{
    struct task *target = find_task(system, name);
    if (!target) {
        refuse(system, "there is no task %s", name);
        return;
    }
    for (const struct task *at = target; at; at = at->target)
        if (at == task) {
            refuse(system, "%s would wait for itself", task->name);
            return;
        }
    if (task->state == JOINING || task->state == STOPPED) {
        refuse(system, "%s is %s", task->name, state_names[task->state]);
        return;
    }
    detach(system, task);
    task->state = JOINING;
    task->target = target;
}

static void show(const struct system *system)
{
    printf("%5d %d ended\n", system->clock, system->history_length);
    for (const struct task *task = system->tasks; task; task = task->next_task) {
        printf("      %-11s %-8s level %d, %d of %d", task->name, state_names[task->state], task->level,
               task->done, task->work);
        if (task->state == SLEEPING)
            printf(", until %d", task->wake_at);
        else if (task->target)
            printf(", for %s", task->target->name);
        putchar('\n');
    }
}

static void show_queues(const struct system *system)
{
    for (int level = 0; level < system->level_count; level++) {
        printf("      level %d (%d):", level, system->levels[level].length);
        for (const struct task *task = system->levels[level].head; task; task = task->next)
            printf(" %s", task->name);
        putchar('\n');
    }
}

static void show_stats(const struct system *system)
{
    int ended = 0;
    const struct record *longest = NULL;
    double turnaround = 0, waited = 0;
    for (int i = 0; i < system->history_length; i++) {
        const struct record *record = &system->history[i];
        if (record->killed)
            continue;
        ended++;
        turnaround += record->turnaround;
        waited += record->waited;
        if (!longest || record->waited > longest->waited)
            longest = record;
    }
    printf("%5d ticks, %d idle, %d switches, %d done, %d killed\n", system->clock, system->idle,
           system->switches, ended, system->history_length - ended);
    if (longest)
        printf("      mean turnaround %.2f, mean wait %.2f, longest wait %s %d\n", turnaround / ended,
               waited / ended, longest->name, longest->waited);
}

enum verb { SPAWN, RUN, STOP, CONT, KILL, NICE, JOIN, SHOW, QUEUES, STATS };

/* What a command needs: words with its own, and whether the first argument names a task. */
static const struct command {
    const char *name;
    enum verb verb;
    int least, most;
    bool names_task;
} commands[] = {
    {"spawn", SPAWN, 4, 6, false}, {"run", RUN, 1, 2, false}, {"stop", STOP, 2, 2, true},
    {"cont", CONT, 2, 2, true}, {"kill", KILL, 2, 2, true}, {"nice", NICE, 3, 3, true},
    {"join", JOIN, 3, 3, true}, {"show", SHOW, 1, 1, false}, {"queues", QUEUES, 1, 1, false},
    {"stats", STATS, 1, 1, false}
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void execute(struct system *system, char **words, int count)
{
    const struct command *command = find_command(words[0]);
    if (!command) {
        refuse(system, "unknown command %s", words[0]);
        return;
    }
    if (count < command->least || count > command->most || (command->verb == SPAWN && count == 5)) {
        refuse(system, "%s has the wrong number of arguments", words[0]);
        return;
    }
    struct task *task = command->names_task ? find_task(system, words[1]) : NULL;
    if (command->names_task && !task) {
        refuse(system, "there is no task %s", words[1]);
        return;
    }
    switch (command->verb) {
    case SPAWN: spawn(system, words, count); break;
    case RUN: run(system, words, count); break;
    case STOP: stop(system, task); break;
    case CONT: resume(system, task); break;
    case KILL: end_task(system, task, true); break;
    case NICE: set_level(system, task, words[2]); break;
    case JOIN: join(system, task, words[2]); break;
    case SHOW: show(system); break;
    case QUEUES: show_queues(system); break;
    case STATS: show_stats(system); break;
    }
}

/* Splits a line at white space, up to a comment; returns the number of words. */
static int split(char *line, char **words)
{
    int count = 0;
    line[strcspn(line, "#\n")] = '\0';
    for (char *word = strtok(line, " \t"); word && count < MAX_WORDS; word = strtok(NULL, " \t"))
        words[count++] = word;
    return count;
}

static void release(struct system *system)
{
    while (system->tasks) {
        struct task *next = system->tasks->next_task;
        free(system->tasks);
        system->tasks = next;
    }
    free(system->history);
    free(system);
}

static _Noreturn void usage(void)
{
    fputs("usage: sched [-v] [-f] [-q TICKS] [-l LEVELS] [-a TICKS] < commands\n", stderr);
    exit(2);
}

static int option_value(const char *text, int maximum)
{
    int value = text ? atoi(text) : 0;
    if (value < 1 || value > maximum)
        usage();
    return value;
}

int main(int argc, char **argv)
{
    struct system *system = calloc(1, sizeof *system);
    char line[MAX_LINE];
    char *words[MAX_WORDS];

    if (!system)
        return 2;
    system->level_count = 3;
    system->quantum = 2;
    system->age = 20;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            system->verbose = true;
        else if (strcmp(argv[i], "-f") == 0)
            system->fixed = true;
        else if (strcmp(argv[i], "-q") == 0)
            system->quantum = option_value(argv[++i], 100);
        else if (strcmp(argv[i], "-l") == 0)
            system->level_count = option_value(argv[++i], MAX_LEVELS);
        else if (strcmp(argv[i], "-a") == 0)
            system->age = option_value(argv[++i], MAX_TICKS);
        else
            usage();
    }
    while (fgets(line, sizeof line, stdin)) {
        int count = split(line, words);
        if (count > 0)
            execute(system, words, count);
    }
    int status = system->refused > 0;
    release(system);
    return status;
}
