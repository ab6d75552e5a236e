"""The soak's command line: see the package's docstring."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from bench.common import markdown, options, work_folder
from bench.soak.commands import CALLED, budget_of, is_text, words_for
from bench.soak.generate import generate
from bench.soak.judge import Ran, violations
from bench.soak.subjects import Laid, building, lay
from whence.build.toolchain import whence_home
from whence.cli.options import duration

SOURCES = Path(__file__).resolve().parents[2] / "src"
KEEPER = Path(__file__).with_name("keeper.py")
APART = ("unshare", "--mount", "--pid", "--fork", "--mount-proc")  # name spaces, where the user may make them
HEAVY = "numba, llvmlite.binding, z3, pysat.solvers, bitwuzla, jinja2, rich.console"
IMPORTS = f"import {HEAVY}, whence.diagnosis.spectrum_and_slice"
PATIENCE = 120.0  # seconds beyond three times the budget after which a command is ended


class Soak:
    """One session: where it works, and what it asks of each command."""

    def __init__(self, work: Path, budget: str) -> None:
        self.work = work
        self.budget = budget
        self.seconds = duration(None, None, budget) or 0.0  # type: ignore[arg-type]
        self.results = work / "results.jsonl"
        self.known = {(row["seed"], row["command"]) for row in self.rows()}

    def rows(self) -> list[dict[str, Any]]:
        """The results for the present state of the sources."""
        if not self.results.exists():
            return []
        rows = (json.loads(line) for line in self.results.read_text().splitlines())
        return [row for row in rows if row["state"] == state() and row["budget"] == self.budget]

    def run(self, seed: int, commands: list[str]) -> Iterator[dict[str, Any]]:
        """Run a subject through the commands that are not known yet; gives their results as they come."""
        missing = [command for command in commands if (seed, command) not in self.known]
        if not missing:
            return
        self._warm_up()
        laid = lay(generate(seed), self.work / "subjects" / f"{seed:03}")
        beside = self._start_up() + building(laid)
        for command in missing:
            row = self._one(laid, command, beside)
            with self.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
            yield row

    def _warm_up(self) -> None:
        """Have all kernels of the analysis compiled, once for each state of the sources."""
        mark = self.work / f"warm-{state()}"
        if not mark.exists():
            place = self.work / "runs" / "warm"
            place.mkdir(parents=True, exist_ok=True)
            self._keep(["whence", "doctor"], place, place)
            mark.touch()

    def _one(self, laid: Laid, command: str, beside: float) -> dict[str, Any]:
        place = self.work / "runs" / f"{laid.generated.seed:03}-{command}"
        shutil.rmtree(place, ignore_errors=True)
        (place / "scratch" / "fresh").mkdir(parents=True)
        shutil.copy2(laid.folder / laid.generated.source, place / "scratch" / "fresh")
        words = words_for(command, laid, self.budget, place / "scratch")
        before = _snapshot(laid.folder)
        answer = self._keep(["whence", *words], laid.folder, place)
        ran = Ran(
            command,
            budget_of(words, self.seconds),
            beside,
            is_text(command, laid.generated.seed),
            (place / "out").read_bytes().decode(errors="replace"),
            (place / "err").read_bytes().decode(errors="replace"),
            answer,
            _changes(before, _snapshot(laid.folder)),
        )
        return {
            "state": state(),
            "seed": laid.generated.seed,
            "wild": laid.generated.fragments[-1],
            "form": laid.generated.form,
            "command": command,
            "words": words,
            "folder": str(laid.folder),
            "budget": self.budget,
            "budgeted": ran.budget is not None,
            "beside": beside,
            "load": os.getloadavg()[0],
            **answer,
            "said": ran.err[:400],
            "violations": [one[:400] for one in violations(ran)],
        }

    def _keep(self, words: list[str], folder: Path, place: Path) -> dict[str, Any]:
        """Run a command under the keeper, and return its answer."""
        (place / "tmp").mkdir(parents=True, exist_ok=True)
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "WHENCE_HOME": whence_home(),
            "TMPDIR": str(place / "tmp"),
            "HOME": str(self.work),
            "LANG": "C.UTF-8",
        }
        job = {
            "words": words,
            "folder": str(folder),
            "environment": environment,
            "patience": 3 * self.seconds + PATIENCE,
            "stdout": str(place / "out"),
            "stderr": str(place / "err"),
            "answer": str(place / "answer.json"),
        }
        (place / "job.json").write_text(json.dumps(job))
        subprocess.run([*apart(), sys.executable, str(KEEPER), str(place / "job.json")], check=True)
        found: dict[str, Any] = json.loads((place / "answer.json").read_text())
        return found

    def _start_up(self) -> float:
        """Seconds that an interpreter with the libraries that Whence imports takes to start, at present."""
        start = time.monotonic()
        subprocess.run([sys.executable, "-c", IMPORTS], check=True)
        return time.monotonic() - start


@cache
def state() -> str:
    """What tells states of the sources apart."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*")):
        if path.suffix in (".py", ".c", ".h", ".json"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def apart() -> tuple[str, ...]:
    """The words that put a command into name spaces of its own; none where the user may not."""
    tried = subprocess.run([*APART, "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], capture_output=True, check=False)
    return APART if tried.returncode == 0 else ()


def _snapshot(folder: Path) -> dict[str, str]:
    """What a folder holds: for each name its mode, and its content or where it leads."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        what = str(path.readlink()) if path.is_symlink() else path.read_bytes().hex() if path.is_file() else ""
        found[str(path.relative_to(folder))] = f"{path.lstat().st_mode:o} {hashlib.sha256(what.encode()).hexdigest()}"
    return found


def _changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Names of what is new, gone or different."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


# ---- The table -------------------------------------------------------------------------------------------------------


def table(rows: list[dict[str, Any]]) -> str:
    """For each command the runs, exit statuses, violations and times."""
    header = "command, runs, found (0), nothing (1), refused (2), violations, seconds (median), (most), most of budget"
    lines = []
    for command in [*CALLED, "all"]:
        own = [row for row in rows if command in (row["command"], "all")]
        if not own:
            continue
        seconds = [row["seconds"] for row in own]
        allowed = duration(None, None, own[0]["budget"]) or 1.0  # type: ignore[arg-type]
        over = [(row["seconds"] - row["beside"]) / allowed for row in own if row["budgeted"]]
        counts = [sum(row["status"] == status for row in own) for status in (0, 1, 2)]
        broken = sum(bool(row["violations"]) for row in own)
        shown = [f"{median(seconds):.1f}", f"{max(seconds):.1f}", f"{max(over):.2f}" if over else ""]
        lines.append([f"`{command}`" if command != "all" else command, *map(str, (len(own), *counts, broken)), *shown])
    return markdown(header.split(", "), lines)


def tell(row: dict[str, Any]) -> Iterator[str]:
    """A result's violations, each in a line with seed and command."""
    for one in row["violations"]:
        yield f"seed {row['seed']} {row['command']} ({row['wild']}, {row['form']}): {one}"


def classes(rows: list[dict[str, Any]]) -> Counter[str]:
    """How many results have each class of violation."""
    return Counter(kind for row in rows for kind in {one.partition(":")[0] for one in row["violations"]})


def seeds_of(text: str) -> list[int]:
    """Seeds from ``3``, ``0-199`` or ``1,5,7-9``."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _busy(stack: ExitStack) -> None:
    """Keep two cores busy until the stack is closed."""
    for _ in range(2):
        burner = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
        stack.callback(burner.kill)


def main() -> int:
    """Run the soak; the exit status is 1 when something did not hold."""
    parser = options(__doc__)
    parser.add_argument("--seeds", default="0-199", type=seeds_of, help="subjects: 0-199, or 3,7")
    parser.add_argument("--budget", default="3s", help="of each command that has one")
    parser.add_argument("--commands", default=",".join(CALLED), help="only these")
    parser.add_argument("--busy", action="store_true", help="keep two cores busy with other work")
    parser.add_argument(
        "--turns", type=int, metavar="N", default=1, help="of each subject's commands only each N-th, in turn"
    )
    parser.add_argument("--for", dest="lasting", type=float, help="start no further subject after so many seconds")
    parser.add_argument("--table", action="store_true", help="only print what is known")
    arguments = parser.parse_args()
    soak = Soak(work_folder(arguments.work), arguments.budget)
    commands = [name for name in re.split("[, ]+", arguments.commands) if name]
    if unknown := set(commands) - set(CALLED):
        parser.error(f"no such command: {', '.join(sorted(unknown))}")
    until = time.monotonic() + (arguments.lasting or float("inf"))
    with ExitStack() as stack:
        if arguments.busy:
            _busy(stack)
        for seed in [] if arguments.table else arguments.seeds:
            if time.monotonic() > until:
                break
            chosen = [name for k, name in enumerate(commands) if (seed + k) % arguments.turns == 0]
            for row in soak.run(seed, chosen):
                print("\n".join(tell(row)), end="\n" if row["violations"] else "", flush=True)
    rows = [row for row in soak.rows() if row["seed"] in arguments.seeds and row["command"] in commands]
    print(f"\n{table(rows)}\n\n{len({row['seed'] for row in rows})} subjects, {len(rows)} calls")
    print("\n".join(f"{count:5} {kind}" for kind, count in classes(rows).most_common()))
    return 1 if any(row["violations"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
