"""How findings are shown: on the terminal, as JSON, as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.options import Options
from whence.cli.supervisor import line
from whence.errors import UsageError

if TYPE_CHECKING:
    from whence.findings import Findings
    from whence.investigation.investigation import Investigation
    from whence.report.screen import SourceLookup

DRAWING = 10.0  # seconds at most, for the timeline of a page
LONG_BUILDING = 2.0  # seconds that are told of
FIRST_IN_SLICE = 40  # lines of a slice that are shown at least


def files_of(result: Mapping[str, Any]) -> set[str]:
    """The files that a result (findings as JSON, docs/json.md) mentions."""
    places = [*result["ranking"], *result.get("slice", []), *(result.get("chain") or {}).get("steps", [])]
    return {place["file"] for place in [*places, result["symptom"] or {}] if place.get("file")}


def source_texts(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The texts of files by their names relative to the subject's ``folder``, of those that are there."""
    texts = {}
    for name in names:
        path = folder / name
        if path.is_file():
            texts[name] = path.read_text(errors="replace")
    return texts


def lookup_in(texts: dict[str, str]) -> SourceLookup:
    """A function that gives lines of files with these texts."""
    lines = {name: text.split("\n") for name, text in texts.items()}

    def lookup(file: str, line: int) -> str | None:
        found = lines.get(file, [])
        return found[line - 1] if 0 < line <= len(found) else None

    return lookup


def show(investigation: Investigation, findings: Findings, options: Options, sliced: bool = False) -> int:
    """Show findings as the options say; the exit status."""
    stood = investigation.clock.stood
    if stood >= LONG_BUILDING:
        findings.summary.append(f"building took {stood:.0f} s, which the budget does not count")
    to_show = partial(present, options, investigation.subject.folder, sliced)
    line.best(findings, to_show)
    return to_show(findings, timeline_of(investigation, findings) if options.html else None)


def timeline_of(investigation: Investigation, findings: Findings) -> dict[str, Any] | None:
    """The timeline of the failing run that was recorded, for the page; None: none was, or it cannot be drawn."""
    from whence.investigation.attempts import Attempts

    recorded = investigation.recorded
    if recorded is None or not recorded.trace.segments:
        return None
    if recorded.trace.windows > 1:
        findings.summary.append("the page has no timeline: the run is too long to be drawn as a whole")
        return None

    def drawn() -> dict[str, Any]:
        from whence.debug.drawn_timeline import timeline_part
        from whence.subject.trace_reader import TraceReader

        return timeline_part(TraceReader(investigation.subject, recorded.trace), findings.symptom)

    attempts = Attempts(investigation.clock, investigation.watcher)
    found = attempts.take("timeline", "drawing the timeline", drawn, DRAWING)
    findings.summary.extend(attempts.lines)
    return found


def present(
    options: Options, folder: Path, sliced: bool, findings: Findings, timeline: dict[str, Any] | None = None
) -> int:
    """Write the HTML page, print findings as the options say, and return the exit status.

    ``folder`` is what their files are relative to; ``timeline`` is for the page. The page comes first: what reads the
    text may stop reading (``| head``), which ends the command.
    """
    from whence.report.json import to_json, to_text

    line.showing()
    result = to_json(findings)
    texts = source_texts(folder, files_of(result))
    if options.html:
        _write_page(findings, texts, options.html, timeline)
    if options.sarif:
        _write_sarif(result, texts, options.sarif)
    if options.json:
        click.echo(to_text(findings), nl=False)
    else:
        _print(findings, texts, options, folder, sliced)
    if options.html and not options.json:
        click.echo(f"\nHTML report: {options.html}")
    if options.sarif and not options.json:
        click.echo(f"\nSARIF log: {options.sarif}")
    return 0 if findings.ranking else 1


def _print(findings: Findings, texts: dict[str, str], options: Options, folder: Path, sliced: bool) -> None:
    from whence.report.terminal import print_findings, print_slice

    lookup = lookup_in(texts)
    if sliced:
        print_slice(findings, lookup, limit=max(options.limit, FIRST_IN_SLICE), folder=folder)
    else:
        print_findings(findings, lookup, limit=options.limit, folder=folder)


def _write_page(findings: Findings, texts: dict[str, str], path: Path, timeline: dict[str, Any] | None) -> None:
    from whence.report.html import write_html

    with writing(path):
        write_html(findings, texts, path, timeline)


def _write_sarif(result: dict[str, Any], texts: dict[str, str], path: Path) -> None:
    from whence import __version__
    from whence.report.diagnosed import Diagnosed
    from whence.report.sarif import sarif_text

    cases = tuple(result.get("cases", {}).get("names_failed", ()))
    with writing(path):
        path.write_text(sarif_text([Diagnosed(cases, result, texts)], __version__))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Inside, a file that was asked for is written, its folder is made. Raises UsageError where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
