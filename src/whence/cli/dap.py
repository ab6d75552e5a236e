"""``whence dap``: a debug adapter on standard input and output, over the recording of a case."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from whence.errors import UsageError
from whence.investigation.watcher import Progress, Watcher

if TYPE_CHECKING:
    from whence.cli.options import Options
    from whence.debug.run import Run
    from whence.investigation.investigation import Investigation
    from whence.subject.recorder import Recording

# The settings of a launch: the options that they stand for, and whether each is a list.
SETTINGS: dict[str, tuple[str, bool]] = {
    "sources": ("", True),
    "folder": ("-C", False),
    "case": ("--case", False),
    "fails": ("--fails", True),
    "passes": ("--passes", True),
    "cflags": ("--cflags", False),
    "timeout": ("--timeout", False),
    "pattern": ("--pattern", False),
    "environment": ("--environment", False),
    "traceLimit": ("--trace-limit", False),
    "window": ("--window", False),
    "schedule": ("--schedule", False),
    "follow": ("--follow", False),
}
OWN = ("expect", "stopAt", "locate")  # settings that stand for no option by themselves


@click.command()
def dap() -> int:
    """Debug a recorded run in an editor: serve the Debug Adapter Protocol on standard input and output.

    Editors start this command. What it debugs stands in their launch configuration (docs/debugger.md).
    """
    from whence.debug.protocol import Connection
    from whence.debug.session import Session

    if sys.stdin.isatty():
        raise UsageError("`whence dap` is started by an editor, which talks to it", "docs/debugger.md says how")
    outgoing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything prints is no message
    opened: list[Investigation] = []
    try:
        Session(Connection(sys.stdin.buffer, outgoing), lambda given, tell: _launched(given, tell, opened)).serve()
    finally:
        for investigation in opened:
            investigation.close()
    return 0


def _launched(given: Mapping[str, Any], tell: Callable[[str], None], opened: list[Investigation]) -> Run:
    """The run that a launch's settings ask for, recorded. ``opened`` gets what is to be closed."""
    from whence.cli.options import parsed

    try:
        run: Run = parsed(list(_words(given)), lambda options: _recorded(options, given, tell, opened))
    except click.ClickException as error:
        raise UsageError(error.format_message()) from error
    return run


def _recorded(
    options: Options, given: Mapping[str, Any], tell: Callable[[str], None], opened: list[Investigation]
) -> Run:
    from whence.cli.investigate import investigate
    from whence.debug.run import open_run
    from whence.debug.suspects import read_suspects
    from whence.probe.instrument import Variant

    located = _text(given, "locate")
    suspects = read_suspects(options.folder / located) if located else []
    watcher = _ClientWatcher(tell)
    investigation = investigate(options, watcher=watcher)
    opened.append(investigation)
    investigation.build(Variant.RECORD)
    recording = _recording(investigation, options.case)
    watcher.busy("indexing the recording")
    with watcher.first_use():
        return open_run(investigation.subject, recording, _text(given, "stopAt"), suspects)


def _recording(investigation: Investigation, name: str | None) -> Recording:
    """The recorded run of a case, failing or not; without a name that of the failing case with the shortest run."""
    from whence.cli.record import chosen

    if name is None:
        return investigation.record_failing_or_end(investigation.failing_rows())[1]
    case = chosen(investigation.subject, name)
    investigation.watcher.busy(f"recording the case {name}")
    with investigation.watcher.first_use():
        return investigation.recorder.record_or_beginning(case)


# ---- Settings --------------------------------------------------------------------------------------------------------


def _words(given: Mapping[str, Any]) -> Iterator[str]:
    """The words of a command line that the settings of a launch stand for. Raises UsageError for wrong ones."""
    _refuse_unknown(given)
    expects = _texts(given, "expect")
    for name, (option, is_list) in SETTINGS.items():
        values = _texts(given, name) if is_list else [_text(given, name)] if _text(given, name) else []
        for number, value in enumerate(values):
            if value is None:
                raise UsageError(f'"{name}" holds null')
            yield from ([f"{option}={value}"] if option.startswith("--") else [option, value] if option else [value])
            if name == "fails" and number < len(expects) and (expected := expects[number]) is not None:
                yield f"--expect={expected}"


def _refuse_unknown(given: Mapping[str, Any]) -> None:
    """Refuse a setting that is nearly one of ours; those of editors are let be."""
    import difflib

    known = [*SETTINGS, *OWN]
    for name in given:
        near = difflib.get_close_matches(name, known, 1, 0.8)
        if name not in known and near:
            raise UsageError(f'there is no setting "{name}"', f'did you mean "{near[0]}"?')


def _text(given: Mapping[str, Any], name: str) -> str:
    """A setting that is a text or a number; empty where it is not there."""
    value = given.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f'"{name}" is no text')
    return str(value)


def _texts(given: Mapping[str, Any], name: str) -> list[str | None]:
    """A setting that is a list of texts, or one text; null stands for none in a place."""
    value = given.get(name)
    values = value if isinstance(value, list) else [] if value is None else [value]
    if not all(text is None or isinstance(text, str) for text in values):
        raise UsageError(f'"{name}" is no list of texts')
    return list(values)


class _ClientWatcher(Watcher):
    """Tells the client what is being done."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._told = tell, ""

    def busy(self, what: str) -> None:
        """Tell it once."""
        if what != self._told:
            self._told = what
            self._tell(what)

    @contextmanager
    def progress(self, text: str, total: int) -> Iterator[Progress]:
        """Tell what is begun."""
        self.busy(text)
        yield lambda done, total: None

    @contextmanager
    def first_use(self) -> Iterator[None]:
        """Tell why it may take long."""
        from whence.cli.watcher import is_compiled

        if not is_compiled():
            self.busy("compiling the analysis, at its first use only (about a minute)")
        yield
