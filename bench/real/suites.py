"""The programs' own test suites as the only cases: what becomes of them, and what is located with them.

    python -m bench.real.suites --work FOLDER [--budget 60s] [--reference] FAULT ...

Each fault is planted in its program built with ``whence-cc``, and everything then is done by the commands that a user
types: ``whence init`` describes the program's own tests, ``whence spectrum`` ranks by the tests as commands, ``whence
locate`` by what was captured of them (with ``--reference`` once more beside the program without the fault). Faults are
those of ``faults/``, whose cases are not used, and those of ``suite_faults/``, which have none. Prints Markdown: how
often the tests ran the program, how many of these invocations became cases, how many of these fail, the fault's ranks
by the spectrum over processes, by that over the captured cases, and in what ``locate`` shows, of how many statements,
seconds by the clock with building and the suite's run, and those of ``locate`` alone.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.common import ended, markdown, options, work_folder
from bench.real.faults import Fault, chosen_faults, end_cleanly, planted
from bench.real.programs import PATH, ensure_built, make_tested
from whence.errors import WhenceError

RANKS = ["processes", "captured", "locate", "of"]
HEAD = ["fault", "kind", "invocations", "cases", "fail", *RANKS, "s", "locate s", "load"]
SECONDS = 60  # of one test
TOLD = re.compile(r"ran the program ([\d,]+) times?: (\d+) of these invocations are cases of their own, (\d+)")
CAPTURE = "capture = true"


@dataclass(frozen=True)
class Answer:
    """What a command printed as JSON (empty where it showed nothing), what it said of that, and its seconds."""

    found: dict[str, Any]
    complaint: str
    seconds: float

    def rank(self, fault: Fault) -> str:
        """The best rank of a faulty line, with the end of its tie; what was said where there is no ranking."""
        entries = self.found.get("ranking", [])
        ranks = [(e["rank"], e["rank_worst"]) for e in entries if f"{e['file']}:{e['line']}" in fault.lines]
        if not ranks:
            return "none" if entries else self.complaint or "no result"
        first, last = min(ranks)
        return f"{first}" if first == last else f"{first}-{last}"


def asked(tree: Path, *words: str) -> Answer:
    """What a ``whence`` command with ``--json`` answers in a folder."""
    command = [sys.executable, "-m", "whence", *words, "-C", str(tree), "--json"]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": PATH}, check=False)
    seconds = time.perf_counter() - began
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    complaint = lines[0].removeprefix("error: ") if lines else ""
    return Answer(json.loads(done.stdout) if done.stdout.strip() else {}, complaint, seconds)


def configure(fault: Fault, tree: Path) -> Path:
    """Let ``whence init`` find the tree's suite. Raises WhenceError where it finds none."""
    file = tree / "whence.toml"
    file.unlink(missing_ok=True)
    subprocess.run([sys.executable, "-m", "whence", "init", str(tree)], check=True, stdout=subprocess.DEVNULL)
    text = file.read_text()
    if "\ncommand = " not in text:
        raise WhenceError(f"{fault.program}: no test suite found")
    lines = [line for line in text.splitlines() if not line.startswith(("path", "build"))]
    text = "\n".join(lines).replace("[program]", f'[program]\npath = "{fault.executable}"')
    file.write_text(text.replace("[limits]", f"[limits]\ntime = {SECONDS}") + "\n")
    return file


def measure(fault: Fault, work: Path, budget: str, *, reference: bool) -> list[list[str]]:
    """The row of a fault, and with ``reference`` a second one."""
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc", "-g -O0")
    rows = []
    with planted(fault, tree):
        make_tested(fault.recipe, tree)
        file = configure(fault, tree)
        settings = file.read_text()
        file.write_text(settings.replace(CAPTURE, "capture = false"))
        processes = asked(tree, "spectrum", "--formula", "op2", "--budget", "10m")
        rows.append([fault.name, fault.kind, *located(fault, tree, processes, settings, budget)])
        if reference:
            right = ensure_built(fault.recipe, work, "gcc", "gcc")
            make_tested(fault.recipe, right)
            settings = settings.replace(CAPTURE, f'{CAPTURE}\nreference = "{right / fault.executable}"')
            rows.append([f"{fault.name}, reference", "", *located(fault, tree, processes, settings, budget)])
    return rows


def located(fault: Fault, tree: Path, processes: Answer, settings: str, budget: str) -> list[str]:
    """The numbers of invocations and cases, the three ranks, of how many, seconds, and the load."""
    (tree / "whence.toml").write_text(settings)
    spectrum = asked(tree, "spectrum", "--formula", "op2", "--budget", "10m")
    found = asked(tree, "locate", "--budget", budget)
    print("\n".join([fault.name, *found.found.get("summary", [found.complaint])]), file=sys.stderr, flush=True)
    ranks = [answer.rank(fault) for answer in (processes, spectrum, found)]
    seconds = [f"{spectrum.seconds + found.seconds:.0f}", f"{found.seconds:.0f}", f"{os.getloadavg()[0]:.0f}"]
    return [*numbers(spectrum.found), *ranks, str(len(found.found.get("ranking", []))), *seconds]


def numbers(found: dict[str, Any]) -> Sequence[str]:
    """How many invocations a result tells of, how many of them are cases, and how many of these fail."""
    told = next(filter(None, map(TOLD.search, found.get("summary", []))), None)
    cases = found.get("cases", {"passed": 0, "failed": 0})
    return told.groups() if told else ("", str(cases["passed"] + cases["failed"]), str(cases["failed"]))


def main() -> int:
    """Measure the faults named and print the table."""
    end_cleanly()
    parser = options("locate the planted faults with the programs' own tests")
    parser.add_argument("--budget", default="60s", help="time of whence locate")
    parser.add_argument("--reference", action="store_true", help="once more with the program without the fault")
    parser.add_argument("faults", nargs="+")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    rows = []
    for fault in chosen_faults(arguments.faults, own_suites=True):
        try:
            found = measure(fault, work, arguments.budget, reference=arguments.reference)
        except WhenceError as error:
            found = [[fault.name, fault.kind, "", "", "", "", "", str(error).split(":")[0], "", "", "", ""]]
        print("\n".join(" | ".join(row) for row in found), file=sys.stderr, flush=True)
        rows += found
    print(markdown(HEAD, rows))
    return 0


if __name__ == "__main__":
    ended(main)
