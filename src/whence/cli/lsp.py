"""``whence lsp``: a language server, which shows in an editor what the other commands find."""

from __future__ import annotations

import os
import sys

import click

from whence.errors import UsageError

KIT = ("pygls", "lsprotocol", "anyio", "cattrs", "attrs")  # what the extra brings


@click.command()
def lsp() -> int:
    """Show the ranking, values and fixes in an editor: serve the Language Server Protocol on standard input and output.

    Editors start this command (docs/editors.md). The failure is located when the editor's user asks for it.
    """
    if sys.stdin.isatty():
        raise UsageError("`whence lsp` is started by an editor, which talks to it", "docs/editors.md says how")
    try:
        from whence.cli.serving.lsp_server import make_server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in KIT:
            raise
        what = f"the Language Server Protocol's kit is missing, or too old ({error})"
        raise UsageError(what, "pip install 'whence[editors]'") from error

    outgoing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything prints is no message
    make_server().start_io(sys.stdin.buffer, outgoing)
    return 0
