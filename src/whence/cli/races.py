"""``whence races``: accesses of two threads that nothing orders, found in recorded runs."""

from __future__ import annotations

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, shared_options
from whence.cli.present import show


@click.command(cls=CaseCommand)
@shared_options
@click.option("--all", "every", is_flag=True, help="Check every case; exit status 1 where one has a race, else 0.")
@click.option("--orders", type=click.IntRange(1), default=8, metavar="N", help="Orders of turns that are run [8].")
def races(options: Options, every: bool, orders: int) -> int:
    """Find data races in recorded runs, whether they fail or not; the other order of each is run, too.

    The runs are those of the case that --case names, else of the first failing one, else of the first case.
    """
    from whence.techniques.races.technique import DataRaces

    with investigate(options, ranks=False) as investigation:
        findings = investigation.find(DataRaces(every=every, orders=orders))
        status = show(investigation, findings, options)
    return int(bool(findings.ranking)) if every else status
