"""``whence formula``: which statements' change can make failing runs right, found by a solver, and the right values."""

from __future__ import annotations

import click

from whence.cli.investigate import investigate
from whence.cli.options import FORMULAS, CaseCommand, Options, Search, search_options, shared_options
from whence.cli.present import show

METHODS = ("path", "ofc", "bugassist")  # as diagnosis/formula.py has them


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--failing", default=5, type=click.IntRange(1), show_default=True, help="Failing runs, the shortest.")
@click.option("--size", default=2, type=click.IntRange(1, 3), show_default=True, help="Statements in a set at most.")
@click.option("--method", type=click.Choice(METHODS), default="path", show_default=True, help="Paths in a formula.")
@click.option("--weights", type=click.Choice(FORMULAS), default="op2", show_default=True, help="Order of equals.")
def formula(options: Options, search: Search, failing: int, size: int, method: str, weights: str) -> int:
    """Find the statements whose change can make failing runs right, and the values they had to have.

    Each failing run becomes a formula; a solver finds the smallest sets of statements without which the right result
    is possible. Branches are sent the other way in altered runs, and repairs are tried in them. Where formulas do not
    say it all (loops, floating point, time), values are forced and rules tried in altered runs, too.
    """
    from whence.diagnosis.formula import CorrectionSets

    with investigate(options, search) as investigation:
        return show(
            investigation,
            investigation.find(CorrectionSets(failing=failing, size=size, method=method, weights=weights)),
            options,
        )
