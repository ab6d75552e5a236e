"""The command line: one file a command, loaded only when it is called, so that ``whence --help`` is quick."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from collections.abc import Callable
from functools import partial

import click

from whence.cli.supervisor import line, supervise
from whence.errors import BuildError, WhenceError

COMMANDS = {
    "locate": "Rank the statements most likely at fault, and explain them.",
    "slice": "Show what a failure, or a value, came from (or what came of it).",
    "fix": "Find edits of the source that let all cases pass, and show them as diffs.",
    "rules": "Find small changes of the source that repair failing cases, and rank statements by them.",
    "values": "Rank statements by whether another value there makes failing runs pass.",
    "switch": "Find the branches that make failing runs pass when they go the other way.",
    "chain": "Show how the fault became the failure, step by step.",
    "causes": "Show why a run had to fail, as a tree of causes to walk.",
    "formula": "Find the statements whose change can make failing runs right, and the values they had to have.",
    "memory": "Find memory errors in recorded runs, also where nothing fails.",
    "suppress": "Suppress what a crash came of until none is left: the first corruption of memory.",
    "races": "Find accesses of two threads that nothing orders, also where nothing fails.",
    "schedules": "Find a schedule of the threads under which a case fails, and what decides.",
    "invariants": "Find values and ways that failing runs have and good ones have not.",
    "faults": "Locate several faults, one at a time; after each fix the search goes on.",
    "spectrum": "Rank statements by which cases executed them.",
    "reduce": "Reduce a failing input to what the failure needs.",
    "ci": "Run all cases, locate what fails, and write what CI services take.",
    "mcp": "Offer all of that to agents, over the Model Context Protocol.",
    "cases": "Write the cases, such as those captured from a test suite, as a folder to keep.",
    "lsp": "Show ranking, values and fixes in an editor, over the Language Server Protocol.",
    "dap": "Debug a recorded run in an editor, forwards and backwards (docs/debugger.md).",
    "gdb": "Write a GDB script that stops the program itself at the suspicious instant.",
    "serve": "Show the report as a page while the search goes on (on this machine alone).",
    "record": "Record one run and say what the trace holds.",
    "build": "Run a build so that all that it compiles is captured: whence build -- make.",
    "env": "Print what makes builds call whence-cc, for a shell, CMake and Meson.",
    "init": "Write a commented whence.toml from what a folder holds.",
    "doctor": "Check the set-up and say what is missing.",
}
NOTHING, INTERNAL, INTERRUPTED = 1, 3, 130


class _Commands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"whence.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name if cmd_name != "slice" else "slice_")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            ctx.fail(f"no command '{args[0]}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        return super().resolve_command(ctx, args)


def _versions(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the versions of Whence and of what a result may depend on."""
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import version

    from whence.build.toolchain import find_toolchain

    click.echo(f"whence {version('whence')}")
    try:
        toolchain = find_toolchain()
        click.echo(f"clang {toolchain.version} ({' '.join(toolchain.command[:1])})")
    except WhenceError as error:
        click.echo(f"no compiler: {error}")
    for name in ("llvmlite", "numba", "z3-solver", "bitwuzla"):
        click.echo(f"{name} {version(name)}")
    click.echo(f"Python {sys.version.split()[0]} ({sys.executable})")
    ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_versions, help="Show versions.")
def whence() -> None:
    """Whence tells a C programmer where a failure comes from.

    Build with CC=whence-cc, describe cases in whence.toml (`whence init` writes one), then run `whence locate`;
    or try one file at once: whence locate prog.c --fails '4 9 2' --expect '3 values' --passes '5 7'
    """


def main() -> None:
    """The console script ``whence``, which ends with the exit status of ``run``."""
    asks = sys.argv[1:2] in ([], ["-h"], ["--help"])  # for help alone, which needs no process of its own
    sys.exit(run() if asks else supervise(run))


def run() -> int:
    """Do what the command line asks for: 0 found, 1 nothing found, 2 wrong use or input, 3 internal error."""
    return guarded(partial(whence.main, prog_name="whence", standalone_mode=False))


