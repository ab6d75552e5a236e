"""``whence races``: accesses of two threads that nothing orders, found in recorded runs."""

from __future__ import annotations

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, shared_options
from whence.cli.present import show


@click.command(cls=CaseCommand)
@shared_options
@click.option("--all", "every", is_flag=True, help="Check every case; exit status 1 where one has a race, else 0.")
def races(options: Options, every: bool) -> int:
    """Find data races in a recorded run, whether it fails or not.

    The run is that of the case that --case names, else of the first failing one, else of the first case.
    """
    from whence.techniques.races.technique import DataRaces

    with investigate(options, ranks=False) as investigation:
        findings = investigation.find(DataRaces(every))
        status = show(investigation, findings, options)
    return int(bool(findings.ranking)) if every else status
