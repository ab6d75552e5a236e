"""What follows from a program's text: kept with its record variant, read back, and made anew where that is no use."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trace_readers import subject_of

from whence.build.store import Store
from whence.probe.instrument import Variant
from whence.subject.program_text import KIND, PARTS, keep, program_text
from whence.subject.subject import Subject

TWO = """\
#include <stdio.h>
static int table[3] = {4, 5, 6};
static int chosen(const char *text, int place) { return table[place % 3] + text[0]; }
int main(int argc, char **argv)
{
    int sum = 0;
    for (int n = 0; n < argc; n++)
        sum += chosen(argv[n], n);
    printf("%d\\n", sum);
    return 0;
}
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("whence.subject.program_text.Store", lambda: Store(str(tmp_path)))
    return tmp_path


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, with arrays of the same type and layout: kernels are compiled for these."""
    if isinstance(one, np.ndarray):
        layouts = [(a.dtype, a.flags.c_contiguous, a.flags.writeable, a.flags.aligned) for a in (one, other)]
        return layouts[0] == layouts[1] and one.tobytes() == other.tobytes()
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def files(store: Path) -> list[Path]:
    return [path for path in (store / KIND).rglob("*") if path.is_file()] if (store / KIND).is_dir() else []


def test_what_was_kept_is_what_is_made(store: Path) -> None:
    capture = subject_of(TWO).capture
    made = program_text(capture, ())
    assert "program" not in made.__dict__ and not files(store)
    keep(made, capture, ())
    kept = program_text(capture, ())
    assert set(PARTS) <= kept.__dict__.keys()
    assert [m.functions.keys() for m in kept.program.modules] == [m.functions.keys() for m in made.program.modules]
    assert kept.program.fingerprint() == made.program.fingerprint()
    assert same(kept.plan, made.plan) and same(kept.alter_plan, made.alter_plan)
    assert same(kept.declarations[1], made.declarations[1])
    assert kept.declarations[0].static_sizes == made.declarations[0].static_sizes


def test_damaged_and_other_files_are_not_read(store: Path) -> None:
    capture = subject_of(TWO).capture
    keep(program_text(capture, ()), capture, ())
    (path,) = files(store)
    path.write_bytes(path.read_bytes()[:-200])
    assert "program" not in program_text(capture, ()).__dict__
    assert not path.exists()
    keep(program_text(capture, ()), capture, ())
    assert "program" in program_text(capture, ()).__dict__
    other = subject_of(TWO.replace("% 3", "% 2")).capture
    assert "program" not in program_text(other, ()).__dict__


def test_it_is_kept_with_the_record_variant(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.subject.subject.is_sealed", lambda path: False)  # as if none was built before
    monkeypatch.setattr(Subject, "build", lambda self, kind, out: out)
    subject = subject_of(TWO)
    subject.variant(Variant.COVER)
    assert not files(store)
    subject.variant(Variant.RECORD)
    assert len(files(store)) == 1
