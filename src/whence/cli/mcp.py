"""``whence mcp``: a server of the Model Context Protocol, over which agents ask what the other commands find."""

from __future__ import annotations

from pathlib import Path

import click

from whence.cli.options import duration
from whence.report.compact import LEAST, MOST

LONGEST = 300.0  # seconds
TOKENS = 2000


@click.command()
@click.option(
    "-C",
    "folder",
    default=Path(),
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder of whence.toml, which is all that agents see [.]",
)
@click.option("--most", callback=duration, metavar="TIME", help="Longest budget that a call may ask for [5m].")
@click.option(
    "--tokens",
    default=TOKENS,
    type=click.IntRange(LEAST, MOST),
    show_default=True,
    help="Most tokens that a result takes, where a call does not say.",
)
def mcp(folder: Path, most: float | None, tokens: int) -> None:
    """Offer locate, slice, values, causes, chain and fix to agents.

    It speaks the Model Context Protocol on standard input and output, and is started by the agent's program
    (docs/agents.md). It runs what whence.toml says as it begins, and takes no other command.
    """
    from whence.cli.serving.folder import Folder
    from whence.cli.serving.kit import kit_of

    with kit_of("Model Context Protocol", "agents", "mcp", "mcp_types", "anyio", "pydantic"):
        from whence.cli.serving.mcp_server import make_server

    make_server(Folder(folder), most or LONGEST, tokens).run("stdio")
