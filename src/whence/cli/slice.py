"""``whence slice``: what the failure, or a value at a line, came from; or forward, what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, shared_options
from whence.cli.present import show

if TYPE_CHECKING:
    from whence.investigation.investigation import Technique


@click.command("slice", cls=CaseCommand)
@shared_options
@click.option("--at", metavar="FILE:LINE[:VAR][@N]", help="Start there, the N-th time [the symptom; the last time].")
@click.option("--forward", is_flag=True, help="What depends on the criterion, instead of what it depends on.")
@click.option("--data-only", is_flag=True, help="Leave control dependence out.")
@click.option("--passing", metavar="NAME", help="Slice this case's run, whether it passes or fails (needs --at).")
@click.option("--implicit", is_flag=True, help="Add branches that skipped something that mattered (docs/switch.md).")
def slice_(
    options: Options,
    at: str | None,
    forward: bool,
    data_only: bool,
    passing: str | None,
    implicit: bool,
) -> int:
    """Show what a failure, or a value, came from (or what came of it)."""
    from whence.errors import UsageError

    if implicit and (forward or data_only):
        other = "--forward" if forward else "--data-only"
        raise UsageError(f"--implicit follows all dependences backward from the start of the run, not {other}")
    with investigate(options) as investigation:
        found = investigation.find(_technique(at, forward, data_only, passing, implicit))
        return show(investigation, found, options, sliced=True)


def _technique(at: str | None, forward: bool, data_only: bool, passing: str | None, implicit: bool) -> Technique:
    """What the options ask for."""
    from whence.diagnosis.relevant_slicing import RelevantSlicing
    from whence.techniques.slicing import Slicing

    return (
        RelevantSlicing(at=at, passing=passing)
        if implicit
        else Slicing(at=at, forward=forward, data_only=data_only, passing=passing)
    )
