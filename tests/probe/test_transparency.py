"""A variant does what the plain program does: each feature of C, each way to end, and the programs of the corpus."""

from __future__ import annotations

import pytest
from snippets import Program, Variant, program, programs, snippet

from corpus import corpus
from whence.run.cases import Case
from whence.run.runner import RunResult, TraceRequest

SAMPLE = 6  # cases of each corpus program


def shown(result: RunResult) -> tuple[object, ...]:
    return result.status, result.signal, result.stdout, result.stderr


@pytest.mark.parametrize("name", programs())
def test_a_program_does_the_same_in_each_variant(name: str):
    case = program(name)
    plain = case.snippet.run(*case.arguments, stdin=case.stdin)
    counted = case.snippet.run(*case.arguments, stdin=case.stdin, variant=Variant.COVER)
    unrecorded = case.snippet.run(*case.arguments, stdin=case.stdin, variant=Variant.RECORD)
    recorded, path = case.snippet.record(*case.arguments, stdin=case.stdin)
    assert shown(counted) == shown(plain)
    assert shown(unrecorded) == shown(plain)
    assert shown(recorded) == shown(plain)
    header = case.snippet.open(path).header
    assert (header.end, header.code) == case.end
    assert_ends(case, plain)


def assert_ends(case: Program, plain: RunResult) -> None:
    """The plain program ends as its text says, so that the comparison means what it should."""
    kind, code = case.end
    if kind == "signal":
        assert (plain.status, plain.signal) == (None, code)
    elif kind == "exit":
        assert plain.status == code
    else:
        assert plain.timed_out or plain.status == int(case.settings["status"])


@pytest.mark.parametrize("name", corpus.programs())
def test_a_corpus_program_does_the_same_in_each_variant(name: str):
    made = snippet(corpus.source_path(name).read_text())
    cases = corpus.cases(name)
    chosen = [as_case(case) for case in cases[:: max(1, len(cases) // SAMPLE)][:SAMPLE]]
    plain = [shown(r) for r in made.runner().run_cases(chosen)]
    for variant in (Variant.COVER, Variant.COMPACT):
        assert [shown(r) for r in made.runner(variant).run_cases(chosen)] == plain
    runner = made.runner(Variant.RECORD)
    requests = [TraceRequest(runner.sandbox.new_path(f"trace{n}"), 1 << 30) for n in range(len(chosen))]
    assert [shown(r) for r in runner.run_cases(chosen, traces=requests)] == plain
    for request, result in zip(requests, plain, strict=True):
        trace = made.open(request.path)
        assert (trace.header.end, trace.header.code) == ("exit", result[0])
        assert trace.blocks > 20
        request.path.unlink()


def as_case(case: corpus.Case) -> Case:
    """A case of the corpus, with the files that its arguments name."""
    folder = corpus.ROOT / case.program
    named = [a for a in case.arguments if (folder / a).is_file()]
    return Case(case.text, case.arguments, case.stdin, tuple((name, folder / name) for name in named))


def test_what_is_counted_agrees_with_what_is_recorded():
    """The counters of the cover variant and the blocks of the trace are the same numbers, reached in two ways."""
    import numpy as np

    from whence.probe.cover import counters_of

    case = program("switch_large")
    subject = case.snippet.subject
    with subject.runner(Variant.COVER) as runner:
        counts = runner.run_case(Case("case")).coverage
    trace = case.trace()
    rows = trace.plan.segments[trace.columns.segments["id"][: trace.segments]]
    executed = np.bincount(rows["block"][rows["flags"] & 2 != 0], minlength=subject.program.block_count)
    expected, start = [], 0
    for ref in subject.program.functions:
        expected += counts[start : start + len(ref.function.blocks)].tolist()
        start += counters_of(ref.function)
    assert expected == executed.tolist()


def test_what_c_leaves_open_is_the_processors_answer_even_where_a_compiler_knows_the_operands():
    """What an optimiser may turn into anything stays what the unoptimised program does, with known operands too."""
    text = """
    #include <stdio.h>
    int main(void) {
        double d = 3e9; int by = 33; unsigned char c = 200;
        printf("%d %d %d %d\\n", (int)d, 1 << by, 0x40000000 + (int)0x40000000u, (signed char)c);
        return 0;
    }
    """
    made = snippet(text, "-w")
    assert made.run().stdout == made.run(variant=Variant.COVER).stdout == made.record()[0].stdout
