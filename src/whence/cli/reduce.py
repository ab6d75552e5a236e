"""``whence reduce``: the failing case's input made as small as it can be, and inputs made close to it."""

from __future__ import annotations

import base64
import os
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, quoted, refuse_reports, shared_options
from whence.cli.supervisor import line
from whence.errors import UsageError
from whence.findings import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.findings import Findings
    from whence.inputs.channel import Channel
    from whence.inputs.close import CloseInput, CloseInputs
    from whence.inputs.judge import Judge
    from whence.inputs.oracle import Criteria
    from whence.inputs.reduce import Reduction
    from whence.inputs.tokens import Specification
    from whence.subject.subject import Subject

SHOWN = 4_096  # bytes of an input that are printed
WIDTH = 60  # characters of a close input that are printed


@click.command(cls=CaseCommand)
@shared_options
@click.option("--input", "wanted", metavar="WHERE", help="What to change: stdin, file:NAME, arg:NUMBER or args.")
@click.option("--reference", type=click.Path(path_type=Path), metavar="PROGRAM", help="Program that is right.")
@click.option("--still", metavar="REGEX", help="What is wrong in the output: a match of it is the failure.")
@click.option("--rejects", multiple=True, metavar="REGEX", help="What is printed about an input that is refused.")
@click.option("--spec", metavar="NAME", help="Tokens of the input: a ready specification or a file [a guess].")
@click.option("--close", is_flag=True, help="Also make good and failing inputs close to the reduced one.")
@click.option("--number", default=8, type=click.IntRange(1), show_default=True, help="Close inputs of each sort.")
@click.option("--tokens", default=1, type=click.IntRange(1, 4), show_default=True, help="Tokens that vary at once.")
@click.option("--runs", default=20_000, type=click.IntRange(1), show_default=True, help="Inputs to try at most.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the reduced input there.")
def reduce(
    options: Options,
    wanted: str | None,
    reference: Path | None,
    still: str | None,
    rejects: tuple[str, ...],
    spec: str | None,
    close: bool,
    number: int,
    tokens: int,
    runs: int,
    output: Path | None,
) -> int:
    """Reduce a failing case's input to what the failure needs.

    Pieces are taken out as long as the same symptom shows at the same statement. Other inputs need an oracle: a crash,
    a failed assertion or a wrong status tells by itself, a wrong output needs --reference or --still.
    """
    from whence.inputs.channel import find_channel
    from whence.inputs.close import SHARE, search_close
    from whence.inputs.judge import Judge
    from whence.inputs.reduce import reduce_input
    from whence.inputs.tokens import guess_specification, load_specification

    refuse_reports(options, "whence reduce")
    criteria = _criteria(reference, still, rejects)
    specification = load_specification(spec) if spec else None
    with investigate(options, ranks=False) as investigation:
        subject = investigation.subject
        case = investigation.runs.tested[investigation.failing_rows()[0]].case
        channel = find_channel(case, wanted)
        with (
            investigation.watcher.progress("trying inputs", runs) as report,
            Judge(
                subject,
                case,
                channel,
                criteria,
                runs,
                investigation.clock.deadline,
                progress=report,
                trace_limit=options.trace_limit,
                window=options.window,
            ) as judge,
        ):
            specification = specification or guess_specification(channel.read(case))
            judge.spend(SHARE if close else 1.0)

            def smaller(reduction: Reduction) -> None:
                so_far = _findings(subject, judge, reduction, specification, None)
                line.best(so_far, partial(_present, options, output, reduction.data, _printed(judge, reduction, None)))

            reduction = reduce_input(judge, specification, smaller)
            found = search_close(judge, reduction, specification, number, tokens) if close else None
        findings = _findings(subject, judge, reduction, specification, found)
        status = _present(options, output, reduction.data, _printed(judge, reduction, found), findings)
        return status if found is None or found.good else 1


def _criteria(reference: Path | None, still: str | None, rejects: tuple[str, ...]) -> Criteria:
    from whence.inputs.oracle import Criteria, pattern

    patterns = tuple(pattern("--rejects", text) for text in rejects)
    return Criteria(reference and reference.absolute(), patterns, pattern("--still", still) if still else None)


