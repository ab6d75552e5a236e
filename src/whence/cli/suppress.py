"""``whence suppress``: Execution Suppression. From a crash back to the first corruption of memory."""

from __future__ import annotations

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, shared_options
from whence.cli.present import show


@click.command(cls=CaseCommand)
@shared_options
@click.option("--reorder", is_flag=True, help="Lay variables out anew to make silent corruption crash, too.")
def suppress(options: Options, reorder: bool) -> int:
    """Suppress what a crash came of, with all its effects, and run again, until no failure is left.

    What was suppressed last is the first corruption of memory. In a program with threads a data race at what the crash
    came of is looked for first, and told if its order does harm. The case is the one that --case names, else the first
    that crashes, else the first that fails.
    """
    from whence.diagnosis.suppression import ExecutionSuppression

    with investigate(options) as investigation:
        return show(investigation, investigation.find(ExecutionSuppression(reorder=reorder)), options)
