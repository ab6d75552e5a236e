"""The file of scenarios: written and read, merged, and refused where it cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import UsageError
from whence.techniques.bugfix.knowledge import SHIPPED, Scenario, load, merged, save

ONE = Scenario(("change an operator", "change < into <="), frozenset(("<", "if", "int-VAR")), "shop 1a2b")
TWO = Scenario(("add a check",), frozenset(("=", "VAR")), "shop 3c4d")
HEAD = '{"knowledge": "whence-fix-knowledge", "version": 1}'

TEXTS = st.text(max_size=8)
MADE = st.builds(Scenario, st.lists(TEXTS, min_size=1, max_size=2).map(tuple), st.frozensets(TEXTS, max_size=3), TEXTS)


@given(st.lists(MADE, max_size=4), st.lists(MADE, max_size=4))
def test_merging_is_that_of_sets(
    tmp_path_factory: pytest.TempPathFactory, one: list[Scenario], two: list[Scenario]
) -> None:
    path = tmp_path_factory.mktemp("k") / "fixes.jsonl"
    assert merged([one, two]) == merged([two, one]) == merged([merged([one, two]), one])
    save(path, merged([one, two]))
    assert set(load(path)) == {*one, *two}
    again = path.read_bytes()
    save(path, load(path))
    assert path.read_bytes() == again


def test_each_scenario_is_a_line_and_lines_are_in_order(tmp_path: Path) -> None:
    path = tmp_path / "fixes.jsonl"
    save(path, [TWO, ONE, TWO])
    lines = path.read_text().splitlines()
    assert lines[0] == HEAD and lines[1:] == sorted(lines[1:]) and len(lines) == 3
    assert '"situation": ["<", "if", "int-VAR"]' in path.read_text()


def test_lines_of_two_branches_put_together_are_a_merge(tmp_path: Path) -> None:
    save(tmp_path / "one", [ONE])
    save(tmp_path / "two", [TWO])
    lines = (tmp_path / "one").read_text() + (tmp_path / "two").read_text().split("\n", 1)[1]
    (tmp_path / "both").write_text(lines)
    assert set(load(tmp_path / "both")) == {ONE, TWO}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no fixes"),
        ("name,fix\n", "holds no fixes"),
        ("[]\n", "holds no fixes"),
        (HEAD.replace("1}", "2}") + "\n", "is of version 2"),
        (f"{HEAD}\n{ONE.line()}\n{TWO.line()[:30]}\n", ":3: this line is damaged"),
        (f"{HEAD}\n" + '{"fixes": "word", "situation": [], "from": "x"}\n', ":2: this line is damaged"),
        (f"{HEAD}\n" + '{"fixes": [], "situation": [], "from": "x"}\n', ":2: this line is damaged"),
        (f"{HEAD}\n" + '{"fixes": ["a"], "situation": [3], "from": "x"}\n', ":2: this line is damaged"),
        (f"{HEAD}\n<<<<<<< ours\n{ONE.line()}\n=======\n{TWO.line()}\n>>>>>>> theirs\n", ":2: a merge left a conflict"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "fixes.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        load(path)


def test_what_is_no_text_is_said(tmp_path: Path) -> None:
    (tmp_path / "fixes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="is no text"):
        load(tmp_path / "fixes")
    with pytest.raises(UsageError, match="cannot read"):
        load(tmp_path / "nothing")


def test_what_is_shipped_can_be_read() -> None:
    assert load(SHIPPED)
