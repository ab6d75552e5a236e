"""What the commands that search have in common: their options, what is said about a search."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import click
import pytest
from cli_tool import subject_folder
from click.testing import CliRunner

from whence.cli.options import CaseCommand, Options, Search, search_options, shared_options
from whence.cli.supervisor import clock
from whence.investigation.account import search_summary
from whence.investigation.investigation import Investigation, Setup


@click.command(cls=CaseCommand)
@shared_options
@search_options
def tool(options: Options, search: Search) -> None:
    """A command that searches."""
    click.echo(f"{options.limit} {search}")


def called(*words: str) -> str:
    return CliRunner().invoke(tool, [*words]).output.strip()


def test_without_options_everything_is_searched_on_all_cores() -> None:
    assert called() == f"10 {Search(None, None, False)}"


def test_options_of_a_search() -> None:
    words = ["--workers", "3", "--cluster", "tcp://host:1", "--fresh", "-n", "7"]
    assert called(*words) == f"7 {Search(3, 'tcp://host:1', True)}"


@pytest.mark.parametrize(
    "text, seconds", [("90", 90.0), ("90s", 90.0), ("5m", 300.0), ("1h", 3600.0), ("1.5m", 90.0), ("0.2s", 0.2)]
)
def test_times(text: str, seconds: float) -> None:
    assert called("--budget", text) == f"10 {Search(None, None, False)}"
    assert clock.budget == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-1", "5 m", "5d", "m", "1e3", "1m30s", "nan", "٣"])
def test_what_is_no_time(text: str) -> None:
    assert f"Invalid value for '--budget': '{text}' is no time; write 90s, 5m or 1h" in called("--budget", text)


@pytest.mark.parametrize("count", ["0", "-2", "x"])
def test_what_is_no_number_of_workers(count: str) -> None:
    assert "Invalid value for '--workers'" in called("--workers", count)


# ---- A whole search --------------------------------------------------------------------------------------------------

PROGRAM = r"""
#include <stdio.h>
int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 0; i < argc; i++)
        total += i;
    printf("%d\n", total);
    return argv[0] == 0;
}
"""


def test_a_search_from_options_to_its_summary(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    import numpy as np

    from whence.alter.changes import CHANGE, Batch, Op
    from whence.alter.work import Request
    from whence.probe.sites import Role
    from whence.run.cases import Case
    from whence.run.outcome import Expected
    from whence.run.sandbox import DEFAULT_LIMITS
    from whence.subject.subject import subject_from_sources

    clock.start(600.0)
    monkeypatch.setattr("whence.alter.work.found_folder", lambda: tmp_path)
    source = subject_folder("search", p_c=PROGRAM) / "p.c"
    case = Case("case", ("1", "2"), expected=Expected(b"4\n"))
    subject = subject_from_sources([source], [], [case], DEFAULT_LIMITS)
    for _ in range(2):
        with Investigation(subject, Setup(workers=1), clock).work() as work:
            (observed,) = work.observe([case])
            sites = subject.alter_plan.sites[observed.events["site"]]
            stores = sites["role"] == Role.STORE
            events, sites = observed.events[stores], sites[stores]
            found = np.zeros(len(sites), CHANGE)
            for name in ("clock", "site"):
                found[name] = events[name]
            for name in ("block", "width", "form"):
                found[name] = sites[name]
            found["op"], found["value"] = Op.ADD, 1
            (results,) = work.run([Request(case, Batch.single(found))])
        count = len(results.records)
        assert work.deadline is not None and work.stopped == ""
        summary = search_summary(work)
        assert len(summary) == 1
        assert results.passed.any() and not results.passed.all()
    assert summary[0].startswith("ran 0 altered runs in ")
    assert summary[0].endswith(f" s; {count} more were known already")


def work_like(**changed: Any) -> Any:
    plain = {"done": 1, "known": 0, "lost": 0, "left_out": 0, "seconds": 2.04, "stopped": "", "trouble": ""}
    return SimpleNamespace(**{**plain, "fresh": False, "cut_short": False, "unusable": {}, **changed})


def test_summaries() -> None:
    assert search_summary(work_like()) == ["ran 1 altered run in 2.0 s"]
    assert search_summary(work_like(done=12345, stopped="budget", left_out=2)) == [
        "ran 12,345 altered runs in 2.0 s",
        "stopped early (its time is used up): 2 altered runs and whatever would have followed were left out",
        "run the same command again to go on",
    ]
    assert search_summary(work_like(done=0, stopped="budget"))[1] == (  # whose fault that is, is not known
        "not one ended in that time: --budget 5m, a smaller input or a lower [limits] time helps"
    )
    assert search_summary(work_like(stopped="interrupt", fresh=True))[1:] == [
        "stopped early (interrupted): 0 altered runs and whatever would have followed were left out",
        "run the same command again to go on, without --fresh",
    ]
    assert search_summary(work_like(cut_short=True))[1:] == [
        "a search took its share of the time, and left runs out; more time: --budget 10m"
    ]
    assert search_summary(work_like(unusable={"one": "it passes there"}))[1:] == ["not altered: one: it passes there"]
    assert search_summary(work_like(cut_short=True, stopped="budget"))[1].startswith("stopped early")
    assert search_summary(work_like(lost=3, stopped="budget", trouble="No space left on device: /x"))[1:] == [
        "3 altered runs took the process down, and tell nothing",
        "stopped early (its time is used up): 0 altered runs and whatever would have followed were left out",
        "what was found cannot be kept for another search: No space left on device: /x",
    ]
