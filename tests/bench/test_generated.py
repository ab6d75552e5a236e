"""Generated faults: each way to plant one on a small source, which lines are faulty then, and what is kept."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.generated.faults import read_faults, write_faults
from bench.generated.operators import OPERATORS
from bench.generated.seed import MOST, seeded
from bench.generated.syntax import Source
from corpus import corpus

WAYS = {operator.name: operator for operator in OPERATORS}
PLACES = [  # way, body of f, and what stands there then instead
    ("missing if with statements", "if (a < 1) {\n\tg(a, b);\n}\n", ""),
    ("missing call", "g(a, b);\n", ""),
    ("missing call", "if (a)\n\tg(a, b);\n", "if (a)\n\t;\n"),
    ("missing conjunct", "if (a && b) return 1;\n", "if (a) return 1;\n"),
    ("missing if around statements", "if (a < 1)\n\tg(a, b);\n", "g(a, b);\n"),
    ("missing part", "a = 1;\nb = 2;\n", ""),
    ("missing assignment", "a += 2;\n", ""),
    ("missing initialisation", "int c = 4;\n", "int c;\n"),
    ("missing disjunct", "if (a || b) return 1;\n", "if (b) return 1;\n"),
    ("missing else", "if (a) b = 1; else b = 2;\n", "if (a) b = 1;\n"),
    ("missing jump", "while (a) { b++; break; }\n", "while (a) { b++;  }\n"),
    ("wrong boundary", "while (a < b) a++;\n", "while (a <= b) a++;\n"),
    ("wrong condition", "if (a == b) return 1;\n", "if (a != b) return 1;\n"),
    ("wrong condition", "if (!a) return 1;\n", "if (a) return 1;\n"),
    ("wrong arithmetic", "a = b + 2;\n", "a = b - 2;\n"),
    ("wrong value assigned", "a = 7;\n", "a = 8;\n"),
    ("wrong constant", "a = b * 3;\n", "a = b * 4;\n"),
    ("wrong entry", "int c[] = { 5, a };\n", "int c[] = { 6, a };\n"),
    ("wrong expression in argument", "g(a, b);\n", "g(a, b - 1);\n"),
    ("off by one", "t[a] = 1;\n", "t[a + 1] = 1;\n"),
    ("wrong variable in argument", "g(a, 1);\n", "g(b, 1);\n"),
    ("wrong variable", "s->low = 1;\n", "s->high = 1;\n"),
    ("wrong function", "g(a, b);\n", "h(a, b);\n"),
    ("swapped arguments", "g(a, b);\n", "g(b, a);\n"),
    ("wrong order", "a = 1;\nb = a;\n", "b = a;\na = 1;\n"),
    ("wrong type", "int c;\n", "short c;\n"),
    ("wrong size", "malloc(a + 1);\n", "malloc(a);\n"),
    ("extra statement", "a++;\nb++;\n", "a++;\nb++;\na++;\n"),
]
HEAD = """struct range { int low, high; char *name; };
int t[9];
int g(int x, int y) { return x; }
int h(int x, int y) { return y; }
"""


def program(body: str) -> str:
    """A file with a function that has this body, which no other part of the file is like."""
    return f"{HEAD}int f(int a, int b, struct range *s)\n{{\n{body}return 0;\n}}\n"


def made(way: str, body: str) -> dict[str, tuple[int, ...]]:
    """What the way makes of a program with this body, with the faulty lines counted from the body's first."""
    source = Source(program(body).encode())
    edited = [source.edited(edit) for edit in WAYS[way].make(source)]
    first = program("").count("\n") - 2
    return {text.decode(): tuple(line - first for line in lines) for text, lines in edited}


@pytest.mark.parametrize(("way", "body", "expected"), PLACES, ids=[f"{w}: {b[:20]!r}" for w, b, _ in PLACES])
def test_each_way_makes_its_fault(way, body, expected):
    texts = {text.replace("\t", "").replace("\n", " ") for text in made(way, body)}
    assert program(expected).replace("\t", "").replace("\n", " ") in texts


