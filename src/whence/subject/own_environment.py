"""Whether a verdict hangs on a variable that all runs have the same value of, whatever the user's own environment says.

Right outputs are often made in a shell of another locale or time zone than the runs have (``run/sandbox.py`` PINNED).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from whence.run.oracle import judge
from whence.run.runner import RunLost
from whence.run.sandbox import PINNED

if TYPE_CHECKING:
    from whence.run.result import RunResult
    from whence.run.runner import Runner

LOOKED_AT = 3  # cases
PLAIN_LOCALES = {"", "C", "POSIX"}


def own_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The user's locale and time zone as variables of a run, where those of the runs are others."""
    locale = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or ""
    zone = environment.get("TZ", "")
    found = {} if locale in PLAIN_LOCALES else {"LC_ALL": locale}
    return found | ({"TZ": zone} if zone not in ("", PINNED["TZ"]) else {})


def verdicts_that_hang_on_it(runner: Runner, results: Sequence[RunResult]) -> list[str]:
    """Which of the first runs have another verdict with a variable of the user's environment, a sentence a variable.

    All of them have failed, or all have passed.
    """
    mine = [result for result in results if result.case.command is None and not result.timed_out][:LOOKED_AT]
    found = []
    for name, value in own_variables(os.environ).items() if mine else ():
        changed = [result.case for result in mine if _changes(runner, result, name, value)]
        if changed:
            verb = "pass" if judge(mine[0].case, mine[0]).failed else "fail"
            names = ", ".join(f"`{case.name}`" for case in changed)
            setting = f'environment = {{{name} = "{value}"}}'
            found.append(
                f"with {name}={value}, as in your environment, {names} would {verb}; runs have {name}={PINNED[name]} "
                f"(`{setting}` below [cases] of whence.toml changes that)"
            )
    return found


def _changes(runner: Runner, result: RunResult, name: str, value: str) -> bool:
    """Whether a run's verdict is another one with a variable of that value, which its case does not set."""
    case = result.case
    if name in case.environment:
        return False
    try:
        other = runner.run_case(replace(case, environment={**case.environment, name: value}))
    except RunLost:  # it ends the process that serves the runs, now and then
        return False
    return judge(case, other).failed != judge(case, result).failed
