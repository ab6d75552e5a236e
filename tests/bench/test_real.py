"""Faults planted in real programs: edits of the source, what a report's figures are, changes that hold or do not."""

import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bench.real import check, locate, repairs
from bench.real.faults import Case, Edit, Fault, chosen_faults, load_faults
from bench.real.programs import Recipe, _log_verdicts, load_recipes
from whence.errors import BuildError
from whence.probe.instrument import Variant

VERDICT = r"^ *(?P<name>\d+): .*? (?P<verdict>ok|FAILED)"
TEXT = "int a = 1;\nint b = 1;\nint c = 1;\n"


def test_an_edit_is_made_where_it_says() -> None:
    assert Edit("f.c", 2, "= 1", "= 2").made(TEXT) == "int a = 1;\nint b = 2;\nint c = 1;\n"
    assert Edit("f.c", 2, "int b = 1;\nint c", "int d").made(TEXT) == "int a = 1;\nint d = 1;\n"


def test_an_edit_of_another_line_is_refused() -> None:
    with pytest.raises(BuildError, match=r"f\.c:1 does not hold 'int b'"):
        Edit("f.c", 1, "int b", "").made(TEXT)


def test_each_fault_has_a_program_and_cases_and_a_name_of_its_own() -> None:
    faults, programs = load_faults(), load_recipes()
    assert len({fault.name for fault in faults}) == len(faults)
    for fault in faults:
        assert fault.program in programs and fault.executable in programs[fault.program].executables
        assert fault.edits and fault.lines and len(fault.passing) >= 4
    assert {fault.program for fault in chosen_faults(["sed-01", "ed"])} == {"sed", "ed"}
    with_suites = chosen_faults([], own_suites=True)
    assert len({fault.name for fault in with_suites}) == len(with_suites) > len(faults)
    for fault in with_suites[len(faults) :]:
        assert fault.program in programs and fault.executable in programs[fault.program].executables and fault.lines


def test_the_rank_is_that_of_the_best_line() -> None:
    fault = _fault(lines=("f.c:1", "f.c:3"))
    ranking = [
        {"file": "f.c", "line": 2, "rank": 1, "rank_worst": 1},
        {"file": "f.c", "line": 3, "rank": 2, "rank_worst": 5},
        {"file": "f.c", "line": 1, "rank": 6, "rank_worst": 6},
    ]
    assert locate.rank_of(fault, {"ranking": ranking}) == locate.Rank(2, 5, 3)
    assert locate.rank_of(_fault(lines=("g.c:1",)), {"ranking": ranking}) is None


def test_a_part_that_failed_is_a_lost_result() -> None:
    row = locate.Row("f", "kind", "state")
    report = {"symptom": None, "ranking": [], "summary": ["ran 3 cases", "rules: internal error, see report.txt"]}
    locate.read(row, _fault(), report)
    assert row.lost == ["rules: internal error, see report.txt"]


def test_figures_are_kept_by_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = _fault()
    row = locate.Row(fault.name, fault.kind, locate.state(), locate=locate.Rank(1, 2, 9))
    row.repairs = [repairs.Repair("f.c:1", "a", "b", None, (1, 0), (0, 1))]
    five = locate.Conditions(tmp_path, 5)
    locate.write(five.place("results", fault), asdict(row))
    assert locate.kept(fault, five, any_state=False) == row
    assert locate.kept(fault, locate.Conditions(tmp_path, 6), any_state=True) is None
    assert locate.kept(fault, locate.Conditions(tmp_path, 5, alone=True), any_state=True) is None
    monkeypatch.setattr(locate, "state", lambda: "another")
    assert locate.kept(fault, five, any_state=False) is None
    assert locate.kept(fault, five, any_state=True) == row


def test_a_change_that_mends_less_or_breaks_more_than_it_says_does_not_hold() -> None:
    def holds(said: tuple[int, int], found: tuple[int, int] | None) -> bool:
        return repairs.Repair("f.c:1", "a", "b", None, said, found).holds

    assert holds((2, 0), (2, 0)) and holds((1, 1), (2, 0))
    assert not holds((2, 0), (1, 0)) and not holds((2, 0), (2, 1)) and not holds((2, 0), None)


