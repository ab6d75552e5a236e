"""What a terminal shows while a command is at work; a pipe gets nothing of it."""

from __future__ import annotations

import io
import re
import time

import pytest

from whence.findings import Entry, Findings, Statement
from whence.report.screen import SHOW_CURSOR, Screen, TerminalScreen, restore, screen_on

PATIENCE = 10.0  # seconds


class Terminal(io.StringIO):
    """A terminal 60 columns wide."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    return Terminal()


def findings(*lines: int) -> Findings:
    ranking = [Entry(Statement("a[b]\x1b.c", line), 1.0 / rank, rank, rank) for rank, line in enumerate(lines, 1)]
    return Findings("locate", "program", ranking)


def source(file: str, line: int) -> str | None:
    return f"\treturn value_{line}; /* {'long ' * 20}*/\n" if line < 90 else None


def wait_for(terminal: Terminal, text: str) -> None:
    """Until it was drawn: another thread draws, when it gets a processor."""
    end = time.monotonic() + PATIENCE
    while text not in shown(terminal) and time.monotonic() < end:
        time.sleep(0.04)


def shown(terminal: Terminal) -> str:
    """What was drawn, without colours and movements of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue()).replace("\r", "\n")


def test_the_first_statements_stand_over_what_is_being_done(terminal: Terminal) -> None:
    screen = screen_on(terminal)
    screen.busy("trying [rules]")
    screen.best(findings(7, 99, 12, 13), source)
    with screen.bar("switching \x1b branches", None) as report:
        report(10, 100)
        wait_for(terminal, "10/100")
        report(200, 200)
        wait_for(terminal, "200/200")
    screen.clear()
    lines = [line.rstrip() for line in shown(terminal).split("\n")]
    assert "first so far, by locate:" in lines
    first = next(line for line in lines if line.startswith("    1  a[b]\\x1b.c:7  return value_7; /* long"))
    assert first.endswith("…") and len(first) <= 60
    assert "    2  a[b]\\x1b.c:99" in lines
    assert not any("c:13" in line for line in lines)
    assert any("trying [rules]" in line for line in lines)
    assert any(re.search(r"switching \\x1b branches .* 10/100", line) for line in lines)
    assert any("200/200" in line for line in lines)


def test_it_goes_and_the_cursor_comes_back(terminal: Terminal) -> None:
    screen = screen_on(terminal)
    screen.best(findings(7), source)
    wait_for(terminal, "first so far")
    screen.clear()
    drawn = terminal.getvalue()
    assert drawn.rindex("\x1b[2K") > drawn.rindex("first so far")
    assert drawn.rindex(SHOW_CURSOR) > drawn.rindex("first so far")
    screen.clear()
    assert terminal.getvalue() == drawn


def test_standard_output_stays_what_it_is(terminal: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    screen = screen_on(terminal)
    screen.busy("recording")
    print("a result")
    screen.clear()
    assert capsys.readouterr().out == "a result\n" and "a result" not in terminal.getvalue()


@pytest.mark.parametrize("term, file", [("xterm", io.StringIO()), ("dumb", Terminal())])
def test_nothing_is_drawn_where_it_would_be_no_picture(
    monkeypatch: pytest.MonkeyPatch, term: str, file: io.StringIO
) -> None:
    monkeypatch.setenv("TERM", term)
    screen = screen_on(file)
    assert type(screen) is Screen and not isinstance(screen, TerminalScreen)
    screen.best(findings(7), source)
    screen.busy("recording")
    with screen.bar("runs", 3) as report:
        report(1, 3)
    screen.clear()
    assert file.getvalue() == ""


def test_a_terminal_whose_drawing_process_was_ended_gets_its_cursor_back(terminal: Terminal) -> None:
    restore(terminal)
    assert terminal.getvalue().startswith(SHOW_CURSOR)
    pipe = io.StringIO()
    restore(pipe)
    assert pipe.getvalue() == ""
