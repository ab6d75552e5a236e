"""``whence chain``, as a user sees it."""

from __future__ import annotations

import unittest.mock

import pytest
from cli_programs import line_of
from cli_tool import Done, subject_folder, whence

from whence.techniques.chains.technique import Comparison

# From 21 on a parcel is heavy.
PARCEL = """\
#include <stdio.h>
#include <stdlib.h>
static int fee = 4, tax, spare;
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]);
    if (weight > 19) /* FAULT */
        fee = 9; /* HEAVY */
    spare = fee * 7; /* SPARE */
    tax = fee + 1; /* TAX */
    printf("tax %d\\n", tax);
    return 0;
}
"""
FAILS = ("--fails", "20", "--expect", "tax 5\n")
CASES = (*FAILS, "--passes", "4", "--passes", "30")


def parcel(*words: str) -> Done:
    return whence(subject_folder("chain", parcel_c=PARCEL), "chain", "parcel.c", *CASES, *words)


@pytest.fixture(scope="module")
def found() -> Done:
    return parcel("--reference", "switch", "--json")


def line(mark: str) -> int:
    return line_of(PARCEL, mark)


def test_the_chain_goes_from_the_fault_to_the_failure(found):
    assert found.status == 0 and found.json["technique"] == "chain"
    steps = found.json["chain"]["steps"]
    assert [step["line"] for step in steps] == [line("FAULT"), line("HEAVY"), line("TAX")]
    assert [entry["line"] for entry in found.json["ranking"]] == [step["line"] for step in steps]
    assert [step["leads_to"] for step in steps] == [[n + 1] for n in range(len(steps) - 1)] + [[]]


def test_what_the_failing_run_left_out_stands_where_it_was_missed():
    text = PARCEL.replace("weight > 19", "weight > 20")
    words = ("chain", "late.c", "--fails", "20", "--expect", "tax 10\n", "--reference", "switch", "--json")
    chain = whence(subject_folder("chain-late", late_c=text), *words).json["chain"]
    assert [step["line"] for step in chain["steps"]] == [line("FAULT"), line("HEAVY"), line("TAX")]
    assert [step["leads_to"] for step in chain["steps"]] == [[1], [2], []]


def test_it_says_what_it_was_compared_with_and_what_it_took(found):
    chain = found.json["chain"]
    assert chain["reference"]["kind"] == "switch" and chain["reference"]["line"] == line("FAULT")
    assert chain["tests"] > 0 and chain["seconds"] > 0 and not chain["incomplete"]


@pytest.mark.parametrize("algorithm", ["hierarchical", "linear"])
def test_the_other_algorithms_tell_the_same(found, algorithm):
    other = parcel("--reference", "switch", "--json", "--algorithm", algorithm)
    assert other.json["chain"]["algorithm"] == algorithm
    assert other.json["chain"]["steps"] == found.json["chain"]["steps"]


def test_as_text():
    done = parcel("--reference", "switch")
    assert done.status == 0 and "weight > 19" in done.out and "tax" in done.out and "spare" not in done.out


def refused(done: Done, *words: str) -> None:
    """One clear line, then what helps."""
    assert done.status == 2 and not done.out
    lines = done.err.strip().splitlines()
    assert lines[0].startswith("whence: ") and all(line.startswith("  ") for line in lines[1:])
    assert all(word in done.err for word in words), done.err


def test_a_window_is_refused():
    refused(parcel("--window", "1M"), "--window", "whole run")


def test_threads_are_refused():
    text = """\
#include <pthread.h>
#include <stdio.h>
static void *work(void *given) { return given; }
int main(int argc, char **argv)
{
    pthread_t one;
    pthread_create(&one, NULL, work, NULL);
    pthread_join(one, NULL);
    printf("%d\\n", argc);
    return 0;
}
"""
    folder = subject_folder("chain-threads", turns_c=text)
    done = whence(folder, "chain", "turns.c", "--cflags", "-pthread", "--fails", "20", "--expect", "tax 5\n")
    refused(done, "starts threads")


def test_no_run_to_compare_with():
    text = '#include <stdio.h>\nint main(void)\n{\n    puts("1");\n    return 0;\n}\n'
    done = whence(subject_folder("chain-none", none_c=text), "chain", "none.c", "--fails", "", "--expect", "2\n")
    refused(done, "no run to compare", "--reference")


def test_a_reference_that_is_not_there():
    refused(parcel("--reference", "nothing.c"), "nothing.c")


def test_out_of_time_shows_what_is_there():
    """The time is over once the two runs are recorded: before the first set, or some sets later."""
    walk = Comparison.walk
    asked = []

    def stopping(self, algorithm, stop, symptom):
        return walk(self, algorithm, lambda: asked.append(1) or len(asked) > 4, symptom)

    with unittest.mock.patch.object(Comparison, "walk", stopping):
        done = parcel("--reference", "switch", "--json")
    chain = done.json["chain"]
    assert done.status == 0 and "time is over" in chain["incomplete"] and len(asked) == 5
    assert [step["line"] for step in chain["steps"]] == [line("TAX")]
    assert any("not complete" in warning for warning in done.json["warnings"])
