"""``whence values``: Value Replacement. Which statements can mend failing runs by another value, and which value."""

from __future__ import annotations

import click

from whence.cli.investigate import investigate
from whence.cli.options import FORMULAS, CaseCommand, Options, Search, search_options, shared_options
from whence.cli.present import show


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--full", is_flag=True, help="Try every value that any case has had, at every instance, in every run.")
@click.option("--neighbours/--no-neighbours", default=True, help="Also try the value + 1, - 1 and 0 [yes].")
@click.option("--sets", is_flag=True, help="Replace all values of a statement's instance at once.")
@click.option("--prune/--no-prune", default=True, help="Once a run is mended, search only what mended it [yes].")
@click.option("--failing", default=5, type=click.IntRange(1), show_default=True, help="Failing runs, the shortest.")
@click.option("--plain", is_flag=True, help="As the dissertation has it: no neighbours, no relaxed pairs.")
@click.option("--ties", type=click.Choice(FORMULAS), help="Order of equals (op2; with --plain tarantula).")
def values(
    options: Options,
    search: Search,
    full: bool,
    neighbours: bool,
    sets: bool,
    prune: bool,
    failing: int,
    plain: bool,
    ties: str | None,
) -> int:
    """Rank statements by whether another value there makes failing runs pass.

    Each failing run is run again thousands of times, each time with one value replaced by one that it had in another
    case, or another time.
    """
    from whence.techniques.value_replacement.technique import ValueReplacement

    technique = ValueReplacement(
        full=full, neighbours=neighbours, sets=sets, prune=prune, failing=failing, plain=plain, ties=ties
    )
    with investigate(options, search) as investigation:
        return show(investigation, investigation.find(technique), options)
