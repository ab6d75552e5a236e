"""``whence switch``: predicate switching. Which branch, sent the other way, makes failing runs pass."""

from __future__ import annotations

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, Search, search_options, shared_options
from whence.cli.present import show

ORDERS = ("dependence", "last")  # as techniques/predicate_switching/findings.py has them


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--failing", default=5, type=click.IntRange(1), show_default=True, help="Failing runs, the shortest.")
@click.option(
    "--order", type=click.Choice(ORDERS), default=ORDERS[0], show_default=True, help="What is switched first."
)
@click.option("--first", is_flag=True, help="Stop at the first branch that makes a run pass.")
def switch(options: Options, search: Search, failing: int, order: str, first: bool) -> int:
    """Find the branches that make failing runs pass when they go the other way.

    Every branch instance of a failing run is switched, each in a run of its own; those nearest to the failure come
    first, by dependence or by time.
    """
    from whence.techniques.predicate_switching.technique import PredicateSwitching

    with investigate(options, search) as investigation:
        findings = investigation.find(PredicateSwitching(failing=failing, order=order, first=first))
        status = show(investigation, findings, options)
    return status if findings.parts["predicates"] else 1
