"""``whence races`` as a user sees it."""

from __future__ import annotations

import pytest
from cli_tool import Done, subject_folder, whence

from bench.threads.programs import PROGRAMS

TEXTS = {program.name: program for program in PROGRAMS}


def races(name: str, *words: str, right: bool = False) -> Done:
    text = TEXTS[name].right if right else TEXTS[name].text
    folder = subject_folder(f"races-{name}-{right}", **{"p_c": text})
    return whence(folder, "races", "p.c", "--passes", "", *words)


@pytest.fixture(scope="module")
def result():
    return races("read_unlocked", "--json").json


def test_a_race_tells_both_accesses_and_what_was_missing(result):
    (run,) = result["races"]
    (race,) = run["races"]
    assert (run["verdict"], run["threads"]) == ("pass", 2)
    assert race["object"]["name"] == "account"
    assert race["name"] == "`account.paid`"
    by_kind = {access["writes"]: access for access in race["accesses"]}
    assert [lock["name"] for lock in by_kind[True]["held"]] == ["account.lock"]
    assert by_kind[False]["held"] == []
    assert [call["function"] for call in by_kind[False]["stack"]["first"]] == ["paid", "main"]
    assert by_kind[True]["thread"]["function"] == "pay"
    assert by_kind[True]["value"] == "10"
    assert "the write holds `account.lock`" in race["missing"]
    assert "the read holds none" in race["missing"]


def test_who_holds_no_lock_is_ranked_first(result):
    lines = TEXTS["read_unlocked"].text.splitlines()
    assert "return account.paid" in lines[result["ranking"][0]["line"] - 1]


def test_another_value_in_the_other_order_is_harm(result):
    harm = result["races"][0]["races"][0]["harm"]
    assert harm["verdict"] == "harmful"
    assert "instead of" in harm["text"]


def test_another_end_in_the_other_order_is_harm():
    done = races("counter")
    assert "harmful: with the two in the other order the run ends otherwise: exit status 1" in done.out


def test_no_harm_is_told_as_such():
    (run,) = races("same_value", "--json").json["races"]
    assert [race["harm"]["verdict"] for race in run["races"]] == ["harmless"]


def test_a_flag_that_is_looked_at_again_is_harmless():
    (run,) = races("volatile_flag", "--json").json["races"]
    by_name = {race["name"]: race for race in run["races"]}
    assert by_name["`ready`"]["harm"]["verdict"] == "harmless"
    assert "`volatile` orders nothing" in by_name["`ready`"]["missing"]
    assert by_name["`data`"]["harm"]["verdict"] == "not tried"


def test_an_order_that_hides_a_race_is_not_the_only_one_that_is_looked_at():
    assert races("c11_condition", "--orders", "1").status == 1
    assert races("c11_condition").status == 0


def test_the_exit_status_tells_of_all_cases():
    assert races("counter", "--all").status == 1
    assert races("counter", "--all", right=True).status == 0


def test_one_thread_has_no_races():
    folder = subject_folder("races-alone", p_c="int main(void) { return 0; }\n")
    done = whence(folder, "races", "p.c", "--passes", "")
    assert done.status == 1
    assert "1 thread, no data race" in done.out


ENDLESS = """\
#include <pthread.h>
static volatile long turns;
static void *spin(void *unused)
{
    for (;;)
        turns++;
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, spin, NULL);
    return pthread_join(threads[0], NULL);
}
"""


def test_of_threads_that_never_end_the_beginning_is_checked():
    folder = subject_folder("races-endless", p_c=ENDLESS)
    done = whence(folder, "races", "p.c", "--fails", "", "--timeout", "1", "--orders", "1")
    assert done.status == 0, done.err
    assert "data race on `turns`" in done.out
    assert "(timeout)" in done.out


def test_in_locate_the_accesses_whose_order_decides_come_first():
    program = TEXTS["join_early"]
    folder = subject_folder("races-locate", p_c=program.text)
    for _ in range(5):  # nearly every run fails, but on a busy machine the thread may be first
        done = whence(folder, "locate", "p.c", "--fails", "", "--no-alter", "--json")
        if "no case fails" not in done.err:
            break
    found = done.json
    first, second = found["ranking"][:2]
    assert {first["line"], second["line"]} == program.lines
    assert "with the two in the other order the case passes" in first["evidence"]["text"]
