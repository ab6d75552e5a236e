"""``whence invariants``: what held in good runs and not in a failing one; good inputs are made if there are few."""

from __future__ import annotations

from pathlib import Path

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, shared_options
from whence.cli.present import show

KINDS = (
    "range",
    "executed",
    "branch",
    "values",
    "nonzero",
    "step",
    "order",
)  # as techniques/likely_invariants/kinds.py
CHOICES = ("mixture", "execution", "edits", "random")  # as techniques/likely_invariants/training.py


def _kinds(_: click.Context, parameter: click.Parameter, text: str) -> tuple[str, ...]:
    """The kinds that a list names: ``range,branch``; ``all``."""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in (*KINDS, "all"):
            raise click.BadParameter(f"'{word}' is no kind of invariant; there are {', '.join(KINDS)}", param=parameter)
    return KINDS if "all" in words else tuple(kind for kind in KINDS if kind in words)


@click.command(cls=CaseCommand)
@shared_options
@click.option("--paper", is_flag=True, help="As the paper has it: ranges alone, filters that cut, inputs made.")
@click.option(
    "--kinds", default="range,executed,branch", callback=_kinds, metavar="LIST", show_default=True, help="Or: all."
)
@click.option("--promote", is_flag=True, help="No invariants on locals whose address is not taken.")
@click.option("--training", type=click.Choice(CHOICES), help="Good runs to learn from [mixture; --paper: edits].")
@click.option("--number", default=8, type=click.IntRange(1), show_default=True, help="Good and failing runs.")
@click.option("--generate/--no-generate", default=None, help="Make inputs close to the failing one [if few pass].")
@click.option("--input", "channel", metavar="WHERE", help="What to change: stdin, file:NAME, arg:NUMBER or args.")
@click.option("--reference", type=click.Path(path_type=Path), metavar="PROGRAM", help="Program that is right.")
@click.option("--still", metavar="REGEX", help="What is wrong in the output: a match of it is the failure.")
def invariants(
    options: Options,
    paper: bool,
    kinds: tuple[str, ...],
    promote: bool,
    training: str | None,
    number: int,
    generate: bool | None,
    channel: str | None,
    reference: Path | None,
    still: str | None,
) -> int:
    """Rank statements by values and ways that failing runs have and good ones have not.

    Good inputs close to the failing one are made where fewer than --number cases pass. What is broken in the failing
    run is told with the range of the good runs.
    """
    from whence.techniques.likely_invariants.technique import LikelyInvariants

    technique = LikelyInvariants(
        paper=paper,
        kinds=kinds,
        promote=promote,
        training=training,
        number=number,
        generate=generate,
        channel=channel,
        reference=reference,
        still=still,
    )
    with investigate(options) as investigation:
        return show(investigation, investigation.find(technique), options)
