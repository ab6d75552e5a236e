"""What a branch without a side leaves out: where its sides meet, and what they could have stored."""

from __future__ import annotations

from trace_readers import subject_of

from whence.probe.omitted import Omitted

TEXT = """\
static int total, other;
static void stop(void) { for (;;) ; }
int made(int n)
{
    int local = 0;
    if (n > 3)
        total = 1;
    while (n-- > 0)
        local += n;
    if (n > 100)
        stop();
    return local + other;
}
int main(void) { return made(1); }
"""


def test_definitions_of_both_sides_up_to_where_they_meet() -> None:
    program = subject_of(TEXT).program
    ref = next(ref for ref in program.functions if ref.name == "made")
    function = ref.function
    omitted = Omitted(function, program.modules[ref.module])
    branches = [
        n for n, block in enumerate(function.blocks) if block.terminator.operands and n < len(function.blocks) - 1
    ]
    by_branch = [omitted.definitions(branch) for branch in branches if omitted.meets[branch] < len(function.blocks)]
    assert ("@total", 4) in by_branch[0] and ("@total", 4) not in by_branch[1]
    assert len(by_branch[1]) == 2 and all(size == 4 for _, size in by_branch[1])  # the loop's own: n and local
    assert by_branch[2] == []
    assert all(name != "@other" for definitions in by_branch for name, _ in definitions)
