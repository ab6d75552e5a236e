"""``whence rules``: small changes of the source that make failing cases pass, and break no passing one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli.clock import clock
from whence.cli.options import CaseCommand, Options, Search, open_subject, search_options, shared_options, show
from whence.cli.supervisor import line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whence.alter.work import Work
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject
    from whence.techniques.rules.candidates import Pair

SEARCHING = 0.8  # of the time, for altered runs; the rest is for compiling changes
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
    from whence.cli.steps import open_work, rows_alike, run_cases, search_summary, summary
    from whence.diagnosis.confirmation import confirm
    from whence.techniques.rules.candidates import Family
    from whence.techniques.rules.rules import rules as find_rules
    from whence.techniques.rules.trials import Settings

    subject = open_subject(options)
    runs = run_cases(subject, options)
    rows = rows_alike(subject, runs, options, failing)
    settings = Settings(frozenset(Family[name.upper()] for name in families), failing, passing, everywhere)
    with open_work(subject, runs, search, "trying rules", SEARCHING) as work:
        found = _pairs(subject, runs, rows, work) if pairs else ()
        findings = find_rules(subject, runs, work, settings, among=rows, pairs=found)
    line.busy("compiling changes")
    findings = confirm(subject, runs, findings, clock.deadline)
    findings.summary = [*summary(subject, runs), *findings.summary, *search_summary(work)]
    return show(subject, findings, options)


def _pairs(subject: Subject, runs: Runs, rows: Sequence[int], work: Work) -> Iterator[Pair]:
    """The pairs that Value Replacement finds in these failing runs: site, original and alternate bits."""
    from whence.techniques.replacement.values import search as search_pairs

    failing = [runs.tested[row].case for row in rows]
    others = [tested.case for row, tested in enumerate(runs.tested) if row not in rows]
    searched = search_pairs(subject, failing, others, work)
    for run, target in enumerate(searched.targets):
        mine = searched.pairs[(searched.pairs["run"] == run) & ~searched.pairs["relaxed"]]
        sites, values = target.sites[mine["event"]].tolist(), target.values[mine["event"]].tolist()
        yield from zip(sites, values, mine["alternate"].tolist(), strict=True)
