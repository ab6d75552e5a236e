"""``whence spectrum``: rank statements, or sides of branches, by which cases executed them."""

from __future__ import annotations

from typing import Literal

import click

from whence.cli.locate import choose_failing, summary
from whence.cli.options import CaseCommand, Options, open_subject, progress, shared_options, show


@click.command(cls=CaseCommand)
@shared_options
@click.option(
    "--formula", default="ochiai", show_default=True, help="tarantula, ochiai, jaccard, dstar, barinel or op2."
)
@click.option("--level", type=click.Choice(["statement", "branch"]), default="statement", show_default=True)
@click.option("--exponent", default=2.0, show_default=True, help="Exponent of DStar.")
def spectrum(options: Options, formula: str, level: Literal["statement", "branch"], exponent: float) -> int:
    """Rank statements by which cases executed them."""
    from whence.subject.runs import coverage, run_all
    from whence.techniques.spectrum import spectrum as rank_statements

    subject = open_subject(options)
    with progress("running the cases") as report:
        runs = run_all(subject, report)
    choose_failing(subject, runs, options.case)
    findings = rank_statements(
        coverage(subject, runs), formula=formula, level=level, exponent=exponent, subject=subject.name
    )
    findings.summary[:0] = summary(subject, runs)
    return show(subject, findings, options)
