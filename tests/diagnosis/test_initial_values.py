"""Initial values in the ranking: as statements that runs read, and with the changes that mend."""

from __future__ import annotations

from typing import Any

import pytest
from cli_tool import subject_folder, whence

from whence.diagnosis.initial_values import of_enough_runs, with_initial_values, with_other_values
from whence.findings import Findings, Statement, rank

CODE, TABLE, OTHER, REST = (Statement("p.c", line) for line in (10, 3, 4, 20))


def evidence(failing: int, passing: int, **more: Any) -> dict[str, Any]:
    return {"failing": failing, "failing_total": 2, "passing": passing, "passing_total": 4, **more}


def base() -> Findings:
    notes = {
        CODE: evidence(2, 3, in_slice=True, depth=1, suspiciousness=1.4),
        REST: evidence(1, 4, in_slice=False, suspiciousness=0.2),
    }
    return Findings("locate", "p", rank({CODE: (1 + 0.15) / 1.15, REST: 0.0}, notes))


def compared() -> Findings:
    notes = {
        CODE: evidence(2, 3),
        TABLE: evidence(2, 0, initial=["t[3]"], depth=2, text="`t[3]` was read"),
        OTHER: evidence(2, 4, initial=["t[4]"], text="`t[4]` was read"),
    }
    return Findings("invariants", "p", rank({CODE: 0.5, TABLE: 0.9, OTHER: 0.1}, notes))


def test_what_was_read_stands_among_what_was_executed():
    found = with_initial_values(base(), compared(), "op2")
    assert [entry.statement for entry in found.ranking] == [TABLE, CODE, OTHER, REST]
    first, _, last, _ = (entry.evidence for entry in found.ranking)
    assert (first["in_slice"], first["suspiciousness"], last["in_slice"]) == (True, 2.0, False)
    assert found.ranking[1].evidence == base().ranking[0].evidence
    assert 1 >= found.ranking[0].score > 0.99 and found.ranking[-1].score == pytest.approx(0)


def test_without_initial_values_nothing_changes():
    none = Findings("invariants", "p", [entry for entry in compared().ranking if entry.statement == CODE])
    assert with_initial_values(base(), none, "op2") == base()


def test_what_few_of_many_passing_runs_read_says_nothing_of_all():
    few = compared()
    for entry in few.ranking:
        entry.evidence["passing_total"] = 2
    assert [entry.statement for entry in of_enough_runs(few, 4).ranking] == [CODE]
    assert of_enough_runs(few, 2) == few


def test_changes_that_mend_are_rules():
    row = {"file": "p.c", "line": 3, "rule": "`2` instead of `1` in `t[3]`", "f2p": 2, "p2f": 0, "failing": 2}
    row |= {"checked": 4, "unknown": 0, "score": 1.0, "doubt": "", "family": "value"}
    rules = Findings("rules", "p", rank({CODE: 0.2}, {CODE: {"text": ""}}), parts={"rules": [{**row, "score": 0.5}]})
    other = Findings("values", "p")
    values, joined = with_other_values([rules, other], [row], 4)
    assert values is other
    assert [rule["score"] for rule in joined.parts["rules"]] == [1.0, 0.5]
    first = joined.ranking[0]
    assert (first.statement, first.evidence["rule_score"]) == (TABLE, 1.0)
    assert "2 of 2 failing cases pass with it, and none of 4" in first.evidence["text"]
    assert with_other_values([other], [row], 4)[-1].technique == "rules"


TABLE_H = """\
static const int factors[] = {
    1, 10,
    100, 1001, /* FAULT */
};
"""
MAIN_C = """\
#include <stdio.h>
#include <stdlib.h>
#include "table.h"
int main(int argc, char **argv)
{
    printf("%d\\n", atoi(argv[1]) * factors[atoi(argv[2])]);
    return 0;
}
"""


@pytest.mark.parametrize("in_header", [False, True])
def test_a_wrong_entry_of_a_table_is_first_with_the_number_that_mends_it(in_header):
    if in_header:
        folder, file, line = subject_folder("initial-header", p_c=MAIN_C, table_h=TABLE_H), "table.h", 3
    else:
        text = MAIN_C.replace('#include "table.h"\n', TABLE_H)
        folder, file, line = subject_folder("initial", p_c=text), "p.c", 5
    cases = ("--fails", "2 3", "--expect", "2000", "--passes", "2 2", "--passes", "3 1", "--passes", "4 0")
    found = whence(folder, "locate", "p.c", *cases, "--json", "--budget", "2m").json
    first = found["ranking"][0]
    assert (first["file"], first["line"], first["rank_worst"]) == (file, line, 1)
    rule = found["rules"][0]
    assert (rule["rule"], rule["confirmed"]) == ("`1000` instead of `1001` in `factors[3]`", True)
    assert "`factors[3]` = 1001 was read by 1 of 1 failing and none of 3 passing runs" in first["evidence"]["text"]
