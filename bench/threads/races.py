"""What finds data races in small programs: ``python -m bench.threads.races`` prints a table.

Each program has one error of threads, and a correct twin. A race is found where one is told whose two lines are both
marked in the program; gcc's ThreadSanitizer has found it where it reports a race in such lines. It runs each program
several times, since threads that really run at once take turns by chance. A race told in a twin is a false alarm; in a
program without a race (an error of atomicity or order) and in one whose race does no harm, a harmful one is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import whence
from bench.threads.programs import PROGRAMS, Program

RUNS = 5  # of ThreadSanitizer
SECONDS = 60
RACING = ("race", "harmless")


@dataclass(slots=True)
class Reported:
    """What a tool tells of one program: pairs of lines, and of those the ones called harmful."""

    pairs: set[frozenset[int]]
    harmful: set[frozenset[int]]

    def finds(self, program: Program) -> bool:
        """Whether it names the race: both of its lines are among the program's."""
        return any(pair <= program.lines for pair in self.pairs)


def by_whence(text: str, name: str, folder: Path) -> Reported:
    """What ``whence races`` tells."""
    source = folder / f"{name}.c"
    source.write_text(text)
    with whence.open_sources([source], fails=[("", None)], flags=["-w"], timeout=10.0) as project:
        found = project.find(whence.DataRaces(), float("inf"))
    races = [race for run in found.parts["races"] for race in run["races"]]
    pairs = [(frozenset(int(a["line"]) for a in race["accesses"]), race["harm"]["verdict"]) for race in races]
    return Reported({pair for pair, _ in pairs}, {pair for pair, verdict in pairs if verdict == "harmful"})


def by_sanitizer(text: str, name: str, folder: Path) -> Reported:
    """What ThreadSanitizer tells, of several runs."""
    source, executable = folder / f"{name}.c", folder / name
    source.write_text(text)
    flags = ["-fsanitize=thread", "-g", "-O0", "-w"]
    subprocess.run(["gcc", *flags, "-o", executable, source, "-lpthread"], check=True, timeout=SECONDS)
    pairs: set[frozenset[int]] = set()
    command = ["setarch", "-R", str(executable)]  # its shadow memory needs the usual layout
    for _ in range(RUNS):
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, cwd=folder)
        except subprocess.TimeoutExpired:
            continue
        for report in done.stderr.decode(errors="replace").split("WARNING: ThreadSanitizer: data race")[1:]:
            accesses = re.split(r"\n  Previous ", report.split("\n\n  Location")[0])[:2]
            lines = [re.search(rf"{re.escape(name)}\.c:(\d+)", access) for access in accesses]
            pairs.add(frozenset(int(line[1]) for line in lines if line))
    return Reported(pairs, pairs)


def main() -> None:
    """Measure all programs, and print the table."""
    tools = {"whence": by_whence} | ({"ThreadSanitizer": by_sanitizer} if shutil.which("gcc") else {})
    found, false, harmful = Counter[tuple[str, str]](), Counter[str](), Counter[str]()
    for program in PROGRAMS:
        notes = []
        for name, tool in tools.items():
            with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
                wrong = tool(program.text, program.name, Path(one))
                right = tool(program.right, program.name, Path(other))
            is_found = program.kind in RACING and wrong.finds(program)
            found[name, program.kind] += is_found
            false[name] += bool(right.pairs)
            harmful[name] += program.kind != "race" and bool(wrong.harmful)
            notes += [f"{name} missed it"] if program.kind in RACING and not is_found else []
            notes += [f"{name} has an alarm on the twin"] if right.pairs else []
            notes += [f"{name} calls it a harmful race"] if program.kind != "race" and wrong.harmful else []
        print(f"{program.name}: {', '.join(notes) or 'as it should be'}", file=sys.stderr)
    kinds = Counter(program.kind for program in PROGRAMS)
    print(f"| | programs | {' | '.join(tools)} |\n| --- | --- |{' --- |' * len(tools)}")
    for kind in RACING:
        print(f"| {kind}: found | {kinds[kind]} | {' | '.join(str(found[name, kind]) for name in tools)} |")
    others = len(PROGRAMS) - kinds["race"]
    print(f"| no harmful race: told as one | {others} | {' | '.join(str(harmful[name]) for name in tools)} |")
    print(f"| correct twin: alarms | {len(PROGRAMS)} | {' | '.join(str(false[name]) for name in tools)} |")


if __name__ == "__main__":
    main()
