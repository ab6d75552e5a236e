"""The options that commands share: which program and cases, in what time, how the result is shown, how is searched."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.supervisor import start_clock
from whence.errors import UsageError

if TYPE_CHECKING:
    pass

FORMULAS = ("tarantula", "ochiai", "jaccard", "dstar", "barinel", "op2")  # as subject/suspiciousness.py has them
SIZES = {"K": 10, "M": 20, "G": 30}
FIRST_IN_SLICE = 40  # lines of a slice that are shown at least


class CaseCommand(click.Command):
    """A command in which each ``--expect`` belongs to the ``--fails`` before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, and note the order of the two options."""
        ctx.meta["whence.expects"] = list(_pair(args))
        return super().parse_args(ctx, args)


def _pair(args: list[str]) -> Iterator[str | None]:
    """For each ``--fails`` the text of the ``--expect`` behind it, or None."""
    pending: str | None = None
    waiting = False
    words = iter(args)
    for word in words:
        name, has_value, value = word.partition("=")
        if word == "--":
            break
        if name not in {"--fails", "--expect", "--passes"}:
            continue
        text = value if has_value else next(words, "")
        if name == "--fails":
            if waiting:
                yield pending
            pending, waiting = None, True
        elif name == "--expect":
            if not waiting or pending is not None:
                hint = "give --fails 'ARGUMENTS' --expect 'OUTPUT'"
                raise UsageError("each --expect belongs to the --fails before it", hint)
            pending = text
    if waiting:
        yield pending


def _size(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A number of bytes with an optional K, M or G."""
    if text is None:
        return None
    unit = SIZES.get(text[-1:].upper(), 0)
    digits = text[:-1] if unit else text
    if not (digits.isascii() and digits.isdigit()) or int(digits) == 0:
        raise click.BadParameter(f"'{text}' is no size; write 512M or 4G", param=parameter)
    return int(digits) << unit


