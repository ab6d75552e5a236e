"""``whence faults``: several faults at once, located one at a time; after each fix the search goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, Search, quoted, search_options, shared_options
from whence.cli.present import present, show

if TYPE_CHECKING:
    from whence.findings import Findings

TECHNIQUES = ("partial", "full", "minimal")
SIMILAR = 0.5  # T of the clusters, as diagnosis/multiple_faults/clusters.py has it


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--technique", type=click.Choice(TECHNIQUES), help="What is searched again after a fix [partial].")
@click.option("--start", is_flag=True, help="Begin afresh, and forget what was found before.")
@click.option(
    "--fixed", multiple=True, metavar="FILE:LINE", help="What was fixed, in the lines of now [the edit tells]."
)
@click.option("--state", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Keep the state there.")
@click.option(
    "--clusters",
    "threshold",
    type=click.FloatRange(0, 1),
    is_flag=False,
    flag_value=SIMILAR,
    metavar="[T]",
    help=f"Group failing runs whose rankings are similar (0 to 1) [{SIMILAR}].",
)
def faults(
    options: Options,
    search: Search,
    technique: str | None,
    start: bool,
    fixed: tuple[str, ...],
    state: Path | None,
    threshold: float | None,
) -> int:
    """Locate several faults, one at a time.

    Shows a ranked list; fix the fault that it leads to, rebuild, and call again: the search goes on with what has to be
    searched anew, until no case fails.
    """
    from whence.diagnosis.multiple_faults.technique import SeveralFaults

    with investigate(options, search) as investigation:
        found = SeveralFaults(
            technique=technique, start=start, fixed=fixed, state=state, threshold=threshold
        ).next_list(investigation)
        findings = investigation.current(found.findings)
        if "iteration" in findings.parts:
            findings.parts["next"] = _next(findings, options, state, threshold)
        status = show(investigation, findings, options)
        for title, group in found.groups if not options.json else ():
            click.echo(f"\n{title}\n")
            printed = replace(options, html=None, sarif=None)
            present(printed, investigation.subject.folder, False, investigation.current(group))
    return status


def _next(findings: Findings, options: Options, state: Path | None, threshold: float | None) -> list[dict[str, str]]:
    """Commands worth trying next, with why."""
    words = f"{options.subject_words()} {f'--state {quoted(str(state))}' if state else ''}".strip()
    commands = [("", "when a fault is fixed and the program built again: the next list")]
    if threshold is None and findings.parts["cases"]["failed"] > 1:
        commands.append((" --clusters", "groups of failing cases, to work on several faults side by side"))
    return [{"command": f"whence faults {words}".rstrip() + more, "why": why} for more, why in commands]