def test_a_suggested_change_is_tried_in_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "#!/bin/sh\nn=$1\necho $((n + n))\n"
    for build in ("gcc", "gcc-g-O2"):
        tree = tmp_path / build / "prog"
        tree.mkdir(parents=True)
        (tree / "prog").write_text(source)
        (tree / "prog").chmod(0o755)
        (tree.parent / "prog.built").touch()
    monkeypatch.setattr(Fault, "recipe", property(lambda _: _recipe()))
    fault = _fault(edits=(Edit("prog", 3, "+", "*"),), failing=("4",), passing=(("2",), ("0",)))
    rule = {"file": "prog", "line": 3, "confirmed": None, "f2p": 1, "p2f": 0, "before": "echo $((n * n))"}
    true, false = ({**rule, "after": after} for after in ("echo $((n + n))", "echo 8"))
    assert [repair.found for repair in repairs.tried(fault, tmp_path, [true, false])] == [(1, 0), (1, 2)]
    assert (tmp_path / "gcc-g-O2/prog/prog").read_text() == source


def test_verdicts_are_found_in_the_output(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("make: all\n 1: first ok\n 2: second FAILED (x)\ndone\n")
    assert _log_verdicts(VERDICT, log) == {"1": "ok", "2": "FAILED"}


COMPILERS_OWN = """#include <stdio.h>
int main(int argc, char **argv) {
#ifdef __clang__
    argc++;
#endif
    printf("1: argument %s\\n2: arguments %s\\n", argv[1] ? "ok" : "FAILED", argc == 2 ? "ok" : "FAILED");
}
"""


def test_a_verdict_that_differs_is_named_for_each_build(tmp_path: Path) -> None:
    for build, compiler in ("gcc", "gcc"), ("whence", "whence-cc"):
        tree = tmp_path / build / "prog"
        tree.mkdir(parents=True)
        (tree / "prog.c").write_text(COMPILERS_OWN)
        (tree / "Makefile").write_text(f"prog: prog.c\n\t{compiler} -g -o prog prog.c\n")
        (tree.parent / "prog.built").touch()
    recipe = replace(_recipe(), make=("make",), check=("./prog", "a"), verdicts="log", pattern=VERDICT)
    row, lines = check.compared(recipe, tmp_path, any_state=False)
    assert row[:6] == ["prog", "2", "1", "1", "1", "1"]
    assert lines == [f"- prog: 2: gcc ok, {name} FAILED" for name in ("plain", "cover", "record")]
    other = replace(recipe, check=("./prog",))
    program = tmp_path / "whence/prog/prog"
    program.rename(program.with_suffix(".plain"))
    shutil.copy("/bin/true", program)  # as a run that is killed leaves it, with another program in its place
    found = check.compared(other, tmp_path, any_state=True)[1]
    assert found == [f"- prog: 2: gcc FAILED, {name} ok" for name in ("plain", "cover", "record")]
    with pytest.raises(BuildError, match="the tests run none of prog"):
        check.variant_verdicts(replace(recipe, check=("echo", "1: a ok")), tmp_path, Variant.RECORD)
    assert not (tmp_path / "whence/prog/prog.plain").exists()


def test_a_check_without_a_verdict_is_refused(tmp_path: Path) -> None:
    tree = tmp_path / "gcc/prog"
    tree.mkdir(parents=True)
    (tree.parent / "prog.built").touch()
    recipe = replace(_recipe(), check=("echo", "1: none"), verdicts="log", pattern=VERDICT)
    with pytest.raises(BuildError, match="`echo 1: none` gives no verdict"):
        check.reference_verdicts(recipe, tmp_path)


def _fault(
    lines: tuple[str, ...] = ("f.c:1",),
    edits: tuple[Edit, ...] = (),
    failing: tuple[str, ...] = (),
    passing: tuple[tuple[str, ...], ...] = (),
) -> Fault:
    return Fault("prog-01", "prog", "prog", "kind", "", edits, lines, Case(failing), tuple(map(Case, passing)))


def _recipe() -> Recipe:
    return Recipe("prog", "prog", "", "", "prog", (), ("true",), ("prog",), (), "none")
