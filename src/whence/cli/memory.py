"""``whence memory``: accesses outside of the objects that pointers were made for, found in recorded runs."""

from __future__ import annotations

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, shared_options
from whence.cli.present import show


@click.command(cls=CaseCommand)
@shared_options
@click.option("--all", "every", is_flag=True, help="Check every case; exit status 1 where one has an error, else 0.")
@click.option("--leaks", is_flag=True, help="Tell blocks that were not given back, too.")
@click.option("--members", is_flag=True, help="Tell accesses beyond an array that stay inside its structure, too.")
def memory(options: Options, every: bool, leaks: bool, members: bool) -> int:
    """Find memory errors in a recorded run, whether it fails or not.

    The run is that of the case that --case names, else of the first failing one, else of the first case.
    """
    from whence.techniques.memory.technique import MemoryErrors

    with investigate(options, ranks=False) as investigation:
        findings = investigation.find(MemoryErrors(every=every, leaks=leaks, members=members))
        status = show(investigation, findings, options)
    return int(bool(findings.ranking)) if every else status
