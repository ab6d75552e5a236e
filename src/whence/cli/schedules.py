"""``whence schedules``: a search for the order of threads under which a case fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, quoted, shared_options
from whence.cli.present import show
from whence.errors import UsageError

if TYPE_CHECKING:
    from whence.findings import Findings

STRATEGIES = ("preemptions", "delays", "priorities", "walk")  # as techniques/schedules/strategies.py has them


@click.command(cls=CaseCommand)
@shared_options
@click.option("--strategy", "names", multiple=True, type=click.Choice(STRATEGIES), help="How to search [all in turn].")
@click.option("--runs", default=10_000, type=click.IntRange(1), show_default=True, help="Schedules of a case to try.")
@click.option("--all", "every", is_flag=True, help="Go on with the other cases when one fails.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Where the schedule is written.")
def schedules(options: Options, names: tuple[str, ...], runs: int, every: bool, output: Path | None) -> int:
    """Find a schedule of the threads under which a case fails: the cases need not fail by themselves.

    What is found is made as short as it can be, checked, and told beside a schedule that passes. Every other command
    works on it with --schedule FILE.
    """
    from whence.techniques.schedules.technique import Schedules

    if options.schedule is not None:
        raise UsageError("--schedule names the schedule of one run; whence schedules searches for another one")
    with investigate(options, finish=lambda findings: _with_next(findings, options)) as investigation:
        findings = investigation.find(Schedules(names=names or STRATEGIES, most=runs, every=every, output=output))
        return show(investigation, _with_next(findings, options), options)


def _with_next(findings: Findings, options: Options) -> Findings:
    """The findings with what can be done next."""
    found = next((case["found"] for case in findings.parts.get("schedules", []) if case["found"]), None)
    if found is None:
        return findings
    words = f"--schedule {quoted(found['file'])} {options.subject_words()}".rstrip()
    commands = [
        {"command": f"whence slice {words}", "why": "every line that led to the failure, with its values"},
        {"command": f"whence locate {words}", "why": "the lines most likely at fault, by all techniques"},
    ]
    return replace(findings, parts={**findings.parts, "next": commands})
