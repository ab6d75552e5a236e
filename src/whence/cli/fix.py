"""``whence fix``: edits of the source that let all cases pass, and what mended similar statements."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, Search, refuse_reports, search_options, shared_options
from whence.cli.present import show
from whence.cli.supervisor import line
from whence.errors import UsageError

if TYPE_CHECKING:
    from whence.findings import Findings

EDITS = "edits"  # the command that is meant where none is named


class _Fix(click.Group):
    """A group that does the work of its first command where no other one is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the first command in front, where it is meant."""
        others = [name for name in self.commands if name != EDITS]
        return super().parse_args(ctx, args if args[:1] and args[0] in others else [EDITS, *args])


class _Edits(CaseCommand):
    """The command that needs no name."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        """Make a context in which usage speaks of ``whence fix``."""
        name = parent.info_name if parent is not None else info_name
        return super().make_context(name, args, parent.parent if parent is not None else None, **extra)


@click.group(cls=_Fix)
def fix() -> None:
    """Find edits that let all cases pass."""


@fix.command(EDITS, cls=_Edits)
@shared_options
@search_options
@click.option("--at", metavar="FILE:LINE", help="Change this statement [the first ones of a quick ranking].")
@click.option("--statements", default=60, type=click.IntRange(1), show_default=True, help="Statements to change.")
@click.option(
    "--knowledge",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Learned fixes [those shipped, and whence-fixes.jsonl].",
)
@click.option("--diff", is_flag=True, help="Print the first edit's diff alone, for git apply.")
@click.option(
    "--apply",
    "wanted",
    type=click.IntRange(1),
    is_flag=False,
    flag_value=1,
    metavar="[N]",
    help="Write the N-th edit into the source [the first].",
)
def edits(
    options: Options,
    search: Search,
    at: str | None,
    statements: int,
    knowledge: tuple[Path, ...],
    diff: bool,
    wanted: int | None,
) -> int:
    """Find edits of the source with which all cases pass, the smallest first.

    Candidate edits of the most suspicious statements are compiled into the program, many at once, and run on the cases.
    Your files stay as they are without --apply. `whence fix learn` remembers a fix that you made, `whence fix
    knowledge` shows what was learned.
    """
    from whence.diagnosis.fix import Fix

    refuse_reports(options, "whence fix")
    with investigate(options, search) as investigation:
        found = investigation.find(Fix(at=at, statements=statements, knowledge=knowledge or None))
        status = _print_diff(found) if diff else show(investigation, found, options)
        if wanted is not None:
            _apply(investigation.subject.folder, found, wanted)
    return status


def _passing(found: Findings) -> list[dict[str, Any]]:
    return [edit for edit in found.parts["edits"] if edit["passes"]]


def _print_diff(found: Findings) -> int:
    """Print the first diff, byte for byte."""
    line.showing()
    passing = _passing(found)
    if not passing:
        click.echo("whence: no edit was found with which all cases pass", err=True)
        return 1
    _warn(passing[0])
    diff = passing[0]["diff"]
    binary = getattr(sys.stdout, "buffer", None)  # where output is bytes, the source's own
    if binary is None:
        sys.stdout.write(diff)
    else:
        binary.write(os.fsencode(diff))
        binary.flush()
    return 0


def _warn(edit: dict[str, Any]) -> None:
    """Say what is not known to be clean with an edit."""
    if edit["clean"] is not True:
        click.echo(f"whence: all cases pass with it, {edit['checked']}", err=True)


def _apply(folder: Path, found: Findings, wanted: int) -> None:
    """Write an edit into the user's file."""
    from whence.program.source_edits import applied

    passing = _passing(found)
    if wanted > len(passing):
        raise UsageError(f"there is no edit {wanted} to apply: all cases pass with {len(passing) or 'none'}")
    edit = passing[wanted - 1]
    path = folder / edit["file"]
    try:
        text = applied(path.read_bytes(), edit["diff"])
        path.write_bytes(text)
    except ValueError as error:
        raise UsageError(f"the edit does not apply to {path} any more: {error}") from error
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    click.echo(f"\nwritten: edit {wanted} into {path}; build again and run your tests", err=True)
    _warn(edit)


# ---- Learning --------------------------------------------------------------------------------------------------------


@fix.command("learn", cls=CaseCommand)
@shared_options
@search_options
@click.option("--since", default="HEAD", show_default=True, metavar="REV", help="The version with the fault, in git.")
@click.option("--only", multiple=True, metavar="FILE:LINE", help="Learn from the changes at these lines [from all].")
@click.option("--as", "words", multiple=True, metavar="TEXT", help="What the fix is called [as its tokens say].")
@click.option(
    "--into",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Keep it there [whence-fixes.jsonl in the program's folder].",
)
def learn(
    options: Options,
    search: Search,
    since: str,
    only: tuple[str, ...],
    words: tuple[str, ...],
    into: Path | None,
) -> int:
    """Learn from the fix in your working tree: what it changed, and what the statement was like before.

    The version before the fix is built and run in a copy of the folder. Each change is a scenario of its own, a line of
    the file, which you may edit.
    """
    from whence.cli.learning import learned_scenarios, merged_into

    refuse_reports(options, "whence fix learn")
    folder = options.sources[0].parent if options.sources else options.folder
    found = learned_scenarios(options, search, folder, since, only)
    if words and len(found) != 1:
        raise UsageError(f"--as names one fix, and there are {len(found)} changes", "choose one with --only FILE:LINE")
    line.showing()
    for text in merged_into(into or folder / "whence-fixes.jsonl", found, words):
        click.echo(text)
    return 0


@fix.command("knowledge")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--into", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Merge all into a file.")
@click.option("--rules", is_flag=True, help="Also show the rules that follow from it, the surest first.")
def knowledge(files: tuple[Path, ...], into: Path | None, rules: bool) -> int:
    """Show what was learned: by default what is shipped, and whence-fixes.jsonl here.

    Several FILES are merged; each scenario counts once.
    """
    from whence.cli.learning import knowledge_lines

    line.showing()
    for text in knowledge_lines(files, into, rules):
        click.echo(text)
    return 0
