"""The corpus is as its README says, and its recorded figures are what the programs do."""

from __future__ import annotations

import difflib
import re
from itertools import pairwise

import pytest

from corpus import corpus

PROGRAMS = corpus.programs()
FAULTS = [fault for name in PROGRAMS for fault in corpus.faults(name)]
SAMPLE = [fault for name in PROGRAMS for fault in corpus.faults(name)[::5]]


def fault_name(fault: corpus.Fault) -> str:
    return f"{fault.program}-{fault.patch.stem}"


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Outcomes of the correct programs, by name; a program is compiled once."""
    known: dict[str, list[corpus.Outcome]] = {}

    def outcomes(name: str) -> list[corpus.Outcome]:
        if name not in known:
            binary = tmp_path_factory.mktemp(name) / name
            warnings = [*corpus.COMPILER, "-Wall", "-Wextra", "-Werror"]
            corpus.compile_program(corpus.source_path(name).read_text(), binary, warnings)
            known[name] = corpus.outcomes(name, binary)
        return known[name]

    return outcomes


def test_eight_programs_of_the_agreed_size():
    assert len(PROGRAMS) == 8
    lengths = {name: len(corpus.source_path(name).read_text().splitlines()) for name in PROGRAMS}
    assert all(150 <= length <= 600 for length in lengths.values()), lengths


@pytest.mark.parametrize("name", PROGRAMS)
def test_enough_cases_and_faults_of_all_kinds(name):
    cases, faults = corpus.cases(name), corpus.faults(name)
    assert len(cases) >= 100
    assert len({case.text for case in cases}) == len(cases)
    assert all(case.stdin is None or case.stdin.is_file() for case in cases)
    assert len(faults) >= 12
    assert len({fault.id for fault in faults}) == len(faults)
    assert {fault.kind for fault in faults} >= set(corpus.KINDS) - {"memory error"}
    assert {fault.kind for fault in faults} <= set(corpus.KINDS)
    assert all(1 <= fault.failing <= 0.4 * len(cases) for fault in faults)


def test_memory_errors_in_two_programs_or_more():
    assert len({fault.program for fault in FAULTS if fault.kind == "memory error"}) >= 2


def test_no_patch_is_forgotten():
    assert {fault.patch for fault in FAULTS} == set(corpus.ROOT.glob("*/faults/*"))


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_patch_applies_and_faulty_lines_are_near_it(fault):
    lines = corpus.faulty_source(fault).splitlines()
    changed = [
        range(int(start), int(start) + int(length or 1))
        for start, length in re.findall(r"^@@ .* \+(\d+)(?:,(\d+))? @@", fault.patch.read_text(), re.MULTILINE)
    ]
    assert fault.lines
    for line in fault.lines:
        assert lines[line - 1].strip(), f"line {line} is empty"
        assert any(line in hunk for hunk in changed), f"line {line} lies outside the patch"


@pytest.mark.parametrize("name", PROGRAMS)
def test_correct_program_ends_well_on_every_case(name, expected):
    assert all(outcome.status in (0, 1, 2) for outcome in expected(name))


@pytest.mark.parametrize("fault", SAMPLE, ids=fault_name)
def test_failing_count_is_as_recorded(fault, expected, tmp_path):
    binary = tmp_path / fault.program
    corpus.compile_program(corpus.faulty_source(fault), binary, [*corpus.COMPILER, "-w"])
    actual = corpus.outcomes(fault.program, binary)
    assert sum(a != b for a, b in zip(actual, expected(fault.program), strict=True)) == fault.failing


@pytest.mark.parametrize("name", PROGRAMS)
def test_whence_reads_the_same_cases(name, tmp_path):
    from whence.run.cases import load_cases
    from whence.run.config import read_config

    corpus.prepare(corpus.faults(name)[0], tmp_path)
    read = load_cases(read_config(tmp_path))
    assert [case.arguments for case in read] == [case.arguments for case in corpus.cases(name)]
    assert (tmp_path / "reference").is_file()


@pytest.mark.parametrize(
    ("patch", "result"),
    [
        ("@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n"),
        ("@@ -1,2 +1,3 @@\n a\n+x\n b\n", "a\nx\nb\nc\n"),
        ("@@ -3,0 +4 @@\n+d\n", "a\nb\nc\nd\n"),
        ("@@ -1 +0,0 @@\n-a\n@@ -3 +2 @@\n-c\n+C\n", "b\nC\n"),
    ],
)
def test_apply_patch(patch, result):
    assert corpus.apply_patch("a\nb\nc\n", "--- a/f\n+++ b/f\n" + patch) == result


@pytest.mark.parametrize("patch", ["@@ -2 +2 @@\n-x\n+y\n", "@@ -4 +4 @@\n-d\n", "no diff\n"])
def test_patch_that_does_not_apply(patch):
    with pytest.raises(ValueError):
        corpus.apply_patch("a\nb\nc\n", patch)


# ---- Several faults in one source ------------------------------------------------------------------------------------


def pairs_of_faults(name: str) -> list[tuple[corpus.Fault, corpus.Fault]]:
    """Neighbours in the order of their lines, which are the likeliest to touch, and each of them with the last one."""
    ordered = sorted(corpus.faults(name), key=lambda fault: fault.lines)
    return [*pairwise(ordered), *((fault, ordered[-1]) for fault in ordered[:-1])]


@pytest.mark.parametrize("name", PROGRAMS)
def test_combined_has_each_fault_and_nothing_else(name):
    correct = corpus.source_path(name).read_text().splitlines()
    made = 0
    for pair in pairs_of_faults(name):
        try:
            both = corpus.combined(pair)
        except ValueError:
            continue
        made += 1
        lines = both.source.splitlines()
        for fault, places in zip(pair, both.lines, strict=True):
            alone = corpus.faulty_source(fault).splitlines()
            assert [lines[n - 1] for n in places] == [alone[n - 1] for n in fault.lines]
        changes = [len(changed_lines(correct, corpus.faulty_source(fault).splitlines())) for fault in pair]
        assert len(changed_lines(correct, lines)) == sum(changes)
        assert corpus.combined(pair[::-1]).source == both.source
    assert made >= 10


def changed_lines(old: list[str], new: list[str]) -> list[str]:
    return [line for line in difflib.ndiff(old, new) if line[0] in "+-"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_combined_of_one_is_that_fault(name):
    for fault in corpus.faults(name):
        alone = corpus.combined([fault])
        assert (alone.source, alone.lines) == (corpus.faulty_source(fault), (fault.lines,))


def seeded(tmp_path, monkeypatch, correct: str, *patches: tuple[str, tuple[int, ...]]) -> list[corpus.Fault]:
    """Faults of a program made up for a test: patches with their lines."""
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "tiny.c").write_text(correct)
    monkeypatch.setattr(corpus, "ROOT", tmp_path)
    faults = []
    for number, (patch, lines) in enumerate(patches):
        path = tmp_path / "tiny" / f"{number}.patch"
        path.write_text(patch)
        faults.append(corpus.Fault("tiny", str(number), path, "wrong operator", "", lines, 1))
    return faults


LETTERS = "a\nb\nc\nd\ne\nf\n"


def test_combined_shifts_the_lines_behind_an_insertion(tmp_path, monkeypatch):
    insert, change = ("@@ -1,2 +1,4 @@\n a\n+x\n+y\n b\n", (2, 3)), ("@@ -4,2 +4,2 @@\n d\n-e\n+E\n", (5,))
    made = corpus.combined(seeded(tmp_path, monkeypatch, LETTERS, change, insert))
    assert (made.source, made.lines) == ("a\nx\ny\nb\nc\nd\nE\nf\n", ((7,), (2, 3)))


def test_combined_follows_kept_lines_around_a_gap(tmp_path, monkeypatch):
    gap, shift = ("@@ -4,3 +4,2 @@\n d\n-e\n f\n", (4, 5)), ("@@ -1,2 +1 @@\n-a\n b\n", (1,))
    made = corpus.combined(seeded(tmp_path, monkeypatch, LETTERS, gap, shift))
    assert (made.source, made.lines) == ("b\nc\nd\nf\n", ((3, 4), (1,)))


@pytest.mark.parametrize(
    "patches",
    [
        (("@@ -2 +2 @@\n-b\n+B\n", (2,)), ("@@ -2 +2 @@\n-b\n+X\n", (2,))),  # the same line
        (("@@ -2 +2 @@\n-b\n+B\n", (2,)), ("@@ -3 +3 @@\n-c\n+C\n", (3,))),  # adjacent lines
        (("@@ -2,0 +3 @@\n+x\n", (3,)), ("@@ -3 +3 @@\n-c\n+C\n", (3,))),  # an insertion beside a change
        (("@@ -2,0 +3 @@\n+x\n", (3,)), ("@@ -2,0 +3 @@\n+y\n", (3,))),  # two insertions at one place
        (("@@ -3 +2,0 @@\n-c\n", (2, 3)), ("@@ -5 +4,0 @@\n-e\n", (3, 4))),  # both blame the line between
    ],
)
def test_faults_that_touch_are_not_combined(tmp_path, monkeypatch, patches):
    with pytest.raises(ValueError):
        corpus.combined(seeded(tmp_path, monkeypatch, LETTERS, *patches))


def test_prepare_of_several_faults(tmp_path):
    pair = corpus.faults("stats")[0], corpus.faults("stats")[5]
    both = corpus.combined(pair)
    corpus.prepare(both, tmp_path)
    assert (tmp_path / "stats.c").read_text() == both.source
    assert (tmp_path / "reference").is_file()
