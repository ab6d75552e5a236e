"""``whence causes``: why a run had to fail, and which conditions led there, as a tree to walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli.clock import clock
from whence.cli.options import CaseCommand, Options, open_subject, shared_options, show
from whence.cli.supervisor import line

if TYPE_CHECKING:
    from whence.findings import Findings, Statement
    from whence.subject.subject import Subject

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
    from whence.cli.options import first_use
    from whence.cli.steps import failing_rows, record_failing, run_cases, summary
    from whence.subject.recorder import Recorder
    from whence.subject.story import Story
    from whence.subject.symptoms import symptom_of
    from whence.techniques.causes.causes import Options as TreeOptions
    from whence.techniques.causes.causes import causes as find_causes

    subject = open_subject(options)
    right = frozenset(_statement(subject, text) for text in fine)
    functions = _functions(subject, correct)
    runs = run_cases(subject, options)
    with Recorder(subject, options.trace_limit, options.window) as recorder:
        recording = record_failing(subject, runs, recorder, failing_rows(subject, runs, options))[1]
    story = Story(subject, recording.trace)
    chosen = TreeOptions(depth=max(depth, OPENED), correct=functions, fine=right, budget=clock.left)
    line.busy("looking for causes")
    with first_use():
        findings = find_causes(story, symptom_of(recording, subject.folder), recording, chosen)
    findings.summary[:0] = summary(subject, runs, recording)
    status = show(subject, findings, options)
    if not options.json:
        _print_tree(subject, findings, depth)
    return status


def _statement(subject: Subject, text: str) -> Statement:
    """The statement that FILE:LINE names; raises UsageError where there is none."""
    from whence.errors import UsageError
    from whence.techniques.slicing import known_statement, parse_criterion

    criterion = parse_criterion(text)
    if criterion.variable or criterion.occurrence > 0:
        raise UsageError(f"'{text}': --fine takes a line", "write FILE:LINE")
    return known_statement(subject.places.statements, criterion.statement)


def _functions(subject: Subject, names: tuple[str, ...]) -> frozenset[str]:
    """The names, each of a function of the program; raises UsageError for another."""
    import difflib

    from whence.errors import UsageError

    known = {ref.name for ref in subject.program.functions}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 3)
            hint = f"did you mean {' or '.join(near)}?" if near else "library functions are correct by default"
            raise UsageError(f"the program has no function '{name}'", hint)
    return frozenset(names)


def _print_tree(subject: Subject, findings: Findings, depth: int) -> None:
    from whence.cli.options import source_texts
    from whence.report.tree import print_tree

    lines = {name: text.split("\n") for name, text in source_texts(subject.folder, findings).items()}

    def lookup(file: str, line: int) -> str | None:
        found = lines.get(file, [])
        return found[line - 1] if 0 < line <= len(found) else None

    print_tree(findings.parts["tree"], lookup, depth, NODES_SHOWN)
