"""``whence cases``: write the cases, such as those captured from a test suite, as a folder to keep and edit."""

from __future__ import annotations

import os
from pathlib import Path

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, shared_options

TOLD = 10  # cases that were left out


@click.command(cls=CaseCommand)
@shared_options
@click.option("--into", required=True, type=click.Path(path_type=Path), metavar="FOLDER", help="A folder to be made.")
def cases(options: Options, into: Path) -> int:
    """Write the cases as a folder of cases.

    Those captured from a test suite (capture = true) become cases that can be read, edited and kept: arguments,
    input, files and what is right, a folder each. Each is run again; what does not end as it did is left out.
    """
    from whence.errors import UsageError
    from whence.subject.written_cases import write_cases

    if into.exists():
        raise UsageError(f"{into} exists already", "name a folder that is to be made")
    with investigate(options, ranks=False) as investigation:
        written = write_cases(investigation.subject, into)
    total = len(written.folders) + len(written.left_out)
    click.echo(f"wrote {len(written.folders)} of {total} cases into {into}")
    for line in written.left_out[:TOLD]:
        click.echo(f"left out {line}")
    if written.left_out[TOLD:]:
        click.echo(f"left out {len(written.left_out) - TOLD} more")
    if not written.folders:
        return 1
    place = os.path.relpath(into.resolve(), options.folder.resolve())
    click.echo(f'next: `folder = "{place}"` in [cases] of whence.toml, instead of what is there')
    return 0
