"""``whence suppress`` as a user sees it."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder, whence

from bench.suppression.threads import PROGRAMS
from whence.alter.suppression import SuppressedRuns

THREADS = {program.name: program.text for program in PROGRAMS}
SILENT = "int main(void) { return 0; }\n"
CRASHES = """\
#include <string.h>
static struct { char name[8]; int *value; } row;
static int number = 4;
int main(int argc, char **argv)
{
    row.value = &number;
    strcpy(row.name, argv[1]);
    return *row.value == 4 && argc > 5;
}
"""


@pytest.fixture(scope="module")
def result():
    folder = subject_folder("crashes", crashes_c=CRASHES)
    cases = ("--fails", "far-too-long-a-name", "--passes", "short")
    return whence(folder, "suppress", "crashes.c", *cases, "--budget", "5m", "--json").json


def test_the_first_corruption_comes_first(result):
    first = result["ranking"][0]
    assert first["line"] == 7
    assert "first corruption" in first["evidence"]["text"]


def test_the_executions_are_told(result):
    suppression = result["suppression"]
    assert suppression["gone"] and suppression["schedule"] is None
    first, last = suppression["executions"]
    assert (first["outcome"], first["line"], first["points"]) == ("crash", 8, 0)
    assert (last["points"], last["suppressed"]) == (1, [])
    (definition,) = first["suppressed"]
    assert (definition["line"], definition["name"], definition["bytes"]) == (7, "row.value", 20)


def test_where_the_memory_check_agrees_the_entry_says_so(result):
    assert result["suppression"]["agrees"] is True
    assert "the memory check agrees" in result["ranking"][0]["evidence"]["text"]


def test_so_it_does_where_the_write_went_from_one_member_into_another():
    text = CRASHES.replace("{ char name[8]; int *value; }", "{ int id; char name[8]; int *value; char more[32]; }")
    folder = subject_folder("crashes-inside", crashes_c=text)
    cases = ("--fails", "far-too-long-a-name", "--passes", "short")
    found = whence(folder, "suppress", "crashes.c", *cases, "--budget", "5m", "--json").json
    assert found["suppression"]["agrees"] is True
    assert "the member `name`" in found["ranking"][0]["evidence"]["text"]


def test_where_nothing_fails_it_says_so():
    folder = subject_folder("nothing", nothing_c=SILENT)
    done = whence(folder, "suppress", "nothing.c", "--passes", "")
    assert done.status == 2
    assert "no case fails" in done.err


FORKED = """\
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static struct { char name[8]; int *value; } row;
static int number = 4;
int main(int argc, char **argv)
{
    row.value = &number;
    if (!fork()) {
        strcpy(row.name, argv[1]);
        return *row.value == 4 && argc > 5;
    }
    return wait(NULL) < 0;
}
"""


def test_a_crash_of_a_forked_process_that_its_parent_makes_nothing_of_is_followed():
    folder = subject_folder("forked", forked_c=FORKED)
    words = ("suppress", "forked.c", "--follow", "child", "--budget", "5m")
    found = whence(folder, *words, "--fails", "far-too-long-a-name", "--json").json
    assert found["suppression"]["gone"] and found["ranking"][0]["line"] == 10
    assert found["suppression"]["agrees"] is True
    done = whence(folder, *words, "--passes", "short")
    assert done.status == 2 and "no case fails (1 case ran)" in done.err


SILENT_ERROR = """\
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    char *copy = malloc(8);
    strcpy(copy, argv[argc - 1]);
    free(copy);
    return 0;
}
"""


def test_of_cases_that_fail_by_memory_errors_alone_the_first_one_is_laid_out_anew():
    settings = '[program]\nsources = ["silent.c"]\n[cases]\nfile = "cases.txt"\nreference = "/bin/true"\n'
    files = {"silent_c": SILENT_ERROR, "cases_txt": "short\neight888\n"}
    folder = subject_folder("silent-error", **files, whence_toml=settings + "[compare]\nmemory = true\n")
    found = whence(folder, "suppress", "--reorder", "--budget", "5m", "--json").json
    first, *others = found["suppression"]["executions"]
    assert (found["suppression"]["case"], first["outcome"], first["text"]) == ("2", "pass", "no failure")
    assert others[0]["outcome"] == "crash" and found["ranking"][0]["line"] == 6


NETWORK = """\
#include <stdlib.h>
#include <sys/socket.h>
int main(void)
{
    int *nothing = NULL;
    return socket(AF_INET, SOCK_STREAM, 0) < 0 ? 1 : *nothing;
}
"""


def test_a_command_whose_process_ends_otherwise_in_confinement_is_refused():
    settings = '[program]\nsources = ["network.c"]\n[cases]\ncommand = "./network || exit 1"\n'
    folder = subject_folder("network", network_c=NETWORK, whence_toml=settings)
    done = whence(folder, "suppress", "--budget", "5m")
    assert done.status == 2
    assert "its process ended by SIGSEGV, but by exit status 1 in the suppress variant" in done.err


EXPOSED = """\
#include <stdio.h>
#include <string.h>
static char first[16] = "x", name[8];
static long gap[8];
static int *slot, number = 3;
int main(void)
{
    slot = &number;
    strcpy(name, "a longer name");
    gap[0] = 1;
    printf("%d %c%c\\n", *slot, first[0], name[0]);
    return 0;
}
"""


def test_an_order_of_variables_that_exposes_a_crash_is_in_the_result():
    folder = subject_folder("exposed", exposed_c=EXPOSED)
    found = whence(folder, "suppress", "exposed.c", "--passes", "", "--reorder", "--budget", "5m", "--json").json
    (order,) = found["suppression"]["orders"]
    assert order["space"] == "global" and order["text"]
    first, *others = found["suppression"]["executions"]
    assert (first["outcome"], first["space"]) == ("pass", "")
    assert {execution["space"] for execution in others} == {"global"}
    assert others[0]["outcome"] == "crash" and others[0]["suppressed"][0]["line"] == 9
    assert found["suppression"]["gone"] and found["ranking"][0]["line"] == 9
    assert found["suppression"]["runs"] > len(found["suppression"]["executions"])


def test_interrupted_in_a_later_execution_it_shows_what_came_before(monkeypatch):
    run = SuppressedRuns.run

    def interrupted(runs, points, *more):
        if points:
            raise KeyboardInterrupt
        return run(runs, points, *more)

    monkeypatch.setattr(SuppressedRuns, "run", interrupted)
    folder = subject_folder("crashes", crashes_c=CRASHES)
    found = whence(folder, "suppress", "crashes.c", "--fails", "far-too-long-a-name", "--budget", "5m", "--json").json
    assert found["ranking"][0]["line"] == 7
    assert "suppressed last: " in found["ranking"][0]["evidence"]["text"]
    assert not found["suppression"]["gone"]
    assert any("interrupted" in text for text in found["warnings"])


# ---- Programs with threads -----------------------------------------------------------------------------------------


def test_the_race_that_a_crash_came_of_comes_first():
    folder = subject_folder("taken", taken_c=THREADS["checked_pointer"])
    done = whence(folder, "suppress", "taken.c", "--cflags=-w", "--fails", "", "--budget", "5m", "--json")
    found, part = done.json, done.json["suppression"]
    assert done.status == 0
    assert [entry["line"] for entry in found["ranking"][:2]] == [24, 15]
    assert all("the failure came of a race: data race on `current`" in e["evidence"]["text"] for e in found["ranking"])
    assert (part["gone"], part["runs"], part["race_checks"], part["schedule"]) == (False, 2, 1, [])
    assert found["memory"][0]["verdict"] == "crash"  # checked in the same order of turns
    assert part["why"] == "it came of a data race"
    assert [access["line"] for access in part["race"]["accesses"]] == [15, 24]
    assert part["race"]["harm"]["verdict"] == "harmful" and part["executions"][0]["races"] == [part["race"]]
    text = whence(folder, "suppress", "taken.c", "--cflags=-w", "--fails", "", "--budget", "5m").out
    assert "nothing more was suppressed: the failure came of a data race" in text


def test_a_race_that_does_no_harm_is_told_and_suppression_goes_on():
    folder = subject_folder("limit", limit_c=THREADS["same_limit"])
    done = whence(folder, "suppress", "limit.c", "--cflags=-w", "--fails", "", "--budget", "5m", "--json")
    part = done.json["suppression"]
    assert part["race"] is None and part["gone"]
    first, last = part["executions"]
    assert {race["harm"]["verdict"] for race in first["races"]} == {"harmless"} and last["races"] == []
    assert "first corruption" in done.json["ranking"][0]["evidence"]["text"]
    assert any("so suppression goes on" in line for line in done.json["summary"])


def test_a_schedule_that_was_found_is_that_of_every_execution(tmp_path):
    text = THREADS["checked_pointer"].replace("        sched_yield();\n", "")
    folder, file = subject_folder("seldom", seldom_c=text), tmp_path / "seldom.json"
    words = ("seldom.c", "--cflags=-w", "--fails", "", "--budget", "5m")
    assert whence(folder, "schedules", *words, "--output", str(file)).status == 0
    found = whence(folder, "suppress", *words, "--schedule", str(file), "--json").json
    assert found["suppression"]["race"]["name"] == "`current`" and found["suppression"]["schedule"]
    assert found["memory"][0]["verdict"] == "crash"
    assert {entry["line"] for entry in found["ranking"][:2]} == {15, 23}


def test_an_order_by_chance_is_taken_where_the_default_one_does_not_fail():
    text = THREADS["checked_pointer"].replace("        sched_yield();\n", "")
    folder = subject_folder("seldom", seldom_c=text)
    found = whence(folder, "suppress", "seldom.c", "--cflags=-w", "--fails", "", "--budget", "5m", "--json").json
    assert found["suppression"]["schedule"] and found["suppression"]["race"]["name"] == "`current`"


def test_threads_that_fail_in_no_order_are_left_to_the_search_for_one():
    text = THREADS["checked_pointer"].replace("current = NULL;", "")
    done = whence(subject_folder("never", never_c=text), "suppress", "never.c", "--cflags=-w", "--fails", "")
    assert done.status == 2
    assert "no case fails" in done.err and "`whence schedules` looks for an order" in done.err


def test_slow_cases_leave_time_to_say_so():
    folder = subject_folder("slow", slow_c="#include <unistd.h>\nint main(void) { return sleep(2) != 0; }\n")
    done = whence(folder, "suppress", "slow.c", "--passes", "1", "--timeout", "9", "--budget", "4s")
    assert done.status == 1
    assert "half of the time was over before a case failed" in done.err and "--budget 5m" in done.err