def _write(data: bytes, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


# ---- The result ------------------------------------------------------------------------------------------------------


def _findings(
    subject: Subject,
    judge: Judge,
    reduction: Reduction,
    specification: Specification | None,
    found: CloseInputs | None,
) -> Findings:
    """What was found so far, without a ranking."""
    from whence.findings import Findings

    summary = [*_summary(judge, reduction), *(found.notes if found else judge.notes)]
    parts = {"inputs": _part(judge, reduction, specification, found)}
    return Findings("reduce", subject.name, symptom=judge.symptom, summary=summary, parts=parts)


def _printed(judge: Judge, reduction: Reduction, found: CloseInputs | None) -> str:
    """The inputs for the terminal."""
    lists = (("good", found.good), ("failing", found.failing)) if found else ()
    titled = (_close(f"{title} inputs, nearest first", judge.channel, inputs) for title, inputs in lists)
    return "\n".join([f"\n{printed(judge.channel, reduction.data)}", *chain.from_iterable(titled)])


def _present(options: Options, output: Path | None, data: bytes, shown: str, findings: Findings) -> int:
    """Write the reduced input where the user wants it, and show what was found; the exit status."""
    from whence.report.json import to_text

    line.showing()
    if output is not None:
        _write(data, output)
    if options.json:
        click.echo(to_text(findings), nl=False)
    else:
        click.echo("\n".join([*findings.warnings, *findings.summary, shown]))
    return 0


def _summary(judge: Judge, reduction: Reduction) -> list[str]:
    """What was done, in sentences."""
    before, after = len(reduction.original), len(reduction.data)
    symptom = judge.symptom
    place = f" at {symptom.statement.file}:{symptom.statement.line}" if symptom and symptom.statement else ""
    minimal = "; with any one byte less the symptom is gone" if reduction.is_minimal and after > 1 else ""
    return [
        f"reduced {judge.channel} of the case `{judge.case.name}` from {plural(before, 'byte')} to {after:,}{minimal}",
        f"the symptom that was kept: {judge.signature.kind}{place}",
        f"tried {reduction.tried:,} inputs ({reduction.executions:,} runs) in {reduction.seconds:.1f} s",
        *reduction.notes,
    ]


def printed(channel: Channel, data: bytes) -> str:
    """An input for the terminal: text as it is, arguments as a shell reads them, anything else escaped."""
    if channel.kind in ("args", "arg"):
        words = data.split(b"\0")[:-1] if channel.kind == "args" else [data]
        return " ".join(quoted(os.fsdecode(word)) if _is_text(word) else _escaped(word) for word in words)
    more = "" if len(data) <= SHOWN else f"\n... ({len(data):,} bytes; --output FILE writes all of them)"
    shown = data[:SHOWN]
    if not _is_text(shown if not more else shown.rsplit(b"\n", 1)[0]):
        return _escaped(shown) + more
    return shown.decode(errors="replace") + more


def _is_text(data: bytes) -> bool:
    try:
        return all(c.isprintable() or c in "\n\t" for c in data.decode())
    except UnicodeDecodeError:
        return False


def _escaped(data: bytes) -> str:
    """Bytes as the shell reads them back."""
    return "$'" + str(data)[2:-1].replace("\\'", "'").replace("'", "\\'") + "'"


def _close(title: str, channel: Channel, inputs: list[CloseInput]) -> Iterator[str]:
    """Lines that list close inputs."""
    yield f"\n{title}:" if inputs else f"\n{title}: none"
    for one in inputs:
        text = printed(channel, one.data).replace("\n", "\\n")
        cut = text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."
        yield f"  distance {one.distance:<3} {cut}   ({one.how})"


def _part(
    judge: Judge, reduction: Reduction, specification: Specification | None, found: CloseInputs | None
) -> dict[str, Any]:
    """The part "inputs" of the JSON result."""
    part = {
        "case": judge.case.name,
        "channel": str(judge.channel),
        "oracle": judge.oracle.kind,
        "specification": specification.name if specification else None,
        "size": len(reduction.original),
        "reduced_size": len(reduction.data),
        "reduced": _bytes(reduction.data),
        "minimal": reduction.is_minimal,
        "levels": [{"name": at.name, "before": at.before, "after": at.after} for at in reduction.levels],
        "tried": judge.tried,
        "executions": judge.executions,
    }
    if found is not None:
        part |= {"good": [_close_part(one) for one in found.good], "rejected": found.rejected}
        part["failing"] = [_close_part(one) for one in found.failing]
    return part


def _close_part(one: CloseInput) -> dict[str, Any]:
    return {"case": one.case.name, "input": _bytes(one.data), "distance": one.distance, "how": one.how}


def _bytes(data: bytes) -> dict[str, str]:
    """Bytes in JSON: a text, or base64 where they are none."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