def duration(_: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """Seconds, from a number with an optional s, m or h."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text, re.ASCII)
    seconds = float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]] if found else 0.0
    if not seconds:
        raise click.BadParameter(f"'{text}' is no time; write 90s, 5m or 1h", param=parameter)
    return seconds


def _pattern(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A byte, or the word zero."""
    from whence.run.sandbox import MOST_PATTERN

    if text is None or text == "zero":
        return None if text is None else 0
    if not (text.isascii() and text.isdigit()) or int(text) > MOST_PATTERN:
        raise click.BadParameter(f"'{text}' is neither zero nor a byte up to {MOST_PATTERN}", param=parameter)
    return int(text)


@dataclass(slots=True)
class Options:
    """The values of the shared options."""

    sources: tuple[Path, ...]
    folder: Path
    fails: tuple[str, ...]
    expect: tuple[str, ...]
    passes: tuple[str, ...]
    cflags: str
    timeout: float | None
    pattern: int | None
    environment: str | None
    aslr: bool
    case: str | None
    trace_limit: int | None
    window: int | None
    schedule: Path | None
    follow: str | None
    budget: float | None
    json: bool
    html: Path | None
    sarif: Path | None
    limit: int

    @property
    def expects(self) -> list[str | None]:
        """For each of ``fails`` the output that is right, or None."""
        found: list[str | None] = click.get_current_context().meta.get("whence.expects", [])
        return found

    def subject_words(self) -> str:
        """The text of a command line that names the same program and cases again."""
        return " ".join(map(quoted, self.subject_list()))

    def subject_list(self) -> list[str]:
        """The words of that command line."""
        words = [*map(str, self.sources)]
        if self.folder != Path():
            words += ["-C", str(self.folder)]
        for text, expect in zip(self.fails, self.expects, strict=False):
            words += ["--fails", text] + (["--expect", expect] if expect is not None else [])
        for text in self.passes:
            words += ["--passes", text]
        settings: dict[str, object] = {"--cflags": self.cflags, "--timeout": self.timeout, "--case": self.case}
        settings["--pattern"] = None if self.pattern is None else self.pattern or "zero"
        settings |= {"--environment": self.environment}
        settings |= {"--trace-limit": self.trace_limit, "--window": self.window, "--schedule": self.schedule}
        settings |= {"--follow": self.follow}
        words += ["--aslr"] if self.aslr else []
        for name, value in settings.items():
            words += [name, f"{value:g}" if isinstance(value, float) else str(value)] if value else []
        return words


def refuse_reports(options: Options, command: str) -> None:
    """Raise UsageError where a page or a log is asked of a command whose findings have none."""
    if options.html is not None or options.sarif is not None:
        raise UsageError(f"{command} writes no page and no log", "--json gives the result to other programs")


def quoted(word: str) -> str:
    """A word as the shell reads it back; control characters as in ``$'...'``."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + word.encode("unicode_escape").decode("ascii").replace("'", "\\'") + "'"


_SHARED: list[Callable[[Any], Any]] = [
    click.argument("sources", nargs=-1, type=click.Path(path_type=Path)),
    click.option("-C", "folder", default=Path(), type=click.Path(path_type=Path), help="Folder of whence.toml [.]"),
    click.option("--fails", multiple=True, metavar="ARGS", help="Arguments of a failing case ('3 4 < file': input)."),
    click.option("--expect", multiple=True, metavar="TEXT", help="Right output of the --fails before it."),
    click.option("--passes", multiple=True, metavar="ARGS", help="Arguments of a passing case; its output is right."),
    click.option("--cflags", default="", metavar="FLAGS", help="Flags to compile SOURCES with."),
    click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Time limit of a run."),
    click.option(
        "--pattern", callback=_pattern, metavar="zero|BYTE", help="What fresh memory holds [what happens to be there]."
    ),
    click.option("--environment", type=click.Choice(["keep"]), help="Give runs your own environment [a pinned one]."),
    click.option("--aslr", is_flag=True, help="Let addresses differ from run to run [they are pinned]."),
    click.option("--case", metavar="NAME", help="The failing case to record [the shortest run]."),
    click.option(
        "--trace-limit", callback=_size, metavar="SIZE", help="Most bytes a trace may take [4G, or what memory allows]."
    ),
    click.option("--window", callback=_size, metavar="SIZE", help="Keep only the last SIZE bytes of a long run."),
    click.option(
        "--schedule", type=click.Path(path_type=Path), metavar="FILE", help="How the threads of its case take turns."
    ),
    click.option("--follow", type=click.Choice(["child"]), help="Whose run counts: that of the processes it forks."),
    click.option(
        "--budget", callback=duration, metavar="TIME", help="Wall time, building left out: 90s, 5m, 1h [60s]."
    ),
    click.option("--json", is_flag=True, help="Print the result as JSON (docs/json.md)."),
    click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write an HTML report."),
    click.option("--sarif", type=click.Path(path_type=Path), metavar="FILE", help="Write a SARIF 2.1.0 log."),
    click.option("-n", "--limit", default=10, type=click.IntRange(1), show_default=True, help="Statements to show."),
]


def shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared options to a command, which gets them as its first argument, an ``Options``; its time begins."""
    names = {f.name for f in fields(Options)}

    @wraps(command)
    def called(**values: Any) -> Any:
        shared = Options(**{name: values.pop(name) for name in names})
        start_clock(shared.budget)
        return command(shared, **values)

    for option in reversed(_SHARED):
        called = option(called)
    return called


def parsed(words: list[str], use: Callable[[Options], Any]) -> Any:
    """What ``use`` gives for the shared options of a command line; no time begins. Raises ClickException."""
    params = [param for option in _SHARED for param in option(lambda: None).__click_params__]
    command = CaseCommand("options", params=params, callback=lambda **values: use(Options(**values)))
    return command.main(words, standalone_mode=False)


# ---- A search --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Search:
    """What a search of altered runs may use: cores, a cluster's address; and whether to start anew."""

    workers: int | None
    cluster: str | None
    fresh: bool


_SEARCH: list[Callable[[Any], Any]] = [
    click.option("--workers", type=click.IntRange(1), metavar="N", help="Altered runs at a time [one a core]."),
    click.option("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers run them (tcp://HOST:PORT)."),
    click.option("--fresh", is_flag=True, help="Run again what an earlier search has kept."),
]


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a search to a command, which gets them as ``search``, a ``Search``; below shared_options."""

    @wraps(command)
    def called(*arguments: Any, **values: Any) -> Any:
        search = Search(**{f.name: values.pop(f.name) for f in fields(Search)})
        return command(*arguments, search=search, **values)

    for option in reversed(_SEARCH):
        called = option(called)
    return called
