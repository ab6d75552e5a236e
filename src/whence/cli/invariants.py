"""``whence invariants``: what held in good runs and not in a failing one; good inputs are made if there are few."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from whence.cli.clock import clock
from whence.cli.options import CaseCommand, Options, first_use, open_subject, progress, shared_options, show
from whence.errors import SubjectError

if TYPE_CHECKING:
    from whence.inputs.close import CloseInputs
    from whence.run.cases import Case
    from whence.subject.subject import Subject
    from whence.techniques.invariants.diagnosis import Options as Wanted

KINDS = ("range", "executed", "branch", "values", "nonzero", "step", "order")  # as techniques/invariants/kinds.py
CHOICES = ("mixture", "execution", "edits", "random")  # as techniques/invariants/training.py
ALONE = "no passing case"  # how the line starts that says so; where inputs are made it is no loss
MAKING, RECORDING = 0.5, 0.6  # of the time that is left, for making inputs, and then for recording runs


def _kinds(_: click.Context, parameter: click.Parameter, text: str) -> tuple[str, ...]:
    """The kinds that a list names: ``range,branch``; ``all``."""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in (*KINDS, "all"):
            raise click.BadParameter(f"'{word}' is no kind of invariant; there are {', '.join(KINDS)}", param=parameter)
    return KINDS if "all" in words else tuple(kind for kind in KINDS if kind in words)


@click.command(cls=CaseCommand)
@shared_options
@click.option("--paper", is_flag=True, help="As the paper has it: ranges alone, filters that cut, inputs made.")
@click.option(
    "--kinds", default="range,executed,branch", callback=_kinds, metavar="LIST", show_default=True, help="Or: all."
)
@click.option("--promote", is_flag=True, help="No invariants on locals whose address is not taken.")
@click.option("--training", type=click.Choice(CHOICES), help="Good runs to learn from [mixture; --paper: edits].")
@click.option("--number", default=8, type=click.IntRange(1), show_default=True, help="Good and failing runs.")
@click.option("--generate/--no-generate", default=None, help="Make inputs close to the failing one [if few pass].")
@click.option("--input", "channel", metavar="WHERE", help="What to change: stdin, file:NAME, arg:NUMBER or args.")
@click.option("--reference", type=click.Path(path_type=Path), metavar="PROGRAM", help="Program that is right.")
@click.option("--still", metavar="REGEX", help="What is wrong in the output: a match of it is the failure.")
def invariants(
    options: Options,
    paper: bool,
    kinds: tuple[str, ...],
    promote: bool,
    training: str | None,
    number: int,
    generate: bool | None,
    channel: str | None,
    reference: Path | None,
    still: str | None,
) -> int:
    """Rank statements by values and ways that failing runs have and good ones have not.

    Good inputs close to the failing one are made where fewer than --number cases pass. What is broken in the failing
    run is told with the range of the good runs.
    """
    from whence.cli.made import told
    from whence.cli.steps import rows_alike, run_cases, summary
    from whence.subject.recorder import Recorder
    from whence.techniques.invariants.collect import collect
    from whence.techniques.invariants.diagnosis import diagnose
    from whence.techniques.invariants.runs import Observer

    subject = open_subject(options)
    runs = run_cases(subject, options)
    rows = rows_alike(subject, runs, options, number)
    case = runs.tested[rows[0]].case
    few = len(runs.passing) < number and case.command is None
    lines, close = summary(subject, runs), None
    if generate or (generate is None and (paper or few)):
        try:
            close = _close_inputs(subject, case, number, _Made(channel, reference, still))
            lines = [line for line in lines if not line.startswith(ALONE)] + told(case, close)
        except SubjectError as error:
            if generate or not runs.passing:
                raise
            lines.append(f"no inputs were made: {error}")
    with (
        Recorder(subject, options.trace_limit, options.window) as recorder,
        progress("recording runs", len(rows[:number]) + len(runs.passing)) as report,
        first_use(),
    ):
        observer = Observer(subject, recorder)
        found = collect(observer, runs, rows, number, close=close, deadline=clock.within(RECORDING), progress=report)
        findings = diagnose(observer, found.failing, found.good, _wanted(paper, kinds, promote, training, number))
    findings.summary = [*lines, *found.left_out, *findings.summary]
    return show(subject, findings, options)


def _wanted(paper: bool, kinds: tuple[str, ...], promote: bool, training: str | None, number: int) -> Wanted:
    """What the options ask for."""
    from whence.techniques.invariants.diagnosis import Options as Wanted
    from whence.techniques.invariants.kinds import PAPER, Kind, Settings
    from whence.techniques.invariants.training import Choice

    chosen = PAPER if paper else Kind(sum(Kind[kind.upper()] for kind in kinds))
    choice = Choice(training) if training else Choice.EDITS if paper else Choice.MIXTURE
    return Wanted(Settings(chosen, promote, plain=paper, control=paper), choice, number, paper)


# ---- Close inputs ----------------------------------------------------------------------------------------------------


class _Made(NamedTuple):
    """What the user says of inputs that are made."""

    channel: str | None
    reference: Path | None
    still: str | None


def _close_inputs(subject: Subject, case: Case, number: int, made: _Made) -> CloseInputs:
    """Good and failing inputs close to the failing case's. Raises what ``close_inputs`` raises."""
    from whence.cli.made import make_close
    from whence.inputs.oracle import Criteria, pattern

    still = pattern("--still", made.still) if made.still else None
    criteria = Criteria(made.reference and made.reference.absolute(), (), still)
    end = clock.within(MAKING)
    return make_close(subject, case, number=number, channel=made.channel, criteria=criteria, deadline=end)
