"""The alter variant's text: hooks that give back what they are given change nothing, altered values are what is used."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest
from snippets import C, Snippet, program, programs, snippet
from test_transparency import as_case, shown

from corpus import corpus
from whence.build.toolchain import find_toolchain
from whence.build.variant import build_variant, compile_c
from whence.probe.alter import altered, altered_layout
from whence.probe.instrument import Variant, alter_texts
from whence.probe.sites import Finder, Role
from whence.run.cases import Case
from whence.run.runner import Runner

STAND_IN = Path(__file__).parent / "runtime" / "hooks.c"
CORPUS = ("cache", "stats")
SAMPLE = 4  # cases of each corpus program


@cache
def asking(made: Snippet) -> Path:
    """The alter variant in which every hook asks a stand-in for the runtime (``runtime/hooks.c``)."""
    subject = made.subject
    object_file = compile_c(find_toolchain("bundled"), STAND_IN, ("-O1", "-w"))
    texts = list(alter_texts(subject.program, subject.alter_plan))
    return build_variant(
        subject.capture, "alter", texts, [object_file], made.folder / "hooks" / made.subject.executable.name
    )


def run(made: Snippet, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program with every hook asking."""
    command = [str(asking(made)), *arguments]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=20
    )


def listed(made: Snippet, path: Path, *arguments: str) -> list[tuple[int, ...]]:
    """(clock, site, value, left, right) of each hook that asked, in order."""
    run(made, *arguments, HOOKS_LIST=str(path))
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()]


def sites(made: Snippet, line: int, role: Role) -> list[int]:
    """The sites of a role on a line."""
    subject = made.subject
    rows = subject.alter_plan.sites
    on_line = [(place := subject.program.location(i)) and place.line == line for i in rows["instruction"].tolist()]
    return [
        n for n, (there, own) in enumerate(zip(on_line, rows["role"].tolist(), strict=True)) if there and own == role
    ]


@pytest.mark.parametrize("name", programs())
def test_a_program_does_the_same_with_every_hook_asking(name: str):
    made = program(name)
    case = Case("case", tuple(made.arguments), made.stdin)
    subject = made.snippet.subject
    with Runner(asking(made.snippet), subject.limits, name=subject.name) as runner:
        assert shown(runner.run_case(case)) == shown(made.snippet.run(*made.arguments, stdin=made.stdin))


@pytest.mark.parametrize("name", CORPUS)
def test_a_corpus_program_does_the_same_with_every_hook_asking(name: str):
    made = snippet(corpus.source_path(name).read_text())
    cases = corpus.cases(name)
    chosen = [as_case(case) for case in cases[:: len(cases) // SAMPLE][:SAMPLE]]
    with Runner(asking(made), made.subject.limits, name=made.subject.name) as runner:
        assert [shown(r) for r in runner.run_cases(chosen)] == [shown(r) for r in made.runner().run_cases(chosen)]