def guarded(command: Callable[[], object]) -> int:
    """The exit status of a command (an integer, else 0); whatever it raises is shown as a user can understand it."""
    _exit_on_signals()
    line.forget()
    try:
        status = command()
    except WhenceError as error:
        status = _complain(error)
    except click.exceptions.Exit as done:
        status = done.exit_code
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort) as stop:
        status = _interrupted(stop)
    except BrokenPipeError:
        _stop_printing()
        status = 0
    except OSError as error:
        status = _complain(_of_the_system(error))
    except MemoryError:
        status = _out_of_memory()
    except Exception as error:
        status = _report_bug(error)
    status = status if isinstance(status, int) else 0
    try:
        line.shown(status)
    except BrokenPipeError:
        _stop_printing()
    return status


def _stop_printing() -> None:
    """Nobody reads standard output any more: what is left of it goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_on_signals() -> None:
    """Leave by SystemExit on signals that would end the process at once, so that children and files are cleared."""

    def leave(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup it is ignored
            signal.signal(number, leave)


def _of_the_system(error: OSError) -> WhenceError:
    """What the system refused, in one line."""
    if os.environ.get("WHENCE_DEBUG"):
        raise error
    where = f": {error.filename}" if error.filename else ""
    return WhenceError(f"{error.strerror or error}{where}", _remedy(error))


def _remedy(error: OSError) -> str:
    """What to do about it: without room, or where Whence's own folder cannot be used."""
    from pathlib import Path

    from whence.build.toolchain import whence_home

    if error.errno == errno.ENOSPC:
        return "free some room, or name another folder in TMPDIR or WHENCE_HOME"
    home, path = Path(whence_home()), Path(str(error.filename or "."))
    is_ours = path.is_absolute() and (path.is_relative_to(home) or home.is_relative_to(path))
    return "name a folder that can be written in WHENCE_HOME" if is_ours else ""


def _complain(error: WhenceError) -> int:
    """Show an expected error: what is wrong, then what to do; what a compiler said comes first and as it is."""
    line.showing()
    if isinstance(error, BuildError) and str(error) in error.hint:
        print(f"{error.hint}\nwhence: the program does not build: {error}", file=sys.stderr)
        return error.exit_status
    print(f"whence: {error}", file=sys.stderr)
    if error.hint:
        lines = error.hint.splitlines()
        print("\n".join([f"  help: {lines[0]}", *(f"        {line}" for line in lines[1:])]), file=sys.stderr)
    return error.exit_status


def _out_of_memory() -> int:
    """Show the best findings so far, or that memory is used up."""
    status = line.stopped("out of memory; record less: --window 64M, or a lower --trace-limit")
    if status is not None:
        return status
    return _complain(WhenceError("out of memory", "record less: --window 64M, or a lower --trace-limit"))


def _interrupted(stop: BaseException) -> int:
    """Say that the command was stopped before there was a result, by the user or since its time was over."""
    from whence.investigation.clock import OutOfTime

    status = line.stopped("the time was over" if isinstance(stop, OutOfTime) else "interrupted")
    if status is not None:
        return status
    line.showing()
    if isinstance(stop, OutOfTime):
        print("whence: nothing was found in the time that there was", file=sys.stderr)
        print("  help: more time: --budget 5m", file=sys.stderr)
        return NOTHING
    print("whence: interrupted", file=sys.stderr)
    return INTERRUPTED


def _report_bug(error: Exception) -> int:
    """Show an unexpected error as what it is: a bug of ours."""
    from whence.investigation.attempts import save_bug

    if os.environ.get("WHENCE_DEBUG"):
        raise error
    path = save_bug(error, "command")
    status = line.stopped(f"internal error ({type(error).__name__}), see {path}; please report it")
    if status is not None:
        return status
    line.showing()
    print(f"whence: internal error: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"  help: this is a bug of whence; please report it with {path}", file=sys.stderr)
    return INTERNAL
