"""``--follow child``, and servers as cases: what a process did that the program forked is recorded and explained."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder, whence

JOBS = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
struct job { int id; int *cells; };
static int handle(struct job *job, const char *text)
{
    int sum = 0;
    for (const char *at = text; *at; at++)
        if (*at == '-')
            job->cells = NULL;
        else
            sum += job->cells[0] + *at;
    return sum;
}
int main(int argc, char **argv)
{
    int cell = 1, bad = 0;
    for (int i = 1; i < argc; i++) {
        struct job job = {i, &cell};
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            printf("%d\\n", handle(&job, argv[i]));
            exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        bad += !WIFEXITED(status);
    }
    printf("%d bad\\n", bad);
    return bad != 0;
}
"""
CRASHES = 14  # the line where a job's child crashes
CAUSE = 12  # where its pointer is cleared


def test_the_run_of_a_forked_process_is_explained():
    folder = subject_folder("jobs", jobs_c=JOBS)
    words = ("jobs.c", "--fails", "ab c-d", "--passes", "ab cd")
    found = whence(folder, "slice", *words, "--follow", "child", "--json").json
    assert (found["symptom"]["kind"], found["symptom"]["line"]) == ("crash", CRASHES)
    assert found["symptom"]["details"]["process"] == "./jobs ab c-d (one of 3 that ran)"
    assert CAUSE in {line["line"] for line in found["slice"]}
    assert whence(folder, "slice", *words, "--json").json["symptom"]["kind"] == "wrong-status"  # of the parent


def test_a_run_that_forks_nothing_gets_one_line():
    folder = subject_folder("alone", alone_c="int main(void) { return 1; }\n")
    told = whence(folder, "slice", "alone.c", "--fails", "", "--follow", "child")
    assert (told.status, "no forked process" in told.err, "leave --follow out" in told.err) == (2, True, True)


QUIET = (
    JOBS.replace("bad += !WIFEXITED(status);", "")
    .replace("if (child == 0) {", "if (child == 0) {\n            sum[*argv[i] == 'x' ? 4 : 0]++; /* beyond */")
    .replace("struct job job = {i, &cell};", 'struct job job = {i, &cell};\n        char sum[4] = "";')
)


def test_the_crash_of_a_followed_process_is_a_failure_though_its_parent_takes_no_notice():
    folder = subject_folder("quiet-jobs", quiet_c=QUIET)
    words = ("quiet.c", "--fails", "ab c-d", "--passes", "ab cd")
    found = whence(folder, "slice", *words, "--follow", "child", "--json").json
    assert (found["symptom"]["kind"], found["symptom"]["line"]) == ("crash", CRASHES)
    assert "ran 2 cases (1 passed, 1 failed)" in found["summary"][0]
    assert "no case fails" in whence(folder, "slice", *words).err


def test_of_several_followed_processes_the_one_with_memory_errors_is_checked():
    folder = subject_folder("quiet-jobs", quiet_c=QUIET)
    found = whence(folder, "memory", "quiet.c", "--passes", "ab xb cd", "--follow", "child", "--json")
    assert found.status == 0 and found.json["ranking"][0]["line"] == QUIET[: QUIET.index("/* beyond")].count("\n") + 1
    assert "the process ./quiet ab xb cd (one of 4 that ran)" in found.json["memory"][0]["remarks"]
    assert whence(folder, "memory", "quiet.c", "--passes", "ab cd", "--follow", "child").status == 1


def test_suppression_is_of_the_forked_process_that_crashed():
    folder = subject_folder("jobs", jobs_c=JOBS)
    told = whence(folder, "suppress", "jobs.c", "--fails", "ab c-d", "--follow", "child", "--budget", "2m", "--json")
    first = told.json["ranking"][0]
    line = next(number for number, text in enumerate(JOBS.splitlines(), 1) if "job->cells = NULL" in text)
    assert (told.status, first["file"], first["line"]) == (0, "jobs.c", line)
    assert "suppressed last, and no failure is left" in first["evidence"]["text"]


SERVER = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
struct request { char text[32]; int *count; };
static struct sockaddr_un door = {AF_UNIX, "door"};
static int counted;
static int answer(struct request *request)
{
    int sum = 0;
    for (char *at = request->text; *at; at++) {
        if (*at == '-')
            request->count = NULL;
        sum += *at;
    }
    return sum + ++*request->count; /* crash */
}
static void *serve(void *given)
{
    int client = *(int *)given;
    struct request request = {"", &counted};
    char said[32];
    if (read(client, request.text, sizeof request.text - 1) > 0) {
        int length = sprintf(said, "%d\\n", answer(&request));
        write(client, said, length);
    }
    close(client);
    return NULL;
}
static int ask(const char *text)
{
    char said[32];
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(server, (struct sockaddr *)&door, sizeof door))
        return 2;
    write(server, text, strlen(text));
    return read(server, said, sizeof said) <= 0;
}
int main(int argc, char **argv)
{
    if (argc > 2)
        return ask(argv[2]);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&door, sizeof door) || listen(listener, 4))
        return 3;
    for (;;) {
        int client = accept(listener, NULL, NULL);
        pthread_t thread;
        if (!strcmp(argv[1], "threads")) {
            pthread_create(&thread, NULL, serve, &client);
            pthread_join(thread, NULL);
        } else if (fork() == 0) {
            serve(&client);
            _exit(0);
        } else {
            close(client);
        }
    }
}
"""
ASK = """\
set -- $1
./p $1 & server=$!
until test -S door; do sleep 0.01; done
until ./p ask well; do sleep 0.01; done
./p ask fine && ./p ask $2
status=$?
kill $server
exit $status
"""
SETUP = """\
[program]
sources = "p.c"
flags = "-pthread -w"
[cases]
command = "sh ask.sh {name}"
names = ["forks bad-", "threads bad-", "forks good", "threads good"]
"""


@pytest.mark.parametrize("name", ["forks bad-", "threads bad-"])
def test_a_server_is_a_case_like_any_other(name: str):
    folder = subject_folder("server", p_c=SERVER)
    (folder / "ask.sh").write_text(ASK)
    (folder / "whence.toml").write_text(SETUP)
    found = whence(folder, "slice", "--case", name, "--json").json
    lines = SERVER.splitlines()
    assert "ran 4 cases (2 passed, 2 failed)" in found["summary"][0]
    assert "/* crash */" in lines[found["symptom"]["line"] - 1]
    assert lines.index("            request->count = NULL;") + 1 in {line["line"] for line in found["slice"]}
