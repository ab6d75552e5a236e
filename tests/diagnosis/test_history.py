from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.diagnosis.test_minimal_full_partial import CASES, Searcher, lines, searched, version
from whence.diagnosis.multiple_faults.history import (
    History,
    Snapshot,
    continued,
    default_path,
    load,
    mark_of,
    save,
    without,
)
from whence.diagnosis.multiple_faults.minimal_full_partial import Known, Run, partial
from whence.errors import UsageError
from whence.findings import Statement
from whence.run.cases import Case
from whence.run.outcome import Expected

TEXT = "one();\ntwo();\nthree();\nfour();\nfive();\n"


def snapshot(text: str = TEXT, fingerprint: int = 1, program: str = "p", file: str = "p.c") -> Snapshot:
    """A program in which each line that ends in a semicolon is a statement."""
    numbers = [n for n, line in enumerate(text.splitlines(), 1) if line.strip().endswith(";")]
    return Snapshot(program, fingerprint, frozenset(Statement(file, n) for n in numbers), {file: text})


def pair(line: int, text: str) -> dict[Statement, str]:
    return {Statement("p.c", line): text}


def begun() -> History:
    """After the first list: of case a, in which line 3 has a pair, and of case b with 4."""
    of = version({"a": lines(1, 2, 3), "b": lines(1, 4, 5)})
    known = partial(None, of, frozenset(), Searcher({"a": pair(3, "x"), "b": pair(4, "y")}))
    return History("partial", snapshot(), known=known, marks={"a": "x", "b": "y"})


# ---- From version to version -----------------------------------------------------------------------------------------


def test_the_same_program_is_the_same_iteration():
    history = begun()
    assert continued(history, snapshot()) is history
    assert history.found == {"a": pair(3, "x"), "b": pair(4, "y")}


def test_a_fix_is_the_next_iteration_in_the_new_lines():
    history = continued(begun(), snapshot(TEXT.replace("two", "zero();\n2"), 2))
    assert (history.iteration, history.fixed, history.known) == (2, lines(2, 3), None)
    before = history.before
    assert before.runs == {"a": Run(lines(1, 2, 4), pair(4, "x")), "b": Run(lines(1, 5, 6), pair(5, "y"))}
    assert {s.line for s in before.lists} | {before.shown[0][0].line} <= {1, 2, 4, 5, 6}
    assert history.found == {}


def test_a_fix_may_be_named():
    assert continued(begun(), snapshot(TEXT.replace("two", "2"), 2), lines(5)).fixed == lines(5)
    with pytest.raises(UsageError, match="still the one of the last list"):
        continued(begun(), snapshot(), lines(5))


def test_statements_that_are_gone_are_forgotten():
    before = continued(begun(), snapshot(TEXT.replace("three();\n", ""), 2)).before
    assert before.runs["a"] == Run(lines(1, 2), {})
    assert before.runs["b"] == Run(lines(1, 3, 4), pair(3, "y"))


def test_comments_and_moved_code_are_no_fix():
    history = begun()
    again = continued(history, snapshot("/* a\n comment */\n" + TEXT, 2))
    assert (again.iteration, again.found) == (1, {"a": pair(5, "x"), "b": pair(6, "y")})
    assert again.before is None


def test_an_edit_outside_of_statements_touches_all():
    history = continued(begun(), snapshot("#define TWO 2\n" + TEXT, 2))
    assert history.fixed == lines(2, 3, 4, 5, 6) and history.iteration == 2


def test_a_program_that_changed_without_its_sources_touches_all():
    assert continued(begun(), snapshot(TEXT, 2)).fixed == lines(1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    "other",
    [
        snapshot(program="q"),
        snapshot(program="q", fingerprint=2),
        snapshot("a;\nb;\n", 2),
        snapshot(TEXT, 2, file="r.c"),
    ],
)
def test_another_program_is_refused(other):
    with pytest.raises(UsageError, match="another program") as raised:
        continued(begun(), other)
    assert "--start" in raised.value.hint


def test_without_some_runs():
    known = begun().known
    assert list(without(known, ["a", "z"]).runs) == ["b"]
    assert without(None, ["a"]) is None


# ---- The file --------------------------------------------------------------------------------------------------------


def test_what_is_saved_is_loaded(tmp_path):
    path = tmp_path / "new" / "state.json"
    history = replace(begun(), before=begun().known, iteration=3, fixed=lines(2))
    save(history, path)
    assert load(path) == history
    assert [p.name for p in path.parent.iterdir()] == ["state.json"]
    assert json.loads(path.read_text())["schema"] == {"name": "whence-faults", "version": 1}


@given(searched(), st.frozensets(st.sampled_from(CASES)))
def test_known_is_kept_whole(tmp_path_factory, drawn, cases):
    runs, of = drawn
    known: Known = partial(None, of, frozenset(), Searcher({c: r.pairs for c, r in runs.items()}))
    path = tmp_path_factory.getbasetemp() / "known.json"
    history = History("partial", snapshot(), known=known, before=replace(known, cases=cases))
    save(history, path)
    assert load(path) == history


def test_a_source_in_another_encoding_is_kept(tmp_path):
    text = b'puts("\xe9");\n'.decode(errors="surrogateescape")
    save(History("full", snapshot(text)), tmp_path / "s.json")
    assert load(tmp_path / "s.json").snapshot.sources == {"p.c": text}


def test_no_file_is_no_history(tmp_path):
    assert load(tmp_path / "none.json") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot read the state"),
        ("[]", "is no state of `whence faults`"),
        ('{"schema": {"name": "whence-faults", "version": 2}}', "is no state of `whence faults`"),
        ('{"schema": {"name": "whence-faults", "version": 1}}', "is damaged"),
    ],
)
def test_a_file_that_is_no_state(tmp_path, text, message):
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as raised:
        load(path)
    assert "--start" in raised.value.hint


def test_a_damaged_state_is_told(tmp_path):
    path = tmp_path / "state.json"
    save(begun(), path)
    state = json.loads(path.read_text())
    for key in state.keys() - {"schema", "program", "iteration"}:
        path.write_text(json.dumps({**state, key: 3.5}))
        with pytest.raises(UsageError, match="is damaged"):
            load(path)
    path.write_text(json.dumps({k: v for k, v in state.items() if k != "program"}))
    with pytest.raises(UsageError, match="is damaged"):
        load(path)


def test_each_folder_has_a_state_of_its_own(tmp_path):
    assert default_path(tmp_path, Path("/a/b")) != default_path(tmp_path, Path("/a/c"))
    assert default_path(tmp_path, tmp_path / "x" / "..") == default_path(tmp_path, tmp_path)


def test_marks_tell_cases_apart(tmp_path):
    text = tmp_path / "in.txt"
    text.write_text("1")
    case = Case("a", ("1",), text, expected=Expected(b"x"))
    mark = mark_of(case)
    assert mark_of(replace(case)) == mark
    assert mark_of(replace(case, stdin=b"1")) == mark
    others = [replace(case, arguments=("2",)), replace(case, expected=Expected(b"y")), replace(case, stdin=b"2")]
    assert mark not in [mark_of(other) for other in others]
    text.write_text("2")
    assert mark_of(case) != mark
