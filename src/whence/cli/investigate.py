"""The investigation that a command's options ask for."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from whence.build.flags import CPLUSPLUS
from whence.cli.options import Options, Search
from whence.cli.supervisor import clock
from whence.cli.watcher import TerminalWatcher
from whence.errors import UsageError
from whence.investigation.investigation import Investigation, Setup
from whence.run.cases import cases_from_options

if TYPE_CHECKING:
    from whence.findings import Findings
    from whence.investigation.begin import Changes
    from whence.investigation.watcher import Watcher


def investigate(
    options: Options,
    search: Search | None = None,
    finish: Callable[[Findings], Findings] | None = None,
    ranks: bool = True,
    before: Mapping[str, bytes] | None = None,
    watcher: Watcher | None = None,
) -> Investigation:
    """The investigation of the subject that the options name, within their budget.

    ``finish`` is what the command does to findings before it shows them; ``ranks``: they are a ranking, and
    where its time is up before there is one, that of the spectrum is shown. ``before``: texts of files as they were in
    an earlier version. ``watcher`` is told of the work; None: the terminal.
    """
    from whence.investigation.begin import Beginning

    _check(options)
    workers, cluster, fresh = (search.workers, search.cluster, search.fresh) if search else (None, None, False)
    setup = Setup(
        options.case,
        options.trace_limit,
        options.window,
        workers,
        cluster,
        fresh,
        options.schedule,
        follows_children=options.follow is not None,
    )
    watcher = watcher or TerminalWatcher(options, finish or (lambda findings: findings), ranks)
    beginning = Beginning(setup, clock, watcher, _changes(options, before or {}))
    cases = cases_from_options(options.fails, options.expects, options.passes)
    if options.sources:
        return beginning.with_sources(options.sources, cases, _flags(options.cflags))
    return beginning.with_folder(options.folder, cases)


def _check(options: Options) -> None:
    """Refuse options that would have no effect."""
    if options.sources and options.folder != Path():
        raise UsageError("-C names the folder of a whence.toml, which is not read for C files given by name")
    if options.cflags and not options.sources:
        raise UsageError("--cflags are for C files given by name", "set `flags` or `build` in whence.toml")
    for path in options.sources:
        if path.is_dir():
            raise UsageError(f"{path} is a folder", f"for the program of a whence.toml there: -C {path}")
        if path.suffix in (*CPLUSPLUS, ".hpp", ".hh"):
            hint = "its C parts can be analysed, built with CC=whence-cc: `whence init`, then the command without files"
            raise UsageError(f"{path} is C++, which Whence does not analyse yet", hint)
        if path.suffix != ".c" and path.exists():
            hint = "for a program that is built already: `whence init`, then the command without files"
            raise UsageError(f"{path} is no C file", hint)


def _changes(options: Options, before: Mapping[str, bytes]) -> Changes:
    """What the options change of the configuration."""
    from whence.investigation.begin import Changes
    from whence.run.sandbox import kept_environment

    environment = kept_environment(os.environ) if options.environment == "keep" else {}
    return Changes(options.timeout, options.pattern, before, environment, options.aslr)


def _flags(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--cflags: {error}: {text}") from error
