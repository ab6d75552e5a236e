"""``whence spectrum``: rank statements, or sides of branches, by which cases executed them."""

from __future__ import annotations

from typing import Literal

import click

from whence.cli.investigate import investigate
from whence.cli.options import FORMULAS, CaseCommand, Options, shared_options
from whence.cli.present import show


@click.command(cls=CaseCommand)
@shared_options
@click.option("--formula", type=click.Choice(FORMULAS), default="ochiai", show_default=True, help="Of suspiciousness.")
@click.option("--level", type=click.Choice(["statement", "branch"]), default="statement", show_default=True)
@click.option("--exponent", type=click.FloatRange(0, min_open=True), default=2.0, show_default=True, help="Of DStar.")
def spectrum(options: Options, formula: str, level: Literal["statement", "branch"], exponent: float) -> int:
    """Rank statements by which cases executed them."""
    from whence.techniques.spectrum import Spectrum

    with investigate(options) as investigation:
        return show(
            investigation, investigation.find(Spectrum(formula=formula, level=level, exponent=exponent)), options
        )
