"""``whence locate``: rank and explain the statements most likely at fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whence.cli.git import changed_since
from whence.cli.investigate import investigate
from whence.cli.options import FORMULAS, CaseCommand, Options, Search, quoted, search_options, shared_options
from whence.cli.present import show
from whence.errors import WhenceError

if TYPE_CHECKING:
    from whence.findings import Findings
    from whence.investigation.investigation import Investigation

CHANGES = 0.4  # of the time, for changes since a version
LONGEST_WORDS = 500  # characters of a command line that are repeated


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--formula", type=click.Choice(FORMULAS), default="op2", show_default=True, help="Of suspiciousness.")
@click.option("--alter/--no-alter", default=True, help="Change the failing runs, in the time that is left [yes].")
@click.option("--generate/--no-generate", default=True, help="Make inputs close to the failing one if no case passes.")
@click.option("--since", metavar="REV", help="Find the changes since a version of git that the failure needs.")
@click.option("--without", metavar="STEPS", default="", help="Leave these out, as in values,causes (docs/locate.md).")
def locate(
    options: Options, search: Search, formula: str, alter: bool, generate: bool, since: str | None, without: str
) -> int:
    """Rank the statements most likely at fault, and explain them.

    Without SOURCES the program and its cases are those of whence.toml. The failing run is recorded and sliced; then the
    failing runs are run again with changed branches, operators and values, and what makes them pass comes first. With
    --since what was changed and is needed for the failure comes before all.
    """
    from whence.diagnosis.locate import Locate

    def finish(findings: Findings) -> Findings:
        return replace(findings, parts={**findings.parts, "next": next_commands(findings, options)})

    steps = tuple(step.strip() for step in without.split(",") if step.strip())
    before = changed_since(_folder(options), since, "*.c", "*.h") if since else {}
    with investigate(options, search, finish, before=before) as investigation:
        found = _needed_changes(investigation, since, before) if since else None
        findings = investigation.find(Locate(formula=formula, alter=alter, generate=generate, without=steps))
        return show(investigation, finish(_joined(findings, found)), options)


def _folder(options: Options) -> Path:
    """The subject's folder."""
    return options.sources[0].parent if options.sources else options.folder


def _needed_changes(investigation: Investigation, since: str, before: dict[str, bytes]) -> Findings | str:
    """What a part of the time tells of the changes since a version; or why it tells nothing."""
    from whence.techniques.changes import FailureInducingChanges

    if not before:
        return f"no C file was changed since {since}"
    with investigation.clock.part(CHANGES):
        try:
            return investigation.find(FailureInducingChanges(before=tuple(before.items()), since=since))
        except WhenceError as error:
            return f"changes since {since}: {error}"


def _joined(findings: Findings, changes: Findings | str | None) -> Findings:
    from whence.diagnosis.changed_first import changed_first

    if changes is None:
        return findings
    if isinstance(changes, str):
        return replace(findings, summary=[*findings.summary, changes])
    return changed_first(findings, changes)


def next_commands(findings: Findings, options: Options) -> list[dict[str, str]]:
    """Commands worth trying next, with why."""
    words = options.subject_words()
    words = words if len(words) <= LONGEST_WORDS else "... # the program and its cases as before"
    wanted = [("slice", "every line that led to the failure, with its values")]
    if findings.ranking:
        first = findings.ranking[0].statement
        wanted.append((f"slice --at {quoted(f'{first.file}:{first.line}')}", "where the first line's values came from"))
    if options.html is None:
        wanted.append(("locate --html report.html", "all of it, to click through"))
    return [{"command": f"whence {command} {words}".strip(), "why": why} for command, why in wanted]
