from __future__ import annotations

import pytest
from cli_programs import KINDS, PRICES, fault_line, kinds, line_of, prices
from cli_tool import Done, subject_folder, whence

RIGHT = "2 prices, 1 large\nsum 185\n"
CASES = ("--fails", "200 5", "--expect", RIGHT, "--passes", "5 7", "--passes", "120")
SUM = line_of(PRICES, "sum += price")
PRINT = line_of(PRICES, "sum %d")


def slice_of(*words: str) -> Done:
    return whence(prices(), "slice", "prices.c", *CASES, *words, "--json")


def lines(done: Done) -> list[int]:
    return sorted(at["line"] for at in done.json["slice"])


def test_backward_from_the_symptom():
    done = slice_of()
    assert done.status == 0
    assert done.json["criterion"]["line"] == PRINT
    assert fault_line(PRICES) in lines(done)
    assert line_of(PRICES, "large++") not in lines(done)


def test_edges_have_values():
    at = next(at for at in slice_of().json["slice"] if at["line"] == SUM)
    line = fault_line(PRICES)
    edge = {"to_file": "prices.c", "to_line": line, "kind": "data", "name": "price", "value": "160"}
    assert edge in at["edges"]


def test_instances_count_executions():
    instances = {at["line"]: at["instances"] for at in slice_of().json["slice"]}
    assert instances[SUM] == 2 and instances[fault_line(PRICES)] == 1


@pytest.mark.parametrize(("where", "text"), [(":sum@1", "`sum`, time 1 of 2"), ("", "the last of 2 times")])
def test_criterion_is_told(where, text):
    assert slice_of("--at", f"prices.c:{SUM}{where}").json["criterion"]["text"] == text


def test_occurrence_decides():
    first, last = slice_of("--at", f"prices.c:{SUM}:sum@1"), slice_of("--at", f"prices.c:{SUM}:price")
    assert fault_line(PRICES) in lines(first)
    assert fault_line(PRICES) not in lines(last)  # the second price is small


def test_forward():
    done = slice_of("--at", f"prices.c:{fault_line(PRICES)}", "--forward")
    assert lines(done) == [fault_line(PRICES), SUM, PRINT]
    edges = {at["line"]: [edge["to_line"] for edge in at["edges"]] for at in done.json["slice"]}
    assert edges == {fault_line(PRICES): [SUM], SUM: [PRINT], PRINT: []}


def test_data_only():
    test = line_of(PRICES, "price >= 100")
    assert test in lines(slice_of())
    data = slice_of("--data-only")
    assert test not in lines(data)
    assert {e["kind"] for at in data.json["slice"] for e in at["edges"]} <= {"data", "library"}


def test_passing_run():
    done = slice_of("--at", f"prices.c:{fault_line(PRICES)}", "--passing", "passes 2")
    assert done.json["symptom"] is None
    assert "recorded the passing case `passes 2`" in done.json["summary"]
    values = next(at for at in done.json["slice"] if at["line"] == fault_line(PRICES))["values"]
    assert [v["value"] for v in values] == ["120", "96"]


def test_text():
    done = whence(prices(), "slice", "prices.c", *CASES)
    assert f"backward slice from prices.c:{PRINT} (" in done.out
    assert "unknown" not in done.out and "None" not in done.out


def test_calls_are_named():
    words = ["--fails", "crash five", "--passes", "crash three"]
    done = whence(kinds(), "slice", "kinds.c", *words)
    assert f"call    kinds.c:{line_of(KINDS, '= find(word)')}  find()\n" in done.out
    assert f"data    kinds.c:{line_of(KINDS, 'return NULL')}  return value = NULL" in done.out


def test_status_starts_at_the_return():
    done = whence(kinds(), "slice", "kinds.c", "--fails", "status 5", "--passes", "status 2", "--json")
    assert done.json["criterion"]["line"] == line_of(KINDS, "return status")
    assert line_of(KINDS, "int status") in lines(done)


OVERRUN = """\
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    int admin = 0;
    char name[8];
    strcpy(name, argv[1]);
    for (int i = 0; name[i]; i++)
        if (name[i] == '!')
            admin = 1;
    if (admin)
        printf("hello, admin\\n");
    else
        printf("hello\\n");
    return 0;
}
"""


def test_what_overran_a_local_that_only_its_function_uses_is_in_the_slice():
    folder = subject_folder("overrun", over_c=OVERRUN)
    words = ("over.c", "--fails", "maximiliane", "--expect", "hello", "--passes", "max", "--json")
    assert line_of(OVERRUN, "strcpy") in lines(whence(folder, "slice", *words))


LONG = r"""
#include <stdio.h>
#include <stdlib.h>

static unsigned sums[8];

static unsigned first(int place) { return place == 3 ? 4 : 5; }

int main(int argc, char **argv)
{
    unsigned last = 0;
    for (int i = 0; i < 8; i++)
        sums[i] = first(i);
    for (int i = 0; i < atoi(argv[1]); i++)
        last = sums[i % 8] = sums[i % 8] * 3 + 1;
    printf("%u\n", last);
    return argc < 2;
}
"""
ONLY_THE_END = "are kept: what came before is not known"


def long_run(*words: str) -> Done:
    folder = subject_folder("longer", long_c=LONG)
    return whence(folder, *words, "long.c", "--fails", "60004", "--expect", "17", "--trace-limit", "1M", "--json")


@pytest.mark.parametrize("command", [("slice",), ("slice", "--implicit"), ("causes",), ("locate", "--no-alter")])
def test_of_a_run_that_is_too_long_the_end_is_looked_at(command):
    done = long_run(*command)
    assert done.status == 0
    assert any(ONLY_THE_END in line for line in done.json["summary"])
    assert {"file": "long.c", "line": line_of(LONG, "* 3")}.items() <= done.json["ranking"][1].items()


def test_of_the_end_of_a_run_nothing_is_counted():
    at = f"long.c:{line_of(LONG, '* 3')}"
    assert long_run("slice", "--at", at).json["criterion"]["text"] == "the last time"
    counted = long_run("slice", "--at", f"{at}@2")
    assert counted.status == 2 and "time 2 may be before it" in counted.err
    never = long_run("slice", "--at", f"long.c:{line_of(LONG, 'first(i)')}")
    assert never.status == 2 and "the end of the run that is kept never reached" in never.err


WRONG = {
    ("--at", "prices.c"): "'prices.c' is no criterion",
    ("--at", "prices.c:0"): "is no criterion",
    ("--at", "prices.c:4@0"): "occurrences count from 1",
    ("--at", "other.c:4"): "no statement of 'other.c' was captured",
    ("--at", "prices.c:3"): "there is no statement on prices.c:3",
    ("--at", f"prices.c:{SUM}:cents"): f"`cents` is not used on prices.c:{SUM}",
    ("--at", f"prices.c:{SUM}@3"): "was reached 2 times, not 3",
    ("--forward",): "--forward needs --at",
    ("--passing", "passes 1"): "--passing needs --at",
    ("--at", f"prices.c:{SUM}", "--passing", "nobody"): "no case is named 'nobody'",
    ("--at", f"prices.c:{fault_line(PRICES)}", "--passing", "passes 1"): "the run never reached",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_criteria(words):
    done = slice_of(*words)
    assert done.status == 2
    assert WRONG[words] in done.err
