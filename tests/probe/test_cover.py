"""Counters of blocks and branch sides: what they count, whatever ends the run."""

from __future__ import annotations

import numpy as np
from snippets import Snippet, Variant, program, snippet

from whence.probe.cover import PAGE_COUNTERS, branch_sides, counters_of
from whence.run.cases import Case

CODE = """
#include <stdlib.h>
static int odd(int n) { if (n & 1) return 10; return 20; }
int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 3;
    int total = 0;
    for (int i = 0; i < rounds; i++)
        total += odd(i);
    if (total > 1000)
        abort();
    return 0;
}
"""


def counts(made: Snippet, *arguments: str) -> dict[str, list[int]]:
    """For each function its counters: blocks, then branch sides."""
    with made.subject.runner(Variant.COVER) as runner:
        result = runner.run_case(Case("case", arguments))
    assert result.coverage is not None
    found, start = {}, 0
    for ref in made.subject.program.functions:
        size = counters_of(ref.function)
        found[ref.name] = result.coverage[start : start + size].tolist()
        start += size
    assert not result.coverage[start:].any()
    return found


def test_blocks_and_sides_are_counted():
    made = snippet(CODE)
    found = counts(made, "5")
    blocks = next(len(r.function.blocks) for r in made.subject.program.functions if r.name == "odd")
    assert found["odd"][0] == 5
    assert sorted(found["odd"][blocks : blocks + 2]) == [2, 3]


def test_sides_add_up_to_their_block():
    made = program("switch_large").snippet
    found = counts(made)
    for ref in made.subject.program.functions:
        blocks = ref.function.blocks
        side = len(blocks)
        for number, block in enumerate(blocks):
            if branch_sides(block):
                assert sum(found[ref.name][side : side + 2]) == found[ref.name][number]
                side += 2
        assert side == counters_of(ref.function)


def test_a_run_that_aborts_or_is_killed_keeps_its_counts():
    assert counts(snippet(CODE), "200")["odd"][0] == 200
    endless = program("endless").snippet
    assert max(counts(endless)["main"]) > 100_000


def test_runs_do_not_add_up():
    made = snippet(CODE)
    with made.subject.runner(Variant.COVER) as runner:
        rows = [runner.run_case(Case("case", (n,))).coverage for n in ("5", "2", "5")]
    assert rows[0] is not None
    assert (np.asarray(rows[0]) == np.asarray(rows[2])).all()
    assert (np.asarray(rows[0]) != np.asarray(rows[1])).any()


def test_counters_fill_whole_pages():
    with snippet(CODE).subject.runner(Variant.COVER) as runner:
        coverage = runner.run_case(Case("case")).coverage
    assert coverage is not None
    assert len(coverage) % PAGE_COUNTERS == 0


def test_calls_of_pure_functions_count_though_nothing_uses_their_results():
    code = """
    __attribute__((const)) static int square(int n) { return n * n; }
    int main(void) {
        square(3);
        return square(3) + square(3) - 18;
    }
    """
    assert counts(snippet(code, "-w"))["square"] == [3]
