from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.insertions import gap, left_out, main
from whence.techniques.bugfix.fitting import WEIGHTS

LIST = """\
struct list { int length, most; };
static void clear(struct list *list)
{
    list->length = 0;
    list->most = 1;
}
static void renew(struct list *list, struct list *other)
{
    list->length = 0;
    list->most = 1;
    other->length = 0;
    other->most = 1;
    clear(other);
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "list.c"
    path.write_text(LIST)
    return path


def test_each_statement_is_left_out_once_and_what_is_left_is_the_file_without_it(path: Path) -> None:
    found = list(left_out(path, 100, 1))
    assert sorted(line for _, line, _ in found) == [3, 4, 8, 9, 10, 11, 12]
    for source, line, whole in found:
        lines = LIST.splitlines()
        assert source.text.decode().splitlines() == lines[:line] + lines[line + 1 :] and whole == LIST.encode()


def test_what_stands_elsewhere_in_the_same_company_fits_well(path: Path) -> None:
    gaps = {line: gap(source, line, whole, path, True) for source, line, whole in left_out(path, 100, 1)}
    for line in (9, 11):
        assert gaps[line].place > 0 and gaps[line].examples
        for example in gaps[line].examples:
            assert example.matrix.shape == (len(example.faulty), len(WEIGHTS))
            scores = example.matrix @ np.array(list(WEIGHTS.values()))
            assert np.count_nonzero(scores > scores[example.faulty].max()) < 5 < len(scores)


def test_what_no_edit_puts_in_has_no_place(path: Path) -> None:
    path.write_text(LIST.replace("clear(other);", "clear(other + list->length * 7);"))
    (found,) = (one for one in left_out(path, 100, 1) if one[1] == 12)
    assert gap(*found, path, True).place == 0


def test_the_table_and_the_weights_are_printed(path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("sys.argv", ["bench.insertions", "--number", "3", "--learn", str(path)])
    main()
    shown = capsys.readouterr().out
    assert "| list.c | 3 |" in shown and all(f"{name}: " in shown for name in WEIGHTS)
