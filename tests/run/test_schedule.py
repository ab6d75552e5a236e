"""Schedules: what is written to files is read again, and what is no schedule gets one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import UsageError
from whence.run.schedule import CHOICES, End, Followed, Point, Schedule, ScheduleFile, Way, read_schedule

POINTS = st.builds(Point, st.integers(0, 4095), st.integers(1, 1 << 40), st.integers(0, 63), st.booleans())


@given(st.lists(POINTS, max_size=20), st.integers(0, (1 << 64) - 1))
def test_files_are_read_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, points: list[Point], build: int):
    path = tmp_path_factory.mktemp("schedules") / "a.json"
    written = ScheduleFile("case", build, Schedule(tuple(points)))
    written.write(path)
    assert read_schedule(path) == written


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "no schedule"),
        ("[1]", "no schedule"),
        ("{}", "'schema' is missing"),
        ('{"schema": "other", "version": 1}', "was expected"),
        (
            json.dumps({"schema": "whence-schedule", "version": 1, "build": "x", "case": "", "points": []}),
            "no schedule",
        ),
        (
            json.dumps(
                {
                    "schema": "whence-schedule",
                    "version": 1,
                    "build": "1",
                    "case": "",
                    "slice": 5,
                    "points": [{"thread": -1, "step": 1, "next": 2}],
                }
            ),
            "a number was expected",
        ),
    ],
)
def test_what_is_no_schedule_gets_one_line(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=told):
        read_schedule(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_schedule(tmp_path / "none.json")


def test_a_file_that_no_run_has_written_to_tells_nothing() -> None:
    schedule = Schedule((Point(1, 2, 3),), Way.CHANCE, seed=7, moments=5, sites=b"\xff")
    assert len(schedule.encode()) == 8 * 16 + 16 + CHOICES * 16 + 5 * 32 + 1
    followed = Followed.decode(schedule.encode())
    assert (followed.points, followed.considered, followed.end) == ((), 0, End.NONE)
    assert followed.moments is not None and len(followed.moments) == 0
