"""``whence rules``: small changes of the source that make failing cases pass, and break no passing one."""

from __future__ import annotations

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, Search, search_options, shared_options
from whence.cli.present import show

FAMILIES = (
    "branch",
    "value",
    "store",
    "call",
    "variable",
    "operator",
    "guarded",
)  # as techniques/rules/candidates.py has them


def _families(_: click.Context, parameter: click.Parameter, text: str) -> tuple[str, ...]:
    """The families that a list names: ``branch,value``; ``all``; ``-operator`` leaves one out."""
    words = [word.strip() for word in text.split(",")]
    chosen = set() if any(not word.startswith("-") for word in words) else set(FAMILIES)
    for word in words:
        name = word.removeprefix("-")
        if name not in FAMILIES and word != "all":
            raise click.BadParameter(f"'{name}' is no kind of rule; there are {', '.join(FAMILIES)}", param=parameter)
        chosen = {*FAMILIES} if word == "all" else chosen - {name} if word != name else chosen | {name}
    return tuple(name for name in FAMILIES if name in chosen)


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option(
    "--families", default="all", callback=_families, metavar="LIST", help="Kinds of rules (-operator: not it)."
)
@click.option("--failing", default=5, type=click.IntRange(1), show_default=True, help="Failing cases, the shortest.")
@click.option("--passing", default=25, type=click.IntRange(0), show_default=True, help="Passing cases to check it on.")
@click.option(
    "--pairs", is_flag=True, help="Search values that mend failing runs first, and make guarded rules of them."
)
@click.option("--everywhere", is_flag=True, help="Also where only some of the failing cases come.")
def rules(
    options: Options,
    search: Search,
    families: tuple[str, ...],
    failing: int,
    passing: int,
    pairs: bool,
    everywhere: bool,
) -> int:
    """Find changes of the source that repair failing cases, and rank statements by them.

    Each rule is one small change of one place, such as `<=` for `<`, that holds during a whole run. Those that make a
    failing case pass are tried on passing cases too.
    """
    from whence.diagnosis.rules import Rules

    with investigate(options, search) as investigation:
        return show(
            investigation,
            investigation.find(
                Rules(families=families, failing=failing, passing=passing, pairs=pairs, everywhere=everywhere)
            ),
            options,
        )
