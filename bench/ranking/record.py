"""Record what every technique says of each statement, of the corpus' faults and of generated ones.

    python -m bench.ranking.record --to FILE [--generated FILE] [--budget 3] [--jobs 1] [--seed S]
        [--failing N] [--passing N] [--kind KIND] [--every N] [--offset K] [PROGRAM ...]

Suites are those of ``bench.suites``; each fault is located in the budget, before changes are compiled. A line of JSON
a fault is added to the file as soon as it is there, so a run that was stopped goes on where it was. Without
``--generated`` the faults are those of the corpus, otherwise those of a file that ``bench.generated`` made. Edits are
tried in the order that the fixes of other programs' faults suggest.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.faults import positive  # noqa: E402
from bench.fixes import others_fixes  # noqa: E402
from bench.generated.faults import Generated, read_faults  # noqa: E402
from bench.ranking.evidence import Recorded, read  # noqa: E402
from bench.suites import USUAL, Size, opened  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.diagnosis.statement_kinds import statement_kinds  # noqa: E402
from whence.errors import WhenceError  # noqa: E402

WITHOUT = ("confirmation", "chain", "weights")
Fault = corpus.Fault | Generated


def record(fault: Fault, seed: int, budget: float, size: Size = USUAL) -> Recorded | str:
    """What all techniques say of a fault in the budget, or why they cannot say anything."""
    began = time.perf_counter()
    try:
        with opened(fault, seed, float("inf"), size) as suite, others_fixes(fault.program) as knowledge:
            suite.prepare()
            suite.investigation.clock.start(budget)
            locate = whence.Locate(generate=False, without=WITHOUT, knowledge=(knowledge,))
            diagnosis = locate.diagnose(suite.investigation)
            kinds = statement_kinds(suite.investigation.subject)
    except WhenceError as error:
        return str(error)
    origin = "generated" if isinstance(fault, Generated) else "corpus"
    where = (origin, fault.program, fault.id, fault.kind, tuple(fault.lines), diagnosis.is_open)
    source = corpus.faulty_source(fault)
    return Recorded(*where, diagnosis.base, diagnosis.found, kinds, source, time.perf_counter() - began)


def wanted(options: argparse.Namespace) -> Iterator[Fault]:
    """The faults that are not in the file yet."""
    known = {one.key for one in read(options.to)}
    programs = options.programs or corpus.programs()
    faults = read_faults(options.generated) if options.generated else [f for p in programs for f in corpus.faults(p)]
    faults = [fault for fault in faults if options.kind in ("", fault.kind)]
    for fault in faults[options.offset :: options.every]:
        origin = "generated" if options.generated else "corpus"
        if fault.program in programs and (origin, fault.program, fault.id) not in known:
            yield fault


def main() -> None:
    """Record, and say what could not be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("programs", nargs="*", help="programs of the corpus (all)")
    parser.add_argument("--to", type=Path, required=True, help="file that the evidence is added to")
    parser.add_argument("--generated", type=Path, help="file of generated faults (those of the corpus)")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds for each fault, without builds")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time")
    parser.add_argument("--seed", type=int, default=1, help="which cases make up the suites")
    parser.add_argument("--failing", type=int, default=USUAL.failing, help="failing cases of a suite, at most")
    parser.add_argument("--passing", type=int, default=USUAL.passing, help="passing cases of a suite, at most")
    parser.add_argument("--kind", default="", help="take faults of this kind only")
    parser.add_argument("--every", type=positive, default=1, help="take each N-th fault only")
    parser.add_argument("--offset", type=int, default=0, help="... from this one on")
    options = parser.parse_args()
    size = Size(options.failing, options.passing)
    with ProcessPoolExecutor(options.jobs) as pool, options.to.open("a") as file:
        jobs = {pool.submit(record, fault, options.seed, options.budget, size): fault for fault in wanted(options)}
        for number, job in enumerate(as_completed(jobs), 1):
            fault, found = jobs[job], job.result()
            name = f"{number} of {len(jobs)}: {fault.program} {fault.id}"
            if isinstance(found, str):
                print(f"{name}: {found}", flush=True)
                continue
            file.write(json.dumps(found.to_json(), separators=(",", ":")) + "\n")
            file.flush()
            print(f"{name}: {found.seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
