"""``whence lsp``: a language server, which shows in an editor what the other commands find."""

from __future__ import annotations

import os
import sys

import click

from whence.errors import UsageError


@click.command()
def lsp() -> int:
    """Show the ranking, values and fixes in an editor: serve the Language Server Protocol on standard input and output.

    Editors start this command (docs/editors.md). The failure is located when the editor's user asks for it.
    """
    if sys.stdin.isatty():
        raise UsageError("`whence lsp` is started by an editor, which talks to it", "docs/editors.md says how")
    from whence.cli.serving.kit import kit_of

    with kit_of("Language Server Protocol", "editors", "pygls", "lsprotocol", "anyio", "cattrs", "attrs"):
        from whence.cli.serving.lsp_server import make_server

    outgoing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything prints is no message
    make_server().start_io(sys.stdin.buffer, outgoing)
    return 0
