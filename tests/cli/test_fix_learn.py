"""``whence fix learn`` and ``whence fix knowledge``, as a user sees them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cli_tool import Done, whence

from whence.techniques.bugfix.knowledge import load

TOLL = """\
#include <stdio.h>
#include <stdlib.h>
static int unused(int n) { return n + 1; }
int main(int argc, char **argv)
{
    int axles = atoi(argv[1]), toll = 2;
    if (axles > 3)
        toll = 5;
    printf("%d\\n", toll);
    return argc > 9 ? unused(argc) : 0;
}
"""
CASES = ("--fails", "3", "--expect", "5", "--passes", "2", "--passes", "7")


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def fixed(tmp_path: Path) -> Path:
    """A repository whose working tree has the fault mended."""
    (tmp_path / "toll.c").write_text(TOLL)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "faulty")
    (tmp_path / "toll.c").write_text(TOLL.replace("> 3", ">= 3"))
    return tmp_path


def learn(folder: Path, *words: str) -> Done:
    return whence(folder, "fix", "learn", "toll.c", *CASES, *words)


def test_a_fix_is_learned_from_the_working_tree(fixed: Path) -> None:
    done = learn(fixed)
    assert (
        done.status == 0 and "toll.c:7  change an operator, change a comparison operator, change > into >=" in done.out
    )
    (one,) = load(fixed / "whence-fixes.jsonl")
    assert one.fixes == ("change an operator", "change a comparison operator", "change > into >=")
    assert {"COND_STMT", "if", ">", "int-VAR", "SYMPTOM-wrong output"} <= one.situation
    assert {"origDef < origUse1", "passDef < passUse1"} <= one.situation  # of pairs, and of values
    assert (fixed / "toll.c").read_text() == TOLL.replace("> 3", ">= 3")
    again = learn(fixed)
    assert again.status == 0 and len(load(fixed / "whence-fixes.jsonl")) == 1
    shown = whence(fixed, "fix", "knowledge", "whence-fixes.jsonl")
    assert shown.status == 0 and "1  change > into >=" in shown.out


def test_several_changes_are_several_scenarios_and_one_can_be_chosen(fixed: Path) -> None:
    text = (fixed / "toll.c").read_text()
    (fixed / "toll.c").write_text(text.replace("n + 1", "n + 2"))
    assert learn(fixed, "--as", "in my words").status == 2
    assert learn(fixed, "--only", "toll.c:99").status == 2
    done = learn(fixed, "--only", "toll.c:7", "--as", "in my words")
    assert done.status == 0 and [one.fixes for one in load(fixed / "whence-fixes.jsonl")] == [("in my words",)]
    assert learn(fixed).status == 0 and len(load(fixed / "whence-fixes.jsonl")) == 3


def test_what_cannot_be_learned_from_is_said(fixed: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (fixed / "toll.c").write_text(TOLL)
    done = learn(fixed)
    assert done.status == 2 and "was changed since HEAD" in done.err
    (fixed / "toll.c").write_text(TOLL.replace("> 3", "> 3 /* axles */"))
    done = learn(fixed)
    assert done.status == 2 and "changes no statement" in done.err
    elsewhere = tmp_path_factory.mktemp("no-git")
    (elsewhere / "toll.c").write_text(TOLL)
    done = learn(elsewhere)
    assert done.status == 2 and "git cannot tell what was changed" in done.err


def test_knowledge_of_several_files_is_merged(fixed: Path) -> None:
    learn(fixed, "--into", "one.jsonl", "--as", "first")
    learn(fixed, "--into", "two.jsonl", "--as", "second")
    done = whence(fixed, "fix", "knowledge", "one.jsonl", "two.jsonl", "--into", "both.jsonl", "--rules")
    assert done.status == 0 and {one.fixes for one in load(fixed / "both.jsonl")} == {("first",), ("second",)}
    (fixed / "one.jsonl").write_text((fixed / "one.jsonl").read_text() + "<<<<<<< ours\n")
    done = whence(fixed, "fix", "knowledge", "one.jsonl")
    assert done.status == 2 and "a merge left a conflict" in done.err
