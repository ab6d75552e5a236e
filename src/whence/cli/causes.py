"""``whence causes``: why a run had to fail, and which conditions led there, as a tree to walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, shared_options
from whence.cli.present import show

if TYPE_CHECKING:
    from pathlib import Path

    from whence.findings import Findings

SHOWN, OPENED = 3, 8  # levels that are printed, and that are opened at least
NODES_SHOWN = 30


@click.command(cls=CaseCommand)
@shared_options
@click.option("--depth", default=SHOWN, type=click.IntRange(0), show_default=True, help="Levels of the tree to print.")
@click.option("--fine", multiple=True, metavar="FILE:LINE", help="This line is right: leave it and its causes out.")
@click.option("--correct", multiple=True, metavar="FUNCTION", help="This function is right: pass over its conditions.")
def causes(options: Options, depth: int, fine: tuple[str, ...], correct: tuple[str, ...]) -> int:
    """Show why a run had to fail, as a tree: each cause with the conditions that led to it.

    Walk it from the top: where a cause is not the fault, go on to its children, or mark it with --fine.
    """
    from whence.techniques.cause_tree.technique import CauseTree

    with investigate(options) as investigation:
        findings = investigation.find(CauseTree(depth=max(depth, OPENED), fine=fine, correct=correct))
        status = show(investigation, findings, options)
        if not options.json:
            _print_tree(investigation.subject.folder, findings, depth)
    return status


def _print_tree(folder: Path, findings: Findings, depth: int) -> None:
    from whence.cli.present import files_of, lookup_in, source_texts
    from whence.report.json import to_json
    from whence.report.tree import print_tree

    print_tree(findings.parts["tree"], lookup_in(source_texts(folder, files_of(to_json(findings)))), depth, NODES_SHOWN)
