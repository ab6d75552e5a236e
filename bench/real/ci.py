"""What ``whence ci`` makes of a fault in a package with its own tests: how long it takes, and where the fault stands.

    python -m bench.real.ci --work FOLDER [--budget 60] [FAULT ...]

Debian's source of a package is put under git as it comes; then the fault is planted among other changes, which break
nothing, the package is built with ``whence-cc``, and ``whence init`` describes its own tests. ``whence ci`` is called
as in a job: ``whence ci --since HEAD --sarif FILE --summary FILE``. Prints Markdown: the cases, how many fail, the
changes and how many of them are named as needed, the fault's place in the summary, minutes, and the load.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from bench.common import ended, markdown, options, work_folder
from bench.real.faults import Edit, Fault, chosen_faults
from bench.real.programs import build, unpack

HEAD = ["fault", "cases", "fail", "changes", "needed", "rank in the summary", "minutes", "load"]
HARMLESS = {
    "jansson": (
        Edit("src/hashtable.c", 24, "INITIAL_HASHTABLE_ORDER 3", "INITIAL_HASHTABLE_ORDER 4"),
        Edit("src/dump.c", 26, "100", "120"),
        Edit("src/dump.c", 27, "100", "120"),
    ),
    "zlib": (
        Edit("adler32.c", 13, "5552", "5536"),
        Edit("gzguts.h", 156, "8192", "16384"),
        Edit("deflate.c", 105, "4096", "2048"),
    ),
}
FAULTS = ("jansson-01", "zlib-04")
CASES = re.compile(r"([\d,]+) cases?, (\w+) failing")
ENTRY = re.compile(r"^(\d+)\. <code>([^<]+)</code>", re.M)
NEEDED = re.compile(r"^Needed for the failure, (\d+) of (\d+) changes?", re.M)


def prepared(fault: Fault, work: Path) -> Path:
    """The tree with the fault and other changes since its only commit, built, with a whence.toml."""
    tree = unpack(fault.recipe, work, "ci")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-C", str(tree)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as it comes"]):
        subprocess.run([*git, *words], check=True)
    for edit in (*HARMLESS[fault.program], *fault.edits):
        path = tree / edit.file
        path.write_text(edit.made(path.read_text("latin-1")), "latin-1")
    build(fault.recipe, tree, "whence-cc", "-g -O0")
    subprocess.run([sys.executable, "-m", "whence", "init", str(tree)], check=True, stdout=subprocess.DEVNULL)
    return tree


def measure(fault: Fault, work: Path, budget: float) -> list[str]:
    """A row of the table."""
    tree = prepared(fault, work)
    log, summary = work / f"{fault.name}.sarif", work / f"{fault.name}.md"
    summary.unlink(missing_ok=True)
    words = ["ci", "-C", str(tree), "--since", "HEAD", "--budget", f"{budget:g}s"]
    words += ["--sarif", str(log), "--summary", str(summary)]
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "whence", *words], capture_output=True, text=True, check=False)
    minutes = (time.monotonic() - start) / 60
    print(done.stdout, done.stderr, file=sys.stderr)
    cases, failing = found.groups() if (found := CASES.search(done.stdout)) else ("", "")
    text = html.unescape(summary.read_text())
    ranks = [rank for rank, place in ENTRY.findall(text) if place in fault.lines]
    needed, changes = found.groups() if (found := NEEDED.search(text)) else ("-", "-")
    row = [fault.name, cases, failing, changes, needed, ranks[0] if ranks else "-", f"{minutes:.1f}"]
    return [*row, f"{os.getloadavg()[0]:.0f}"]


def main() -> int:
    """Measure both packages and print the table."""
    parser = options("plant a fault in packages with their own tests, and call `whence ci`")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of a failure")
    parser.add_argument("faults", nargs="*", default=FAULTS)
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    rows = [measure(fault, work, arguments.budget) for fault in chosen_faults(arguments.faults, own_suites=True)]
    print(markdown(HEAD, rows))
    return 0


if __name__ == "__main__":
    ended(main)