def test_every_way_is_tried_here():
    assert {way for way, _, _ in PLACES} == WAYS.keys()
    assert {operator.kind for operator in OPERATORS} == set(corpus.KINDS)


def test_nothing_outside_functions_is_changed_but_entries_of_tables():
    text = ("int u[] = { 3 };\n" + program("a = 1;\n")).encode()
    outside = {o.name: e for o in OPERATORS for e in o.make(Source(text)) if e.start < text.index(b"int g(")}
    assert outside.keys() == {"wrong entry"}
    assert Source(text).edited(outside["wrong entry"])[1] == (1,)


@pytest.mark.parametrize(
    ("way", "body", "lines"),
    [
        ("missing assignment", "if (b) {\n\tg(a, b);\n\ta = 1;\n\t}\nb = 2;\n", (2, 4)),  # a brace is passed over
        ("missing assignment", "g(a, b);\na = 1;\n", (1, 2)),
        ("missing assignment", "if (a)\n\ta = 1;\n", (1, 2, 3)),  # an empty statement stands there
        (
            "missing if around statements",
            "if (a)\n\tb = 1;\nelse if (b) {\n\ta = 1;\n\t}\n",
            (2, 3, 4),
        ),  # and an `else`
        ("missing if around statements", "a = 1;\nif (b) {\n\ta = 2;\n\t}\n", (1, 2, 3)),  # and a brace
        ("missing conjunct", "if (a &&\n\tb)\n\tg(a, b);\n", (1,)),
        ("missing if around statements", "a = 1;\nif (a)\n\tg(a, b);\n", (2,)),
        ("extra statement", "a++;\nb++;\n", (3,)),
        ("wrong order", "a = 1;\nb = a;\n", (1, 2)),
    ],
)
def test_the_faulty_lines(way, body, lines):
    assert lines in made(way, body).values()


def has_ended(status):
    try:
        return "State:\tZ" in status.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_planted_program_that_runs_for_ever_ends_without_who_started_it(tmp_path):
    source, binary, noted = (
        "#include <unistd.h>\nint main(void) { for (;;) ; }\n",
        tmp_path / "endless",
        tmp_path / "pid",
    )
    corpus.compile_program(source, binary)
    noted.with_suffix(".sh").write_text(f"#!/bin/sh\necho $$ > {noted}\nexec {binary}\n")
    noted.with_suffix(".sh").chmod(0o700)
    text = f"from corpus import corpus\ncorpus.run({str(noted.with_suffix('.sh'))!r}, corpus.cases('stats')[0], 1.0)"
    with subprocess.Popen([sys.executable, "-c", text], cwd=corpus.ROOT.parent) as starter:
        while not (noted.exists() and noted.read_text()):
            time.sleep(0.01)
        starter.kill()
    status, end = Path(f"/proc/{int(noted.read_text())}/status"), time.monotonic() + 60
    while not has_ended(status) and time.monotonic() < end:
        time.sleep(0.05)
    assert has_ended(status)


def test_faults_are_kept_that_some_cases_show(tmp_path):
    first, second = seeded("gatekeeper", 2, seed=1)
    assert seeded("gatekeeper", 1, seed=1) == [first]  # the same again, and the beginning of more
    cases = corpus.cases("gatekeeper")
    corpus.compile_program(corpus.source_path("gatekeeper").read_text(), tmp_path / "right")
    right = [corpus.run(tmp_path / "right", case) for case in cases]
    for fault in (first, second):
        corpus.compile_program(corpus.faulty_source(fault), tmp_path / "faulty")
        failing = sum(corpus.run(tmp_path / "faulty", c) != o for c, o in zip(cases, right, strict=True))
        assert failing == fault.failing
        assert 1 <= failing <= MOST * len(cases)
    write_faults(tmp_path / "faults", [first, second])
    assert read_faults(tmp_path / "faults") == [first, second]
