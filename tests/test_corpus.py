"""The corpus is as its README says, and its recorded figures are what the programs do."""

from __future__ import annotations

import re

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
