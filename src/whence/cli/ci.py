"""``whence ci``: run all cases, locate what fails, and leave what CI services take.

Each failure is located by a command of its own, so what goes wrong with one costs that one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.git import short_revision
from whence.cli.options import duration
from whence.cli.present import files_of, source_texts, writing
from whence.cli.supervisor import clock, line
from whence.findings import plural
from whence.investigation.clock import BUDGET
from whence.report.diagnosed import Diagnosed

if TYPE_CHECKING:
    from whence.report.diagnosed import Verdict

FAILURES = 3  # that are located
STATEMENTS, NAMED = 3, 5  # of a failure that are printed; cases that are named in a line
SUMMARY = "GITHUB_STEP_SUMMARY"  # names the file that is shown on the page of a job
_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(slots=True)
class Suite:
    """All cases: the program's name, the verdicts, the cases of each failure, and what is to be said beside that."""

    subject: str
    verdicts: list[Verdict]
    failures: list[list[str]]
    notes: list[str]


@click.command()
@click.option("-C", "folder", default=Path(), type=click.Path(path_type=Path), help="Folder of whence.toml [.]")
@click.option("--budget", callback=duration, metavar="TIME", help="Wall time for each failure: 90s, 5m [60s].")
@click.option("--failures", "most", default=FAILURES, type=click.IntRange(0), show_default=True, help="To locate.")
@click.option("--since", metavar="REV", help="Find the changes since a version of git that each failure needs.")
@click.option("--sarif", type=_FILE, metavar="FILE", help="Write what was found as a SARIF 2.1.0 log.")
@click.option("--junit", type=_FILE, metavar="FILE", help="Write the verdicts of all cases as JUnit XML.")
@click.option("--summary", type=_FILE, metavar="FILE", help=f"Add a Markdown summary to this file [${SUMMARY}].")
def ci(
    folder: Path,
    budget: float | None,
    most: int,
    since: str | None,
    sarif: Path | None,
    junit: Path | None,
    summary: Path | None,
) -> int:
    """Run the cases of whence.toml, and locate what makes them fail.

    Cases that fail in the same way are one failure; those of the most cases are located. The exit status is 0 where all
    cases pass, and 1 where some fail.
    """
    if since:
        short_revision(folder, since)  # an error in all of it, not in each failure
    suite = _run(folder)
    failing = sum(bool(verdict.kind) for verdict in suite.verdicts)
    click.echo(f"{suite.subject}: {plural(len(suite.verdicts), 'case')}, {failing or 'none'} failing")
    words = ["--budget", f"{budget or BUDGET:g}s", *(["--since", since] if since else [])]
    diagnosed = list[Diagnosed]()
    with suppress(KeyboardInterrupt):  # what is known then is written
        for number, cases in enumerate(suite.failures[:most], 1):
            click.echo(f"\nfailure {number} of {len(suite.failures)}: {_names(cases)}")
            chosen = ["--case", cases[0]] if len(suite.failures) > 1 else []
            diagnosed.append(_located(folder, cases, [*words, *chosen]))
            _tell(diagnosed[-1])
            if diagnosed[-1].interrupted:
                break
    suite.notes += [f"not located: {_names(cases)}" for cases in suite.failures[len(diagnosed) :]]
    for note in suite.notes:
        click.echo(note)
    line.showing()
    _write(suite, diagnosed, sarif, junit, summary or _of_environment())
    return 1 if suite.failures else 0


def _of_environment() -> Path | None:
    return Path(os.environ[SUMMARY]) if os.environ.get(SUMMARY) else None


def _run(folder: Path) -> Suite:
    """All cases run. Raises what reading the configuration, building and running raise."""
    from whence.investigation.begin import Beginning
    from whence.investigation.investigation import Setup
    from whence.investigation.watcher import Watcher
    from whence.report.diagnosed import Verdict

    clock.start(float("inf"))
    with Beginning(Setup(), clock, Watcher()).with_folder(folder) as investigation:
        runs = investigation.runs
        groups = investigation.failures()
        failing = {row for group in groups for row in group}
        return Suite(
            investigation.subject.name,
            [
                Verdict(one.case.name, one.outcome.kind if row in failing else "", one.outcome.text, one.result.wall)
                for row, one in enumerate(runs.tested)
            ],
            [[runs.tested[row].case.name for row in group] for group in groups],
            [f"left out: {text}" for text in runs.left_out],
        )


def _located(folder: Path, cases: Sequence[str], options: Sequence[str]) -> Diagnosed:
    """What ``whence locate`` with these options finds out about the failure of some cases."""
    words = [sys.executable, "-m", "whence", "locate", "-C", str(folder), "--json", *options]
    pipe = subprocess.PIPE
    is_stopped = False
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        try:
            out, err = process.communicate()
        except KeyboardInterrupt:  # it shows what it has when it is told to stop
            is_stopped = True
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
    try:
        result: dict[str, Any] = json.loads(out)
    except ValueError:
        said = err.decode(errors="replace").strip().partition("\n")[0]
        said = said or f"whence locate ended with status {process.returncode}"
        return Diagnosed(tuple(cases), None, trouble=said, interrupted=is_stopped)
    return Diagnosed(tuple(cases), result, source_texts(folder, files_of(result)), interrupted=is_stopped)


def _tell(one: Diagnosed) -> None:
    """Print the symptom and the first statements."""
    from whence.report.text import visible

    if one.result is None:
        click.echo(f"  not located: {visible(one.trouble)}")
        return
    if one.result["symptom"]:
        click.echo(f"  {visible(one.result['symptom']['text'])}")
    for entry in one.result["ranking"][:STATEMENTS]:
        text = one.line(entry["file"], entry["line"]).strip()
        click.echo(f"  {entry['rank']}. {visible(entry['file'])}:{entry['line']}  {visible(text)}")
        for reason in entry["evidence"].get("reasons", [])[:1]:
            click.echo(f"     {visible(reason['text'])}")
    if changes := one.result.get("changes"):
        places = ", ".join(f"{visible(needed['file'])}:{needed['line']}" for needed in changes["needed"][:NAMED])
        click.echo(f"  needed of {plural(changes['changes'], 'change')} since {visible(changes['since'])}: {places}")


def _names(cases: Sequence[str]) -> str:
    from whence.report.text import visible

    more = f" and {len(cases) - NAMED} more" if len(cases) > NAMED else ""
    return visible(", ".join(cases[:NAMED])) + more


def _write(
    suite: Suite, diagnosed: Sequence[Diagnosed], sarif: Path | None, junit: Path | None, summary: Path | None
) -> None:
    """Write the files that were asked for; where nothing fails, too, so that what was reported before is closed."""
    from whence import __version__
    from whence.report.junit import junit_text
    from whence.report.markdown import markdown_text
    from whence.report.sarif import sarif_text

    if sarif:
        with writing(sarif):
            sarif.write_text(sarif_text(diagnosed, __version__))
    if junit:
        with writing(junit):
            junit.write_text(junit_text(suite.subject, suite.verdicts, diagnosed, str(sarif or "")))
    if summary:
        with writing(summary), summary.open("a") as file:
            file.write(markdown_text(suite.subject, suite.verdicts, diagnosed, suite.notes))
