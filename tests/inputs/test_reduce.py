"""Delta debugging, against a judge that is a function of the input."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.inputs.channel import Channel
from whence.inputs.judge import Verdict
from whence.inputs.reduce import reduce_input, split_blocks
from whence.inputs.tokens import guess_specification, load_specification
from whence.run.cases import Case


@dataclass
class Fake:
    """As ``Judge``; ``looks`` is the cheap check, ``shows`` the exact one."""

    data: bytes
    looks: Callable[[bytes], bool]
    shows: Callable[[bytes], bool] = lambda data: True
    runs: int = 1_000_000
    batch: int = 7
    tried: int = 0
    executions: int = 0
    stopped: str = ""
    channel: Channel = field(default_factory=lambda: Channel("stdin"))
    known: dict[bytes, bool] = field(default_factory=dict)

    @property
    def case(self) -> Case:
        return Case("it", (), self.data)

    def batch_size(self, size: int) -> int:
        return self.batch

    def judge(self, candidates: list[bytes]) -> list[Verdict]:
        verdicts = []
        for data in candidates:
            if data not in self.known and self.tried >= self.runs:
                self.stopped = "runs"
                verdicts.append(Verdict.UNKNOWN)
                continue
            self.tried += data not in self.known
            self.known.setdefault(data, self.looks(data))
            verdicts.append(Verdict.SAME if self.known[data] else Verdict.OTHER)
        return verdicts

    def is_same(self, data: bytes) -> bool:
        return self.judge([data]) == [Verdict.SAME] and self.shows(data)

    def leave_out(self, data: bytes) -> None:
        self.known[data] = False


def has_in_order(data: bytes, needle: bytes) -> bool:
    rest = iter(data)
    return all(byte in rest for byte in needle)


def smaller(data: bytes) -> list[bytes]:
    """All inputs with one byte less, by brute force."""
    return [data[:n] + data[n + 1 :] for n in range(len(data))]


def is_minimal(judge: Fake, data: bytes) -> bool:
    return (
        judge.looks(data)
        and judge.shows(data)
        and not any(judge.looks(s) and judge.shows(s) for s in smaller(data) if s)
    )


TEXTS = st.text("ab(),;1 \n", max_size=60).map(str.encode)


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.text("ab(),;1 \n", min_size=1, max_size=6).map(str.encode), st.integers(1, 40))
def test_a_hidden_sequence_is_what_is_left(data, needle, batch):
    data += needle
    judge = Fake(data, lambda d: has_in_order(d, needle), batch=batch)
    result = reduce_input(judge)
    assert result.data == needle and result.is_minimal and result.original == data


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(2, 5), st.sampled_from([None, "words", "json"]))
def test_it_is_1_minimal_whatever_the_symptom(data, modulus, name):
    """The symptom depends on all of the input in no orderly way, and the exact check on something else."""
    data += b"a("
    looks = lambda d: d == data or (d.count(b"(") >= d.count(b")") and sum(d) % modulus != 1 and b"a" in d)  # noqa: E731
    judge = Fake(data, looks, lambda d: d == data or len(d) % 3 != 1)
    result = reduce_input(judge, load_specification(name) if name else None)
    assert result.is_minimal and is_minimal(judge, result.data)


def test_pieces_that_need_each_other_go_one_by_one():
    """Each of both halves can go, but not the two."""
    judge = Fake(b"xyxyxy", lambda d: b"x" in d)
    assert reduce_input(judge).data == b"x"


def test_an_element_goes_with_its_comma():
    data = b'[10,"a",[1,2],{"k":3},true,5]'

    def is_list(d: bytes) -> bool:
        try:
            return isinstance(json.loads(d), list) and b"true" in d
        except ValueError:
            return False

    result = reduce_input(Fake(data, is_list), guess_specification(data))
    assert result.data == b"[true]"


def test_levels_tell_what_they_did():
    data = b"".join(b"line %d\n" % n for n in range(50))
    result = reduce_input(Fake(data, lambda d: b"e 17" in d))
    assert [level.name for level in result.levels] == ["lines", "tokens", "bytes"]
    assert (result.levels[0].before, result.levels[0].after) == (50, 1)
    assert result.data == b"e 17" and result.tried < 60


def test_many_lines_take_few_runs():
    data = b"".join(b"line %d\n" % n for n in range(5_000))
    judge = Fake(data, lambda d: b"line 17\n" in d and b"line 4000\n" in d, batch=64)
    assert reduce_input(judge).data == b"line 17\nline 4000\n" and judge.tried < 200


def test_one_long_line_is_cut_into_blocks_first():
    data = b"z" * 100_000 + b"needle" + b"z" * 100_000
    judge = Fake(data, lambda d: b"needle" in d, batch=64)
    result = reduce_input(judge)
    assert result.data == b"needle" and result.levels[0].name == "blocks" and judge.tried < 700
    assert b"".join(split_blocks(data)) == data


def test_the_budget_gives_the_smallest_so_far():
    judge = Fake(b"abcdefgh" * 20, lambda d: b"a" in d and b"h" in d, runs=6)
    result = reduce_input(judge)
    assert not result.is_minimal and judge.looks(result.data) and len(result.data) <= 160
    assert any("stopped early (its runs are used up)" in note for note in result.notes)
    assert result.tried == 6


def test_what_is_too_long_for_single_bytes_says_so():
    words = b" ".join(b"w%d" % n for n in range(3_000))
    result = reduce_input(Fake(words, lambda d: len(d) > 8_500, batch=64))
    assert not result.is_minimal and 8_500 < len(result.data) < len(words)
    assert "more than 8192 bytes are left: single bytes were not tried" in result.notes


@pytest.mark.parametrize("data", [b"", b"x", b"\n"])
def test_hardly_any_input(data):
    assert reduce_input(Fake(data, lambda d: True)).data == data


def test_an_empty_input_is_not_the_result():
    result = reduce_input(Fake(b"abc", lambda d: True))
    assert len(result.data) == 1 and any("empty input as well" in note for note in result.notes)
