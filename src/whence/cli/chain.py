"""``whence chain``: the failure-inducing chain. How the fault became the failure, step by step."""

from __future__ import annotations

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, Search, search_options, shared_options
from whence.cli.present import show

# As techniques/chains/technique.py has them.
ALGORITHMS = ("dependence", "hierarchical", "dependence-printed", "hierarchical-printed", "linear")


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option(
    "--algorithm",
    metavar="NAME",
    type=click.Choice(ALGORITHMS),
    default=ALGORITHMS[0],
    help=f"How to search: {', '.join(ALGORITHMS[1:])} [{ALGORITHMS[0]}].",
)
@click.option(
    "--reference",
    metavar="switch|rule|pair|edit|case|VERSION",
    help="What to compare with: the run itself, patched in this way; the program with its source edited; the nearest "
    "passing case; or a good version: a folder with whence.toml, a C file, an executable [the first that there is].",
)
def chain(options: Options, search: Search, algorithm: str, reference: str | None) -> int:
    """Show how the fault became the failure: the faulty values, each of which was needed for the next.

    The failing run is compared with another one, such as itself, patched so that it passes. At each point of both what
    differs is reduced to what was needed for what came next.
    """
    from whence.diagnosis.chain import FailureInducingChain

    with investigate(options, search) as investigation:
        return show(
            investigation, investigation.find(FailureInducingChain(algorithm=algorithm, reference=reference)), options
        )
