"""Generated faults in real programs: what is written is read again, and what is planted fails in some cases."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench.generated.syntax import Edit as Change
from bench.real import seed
from bench.real.faults import Case, load_faults, planted
from bench.real.programs import Recipe
from bench.real.seed import Trial, edit_of, seeded, written

TALLY = """\
#include <stdio.h>
#include <stdlib.h>
static int tally(int argc, char **argv)
{
    int sum = 0;
    for (int i = 1; i < argc; i++) {
        int n = atoi(argv[i]);
        if (n > 9)
            sum += 2 * n;
        else if (n < 0)
            sum -= n;
        else
            sum += n;
    }
    return sum;
}
int main(int argc, char **argv)
{
    printf("%d\\n", tally(argc, argv));
    return 0;
}
static int unused(int n) { return n + 1; }
int (*kept)(int) = unused;
"""
CASES = [Case((word,)) for word in ("3", "4", "-2", "-3", "12", "15", "0", "7", "8", "9")]
MAKE = "CC = gcc\nCFLAGS = -g -w\ntally: tally.c\n\t$(CC) $(CFLAGS) -o $@ tally.c\n"


@pytest.mark.parametrize("text", [b"a = 1;\n\tb = 2;\n", b"\xe4 = 1;\nb = 2;", b"b = 2;\n"])
def test_a_change_becomes_an_edit_from_the_beginning_of_its_line(text: bytes) -> None:
    start = text.index(b"b = 2")
    change = Change(start, start + 1, b"c", "")
    edit = edit_of("a.c", text, change)
    assert edit.made(text.decode("latin-1")) == text.replace(b"b = 2", b"c = 2").decode("latin-1")


def recipe_in(work: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """A program that is unpacked and configured for all builds."""
    recipe = Recipe("tally", "", "", "", "tally-1", (), ("make", "-s"), ("tally",), (), "")
    for build in ("seed", "gcov"):
        tree = work / build / recipe.folder
        tree.mkdir(parents=True)
        (tree / "tally.c").write_text(TALLY)
        compiler = "gcc --coverage" if build == "gcov" else "gcc"
        (tree / "Makefile").write_text(MAKE.replace("gcc", compiler))
        seed.make(recipe, tree)
        (tree.parent / f"{recipe.folder}.built").touch()
    monkeypatch.setattr(seed, "cases_of", lambda recipe: ("tally", CASES))
    monkeypatch.setattr("bench.real.faults.load_recipes", lambda: {"tally": recipe})
    return recipe


@pytest.mark.skipif(not all(map(shutil.which, ("gcc", "gcov", "make"))), reason="needs gcc, gcov and make")
def test_what_is_planted_fails_in_some_cases_and_is_read_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_in(tmp_path, monkeypatch)
    faults = list(seeded(recipe, tmp_path, 6, 1))
    assert [fault.name for fault in faults] == [f"tally-g{n:02}" for n in range(1, 7)]
    tree = tmp_path / "seed" / recipe.folder
    trial = Trial(recipe, tmp_path)
    assert trial.cases == CASES
    for fault in faults:
        assert 0 < 1 + len(fault.also_failing) <= 4 and all(line.startswith("tally.c:") for line in fault.lines)
        right = [case.run(tree / "tally") for case in (fault.failing, *fault.passing)]
        with planted(fault, tree):
            made = [case.run(tree / "tally") for case in (fault.failing, *fault.passing)]
        assert [one == other for one, other in zip(right, made, strict=True)] == [False, *[True] * len(fault.passing)]
        seed.make(recipe, tree)
    assert (tree / "tally.c").read_text() == TALLY
    (tmp_path / "faults").mkdir()
    (tmp_path / "faults" / "tally.toml").write_text(written(faults))
    assert load_faults(tmp_path / "faults") == faults


@pytest.mark.skipif(not all(map(shutil.which, ("gcc", "gcov", "make"))), reason="needs gcc, gcov and make")
def test_a_place_is_one_that_a_case_comes_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = recipe_in(tmp_path, monkeypatch)
    (operator,) = (one for one in seed.OPERATORS if one.name == "wrong arithmetic")
    lines = {TALLY.count("\n", 0, change.start) + 1 for _, change in Trial(recipe, tmp_path).places(operator)}
    assert 9 in lines and TALLY[: TALLY.index("n + 1")].count("\n") + 1 not in lines
