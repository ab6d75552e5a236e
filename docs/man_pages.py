"""Write the manual pages from the commands' own help: ``make man``. The wheel puts them under share/man/man1."""

from __future__ import annotations

from pathlib import Path

import click
from click_man.core import write_man_pages

from whence import __version__
from whence.cli import COMMANDS, whence

PAGES = Path(__file__).parent / "man"


SHORT = "tells a C programmer where a failure comes from"


def every_command() -> click.Group:
    """All commands as one group, loaded, with the one line that each has in the list."""
    context = click.Context(whence, info_name="whence")
    every = click.Group("whence", params=whence.params, help=whence.help, short_help=SHORT)
    for name, text in COMMANDS.items():
        if command := whence.get_command(context, name):
            command.short_help = text
            every.add_command(command, name)
    return every


def write_pages(folder: Path) -> None:
    """Write a page for each command, and one for all of them, into a folder."""
    write_man_pages(
        "whence", every_command(), version=__version__, target_dir=str(folder), date=f"Whence {__version__}"
    )


if __name__ == "__main__":
    write_pages(PAGES)
