"""``whence spectrum``: rank statements, or sides of branches, by which cases executed them."""

from __future__ import annotations

from typing import Literal

import click

from whence.cli.options import FORMULAS, CaseCommand, Options, open_subject, shared_options, show


@click.command(cls=CaseCommand)
@shared_options
@click.option("--formula", type=click.Choice(FORMULAS), default="ochiai", show_default=True, help="Of suspiciousness.")
@click.option("--level", type=click.Choice(["statement", "branch"]), default="statement", show_default=True)
@click.option("--exponent", type=click.FloatRange(0, min_open=True), default=2.0, show_default=True, help="Of DStar.")
def spectrum(options: Options, formula: str, level: Literal["statement", "branch"], exponent: float) -> int:
    """Rank statements by which cases executed them."""
    from whence.cli.steps import failing_rows, run_cases, summary
    from whence.subject.runs import coverage
    from whence.techniques.spectrum import spectrum as rank_statements

    subject = open_subject(options)
    runs = run_cases(subject)
    failing_rows(subject, runs, options)  # complains where none fails
    covered = coverage(subject, runs)
    findings = rank_statements(covered, formula=formula, level=level, exponent=exponent, subject=subject.name)
    findings.summary[:0] = summary(subject, runs)
    return show(subject, findings, options)
