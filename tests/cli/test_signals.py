"""Faults in handlers of asynchronous signals: the commands lead to them as to any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_programs import fault_line, line_of
from cli_tool import subject_folder, whence

# Takes what its children left with; `slot` is lost when that becomes too much.
CHILDREN = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t gone;
static volatile int total;
static int table[3];
static int *slot = table;
static void on_child(int number)
{
    int status;
    (void)number;
    while (waitpid(-1, &status, WNOHANG) > 0) {
        total += WEXITSTATUS(status);
        if (total > 3)
            slot = NULL; /* FAULT */
        *slot = total;
        gone++;
    }
}
int main(int argc, char **argv)
{
    int count = argc - 1;
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART};
    sigaction(SIGCHLD, &action, NULL);
    for (int i = 1; i <= count; i++)
        if (!fork())
            _exit(atoi(argv[i]));
    while (gone < count) { }
    printf("total %d\\n", total);
    return 0;
}
"""

# Counts down with a timer; each third tick is to be worth two.
TICKS = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile sig_atomic_t ticks;
static volatile int budget = 20;
static int wanted;
static void on_alarm(int number)
{
    (void)number;
    if (ticks == wanted)
        return;
    ticks++;
    if (ticks % 3 == 0)
        budget -= 3; /* FAULT */
    else
        budget -= 1;
}
int main(int argc, char **argv)
{
    wanted = argc > 1 ? atoi(argv[1]) : 0;
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    while (ticks < wanted) { }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("budget %d\\n", budget);
    return 0;
}
"""


def sliced(name: str, folder: Path, *cases: str) -> dict[int, int]:
    """How often each line of the slice was executed."""
    done = whence(folder, "slice", name, *cases, "--json")
    assert done.status == 0, done.err
    return {at["line"]: at["instances"] for at in done.json["slice"]}


def test_a_crash_in_a_handler_of_children_that_end() -> None:
    lines = sliced("children.c", subject_folder("children", children_c=CHILDREN), "--fails", "1 1 2", "--passes", "1")
    assert fault_line(CHILDREN) in lines
    assert lines[line_of(CHILDREN, "total += ")] == 3


@pytest.mark.parametrize("wanted", [6, 9])
def test_a_wrong_value_that_a_timers_handler_made(wanted: int) -> None:
    right = f"budget {20 - wanted - wanted // 3}\n"
    lines = sliced("ticks.c", subject_folder("ticks", ticks_c=TICKS), "--fails", str(wanted), "--expect", right)
    assert lines[fault_line(TICKS)] == wanted // 3
    assert lines[line_of(TICKS, "ticks++")] == wanted
