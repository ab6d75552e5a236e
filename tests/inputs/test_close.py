"""Good and failing inputs close to a failing one."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs_programs import brackets, failing, sums
from rapidfuzz.distance import Levenshtein

from whence.errors import UsageError
from whence.inputs import close
from whence.inputs.channel import Channel
from whence.inputs.close import CloseInputs, close_everywhere, close_inputs, deletions, insertions, replacements, shown
from whence.inputs.oracle import Criteria, pattern
from whence.inputs.tokens import load_specification
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.outcome import Expected, Kind
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.subject import Subject, subject_from_sources

SUM_CASE = Case("it", (), b"7 120 8", expected=Expected(b"sum 135\n"))


def check(subject: Subject, found: CloseInputs, kind: Kind) -> None:
    """Whatever is promised of close inputs, by running them again and by computing their distances anew."""
    inputs = [*found.good, *found.failing]
    texts = [one.data for one in inputs]
    assert len(set(texts)) == len(texts) and found.base.data not in texts
    for group in (found.good, found.failing):
        assert [one.distance for one in group] == sorted(one.distance for one in group)
    for one in inputs:
        assert one.distance == Levenshtein.distance(found.base.data, one.data) and one.how
    names = [one.case.name for one in inputs]
    assert len(set(names)) == len(names)
    with subject.runner() as runner:
        assert all(judge(one.case, runner.run_case(one.case)).passed for one in found.good)
        kinds = {judge(one.case, runner.run_case(one.case)).kind for one in [*found.failing, found.base]}
    assert kinds == {kind}


def test_inputs_of_a_wrong_output():
    subject = sums()
    found = close_inputs(subject, SUM_CASE)
    check(subject, found, Kind.WRONG_OUTPUT)
    assert found.base.data == b"120" and len(found.good) == len(found.failing) == 8
    assert all(one.distance <= 2 for one in found.good)
    assert all(one.case.expected.stdout == b"sum %d\n" % sum(map(int, one.data.split())) for one in found.good)
    assert found.reduction is not None and found.reduction.is_minimal
    assert found.tried > 16 and "tokens: words (decimal numbers and words)" in found.notes


def test_inputs_of_a_crash_carry_their_own_output():
    subject = brackets()
    found = close_inputs(subject, failing(b"ab(c)d)"), number=3)
    check(subject, found, Kind.CRASH)
    assert len(found.base.data) == 1 and len(found.good) == len(found.failing) == 3
    assert all(one.case.expected.stdout.startswith(b"depth ") for one in found.good)


def test_inputs_around_the_whole_input():
    subject = brackets()
    found = close_inputs(subject, failing(b"ab(c)d)"), number=4, reduce=False)
    check(subject, found, Kind.CRASH)
    assert found.base.data == b"ab(c)d)" and found.reduction is None
    assert {one.distance for one in found.failing} == {1}


def test_arguments_and_files(tmp_path):
    case = failing(b"", "a(b", "c)", ")")
    check(brackets(), close_inputs(brackets(), case, number=3), Kind.CRASH)
    one = close_inputs(brackets(), case, number=2, channel=Channel("arg", number=3))
    assert all(found.case.arguments[:2] == ("a(b", "c)") for found in one.good)
    (tmp_path / "in.txt").write_bytes(b"first\nsecond )\n")
    named = failing(b"", "in.txt", files=(("in.txt", tmp_path / "in.txt"),))
    check(brackets(), close_inputs(brackets(), named, number=3), Kind.CRASH)
    assert (tmp_path / "in.txt").read_bytes() == b"first\nsecond )\n"


def test_binary_inputs():
    found = close_inputs(brackets(), failing(b"\x01\x80\xfe)\xff"), number=3, reduce=False)
    check(brackets(), found, Kind.CRASH)
    assert "tokens: none fit the input, bytes were varied" in found.notes


def test_what_a_pattern_calls_wrong():
    subject = replace(sums(), reference=None)
    found = close_inputs(subject, SUM_CASE, number=4, criteria=Criteria(still=pattern("--still", "sum [0-9]{2}$")))
    check(subject, found, Kind.WRONG_OUTPUT)
    assert any("an input counts as good where the output has no match" in note for note in found.notes)


def test_several_tokens_at_once():
    number = load_specification("words")
    single = {candidate.data for candidate in replacements(b"3 4", number, 1, 100)}
    both = {candidate.data for candidate in replacements(b"3 4", number, 2, 100)}
    assert single < both and b"4 5" in both - single
    assert len(both) <= len(single) + 100


def test_no_good_input_within_the_budget():
    found = close_inputs(brackets(), failing(b"x)"), runs=3, number=8)
    assert len(found.good) < 8 and any("stopped early: its runs are used up" in note for note in found.notes)
    found = close_inputs(brackets(), failing(b"x)"), deadline=time.monotonic(), number=8)
    assert not found.good and not found.failing
    assert any(note.startswith("no good input was found around this one; tried in all: ") for note in found.notes)


def test_rejected_inputs_are_no_good_ones():
    criteria = Criteria(rejects=(pattern("--rejects", "^sum [0-9]$"),))
    found = close_inputs(sums(), Case("it", (), b"123", expected=Expected(b"sum 123\n")), criteria=criteria)
    assert found.rejected > 0 and len(found.good) == 8
    assert all(len(one.case.expected.stdout) > len("sum 1\n") for one in found.good)


# ---- Candidates ------------------------------------------------------------------------------------------------------


def by_the_paper(units: list[bytes], number: int) -> set[bytes]:
    """Algorithm 1's FIND-GOOD-INP, as it is written: all subsets and complements."""
    made = set()
    for index in range(number):
        start, end = index * len(units) // number, (index + 1) * len(units) // number
        made |= {b"".join(units[start:end]), b"".join(units[:start] + units[end:])}
    return made | by_the_paper(units, number // 2) if number // 2 > 1 else made


@given(st.lists(st.binary(min_size=1, max_size=3), min_size=2, max_size=20))
def test_deletions_are_those_of_algorithm_1(units):
    assert {c.data for c in deletions(b"".join(units), units)} == by_the_paper(units, len(units))


def test_tokens_are_put_back():
    made = [c.data for c in insertions(b"a b", [b"c", b"dd", b"c"], load_specification("words"))]
    assert made == [b"ca b", b"ac b", b"a cb", b"a bc", b"dda b", b"add b", b"a ddb", b"a bdd"]


def test_of_long_inputs_only_parts_are_left_out(monkeypatch):
    monkeypatch.setattr(close, "TOKENIZED", 4)
    found = close_inputs(brackets(), failing(b"ab\nc)d"), number=3, reduce=False)
    check(brackets(), found, Kind.CRASH)
    assert all(one.how.startswith(("without", "only")) for one in [*found.good, *found.failing])
    assert any("no tokens replaced" in note for note in found.notes)


@settings(max_examples=5, deadline=None)
@given(st.text("ab() 1", max_size=8))
def test_any_input_that_crashes(text):
    data = text.encode() + b")" * (text.count("(") + 1)
    found = close_inputs(brackets(), failing(data), number=3, runs=500)
    check(brackets(), found, Kind.CRASH)
    assert found.good


@pytest.mark.parametrize(("data", "text"), [(b"a\nb", "`a\\nb`"), (b"\xff", "`\\xff`"), ("ä".encode(), "`ä`")])
def test_bytes_for_people(data, text):
    assert shown(data) == text
    assert shown(b"x" * 30) == f"`{'x' * 24}` ... (30 bytes)"


# ---- Several channels ------------------------------------------------------------------------------------------------

# With three parts it crashes, whatever it reads: good inputs are other arguments.
PARTS = """\
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char line[100];
    int parts = argc > 1 ? atoi(argv[1]) : 1;
    if (!fgets(line, sizeof line, stdin))
        return 2;
    printf("%d\\n", 12 / (3 - parts));
    return 0;
}
"""


def test_where_one_channel_gives_no_good_input_the_next_does(tmp_path):
    source = tmp_path / "parts.c"
    source.write_text(PARTS)
    case = Case("three", ("3",), b"some text\n", expected=Expected(status=0))
    subject = subject_from_sources([source], [], [case], DEFAULT_LIMITS)
    assert not close_inputs(subject, case, number=4).good
    found = close_everywhere(subject, case, number=4)
    assert len(found.good) == 4 and len(found.failing) == 4
    assert all(one.case.arguments != ("3",) for one in found.good)
    assert found.base.case.arguments == ("3",) and not any("no good input" in note for note in found.notes)
    assert [one.distance for one in found.good] == sorted(one.distance for one in found.good)


def test_what_has_no_channel_is_told(tmp_path):
    source = tmp_path / "parts.c"
    source.write_text(PARTS)
    subject = subject_from_sources([source], [], [], DEFAULT_LIMITS)
    with pytest.raises(UsageError, match="has no input"):
        close_everywhere(subject, Case("nothing", ()))
