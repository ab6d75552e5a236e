"""Results of altered runs on disk: what names them, what a crash leaves of them, how much is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from altered import batch, case, changes
from hypothesis import given
from hypothesis import strategies as st

from whence.alter.changes import RESULT, Batch, Verdict
from whence.alter.run_cache import HEADER, RunCache, _Index, digests, found_folder, prune
from whence.run.case_key import case_key
from whence.run.cases import Case
from whence.run.compare import Comparison
from whence.run.outcome import Expected, Rule
from whence.run.sandbox import DEFAULT_LIMITS, Limits


def records(*verdicts: Verdict) -> np.ndarray:
    found = np.zeros(len(verdicts), RESULT)
    found["verdict"] = verdicts
    found["length"] = 100 + np.arange(len(verdicts))
    return found


# ---- Names -----------------------------------------------------------------------------------------------------------

continuations = st.lists(st.lists(st.integers(0, 3), max_size=3).map(tuple), min_size=1, max_size=30)


@given(continuations)
def test_digests_are_equal_for_equal_changes_only(values: list[tuple[int, ...]]) -> None:
    names = digests(Batch.of([changes(*own) for own in values]), "")
    found: dict[tuple[int, ...], bytes] = {}
    for own, name in zip(values, names, strict=True):
        assert found.setdefault(own, name.tobytes()) == name.tobytes()
    assert len(set(found.values())) == len(found)


def test_digests_look_at_every_field_and_at_the_options() -> None:
    plain = changes(0)
    names = {digests(Batch.single(plain), options).tobytes() for options in ("10.0 False", "10.0 True", "5.0 False")}
    for field in plain.dtype.names or ():
        other = plain.copy()
        other[field] = 1
        names.add(digests(Batch.single(other), "10.0 False").tobytes())
    assert len(names) == 3 + len(plain.dtype.names or ())


def test_many_near_digests_differ_in_both_halves() -> None:
    many = Batch.single(np.concatenate([changes(*range(1000), site=site) for site in range(200)]))
    names = digests(many, "")
    assert len(np.unique(names[:, 0])) == len(np.unique(names[:, 1])) == len(many)


CHANGED: list[Callable[[Case, Path], Case]] = [
    lambda c, _: replace(c, arguments=("1", "23")),
    lambda c, _: replace(c, stdin=b"other"),
    lambda c, _: replace(c, environment={"A": "2"}),
    lambda c, _: replace(c, expected=Expected(b"7\n")),
    lambda c, _: replace(c, expected=Expected(b"6\n", status=3)),
    lambda c, _: replace(c, comparison=Comparison(white_space=False)),
    lambda c, _: replace(c, rule=Rule.STATUS),
    lambda c, folder: replace(c, files=(("renamed", folder / "data"),)),
    lambda c, folder: replace(c, files=(("in", _written(folder / "data", b"other")),)),
    lambda c, folder: replace(c, files=(("in", _written(folder / "data/deep/one", b"other").parents[1]),)),
]


def _written(path: Path, content: bytes) -> Path:
    if path.parent.is_file():
        path.parent.unlink()
    if path.parent.parent.is_file():
        path.parent.parent.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("change", CHANGED)
def test_a_case_is_named_by_its_content(change: Callable[[Case, Path], Case], tmp_path: Path) -> None:
    data = _written(tmp_path / "data", b"content")
    first = Case("a", ("12", "3"), b"in", (("in", data),), {"A": "1"}, Expected(b"6\n"))
    key = case_key("v", "code", first, DEFAULT_LIMITS, "./p")
    assert case_key("v", "code", replace(first, name="b"), DEFAULT_LIMITS, "./p") == key
    assert case_key("v", "code", change(first, tmp_path), DEFAULT_LIMITS, "./p") != key


def test_the_program_and_its_limits_name_results_too(tmp_path: Path) -> None:
    first = case("a")
    keys = [("v", DEFAULT_LIMITS, "./p"), ("w", DEFAULT_LIMITS, "./p"), ("v", Limits(time=1), "./p")]
    keys.append(("v", DEFAULT_LIMITS, "./q"))
    assert len({case_key(variant, "code", first, limits, name) for variant, limits, name in keys}) == 4
    (tmp_path / "in").write_bytes(b"x")
    with_path, with_bytes = (replace(first, stdin=stdin) for stdin in (tmp_path / "in", b"x"))
    assert case_key("v", "code", with_path, DEFAULT_LIMITS, "") == case_key("v", "code", with_bytes, DEFAULT_LIMITS, "")


# ---- One case's file -------------------------------------------------------------------------------------------------


def test_results_come_back(tmp_path: Path) -> None:
    names, given = digests(batch(*range(5)), ""), records(*[Verdict.PASS, Verdict.CRASH] * 2, Verdict.TIMEOUT)
    kept = RunCache(tmp_path / "deep/file")
    kept.add(names[:3], given[:3])
    kept.add(names[3:], given[3:])
    for known in (kept, RunCache(tmp_path / "deep/file")):
        numbers = known.find(digests(batch(4, 9, 0, 2), ""))
        assert (numbers >= 0).tolist() == [True, False, True, True]
        assert np.array_equal(known.records(numbers[numbers >= 0]), given[[4, 0, 2]])
        assert not known.trouble


def test_outputs_come_back(tmp_path: Path) -> None:
    texts = [(b"one", b""), (b"", b""), (b"\0\xff" * 100, b"error")]
    kept = RunCache(tmp_path / "file")
    kept.add(digests(batch(7), ""), records(Verdict.PASS))  # one without
    names = digests(batch(0, 1, 2), "outputs")
    kept.add(names, records(*[Verdict.PASS] * 3), texts)
    for known in (kept, RunCache(tmp_path / "file")):
        assert known.texts(known.find(names)) == texts


def test_what_tells_nothing_is_not_kept(tmp_path: Path) -> None:
    kept = RunCache(tmp_path / "file")
    kept.add(digests(batch(0, 1, 2, 3), ""), records(Verdict.NOT_RUN, Verdict.LOST, Verdict.UNJUDGED, Verdict.PASS))
    kept.add(digests(batch(5), ""), records(Verdict.LOST))
    assert len(kept) == len(RunCache(tmp_path / "file")) == 1
    assert kept.find(digests(batch(0, 1, 2, 3), "")).tolist() == [-1, -1, -1, 0]


def test_a_torn_file_keeps_its_whole_blocks_and_grows_on(tmp_path: Path) -> None:
    path = tmp_path / "file"
    names = digests(batch(0, 1, 2), "")
    ends = []
    for row in range(3):
        RunCache(path).add(names[row : row + 1], records(Verdict.PASS), [(b"text", b"")])
        ends.append(path.stat().st_size)
    whole = path.read_bytes()
    for size in [0, 1, HEADER.size, ends[0] - 1, ends[0], ends[0] + 5, ends[1] - 1, ends[1], len(whole) - 1]:
        path.write_bytes(whole[:size])
        count = sum(end <= size for end in ends)
        kept = RunCache(path)
        assert len(kept) == count
        kept.add(names[2:], records(Verdict.CRASH), [(b"later", b"")])
        again = RunCache(path)
        assert len(again) == count + 1
        assert again.texts(again.find(names[2:])) == [(b"later", b"")]


def test_a_damaged_block_and_what_follows_it_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for row in range(3):
        RunCache(path).add(digests(batch(row), ""), records(Verdict.PASS))
    data = bytearray(path.read_bytes())
    size = len(data) // 3
    for at in (size, size + HEADER.size + 3, 2 * size - 1):
        damaged = data.copy()
        damaged[at] ^= 1
        path.write_bytes(damaged)
        assert len(RunCache(path)) == 1


def test_two_searches_write_to_one_file(tmp_path: Path) -> None:
    one, other = RunCache(tmp_path / "file"), RunCache(tmp_path / "file")
    for row in range(10):
        (one if row % 2 else other).add(digests(batch(row), ""), records(Verdict.PASS))
    assert (RunCache(tmp_path / "file").find(digests(batch(*range(10)), "")) >= 0).all()


def test_without_a_folder_it_is_said_and_memory_serves(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = RunCache(tmp_path / "file/below")
    kept.add(digests(batch(1), ""), records(Verdict.PASS))
    assert "file/below" in kept.trouble and len(kept.trouble.splitlines()) == 1
    assert kept.find(digests(batch(1), "")).tolist() == [0]


words = st.lists(st.integers(0, 40), max_size=60, unique=True)


@given(st.lists(words, max_size=6), words)
def test_the_index_finds_what_a_dictionary_finds(added: list[list[int]], wanted: list[int]) -> None:
    index, first, twin = _Index(), 0, dict[int, set[int]]()
    for group in added:
        index.add(np.array(group, np.uint64), first)
        for number, word in enumerate(group, first):
            twin.setdefault(word, set()).add(number)
        first += len(group)
    found = index.find(np.array(wanted, np.uint64))
    assert all(number in twin.get(word, {-1}) for word, number in zip(wanted, found.tolist(), strict=True))


# ---- The folder ------------------------------------------------------------------------------------------------------


def test_the_files_used_least_lately_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path))
    prune()
    for number, name in enumerate("cab"):
        path = found_folder() / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 100)
        os.utime(path, ns=(number, number))
    prune(300)
    assert sorted(p.name for p in found_folder().iterdir()) == ["a", "b", "c"]
    RunCache(found_folder() / "c")  # used now; what is in it is torn, and cut off
    (found_folder() / "c").write_bytes(b"x" * 100)
    prune(250)
    assert sorted(p.name for p in found_folder().iterdir()) == ["b", "c"]
    prune(0)
    assert not list(found_folder().iterdir())
